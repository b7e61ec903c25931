"""Two prompts at once in a composite event: its form, and who takes or refuses it."""

import time
from dataclasses import replace

import numpy as np
import pytest

from engine.config import EngineConfig
from engine.controls import ControlQueues
from engine.events import Rejection, parse
from engine.fake import TestCardModel
from engine.protocol import CompositeEvent, EventAccepted, EventRejected, PromptMix, SceneSpec
from tests.engine.remote.walks import world_on
from tests.sglang_server import SGLangServer

MIX = {"text": "a forest", "mixed_with": "a snowstorm", "share": 0.35}


def asked(payload):
    return {"event_id": 5, "input_types": ["prompt"], "prompt": payload}


def test_a_mix_is_read_and_travels_as_it_came():
    event = parse(asked(MIX))
    assert event.prompt == PromptMix("a forest", "a snowstorm", 0.35)
    assert event.to_wire() == asked(MIX)
    assert CompositeEvent(5, ("prompt",), prompt=event.prompt).to_wire() == asked(MIX)


@pytest.mark.parametrize(
    ("payload", "path", "got"),
    [
        ({}, "prompt.text", "nothing"),
        ({"text": "a", "share": 0.5}, "prompt.mixed_with", "nothing"),
        ({"text": "a", "mixed_with": "b"}, "prompt.share", "nothing"),
        ({**MIX, "text": " "}, "prompt.text", "the text ' '"),
        ({**MIX, "mixed_with": 3}, "prompt.mixed_with", "the whole number 3"),
        ({**MIX, "share": 1.01}, "prompt.share", "the number 1.01"),
        ({**MIX, "share": -1}, "prompt.share", "the whole number -1"),
        ({**MIX, "share": float("nan")}, "prompt.share", "the number nan"),
        ({**MIX, "share": True}, "prompt.share", "true"),
        ({**MIX, "third": "c"}, "prompt.third", "the text 'c'"),
    ],
)
def test_what_is_wrong_in_a_mix_is_refused_whole_with_its_place(payload, path, got):
    with pytest.raises(Rejection) as bad:
        parse({**asked(payload), "input_types": ["prompt", "look"], "look": {"yaw_degrees": 5}})
    assert (bad.value.path, bad.value.got, bad.value.event_id) == (path, got, 5)


def test_a_mix_at_its_ends_is_called_by_the_one_prompt_that_it_is():
    assert [PromptMix("a", "b", share).words for share in (0.0, 0.35, 1.0)] == ["a", "a 65% + b 35%", "b"]


def test_a_mix_that_waits_is_kept_in_a_saved_state():
    queues = ControlQueues()
    queues.apply(parse(asked(MIX)), 1.0, asked(MIX))
    queues.sample(1, 0, 2.0)
    again = ControlQueues.from_dict(queues.to_dict())
    assert again.sample(1, 1, 3.0).prompt == PromptMix("a forest", "a snowstorm", 0.35)


def test_the_test_card_shows_colours_between_those_of_two_prompts(tmp_path):
    model = TestCardModel(EngineConfig())

    def picture(prompt):
        world = model.open(SceneSpec("test", "a forest"), 3, 0)
        world.step(time.monotonic)
        assert isinstance(world.apply(asked(prompt), None, 0.0), EventAccepted)
        return world, world.step(time.monotonic).frames.astype(float)

    world, half = picture({**MIX, "share": 0.5})
    (_, first), (_, second) = picture("a forest"), picture("a snowstorm")
    assert np.abs(half - (first + second) / 2).max() <= 1.0
    world.save(tmp_path / "state")
    assert model.restore(world_scene(), 3, 0, tmp_path / "state").mix == PromptMix("a forest", "a snowstorm", 0.5)


def world_scene():
    return SceneSpec("test", "a forest")


def test_a_server_is_never_sent_a_mix_and_the_sentence_says_so():
    with SGLangServer() as server:
        world = world_on(server)
        world.step(time.monotonic)
        told = world.apply(asked(MIX), None, 0.0)
        assert isinstance(told, EventRejected)
        assert told.sentence() == "Event 5 rejected: prompt was a mix of two, expected one text, as servers mix none."
        world.step(time.monotonic)
        world.close()
        assert replace(told, event_id=None).path == "prompt"
        assert world.text_encodes == 1
