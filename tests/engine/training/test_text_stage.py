"""Reading phrases is learnt over a table of whole words, and comes through the export as it was."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from engine.bundled import MODEL_FOLDER, TOKENIZER, BundledConfig
from engine.errors import FileProblem
from engine.models.text import PromptEncoder, TextConfig, word_key
from engine.training import prompts, recipe
from engine.training.export import config_map, export_model
from engine.training.loop import Budget
from engine.training.stage_files import load_reader, save_stage
from engine.training.text_stage import train_text
from engine.training.word_table import FILE, load_table, make_table
from engine.weights import load_into


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.from_file(str(MODEL_FOLDER / TOKENIZER))


@pytest.fixture(scope="module")
def table():
    lists = [text for group in prompts.GROUPS for texts in group.values() for text in texts]
    words = sorted({word for text in (*lists, *prompts.NOTHING) for word in text.split()})
    return make_table(words, torch.randn(len(words), 120, generator=torch.Generator().manual_seed(0)))


@pytest.fixture(scope="module")
def trained(table, tokenizer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    words = torch.randn(32000, 8, generator=torch.Generator().manual_seed(0))
    model = train_text(
        folder, budget=Budget(1.0, steps=40), seed=1, words=words, table=table, tokenizer=tokenizer, resume=False
    )
    return folder, model


def test_reading_phrases_is_learnt(trained):
    rows = [json.loads(line) for line in (trained[0] / "text.jsonl").read_text().splitlines()]
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert {"all", "english", "chinese"} <= set(rows[-1])


def test_a_table_is_found_in_the_folder_and_sorted_by_key(table, tmp_path):
    save_file({"keys": table.keys, "vectors": table.vectors}, tmp_path / FILE)
    assert torch.equal(load_table(tmp_path).keys, table.keys)
    assert bool((table.keys.diff() > 0).all())
    assert word_key("snow") in table.keys.tolist()


def test_a_missing_table_names_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.training.word_table.MODEL_FOLDER", tmp_path)
    save_file({"text.words": torch.zeros(1)}, tmp_path / "model.safetensors")
    with pytest.raises(FileProblem, match="word_table"):
        load_table(tmp_path)


@pytest.mark.parametrize("known", [(0, 0), (5, 6)], ids=["first release", "table of words"])
def test_weights_of_either_form_are_read_and_exported_exactly(known, tmp_path):
    model = PromptEncoder(TextConfig(50, 128, (7, 4, 4), known_words=known[0], known_size=known[1]))
    if known[0]:
        model.get_buffer("keys").copy_(torch.tensor([-(2**62) - 1, -3, 7, 2**53 + 1, 2**62 + 1]))
    save_stage(model, tmp_path, "text")
    reader = load_reader(tmp_path)
    assert reader.config == model.config
    export_model(tmp_path / "out", config_map("test", reader.config, recipe.SIGMAS), {"text": reader})
    config = BundledConfig.read(tmp_path / "out" / "config.json")
    assert config.text == model.config
    with torch.device("meta"):
        holder = torch.nn.ModuleDict({"text": PromptEncoder(config.text)})
    load_into(holder, tmp_path / "out" / "model.safetensors", dtype=torch.float32)
    if known[0]:
        assert torch.equal(holder["text"].get_buffer("keys"), model.get_buffer("keys"))
    assert set(load_file(tmp_path / "text.safetensors")) == set(model.state_dict())
