"""Every published layout of LingBot-World at a tiny size, with random weights.

By hand: ``python -m tests.lingbot_checkpoints FOLDER --layout v2-14b``. The files, their names, their types and their
JSON are those of the published repositories; only the numbers of layers, rows and columns are small. The VAE is the
tiny one of the golden data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
from tokenizers.models import Unigram
from torch import Tensor

from engine.models.dit import CausalDiT
from engine.models.dit_config import DiTConfig
from engine.weights import T5_NAMES, VAE_NAMES

GOLDEN = Path(__file__).parent / "golden"
LAYOUTS = ("v1-fast", "v2-14b", "v2-14b-diffusers", "v2-1.3b")
TEXT_DIM, TEXT_HEADS, TEXT_LAYERS, TEXT_FFN = 32, 2, 2, 48
PIECES = (
    "<pad>",
    "</s>",
    "<unk>",
    "▁",
    *(chr(code) for code in range(33, 127)),
    *("▁a", "▁the", "▁in", "▁snow", "▁night", "▁forest"),
)
TINY_14B = DiTConfig(dim=128, heads=4, layers=2, ffn_dim=224, text_length=512, text_dim=TEXT_DIM)
TINY_1_3B = DiTConfig(dim=128, heads=1, layers=2, ffn_dim=224, text_length=512, text_dim=TEXT_DIM)
"""One head of 128, as a repository without config.json leaves only that to be assumed."""

State = dict[str, Tensor]


@dataclass(frozen=True)
class Made:
    """``assets`` is the folder to name for what ``path`` lacks, or None where it lacks nothing."""

    path: Path
    assets: Path | None
    dit: DiTConfig


def write(folder: Path, layout: str, seed: int = 0) -> Made:
    """Write one layout into ``folder``, which is made. Same seed, same bytes."""
    if layout == "v2-1.3b":
        _shards(folder / "model", "model", dit_state(TINY_1_3B, seed), count=6)
        _original_companions(folder / "assets", seed)
        return Made(folder / "model", folder / "assets", TINY_1_3B)
    state = dit_state(TINY_14B, seed)
    if layout == "v2-14b":
        _shards(folder / "transformers", "diffusion_pytorch_model", _as(state, torch.bfloat16), count=3)
        _json(folder / "transformers" / "config.json", _original_config(TINY_14B))
        _original_companions(folder, seed)
    else:
        assert layout in LAYOUTS, layout
        _shards(folder / "transformer", "diffusion_pytorch_model", state, count=4)
        _json(folder / "transformer" / "config.json", _diffusers_config(TINY_14B))
        _json(folder / "model_index.json", MODEL_INDEX)
        _json(folder / "scheduler" / "scheduler_config.json", SCHEDULER)
        _diffusers_companions(folder, seed)
    return Made(folder, None, TINY_14B)


def dit_state(config: DiTConfig, seed: int) -> State:
    """Random weights of a transformer, float32, whose output neither vanishes nor explodes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return {name: tensor.detach() for name, tensor in CausalDiT(config).state_dict().items()}


def text_state(seed: int) -> State:
    """A UMT5 encoder under the names of transformers, without the second name of its embedding."""
    generator = torch.Generator().manual_seed(seed + 1)
    dim, ffn = TEXT_DIM, TEXT_FFN

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator) * shape[-1] ** -0.5

    state = {"token_embedding.weight": normal(len(PIECES), dim) * dim**0.5, "norm.weight": torch.ones(dim)}
    for layer in range(TEXT_LAYERS):
        block = f"blocks.{layer}."
        state |= {f"{block}norm{number}.weight": torch.ones(dim) for number in (1, 2)}
        state |= {f"{block}attn.{part}.weight": normal(dim, dim) for part in "qkvo"}
        state |= {f"{block}ffn.{part}.weight": normal(ffn, dim) for part in ("gate.0", "fc1")}
        state |= {f"{block}ffn.fc2.weight": normal(dim, ffn)}
        state |= {f"{block}pos_embedding.embedding.weight": normal(32, TEXT_HEADS)}
    return {T5_NAMES.to_other(name): tensor for name, tensor in state.items()}


def vae_state() -> State:
    """AutoencoderKLWan of base_dim 8 under diffusers' names, float32."""
    return {name: tensor.float() for name, tensor in load_file(GOLDEN / "vae_tiny.safetensors").items()}


def write_tokenizer(folder: Path) -> None:
    """A unigram tokenizer with T5's special tokens that knows every printable ASCII character."""
    scores = [(piece, 0.0 if number < 3 else -float(4 - min(3, len(piece)))) for number, piece in enumerate(PIECES)]
    tokenizer = Tokenizer(Unigram(scores, unk_id=2, byte_fallback=False))
    metaspace = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer.add_special_tokens(list(PIECES[:3]))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    _json(folder / "special_tokens_map.json", named)
    _json(folder / "tokenizer_config.json", {"tokenizer_class": "T5TokenizerFast", "extra_ids": 0, **named})


def _original_companions(folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = {T5_NAMES.to_original(name): tensor for name, tensor in text_state(seed).items()}
    torch.save(_as(text, torch.bfloat16), folder / "models_t5_umt5-xxl-enc-bf16.pth")
    torch.save({VAE_NAMES.to_original(name): tensor for name, tensor in vae_state().items()}, folder / "Wan2.1_VAE.pth")
    write_tokenizer(folder / "google" / "umt5-xxl")


def _diffusers_companions(folder: Path, seed: int) -> None:
    _shards(folder / "text_encoder", "model", _as(text_state(seed), torch.bfloat16), count=3)
    _json(folder / "text_encoder" / "config.json", TEXT_CONFIG)
    write_tokenizer(folder / "tokenizer")
    (folder / "vae").mkdir(parents=True, exist_ok=True)
    save_file(vae_state(), folder / "vae" / "diffusion_pytorch_model.safetensors")
    config = (GOLDEN / "vae_tiny_config.json").read_text(encoding="utf-8")
    (folder / "vae" / "config.json").write_text(config, encoding="utf-8")


def _shards(folder: Path, stem: str, state: State, count: int) -> None:
    """Sharded safetensors and their index, as ``save_pretrained`` of diffusers and transformers writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    names, weight_map = list(state), {}
    for number in range(count):
        part = {name: state[name].contiguous() for name in names[number::count]}
        file = f"{stem}-{number + 1:05d}-of-{count:05d}.safetensors"
        save_file(part, folder / file, metadata={"format": "pt"})
        weight_map.update(dict.fromkeys(part, file))
    total = sum(tensor.numel() * tensor.element_size() for tensor in state.values())
    _json(folder / f"{stem}.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": weight_map})


def _as(state: State, dtype: torch.dtype) -> State:
    return {name: tensor.to(dtype) for name, tensor in state.items()}


def _json(path: Path, content: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _original_config(dit: DiTConfig) -> dict[str, object]:
    """Wan's own config.json: no width of text rows, and streaming values that say nothing (-1 and 0)."""
    return {
        "_class_name": "WanModelFast",
        "_diffusers_version": "0.33.0",
        "dim": dit.dim,
        "eps": dit.eps,
        "ffn_dim": dit.ffn_dim,
        "freq_dim": dit.freq_dim,
        "in_dim": dit.in_channels,
        "local_attn_size": -1,
        "model_type": "i2v",
        "num_heads": dit.heads,
        "num_layers": dit.layers,
        "out_dim": dit.out_channels,
        "sink_size": 0,
        "text_len": dit.text_length,
    }


def _diffusers_config(dit: DiTConfig) -> dict[str, object]:
    return {
        "_class_name": "CausalLingBotWorldTransformer3DModel",
        "_diffusers_version": "0.35.0.dev0",
        "added_kv_proj_dim": None,
        "attention_head_dim": dit.head_dim,
        "cross_attn_norm": True,
        "eps": dit.eps,
        "ffn_dim": dit.ffn_dim,
        "freq_dim": dit.freq_dim,
        "image_dim": None,
        "in_channels": dit.in_channels,
        "local_attn_size": -1,
        "num_attention_heads": dit.heads,
        "num_frames_per_block": 3,
        "num_layers": dit.layers,
        "out_channels": dit.out_channels,
        "patch_size": [1, 2, 2],
        "pos_embed_seq_len": None,
        "qk_norm": "rms_norm_across_heads",
        "rope_max_seq_len": 1024,
        "sink_size": 9,
        "sliding_window_num_frames": 18,
        "text_dim": dit.text_dim,
    }


MODEL_INDEX: dict[str, object] = {
    "_class_name": "LingBotWorldCausalDMDPipeline",
    "_diffusers_version": "0.35.0.dev0",
    "image_encoder": [None, None],
    "image_processor": [None, None],
    "scheduler": ["diffusers", "UniPCMultistepScheduler"],
    "text_encoder": ["transformers", "UMT5EncoderModel"],
    "tokenizer": ["transformers", "T5TokenizerFast"],
    "transformer": ["diffusers", "CausalLingBotWorldTransformer3DModel"],
    "transformer_2": [None, None],
    "vae": ["diffusers", "AutoencoderKLWan"],
}
SCHEDULER: dict[str, object] = {
    "_class_name": "UniPCMultistepScheduler",
    "flow_shift": 3.0,
    "num_train_timesteps": 1000,
    "prediction_type": "flow_prediction",
    "use_flow_sigmas": True,
}
TEXT_CONFIG: dict[str, object] = {
    "architectures": ["UMT5EncoderModel"],
    "d_ff": TEXT_FFN,
    "d_kv": TEXT_DIM // TEXT_HEADS,
    "d_model": TEXT_DIM,
    "dense_act_fn": "gelu_new",
    "feed_forward_proj": "gated-gelu",
    "is_encoder_decoder": True,
    "is_gated_act": True,
    "layer_norm_epsilon": 1e-6,
    "model_type": "umt5",
    "num_heads": TEXT_HEADS,
    "num_layers": TEXT_LAYERS,
    "relative_attention_max_distance": 128,
    "relative_attention_num_buckets": 32,
    "torch_dtype": "bfloat16",
    "vocab_size": len(PIECES),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a tiny LingBot-World checkpoint of a published layout.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layout", choices=LAYOUTS, default=LAYOUTS[0])
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    made = write(asked.folder, asked.layout, asked.seed)
    print(f"{made.path}" + (f" (engine.lingbot.assets={made.assets})" if made.assets else ""))


if __name__ == "__main__":
    main()
