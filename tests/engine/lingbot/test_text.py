"""The text encoder: cleaning, tokens, both published forms, where it is kept, and what it says of wrong files."""

from __future__ import annotations

import json
import math
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import gelu

from engine.errors import FileProblem, NeedsLibrary, WeightsProblem
from engine.lingbot import text
from engine.lingbot.layouts import find
from engine.lingbot.text import MAX_TOKENS, clean, load_text
from engine.lingbot.text_cache import TextCache
from engine.lingbot.vae import load_vae
from engine.weights import T5_NAMES
from tests.lingbot_checkpoints import TEXT_DIM, TEXT_HEADS, TEXT_LAYERS, text_state, write, write_tokenizer

PROMPT = "a forest in the snow at night"
ORIGINAL = "models_t5_umt5-xxl-enc-bf16.pth"


@pytest.fixture
def checkpoint(tmp_path):
    write_tokenizer(tmp_path / "tokenizer")
    state = text_state(0)
    names = sorted(state)
    save_file({name: state[name] for name in names[::2]}, tmp_path / "model-00001-of-00002.safetensors")
    save_file({name: state[name] for name in names[1::2]}, tmp_path / "model-00002-of-00002.safetensors")
    torch.save({T5_NAMES.to_original(name): tensor for name, tensor in state.items()}, tmp_path / ORIGINAL)
    return tmp_path


def shards(folder):
    return tuple(sorted(folder.glob("model-*.safetensors")))


def encoder(folder, paths=None, policy="cpu", cache=None, dtype=torch.float32, told=None):
    return load_text(
        paths or shards(folder),
        folder / "tokenizer",
        device=torch.device("cpu"),
        dtype=dtype,
        policy=policy,
        cache=cache,
        progress=told or (lambda stage, fraction: None),
    )


def test_prompts_are_cleaned_as_the_model_was_trained():
    assert clean(" a \n\t castle  ") == "a castle"
    assert clean("<b> &amp;amp;lt; &amp;gt; schÃ¶n") == "<b> &lt; > schön"
    assert clean("caf\u00e9 \ud800 \u3000森") == "café \ufffd 森"
    assert clean("  ") == ""


def written_out(state, ids):
    """The original encoder, written out from its names: what each tensor means, independent of any library."""
    x = state["token_embedding.weight"][ids]  # [L, D]
    offset = torch.arange(len(ids))[None] - torch.arange(len(ids))[:, None]  # key minus query
    far = 8 + (torch.log(offset.abs().clamp(min=1) / 8) / math.log(128 / 8) * 8).long()
    bucket = torch.where(offset.abs() < 8, offset.abs(), far.clamp(max=15)) + 16 * (offset > 0)

    def norm(x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * state[name]

    def heads(x, name):
        return (x @ state[name].T).view(len(ids), TEXT_HEADS, -1).transpose(0, 1)

    for n in range(TEXT_LAYERS):
        block = f"blocks.{n}."
        h = norm(x, f"{block}norm1.weight")
        q, k, v = (heads(h, f"{block}attn.{part}.weight") for part in "qkv")
        bias = state[f"{block}pos_embedding.embedding.weight"][bucket].permute(2, 0, 1)
        attended = (q @ k.transpose(1, 2) + bias).softmax(-1) @ v  # not scaled
        x = x + attended.transpose(0, 1).flatten(1) @ state[f"{block}attn.o.weight"].T
        h = norm(x, f"{block}norm2.weight")
        gate = gelu(h @ state[f"{block}ffn.gate.0.weight"].T, approximate="tanh")
        x = x + (gate * (h @ state[f"{block}ffn.fc1.weight"].T)) @ state[f"{block}ffn.fc2.weight"].T
    return norm(x, "norm.weight")


def test_both_published_forms_are_the_same_function_and_the_one_their_names_mean(checkpoint):
    ours = encoder(checkpoint)
    rows = ours.encode(PROMPT)
    assert torch.equal(encoder(checkpoint, (checkpoint / ORIGINAL,)).encode(PROMPT), rows)
    ids = ours._tokenizer.encode(PROMPT).ids
    wanted = written_out(torch.load(checkpoint / ORIGINAL, weights_only=True), torch.tensor(ids))
    assert rows.shape == (len(ids), TEXT_DIM)
    assert float((rows - wanted).abs().max()) < 2e-5


def test_padding_and_masking_would_give_the_same_rows(checkpoint):
    ours = encoder(checkpoint)
    rows = ours.encode(PROMPT)
    ids = torch.zeros(1, 64, dtype=torch.long)
    ids[0, : len(rows)] = torch.tensor(ours._tokenizer.encode(PROMPT).ids)
    mask = (torch.arange(64) < len(rows)).long()[None]
    with torch.no_grad():
        padded = ours._network(input_ids=ids, attention_mask=mask).last_hidden_state[0, : len(rows)]
    assert float((padded - rows).abs().max()) < 1e-5


def test_a_prompt_ends_with_its_end_and_has_512_rows_at_most(checkpoint):
    ours = encoder(checkpoint)
    assert ours.encode("").shape == (1, TEXT_DIM)
    assert ours.encode("snow " * 2000).shape == (MAX_TOKENS, TEXT_DIM)
    ids = ours._tokenizer.encode("snow " * 2000).ids
    assert ids[-1] == ours._tokenizer.token_to_id("</s>")
    assert torch.equal(ours.encode("  a&amp;b \n"), ours.encode("a&b"))


def test_rows_are_float32_of_what_the_encoder_computed(checkpoint, tmp_path):
    cache = TextCache(tmp_path / "cache", log=print)
    ours = encoder(checkpoint, dtype=torch.bfloat16, cache=cache)
    rows = ours.encode(PROMPT)
    assert rows.dtype == torch.float32
    assert torch.equal(rows.bfloat16().float(), rows)
    assert torch.equal(ours.encode(PROMPT), rows)


def test_an_embedding_stored_under_both_of_its_names_is_read_once(checkpoint, tmp_path):
    state = text_state(0)
    path = tmp_path / "both" / "model.safetensors"
    path.parent.mkdir()
    save_file({**state, "encoder.embed_tokens.weight": state["shared.weight"].clone()}, path)
    ours = encoder(checkpoint, (path,))
    assert torch.equal(ours.encode(PROMPT), encoder(checkpoint).encode(PROMPT))
    places = [
        dict(ours._network.named_parameters(remove_duplicate=False))[name].data_ptr()
        for name in ("shared.weight", "encoder.embed_tokens.weight")
    ]
    assert places[0] == places[1]


def test_every_published_layout_gives_the_same_rows_and_pictures(tmp_path):
    rows, pictures = [], []
    for layout in ("v2-14b", "v2-14b-diffusers", "v2-1.3b"):
        made = write(tmp_path / layout, layout)
        files = find(made.path, made.assets)
        assert files.tokenizer is not None
        place = {"device": torch.device("cpu"), "progress": lambda stage, fraction: None}
        ours = load_text(files.text_encoder, files.tokenizer, dtype=torch.float32, policy="cpu", cache=None, **place)
        rows.append(ours.encode(PROMPT))
        vae = load_vae(files.vae, decoder_dtype=torch.float32, **place)
        pictures.append(vae.decoder().decode(torch.ones(1, 16, 2, 4, 4)))
    assert all(torch.equal(other, rows[0]) for other in rows)
    assert all(torch.equal(other, pictures[0]) for other in pictures)


# ---- where it is kept --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "at_first", "afterwards"), [("keep", True, True), ("unload", False, False), ("cpu", False, True)]
)
def test_it_is_in_memory_when_its_policy_says_so(checkpoint, policy, at_first, afterwards):
    ours = encoder(checkpoint, policy=policy)
    assert ours.is_loaded is at_first
    rows = ours.encode(PROMPT)
    assert ours.is_loaded is afterwards
    assert torch.equal(ours.encode(PROMPT), rows)


def test_it_is_never_read_when_every_prompt_is_cached(checkpoint, tmp_path):
    cache = TextCache(tmp_path / "cache", log=print)
    rows = encoder(checkpoint, cache=cache).encode_all([PROMPT, "night"])
    told = []
    ours = encoder(checkpoint, cache=cache, told=lambda stage, fraction: told.append(stage))
    again = ours.encode_all([f"  {PROMPT} ", "night"])
    assert all(torch.equal(a, b) for a, b in zip(rows, again, strict=True))
    assert not ours.is_loaded
    assert not told


def test_sizes_are_read_from_the_shapes_and_are_those_of_the_published_file(tmp_path):
    dim, hidden, one = 4096, 10240, torch.zeros(1, dtype=torch.bfloat16)  # expanded: a full shape and one number
    state = {"token_embedding.weight": one.expand(256384, dim), "norm.weight": one.expand(dim)}
    for n in range(24):
        state |= {f"blocks.{n}.attn.{part}.weight": one.expand(dim, dim) for part in "qkvo"}
        state |= {f"blocks.{n}.ffn.{part}.weight": one.expand(hidden, dim) for part in ("gate.0", "fc1")}
        state |= {f"blocks.{n}.norm{k}.weight": one.expand(dim) for k in (1, 2)}
        state[f"blocks.{n}.ffn.fc2.weight"] = one.expand(dim, hidden)
        state[f"blocks.{n}.pos_embedding.embedding.weight"] = one.expand(32, 64)
    torch.save(state, tmp_path / ORIGINAL)
    with text._open((tmp_path / ORIGINAL,)) as files:
        network = text._network_of(files)
        wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
        assert {name: stored.entry.shape for name, stored in files.tensors.items()} | {
            "encoder.embed_tokens.weight": (256384, dim)
        } == wanted
    numbers = 2 * sum(parameter.numel() for parameter in network.parameters())
    assert 0 < 11_361_920_418 - numbers < 200_000  # the published file, and the names in it


def test_several_prompts_need_one_reading(checkpoint):
    told = []
    ours = encoder(checkpoint, policy="unload", told=lambda stage, fraction: told.append((stage, fraction)))
    ours.encode_all([PROMPT, "night", "snow"])
    assert [stage.partition(":")[0] for stage, fraction in told if fraction == 1] == ["Reading the text encoder"]


def test_other_weights_words_or_types_are_another_encoder(checkpoint):
    names = {encoder(checkpoint).fingerprint, encoder(checkpoint, (checkpoint / ORIGINAL,)).fingerprint}
    names.add(encoder(checkpoint, dtype=torch.bfloat16).fingerprint)
    assert len(names) == 3
    assert encoder(checkpoint).fingerprint in names
    state = load_file(shards(checkpoint)[0])
    name = next(iter(state))
    state[name] = state[name] + 1
    save_file(state, shards(checkpoint)[0])
    names.add(encoder(checkpoint).fingerprint)
    tokenizer = json.loads((checkpoint / "tokenizer" / "tokenizer.json").read_text("utf-8"))
    tokenizer["model"]["vocab"][10][1] -= 1
    (checkpoint / "tokenizer" / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    names.add(encoder(checkpoint).fingerprint)
    assert len(names) == 5


# ---- what is wrong -----------------------------------------------------------------------------------------------


SPECIALS_ONLY = {"type": "Unigram", "vocab": [["<pad>", 0], ["</s>", 0], ["<unk>", 0]], "unk_id": 2}
BROKEN_TOKENIZERS = [
    ("", "truncated or damaged"),
    ('{"model":', "truncated or damaged"),
    ("[" * 100_000, "truncated or damaged"),
    ("[]", "not the tokenizer of a T5"),
    ('{"model": {"type": "BPE", "vocab": {"a": 1}}}', "not the tokenizer of a T5"),
    (json.dumps({"version": "1.0", "added_tokens": [], "model": SPECIALS_ONLY}), "does not close a prompt with </s>"),
]


@pytest.mark.parametrize(("text", "sentence"), BROKEN_TOKENIZERS)
def test_a_wrong_tokenizer_is_one_sentence(checkpoint, text, sentence):
    (checkpoint / "tokenizer" / "tokenizer.json").write_text(text, "utf-8")
    with pytest.raises(FileProblem, match=sentence):
        encoder(checkpoint)


def test_missing_files_are_one_sentence(checkpoint):
    with pytest.raises(WeightsProblem, match="cannot be read"):
        encoder(checkpoint, (checkpoint / "model-00009.safetensors",))
    (checkpoint / "tokenizer" / "tokenizer.json").unlink()
    with pytest.raises(FileProblem, match=r"tokenizer.json from the repository of the model"):
        encoder(checkpoint)


def test_weights_of_something_else_are_one_sentence(checkpoint, tmp_path):
    state = text_state(0)
    lacking = {name: tensor for name, tensor in state.items() if "wi_0" not in name}
    save_file(lacking, tmp_path / "lacking.safetensors")
    with pytest.raises(WeightsProblem, match="2 missing"):
        encoder(checkpoint, (tmp_path / "lacking.safetensors",)).encode(PROMPT)
    save_file({"a": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(WeightsProblem, match="seems to be another model of 1 tensors"):
        encoder(checkpoint, (tmp_path / "other.safetensors",)).encode(PROMPT)
    with pytest.raises(WeightsProblem, match="a second time"):
        encoder(checkpoint, (*shards(checkpoint), checkpoint / ORIGINAL)).encode(PROMPT)


@pytest.mark.parametrize("library", ["transformers", "ftfy"])
def test_a_missing_library_is_one_sentence(checkpoint, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(NeedsLibrary, match=rf'needs the library {library}.*install -e "\.\[lingbot\]"'):
        encoder(checkpoint)
