"""The VAE against golden numbers; streams, worlds that take turns, and states that are kept."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import BadValue, NeedsLibrary, WeightsProblem
from engine.image_condition import condition_video
from engine.lingbot.vae import LatentStatistics, StreamingVaeDecoder, WanVae, load_vae
from tests.engine.tiny_dit import GOLDEN, golden, golden_json

TOLERANCE = 2e-5
CPU = torch.device("cpu")
IO = golden("vae_tiny_io")
LATENTS = IO["in.latents_normalized"]


def load(*paths, dtype=torch.float32, told=None):
    return load_vae(paths, device=CPU, decoder_dtype=dtype, progress=told or (lambda stage, fraction: None))


@pytest.fixture(scope="module")
def vae() -> WanVae:
    return load(GOLDEN / "vae_tiny.safetensors")


def stream(decoder: StreamingVaeDecoder, *sizes: int) -> list[torch.Tensor]:
    return [decoder.decode(part) for part in LATENTS.split(list(sizes), 2)]


def close(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    return got.shape == wanted.shape and float((got - wanted).abs().max()) <= TOLERANCE


@pytest.mark.parametrize("frames", [1, 5, 9, 17])
def test_encoded_videos_are_as_golden(vae, frames):
    assert close(vae.encode(IO["in.video"][:, :, :frames]), IO[f"encode.{frames}f.normalized"])


@pytest.mark.parametrize("frames", [5, 9, 21])
def test_the_condition_clip_is_encoded_as_golden(vae, frames):
    statistics = LatentStatistics()
    mean, std = (torch.tensor(v).view(1, 16, 1, 1, 1) for v in (statistics.mean, statistics.std))
    latents = vae.encode(condition_video(IO["in.video"][:, :, 0], frames))
    assert close(latents * std + mean, IO[f"encode_image_then_zeros.{frames}f.mean"])


def test_the_published_statistics_are_as_golden():
    wanted = golden_json("vae_latent_stats")
    assert LatentStatistics() == LatentStatistics(tuple(wanted["latents_mean"]), tuple(wanted["latents_std"]))


def test_decoding_in_chunks_is_as_golden_and_bit_for_bit_the_whole_clip(vae):
    whole = vae.decoder().decode(LATENTS)
    assert close(whole, IO["decode.whole"])
    chunks = stream(vae.decoder(), 3, 3, 3)
    assert all(close(part, IO[f"decode.stream_3_3_3.chunk{i}"]) for i, part in enumerate(chunks))
    assert torch.equal(torch.cat(chunks, 2), whole)
    assert torch.equal(torch.cat(stream(vae.decoder(), *[1] * 9), 2), whole)


@pytest.mark.parametrize(("latents", "frames"), [(1, 1), (2, 5), (4, 13)])
def test_the_first_latent_gives_one_picture_and_each_later_one_four(vae, latents, frames):
    pictures = vae.decoder().decode(LATENTS[:, :, :latents])
    assert pictures.shape == (1, 3, frames, 32, 48)
    assert close(pictures, IO[f"decode.first{latents}"])


def test_it_is_the_librarys_own_function(vae):
    from diffusers import AutoencoderKLWan

    network = AutoencoderKLWan(base_dim=8).eval()
    network.load_state_dict({k: v.float() for k, v in load_file(GOLDEN / "vae_tiny.safetensors").items()})
    with torch.no_grad():
        assert torch.equal(network.decode(IO["in.latents_raw"]).sample, vae.decoder().decode(LATENTS))
        mean = network.encode(IO["in.video"]).latent_dist.mean
    assert close(mean, IO["encode.17f.mean"])


def test_worlds_that_take_turns_get_what_each_gets_alone(vae):
    alone = vae.decoder().decode(LATENTS[:, :, :4])
    other_alone = vae.decoder().decode(-LATENTS[:, :, :4])
    one, other = vae.decoder(), vae.decoder()
    got, other_got = [], []
    for part in LATENTS[:, :, :4].split(2, 2):
        got.append(one.decode(part))
        vae.encode(IO["in.video"][:, :, :5])
        other_got.append(other.decode(-part))
    assert torch.equal(torch.cat(got, 2), alone)
    assert torch.equal(torch.cat(other_got, 2), other_alone)


@pytest.mark.parametrize("before", [0, 1, 2, 5])
def test_a_kept_state_continues_bit_for_bit(vae, tmp_path, before):
    decoder = vae.decoder()
    if before:
        decoder.decode(LATENTS[:, :, :before])
    save_file(decoder.state(), tmp_path / "state.safetensors")
    rest = decoder.decode(LATENTS[:, :, before : before + 2])
    other = vae.decoder()
    other.decode(LATENTS[:, :, :2])  # something that must be forgotten
    other.load_state(load_file(tmp_path / "state.safetensors"))
    assert torch.equal(other.decode(LATENTS[:, :, before : before + 2]), rest)


def test_a_state_given_away_does_not_change_with_the_stream(vae):
    decoder = vae.decoder()
    decoder.decode(LATENTS[:, :, :2])
    state = decoder.state()
    before = {name: tensor.clone() for name, tensor in state.items()}
    decoder.decode(LATENTS[:, :, 2:3])
    assert all(torch.equal(state[name], tensor) for name, tensor in before.items())


def test_a_state_of_something_else_is_refused_and_changes_nothing(vae):
    decoder = vae.decoder()
    decoder.decode(LATENTS[:, :, :2])
    state = decoder.state()
    wrong = [
        {"feature.000": state["feature.000"]},
        {**state, "feature.099": torch.zeros(1)},
        {**state, "feature.000": torch.zeros(1, 99, 2, 4, 6)},
        {**state, "feature.000": state["feature.000"].half()},
        {**state, "feature.000": torch.zeros(3)},
    ]
    for other in wrong:
        with pytest.raises(BadValue, match="decoder state"):
            decoder.load_state(other)
    fresh = vae.decoder()
    fresh.decode(LATENTS[:, :, :2])
    assert torch.equal(decoder.decode(LATENTS[:, :, 2:3]), fresh.decode(LATENTS[:, :, 2:3]))


def test_a_torn_memory_is_not_used_until_it_is_restored(vae):
    decoder = vae.decoder()
    decoder.decode(LATENTS[:, :, :1])
    state = decoder.state()
    with pytest.raises(RuntimeError):  # another size of picture: fails in the middle of the network
        decoder.decode(torch.zeros(1, 16, 1, 3, 3))
    with pytest.raises(AssertionError, match="load_state first"):
        decoder.decode(LATENTS[:, :, 1:2])
    decoder.load_state(state)
    assert close(decoder.decode(LATENTS[:, :, 1:2]), IO["decode.first2"][:, :, 1:])


def test_the_decoder_may_be_half_precision_and_the_encoder_stays_float32(vae):
    half = load(GOLDEN / "vae_tiny.safetensors", dtype=torch.bfloat16)
    assert torch.equal(half.encode(IO["in.video"]), vae.encode(IO["in.video"]))
    pictures = half.decoder().decode(LATENTS[:, :, :2])
    assert pictures.dtype == torch.bfloat16
    assert float((pictures.float() - IO["decode.first2"]).abs().mean()) < 0.02


# ---- files -------------------------------------------------------------------------------------------------------


def original(path, **changes):
    """The tiny VAE under its original names, as torch saves a dictionary."""
    names = {other: own for own, other in golden_json("vae_key_map")["original_to_diffusers"].items()}
    tensors = {names[name]: tensor for name, tensor in load_file(GOLDEN / "vae_tiny.safetensors").items()}
    torch.save({**tensors, **changes}, path)
    return path


def test_the_original_file_gives_the_same_pictures(vae, tmp_path):
    other = load(original(tmp_path / "Wan2.1_VAE.pth"))
    assert torch.equal(other.decoder().decode(LATENTS[:, :, :2]), vae.decoder().decode(LATENTS[:, :, :2]))
    assert torch.equal(other.encode(IO["in.video"][:, :, :5]), vae.encode(IO["in.video"][:, :, :5]))


def test_loading_says_how_far_it_is():
    told = []
    load(GOLDEN / "vae_tiny.safetensors", told=lambda stage, fraction: told.append((stage, fraction)))
    assert told[-1] == ("Reading the VAE: 1.87 MB of 1.87 MB", 1.0)


def test_statistics_beside_the_file_are_taken(vae, tmp_path):
    path = tmp_path / "diffusion_pytorch_model.safetensors"
    save_file(load_file(GOLDEN / "vae_tiny.safetensors"), path)
    config = golden_json("vae_tiny_config")
    (tmp_path / "config.json").write_text(json.dumps({**config, "latents_mean": [0.0] * 16, "latents_std": [2.0] * 16}))
    assert close(load(path).encode(IO["in.video"][:, :, :1]) * 2, IO["encode.1f.mean"])
    (tmp_path / "config.json").write_text(json.dumps({"_class_name": "WanTransformer3DModel"}))
    assert torch.equal(load(path).encode(IO["in.video"][:, :, :1]), vae.encode(IO["in.video"][:, :, :1]))
    for wrong in ({"latents_mean": [0.0] * 15}, {"latents_std": [0.0] * 16}, {"latents_mean": "x"}):
        (tmp_path / "config.json").write_text(json.dumps({**config, **wrong}))
        with pytest.raises(WeightsProblem, match=r"config\.json"):
            load(path)


def test_a_missing_library_is_one_sentence(monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == "diffusers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "diffusers", None)
    sentence = r'needs the library diffusers.*python -m pip install -e "\.\[lingbot\]"'
    with pytest.raises(NeedsLibrary, match=sentence):
        load(GOLDEN / "vae_tiny.safetensors")
