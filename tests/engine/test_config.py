"""The engine's configuration: environment overrides, and its way through dotted names and back."""

from __future__ import annotations

import pytest

from engine.config import EngineConfig, apply_environment, parse, to_dict
from engine.errors import BadValue

WINDOW, SGLANG_WINDOW = "WORLDWALK_ENABLE_INTERACTIVE_KV_WINDOW", "SGLANG_LINGBOT_ENABLE_INTERACTIVE_KV_WINDOW"
BLANKS, SGLANG_BLANKS = "WORLDWALK_LAZY_VAE_ENCODE_BLACK_FRAMES", "SGLANG_LINGBOT_LAZY_VAE_ENCODE_BLACK_FRAMES"


def test_an_empty_environment_changes_nothing() -> None:
    config = EngineConfig()
    assert apply_environment(config, {"PATH": "x"}) is config


@pytest.mark.parametrize(("text", "on"), [("1", True), ("true", True), ("On", True), ("0", False), (" no ", False)])
@pytest.mark.parametrize("name", [WINDOW, SGLANG_WINDOW])
def test_the_window_is_switched_by_either_name(name: str, text: str, on: bool) -> None:
    start = parse({"window.interactive": not on}, str)
    assert apply_environment(start, {name: text}).window.interactive is on


@pytest.mark.parametrize("name", [BLANKS, SGLANG_BLANKS])
def test_blank_frames_are_set_by_either_name(name: str) -> None:
    assert apply_environment(EngineConfig(), {name: "60"}).image.lazy_vae_encode_black_frames == 60


def test_our_names_win() -> None:
    environ = {WINDOW: "0", SGLANG_WINDOW: "1", BLANKS: "4", SGLANG_BLANKS: "60"}
    config = apply_environment(EngineConfig(), environ)
    assert (config.window.interactive, config.image.lazy_vae_encode_black_frames) == (False, 4)


@pytest.mark.parametrize("name", [WINDOW, SGLANG_WINDOW])
@pytest.mark.parametrize("text", ["", "2", "maybe", "truee"])
def test_a_bad_switch_names_its_variable(name: str, text: str) -> None:
    with pytest.raises(BadValue, match=name):
        apply_environment(EngineConfig(), {name: text})


@pytest.mark.parametrize("name", [BLANKS, SGLANG_BLANKS])
@pytest.mark.parametrize("text", ["", "-1", "1.5", "sixty", "²", "9" * 5000, "10001"])
def test_a_bad_number_names_its_variable(name: str, text: str) -> None:
    with pytest.raises(BadValue, match=name):
        apply_environment(EngineConfig(), {name: text})


def test_dotted_names_lead_there_and_back() -> None:
    wanted = {"steps": 3, "window.interactive": True, "window.still_latent_frames": None, "device.threads": 2}
    config = parse(wanted, str)
    assert {name: to_dict(config)[name] for name in wanted} == wanted
    assert parse(to_dict(config), str) == config


def test_the_text_encoder_is_kept_unloaded_or_run_on_the_processor() -> None:
    for word in ("keep", "unload", "cpu"):
        assert parse({"lingbot": {"text_encoder": word}}, str).lingbot.text_encoder == word
    with pytest.raises(BadValue, match=r"engine.lingbot.text_encoder: got .*gpu.*, expected one of keep, unload, cpu"):
        parse({"lingbot.text_encoder": "gpu"}, str)
