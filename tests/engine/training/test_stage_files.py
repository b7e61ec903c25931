"""The shipped model taken apart into a run's stages, and what the last stage learns from."""

import pytest
import torch
from safetensors.torch import load_file

from engine.bundled import MODEL_FOLDER, WEIGHTS
from engine.errors import FileProblem
from engine.training.finish_stage import LATENT_FRAMES, MadeLatents
from engine.training.stage_files import (
    load_autoencoder,
    load_painter,
    load_reader,
    load_transformer,
    tokenizer,
    unpack_model,
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    unpack_model(folder)
    return folder


def test_the_unpacked_stages_are_the_shipped_networks(unpacked):
    shipped = load_file(MODEL_FOLDER / WEIGHTS)
    networks = {
        "autoencoder": load_autoencoder(unpacked),
        "painter": load_painter(unpacked),
        "dit": load_transformer(unpacked),
        "text": load_reader(unpacked),
    }
    found = {f"{name}.{key}": value for name, net in networks.items() for key, value in net.state_dict().items()}
    assert found.keys() == shipped.keys()
    assert all(torch.equal(value, shipped[name].to(value.dtype)) for name, value in found.items())


def test_finished_stages_are_not_unpacked_over(tmp_path):
    finished = tmp_path / "painter.safetensors"
    finished.write_bytes(b"hours of work")
    with pytest.raises(FileProblem, match="there already"):
        unpack_model(tmp_path)
    assert list(tmp_path.iterdir()) == [finished]
    assert finished.read_bytes() == b"hours of work"


def test_the_decoder_is_finished_on_made_latents_and_on_encoded_ones(unpacked):
    autoencoder = load_autoencoder(unpacked)
    made = MadeLatents(
        autoencoder, load_painter(unpacked), load_transformer(unpacked), load_reader(unpacked), tokenizer()
    )
    latents, truth = made(1, 0, 1)
    assert len(latents) == len(truth.frames) == LATENT_FRAMES
    assert torch.equal(truth.frames[-1], truth.frames[-2])
    with torch.no_grad():
        encoded = autoencoder.encoder(truth.frames)
    apart = (latents - encoded).square().mean((1, 2, 3)).sqrt() / encoded.std()
    assert apart[-1] < 0.5 * apart[:-1].min()  # encoded from the whole picture here, from half of it there
