"""The text encoder of the LingBot-World models (umt5-xxl, 5.7 billion numbers) and where it is kept.

A prompt is cleaned, cut into at most 512 tokens and encoded without padding: the network would mask padded tokens, so
the rows are the same. The transformer fills up to 512 rows with zeros itself and does not mask them.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from engine.backends import Progress
from engine.byte_progress import ByteProgress
from engine.config import TEXT_PLACEMENTS
from engine.errors import FileProblem, NeedsLibrary
from engine.lingbot.asset_files import AssetFiles, file_bytes, sampled_sha256
from engine.lingbot.text_cache import TextCache, key_of
from engine.weights import T5_NAMES

MAX_TOKENS = 512
_EMBEDDING, _TIED = "shared.weight", "encoder.embed_tokens.weight"
_BLOCK = re.compile(r"encoder\.block\.([0-9]{1,3})\.")
_TOKENIZER_BYTES = 64 * 1024**2
_END = "</s>"


class TextEncoder:
    """Prompts to rows. ``fingerprint`` names the encoder: equal names give equal rows."""

    def __init__(
        self,
        paths: tuple[Path, ...],
        tokenizer: Tokenizer,
        fingerprint: str,
        *,
        device: torch.device,
        dtype: torch.dtype,
        policy: str,
        cache: TextCache | None,
        progress: Progress,
    ) -> None:
        self.fingerprint, self.policy = fingerprint, policy
        self._paths, self._tokenizer, self._device, self._dtype = paths, tokenizer, device, dtype
        self._cache, self._progress = cache, progress
        self._network: nn.Module | None = None

    @property
    def is_loaded(self) -> bool:
        return self._network is not None

    def encode(self, prompt: str) -> Tensor:
        """The prompt's rows [L <= 512, 4096], float32 on the processor, one for each token and one for its end."""
        return self.encode_all([prompt])[0]

    def encode_all(self, prompts: Sequence[str]) -> list[Tensor]:
        """The same for several prompts, for which an encoder that is not kept is read once at most."""
        cleaned = [clean(prompt) for prompt in prompts]
        try:
            return [self._rows(text).float() for text in cleaned]
        finally:
            if self.policy == "unload":
                self.unload()

    def load(self) -> None:
        """Read the network if it is not there; otherwise the first prompt that is not cached does."""
        if self._network is None:
            report = ByteProgress("Reading the text encoder", file_bytes(self._paths), self._progress)
            with _open(self._paths) as files:
                network, ties = _network_of(files), {_TIED: _EMBEDDING}
                files.fill(network, dtype=lambda _: self._dtype, device=self._device, report=report, tied=ties)
            self._network = network

    def unload(self) -> None:
        """Give its memory back."""
        if self._network is not None:
            self._network = None
            if self._device.type == "cuda":
                torch.cuda.empty_cache()

    def _rows(self, cleaned: str) -> Tensor:
        key = key_of(cleaned, self.fingerprint)
        cached = None if self._cache is None else self._cache.get(key)
        if cached is not None:
            return cached
        rows = self._encode(cleaned)
        if self._cache is not None:
            self._cache.put(key, rows)
        return rows

    @torch.no_grad()
    def _encode(self, cleaned: str) -> Tensor:
        self.load()
        assert self._network is not None
        ids = torch.tensor([self._tokenizer.encode(cleaned).ids], device=self._device)  # [1, L]
        rows: Tensor = self._network(input_ids=ids).last_hidden_state[0].cpu()
        return rows


def load_text(
    paths: tuple[Path, ...],
    tokenizer: Path,
    *,
    device: torch.device,
    dtype: torch.dtype,
    policy: str,
    cache: TextCache | None,
    progress: Progress,
) -> TextEncoder:
    """An encoder on transformers' shards or the original ``.pth``, with the ``tokenizer.json`` in folder ``tokenizer``.

    ``policy`` "keep" reads the network now and keeps it on ``device``; "unload" reads it for prompts that are not
    cached and gives it back; "cpu" reads it when it is first needed and keeps it on the processor. ``dtype``: bfloat16
    or float32; float16 overflows in this network. Raises NeedsLibrary, WeightsProblem and FileProblem.
    """
    assert dtype in (torch.bfloat16, torch.float32), dtype
    assert policy in TEXT_PLACEMENTS, policy
    _require_libraries()
    on = torch.device("cpu") if policy == "cpu" else device
    file = tokenizer / "tokenizer.json"
    words, digest = _read_tokenizer(file)
    # Where it runs is part of the name: another device rounds otherwise, and a walk must replay to the same bytes.
    told = f"{sampled_sha256(paths)} {digest} {dtype} {on.type} {MAX_TOKENS}"
    fingerprint = hashlib.sha256(told.encode()).hexdigest()
    encoder = TextEncoder(
        paths, words, fingerprint, device=on, dtype=dtype, policy=policy, cache=cache, progress=progress
    )
    if policy == "keep":
        encoder.load()
    return encoder


def clean(prompt: str) -> str:
    """As the model was trained: broken encodings repaired, HTML undone twice, every run of white space one space."""
    import ftfy

    repaired: str = ftfy.fix_text(prompt)
    return re.sub(r"\s+", " ", html.unescape(html.unescape(repaired))).strip()


def _require_libraries() -> None:
    for name in ("ftfy", "transformers"):
        try:
            __import__(name)
        except ImportError as error:
            missing = (error.name or name).partition(".")[0]
            raise NeedsLibrary(missing, "lingbot", "The text encoder of the large models needs") from error


def _read_tokenizer(file: Path) -> tuple[Tokenizer, str]:
    """The library's own definition of the words, and the hash of its file."""
    cure = "Take tokenizer.json from the repository of the model, folder tokenizer or google/umt5-xxl."
    try:
        if file.stat().st_size > _TOKENIZER_BYTES:
            raise FileProblem(file, f"is too big for a tokenizer ({file.stat().st_size} bytes)", cure)
        data = file.read_bytes()
        values = json.loads(data)
    except OSError as error:
        raise FileProblem(file, f"cannot be read ({error.strerror})", cure) from error
    except (ValueError, RecursionError) as error:
        raise FileProblem(file, f"is truncated or damaged ({error})", cure) from error
    # The library itself raises a bare Exception for whatever it does not understand.
    model = values.get("model") if isinstance(values, dict) else None
    if not isinstance(model, dict) or not model.get("vocab") or model.get("type") != "Unigram":
        raise FileProblem(file, "is not the tokenizer of a T5 text encoder", cure)
    words = Tokenizer.from_str(data.decode("utf-8"))
    words.enable_truncation(MAX_TOKENS)
    words.no_padding()
    if words.encode("").ids[-1:] != [words.token_to_id(_END)]:
        raise FileProblem(file, f"does not close a prompt with {_END}, as the text encoder was trained", cure)
    return words, hashlib.sha256(data).hexdigest()


def _open(paths: tuple[Path, ...]) -> AssetFiles:
    files = AssetFiles(paths, T5_NAMES)
    # Some files hold the embedding under both of its names, some under one.
    tied = files.tensors.pop(_TIED, None)
    if tied is not None:
        files.tensors.setdefault(_EMBEDDING, tied)
    return files


def _network_of(files: AssetFiles) -> nn.Module:
    """The network on the meta device; its sizes follow from the shapes, umt5-xxl's where one is missing."""
    from transformers import UMT5Config, UMT5EncoderModel

    attention, feed_forward = "encoder.block.0.layer.0.SelfAttention", "encoder.block.0.layer.1.DenseReluDense"
    vocabulary, width = files.shape(_EMBEDDING, 2) or (256384, 4096)
    buckets, heads = files.shape(f"{attention}.relative_attention_bias.weight", 2) or (32, 64)
    inner = (files.shape(f"{attention}.q.weight", 2) or (4096, width))[0]
    hidden = (files.shape(f"{feed_forward}.wi_0.weight", 2) or (10240, width))[0]
    numbers = [int(found[1]) for name in files.tensors if (found := _BLOCK.match(name))]
    config = UMT5Config(
        vocab_size=vocabulary,
        d_model=width,
        d_kv=max(1, inner // max(1, heads)),
        d_ff=hidden,
        num_layers=max(numbers) + 1 if numbers else 24,
        num_heads=heads,
        relative_attention_num_buckets=buckets,
    )
    with torch.device("meta"):
        network: nn.Module = UMT5EncoderModel(config)
    return network
