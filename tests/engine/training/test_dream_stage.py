"""A world that is dreamt without the layout."""

import pytest
import torch

from engine.bundled_world import load_bundled
from engine.config import EngineConfig
from engine.training.dream_stage import NAME, Dream, without_guide
from engine.training.measures import psnr_db
from engine.training.stage_files import save_stage, stage_path
from engine.training.truth import held_out_scene
from engine.worldmap import WorldMap


@pytest.fixture(scope="module")
def dreaming(tmp_path_factory):
    """The bundled networks with their guide taken away: what they make is no world, but what they are told is seen."""
    folder, config = tmp_path_factory.mktemp("dream"), EngineConfig()
    model = load_bundled(config, lambda stage, fraction: None, lambda line: None)
    networks = model.model.networks
    save_stage(Dream(networks.autoencoder, networks.dit), folder, NAME)
    return without_guide(model, config, stage_path(folder, NAME))


def test_it_begins_with_the_latent_of_its_first_picture_as_it_is(dreaming):
    scene = held_out_scene(dreaming.model, WorldMap(), 1)
    world = dreaming.open(scene, seed=7, session_id=0)
    first, scenery = world.step(), world.state.scenery
    autoencoder = dreaming.model.networks.autoencoder
    picture = torch.from_numpy(scene.image.copy()).permute(2, 0, 1)[None].float() / 127.5 - 1
    guides = torch.zeros(1, 4, len(dreaming.model.config.guide), *picture.shape[-2:])
    with torch.no_grad():
        decoded = autoencoder.decode(autoencoder.encode(picture.expand(1, 4, -1, -1, -1)), guides)[0, -1:]
    wanted = ((decoded.clamp(-1, 1) + 1) * 127.5).round().byte().permute(0, 2, 3, 1).numpy()
    assert scenery.look is None
    assert psnr_db(first.frames, wanted) > 40


def test_its_memory_is_all_it_has_and_does_not_begin_anew_in_another_land(dreaming):
    world = dreaming.open(held_out_scene(dreaming.model, WorldMap(), 1), seed=7, session_id=0)
    world.apply({"event_id": 1, "input_types": ["prompt"], "prompt": "red canyon"}, None, 0.0)
    assert [world.step().window.visible_latent_frames for _ in range(7)] == [1, 2, 3, 4, 5, 6, 7]
