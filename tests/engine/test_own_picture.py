"""A picture of the user's own: the nearest world, its look, and how it dissolves."""

import dataclasses

import numpy as np
import pytest
import torch

from engine import own_picture
from engine.bundled_world import load_bundled
from engine.config import DeviceConfig, EngineConfig
from engine.errors import FileProblem
from engine.grading import LARGEST_LOOK, grade
from engine.layout import Lens, cast
from engine.own_picture import References, fit, horizon_line, look_of, picture_share, sentence_of, tones_of
from engine.picture_measures import horizon
from engine.protocol import SceneSpec
from engine.training import recipe
from engine.training.picture_references import draw_samples, hit_rates, photographed
from engine.training.shading import shade
from engine.wording import PICTURE_PROMPT
from engine.worldmap import BIOMES, TIMES, WEATHERS, View, WorldMap, mix_of

HEIGHT, WIDTH = recipe.HEIGHT_PX, recipe.WIDTH_PX


@pytest.fixture(scope="module")
def land():
    return WorldMap()


@pytest.fixture(scope="module")
def model():
    return load_bundled(EngineConfig(device=DeviceConfig(threads=1)), lambda stage, fraction: None, lambda line: None)


def painted(*stops):
    """A gradient [H, W, 3] through (row as a share of the height, colour), with a little grain."""
    rows = np.linspace(0, 1, HEIGHT)
    colours = [np.interp(rows, [row for row, _ in stops], [c[i] for _, c in stops]) for i in range(3)]
    picture = np.stack(colours, 1)[:, None].repeat(WIDTH, 1)
    return np.clip(picture + np.random.default_rng(1).normal(0, 3, picture.shape), 0, 255).astype(np.uint8)


DESERT = painted((0, (70, 130, 210)), (0.5, (185, 210, 230)), (0.505, (240, 215, 165)), (1, (226, 196, 142)))
NIGHT = painted((0, (12, 20, 55)), (0.45, (38, 55, 100)), (0.46, (40, 50, 60)), (1, (20, 28, 36)))


def picture_of(land, biome, time, weather, looks):
    """The simulator's picture [3, H, W] of a place, in a look [5]."""
    one, mix = torch.ones(1), mix_of(biome, time, weather)[None]
    view = View(one * 431, one * -77, one, one * 0, mix)
    return grade(shade(cast(land, view, Lens(WIDTH, HEIGHT)), mix), torch.tensor([looks]))[0]


def test_worlds_at_places_never_measured_are_recognised(land):
    rates = hit_rates(own_picture.references(), draw_samples(land, 4711, 4))
    assert rates["biome"] > 0.72
    assert rates["time"] > 0.80
    assert rates["weather"] > 0.70


@pytest.mark.parametrize(
    ("picture", "expected"),
    [(DESERT, {"desert", "noon"}), (NIGHT, {"night"})],
)
def test_plain_pictures_are_what_a_person_would_call_them(picture, expected):
    weights = dict(zip((*BIOMES, *TIMES, *WEATHERS), fit(picture).mix, strict=True))
    assert all(weights[name] > 0.5 for name in expected), weights


@pytest.mark.parametrize("level", [0, 127, 255])
@pytest.mark.parametrize("size", [(1, 1), (700, 30), (30, 700)])
def test_any_picture_of_any_size_is_some_world(level, size):
    fitted = fit(np.full((*size, 3), level, np.uint8))
    assert sum(fitted.mix) == pytest.approx(3, abs=1e-5)
    assert abs(fitted.pitch_degrees) <= own_picture.LARGEST_PITCH_DEGREES


def test_every_sentence_is_read_back_as_the_world_it_names(model):
    wrong = []
    for biome in BIOMES:
        for time, weather in zip(TIMES, WEATHERS, strict=True):
            said = tuple(mix_of(biome, time, weather).tolist())
            wish = model.model.reader.read(sentence_of(said)).wish
            read = [max(clause.weights[i] for clause in wish) for i in range(len(said))]
            wrong += [sentence_of(said)] if [round(v) for v in read] != list(said) else []
    assert not wrong


def test_a_clear_horizon_is_found_and_put_at_the_same_height():
    rows = torch.arange(56)[:, None].expand(-1, 96)
    picture = torch.where(rows < 24, 0.8, 0.3).expand(3, -1, -1)
    line, _ = horizon(picture[None])
    assert float(line) == pytest.approx(24 / 56)
    pixels = (picture.permute(1, 2, 0) * 255).byte().numpy()
    assert horizon_line(fit(pixels).pitch_degrees) == pytest.approx(24 / 56, abs=1e-3)


def test_the_look_of_a_picture_is_found_again(land):
    hidden = (1.0, -1.0, 1.0, -1.5, 0.5)
    plain, graded = (picture_of(land, "meadow", "noon", "clear", looks) for looks in ((0.0,) * 5, hidden))
    found = look_of(plain, 0.5, tones_of(graded, 0.5))
    left = (grade(plain[None], found[None])[0] - graded).abs().mean()
    assert float(left) < 0.35 * float((plain - graded).abs().mean())
    assert float(torch.tensor(hidden) @ found) > 2


def test_a_look_stays_among_those_that_the_networks_know(land):
    tones = tones_of(torch.ones(3, HEIGHT, WIDTH), 0.5)
    look = look_of(picture_of(land, "snow", "night", "storm", (0.0,) * 5), 0.5, tones)
    assert float(look.abs().max()) <= LARGEST_LOOK


def test_photographed_pictures_stay_pictures():
    pictures = torch.rand(9, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    taken = photographed(pictures, torch.Generator().manual_seed(2))
    assert 0 < int((taken != pictures).flatten(1).any(1).sum()) < 9
    assert float(taken.min()) >= 0
    assert float(taken.max()) <= 1


def test_the_picture_fades_from_all_to_nothing():
    shares = [picture_share(i, 16) for i in range(18)]
    assert shares[0] == 1
    assert shares[16:] == [0, 0]
    assert shares == sorted(shares, reverse=True)


def test_a_damaged_table_names_the_file(tmp_path):
    path = tmp_path / "pictures.safetensors"
    path.write_bytes(b"nonsense")
    with pytest.raises(FileProblem, match="table of worlds"):
        References.load(path)


# ---- worlds that begin with a picture ----------------------------------------------------------------------------

OWN = SceneSpec("own", PICTURE_PROMPT, image=DESERT, own_image=True, map_seed=5)


def walked(world, chunks):
    return np.concatenate([world.step().frames for _ in range(chunks)])


def test_a_world_begins_with_the_picture_itself_and_a_second_later_nothing_is_left_of_it(model):
    other = dataclasses.replace(OWN, image=DESERT[:, ::-1])  # the same measurements, all other pixels
    a, b = walked(model.open(OWN, 1, 0), 6), walked(model.open(other, 1, 0), 6)
    assert np.array_equal(a[0], DESERT)
    assert not np.array_equal(a[8], b[8])
    assert np.abs(a[16:].astype(int) - b[16:]).max() <= 2


def test_a_world_restored_while_it_dissolves_goes_on_bit_for_bit(model, tmp_path):
    world = model.open(OWN, 1, 0)
    walked(world, 2)
    world.save(tmp_path / "state")
    again = model.restore(OWN, 1, 0, tmp_path / "state")
    assert np.array_equal(walked(again, 3), walked(world, 3))


def test_the_world_is_the_pictures_and_words_win_where_they_speak(model):
    own, asked = (model.open(dataclasses.replace(OWN, prompt=text), 1, 0) for text in (PICTURE_PROMPT, "at night"))
    night = len(BIOMES) + TIMES.index("night")
    a, b = own.state.scenery.blend.target, asked.state.scenery.blend.target
    assert a[BIOMES.index("desert")] > 0.5
    assert a[night] == 0
    assert b[night] == 1
    assert a[: len(BIOMES)] == b[: len(BIOMES)]
    assert "a desert at noon" in own.notice
    assert "large models" in own.notice
    assert "at night" in asked.notice


def test_words_about_nothing_beside_a_picture_are_told(model):
    assert "no landscape" in (model.open(dataclasses.replace(OWN, prompt="a dragon"), 1, 0).notice or "")
    assert "no landscape" not in (model.open(OWN, 1, 0).notice or "")
