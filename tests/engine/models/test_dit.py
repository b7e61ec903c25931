import pytest
import torch
from torch import nn

from engine.models.dit import CausalDiT, ChunkContext, DiTConfig, layer_norm, sinusoid
from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from engine.models.rope import direction_table
from tests.engine.tiny_dit import (
    CHUNK,
    CONFIG,
    TOKENS_PER_FRAME,
    chunk_frames,
    difference,
    golden,
    golden_json,
    tiny_cache,
    tiny_dit,
)

IO = golden("dit_tiny_io")
SIZES = golden_json("dit_tiny_config")
TIMESTEPS = {"A": torch.tensor(999), "B": torch.tensor(2500 / 3), "C": torch.tensor(0.0)}


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.no_grad():
        yield


def model_input(chunk: int, which: str) -> torch.Tensor:
    frames = chunk_frames(chunk)
    return torch.cat([IO[f"in.latents_{which}"][:, frames], IO["in.condition"][:, frames]])[None]


def context(chunk: int, cache: CausalKVCache, cross: CrossAttentionCache, text: str = "p1", recent: int | None = None):
    return ChunkContext(
        text=IO[f"in.text_{text}"][None],
        camera=tiny_dit().prepare_camera(IO["in.plucker"][:, :, chunk_frames(chunk)]),
        cache=cache,
        cross=cross,
        start_latent_frame=CHUNK * chunk,
        recent_window_tokens=None if recent is None else recent * TOKENS_PER_FRAME,
    )


def run(chunk: int, which: str, shared: ChunkContext) -> torch.Tensor:
    return tiny_dit()(model_input(chunk, which), TIMESTEPS[which], shared)[0]


def test_the_parameters_carry_the_names_of_the_original_checkpoints():
    names = golden_json("dit_key_map")["original_to_sglang"]
    assert set(CausalDiT(CONFIG).state_dict()) == set(names)


@pytest.mark.parametrize("name", SIZES["cache_configs"])
def test_three_passes_over_five_chunks_with_every_cache_as_golden(name):
    sizes = SIZES["cache_configs"][name]
    cache = tiny_cache(sizes["cache_frames"], sizes["sink_frames"], sizes["max_attention_frames"])
    cross = CrossAttentionCache()
    for chunk in range(5):
        shared = context(chunk, cache, cross)
        for which in "ABC":
            assert difference(run(chunk, which, shared), IO[f"out.{name}.chunk{chunk}.{which}"]) < 2e-5
    if name == "win7_sink2":
        for layer in (0, 2):
            assert difference(cache.keys[layer], IO[f"cache.win7_sink2.after_chunk4.layer{layer}.k"]) < 2e-5
            assert difference(cache.values[layer], IO[f"cache.win7_sink2.after_chunk4.layer{layer}.v"]) < 2e-5


@pytest.mark.parametrize("name", SIZES["sglang_cache_configs"])
def test_recent_windows_with_a_pass_that_only_writes_as_golden(name):
    sizes = SIZES["sglang_cache_configs"][name]
    cache = tiny_cache(sizes["cache_frames"], sizes["sink_frames"], sizes.get("attention_window_frames"))
    cross = CrossAttentionCache()
    for chunk in range(5):
        shared = context(chunk, cache, cross, recent=sizes["recent_frames"])
        out = run(chunk, "A", shared)
        if f"out.{name}.chunk{chunk}.A" in IO:
            assert difference(out, IO[f"out.{name}.chunk{chunk}.A"]) < 2e-5
        tiny_dit().write_cache(model_input(chunk, "C"), TIMESTEPS["C"], shared)


@pytest.mark.parametrize("kind", ["reset", "stale"])
def test_a_prompt_change_with_and_without_a_reset_as_golden(kind):
    cache, cross = tiny_cache(9, 3), CrossAttentionCache()
    for chunk in range(4):
        if chunk == 2 and kind == "reset":
            cross.reset()
        shared = context(chunk, cache, cross, "p1" if chunk < 2 else "p2")
        for which in "ABC":
            out = run(chunk, which, shared)
            if chunk >= 2:
                assert difference(out, IO[f"out.prompt_{kind}.chunk{chunk}.{which}"]) < 2e-5


def test_a_full_text_no_camera_and_an_all_zero_camera_as_golden():
    model = tiny_dit()
    zero = model.prepare_camera(torch.zeros_like(IO["in.plucker"][:, :, :CHUNK]))
    given = context(0, tiny_cache(3), CrossAttentionCache()).camera
    for name, text, camera in (("text_full", "p3", given), ("no_camera", "p1", None), ("zero_plucker", "p1", zero)):
        shared = ChunkContext(IO[f"in.text_{text}"][None], camera, tiny_cache(3), CrossAttentionCache(), 0)
        assert difference(run(0, "A", shared), IO[f"out.{name}.chunk0.A"]) < 2e-5


def record(module: nn.Module, into: dict[str, torch.Tensor], name: str) -> torch.utils.hooks.RemovableHandle:
    def keep(_module: nn.Module, _inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        into[name] = output

    return module.register_forward_hook(keep)


def test_the_values_on_the_way_as_golden():
    model, seen = tiny_dit(), {}
    block = model.blocks[0]
    watched = {
        "text_embedding": model.text_embedding,
        "plucker_embedding_linear": model.patch_embedding_wancamctrl,
        "plucker_mlp_out": model.c2ws_hidden_states_layer2,
        "block0.self_attn.q_linear": block.self_attn.q,
        "block0.self_attn.norm_q": block.self_attn.norm_q,
        "block0.self_attn": block.self_attn.o,
        "block0.cam_scale": block.cam_scale_layer,
        "block0.cam_shift": block.cam_shift_layer,
        "block0.cross_attn": block.cross_attn.o,
        "block0.ffn": block.ffn,
        "time_embedding": model.time_embedding,
        "time_projection": model.time_projection,
        "head": model.head,
        **{f"block{layer}": block for layer, block in enumerate(model.blocks)},
    }
    hooks = [record(module, seen, name) for name, module in watched.items()]
    hooks.append(block.register_forward_pre_hook(lambda _, inputs: seen.update(patches=inputs[0])))
    hooks.append(block.cross_attn.q.register_forward_pre_hook(lambda _, x: seen.update({"block0.norm3": x[0]})))
    cache, cross = tiny_cache(15), CrossAttentionCache()
    run(0, "A", context(0, cache, cross))
    for hook in hooks:
        hook.remove()
    patches = seen.pop("patches")
    seen["block0.norm1"] = layer_norm(patches, CONFIG.eps)
    seen["patch_embedding"] = patches.mT
    seen["layer0.cross_k"], seen["layer0.cross_v"] = cross.layers[0]
    seen["layer0.k_cache_rows"], seen["layer0.v_cache_rows"] = cache.keys[0, :, :18], cache.values[0, :, :18]
    assert {f"mid.global.chunk0.A.{name}" for name in seen} == {name for name in IO if name.startswith("mid.global")}
    for name, value in seen.items():
        wanted = IO[f"mid.global.chunk0.A.{name}"]
        assert difference(value.reshape(wanted.shape), wanted) < 2e-5, name


def test_the_blocks_behind_a_full_window_as_golden():
    seen: dict[str, torch.Tensor] = {}
    cache, cross = tiny_cache(7, 2), CrossAttentionCache()
    for chunk in range(4):
        shared = context(chunk, cache, cross)
        tiny_dit().write_cache(model_input(chunk, "C"), TIMESTEPS["C"], shared)
    hooks = [record(block, seen, f"block{layer}") for layer, block in enumerate(tiny_dit().blocks)]
    run(4, "A", context(4, cache, cross))
    for hook in hooks:
        hook.remove()
    for name, value in seen.items():
        assert difference(value, IO[f"mid.win7_sink2.chunk4.A.{name}"]) < 2e-5


def test_norms_and_sinusoid_as_golden():
    block, x = tiny_dit().blocks[0], IO["unit.x_small"]
    assert difference(layer_norm(x, CONFIG.eps), IO["unit.norm1_out"]) < 1e-5
    assert difference(layer_norm(x, CONFIG.eps, block.norm3), IO["unit.norm3_out"]) < 1e-5
    assert difference(block.self_attn.norm_q(x), IO["unit.self_attn.norm_q_out"]) < 1e-5
    assert difference(block.cross_attn.norm_k(x), IO["unit.cross_attn.norm_k_out"]) < 1e-5
    assert difference(sinusoid(IO["unit.timesteps"], 256), IO["unit.sinusoid"]) < 1e-6


def test_a_timestep_for_each_latent_frame_is_the_scalar_when_all_are_equal():
    cache = tiny_cache(3)
    shared = context(0, cache, CrossAttentionCache())
    scalar = tiny_dit()(model_input(0, "A"), torch.tensor(500.0), shared)
    each = tiny_dit()(model_input(0, "A"), torch.full((1, 3), 500.0), shared)
    assert difference(scalar, each) < 2e-6


def test_a_clip_in_one_pass_is_the_stream_frame_by_frame():
    model, frames = tiny_dit(), 9
    x = torch.cat([IO["in.latents_A"], IO["in.condition"]])[None, :, :frames]
    timesteps = torch.linspace(0, 999, frames)[None]
    pluecker, text = IO["in.plucker"][:, :, :frames], IO["in.text_p1"][None]
    clip = model.forward_clip(x, timesteps, text, model.prepare_camera(pluecker))
    cache, cross = tiny_cache(frames), CrossAttentionCache()
    for f in range(frames):
        one = slice(f, f + 1)
        shared = ChunkContext(text, model.prepare_camera(pluecker[:, :, one]), cache, cross, f)
        assert difference(model(x[:, :, one], timesteps[:, one], shared), clip[:, :, one]) < 1e-5


def test_a_clip_by_chunks_of_three_is_the_stream_chunk_by_chunk():
    model, cache, cross = tiny_dit(), tiny_cache(9), CrossAttentionCache()
    x = torch.cat([model_input(chunk, "A") for chunk in range(3)], dim=2)
    chunk_of = torch.arange(9) // CHUNK
    camera = model.prepare_camera(IO["in.plucker"][:, :, :9])
    visible = chunk_of[None, :] <= chunk_of[:, None]
    clip = model.forward_clip(x, torch.full((1, 9), 999.0), IO["in.text_p1"][None], camera, visible=visible)
    for chunk in range(3):
        out = run(chunk, "A", context(chunk, cache, cross))
        assert difference(out, clip[0, :, chunk_frames(chunk)]) < 1e-5


def test_a_batch_is_its_items_one_by_one():
    model = tiny_dit()
    x = torch.cat([model_input(0, "A"), model_input(1, "B")])
    timesteps, pluecker = torch.tensor([[10.0, 500, 999], [999.0, 0, 3]]), IO["in.plucker"]
    text = torch.stack([IO["in.text_p2"], IO["in.text_p1"][:7]])
    rays = torch.cat([pluecker[:, :, :3], pluecker[:, :, 3:6]])
    both = model.forward_clip(x, timesteps, text, model.prepare_camera(rays))
    for i in range(2):
        camera = model.prepare_camera(rays[i : i + 1])
        alone = model.forward_clip(x[i : i + 1], timesteps[i : i + 1], text[i : i + 1], camera)
        assert difference(alone[0], both[i]) < 1e-5


def test_gradients_reach_every_parameter_of_a_fresh_model():
    torch.manual_seed(0)
    with torch.enable_grad():
        model = CausalDiT(
            DiTConfig(dim=32, heads=2, layers=2, ffn_dim=48, text_length=4, text_dim=8, rope_split=(0, 4, 4))
        )
        camera = model.prepare_camera(torch.randn(1, 384, 2, 4, 4))
        out = model.forward_clip(torch.randn(1, 36, 2, 4, 4), torch.rand(1, 2) * 1000, torch.randn(1, 3, 8), camera)
        out.square().mean().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_start_values_predict_zero_and_let_the_camera_change_nothing():
    model = CausalDiT(DiTConfig(dim=32, heads=2, layers=1, ffn_dim=48, text_length=4, text_dim=8))
    model.init_weights()
    camera = model.prepare_camera(torch.randn(1, 384, 1, 4, 4))
    assert torch.equal(camera.scales[0], torch.ones(1, 4, 32))
    out = model.forward_clip(torch.randn(1, 36, 1, 4, 4), torch.full((1, 1), 500.0), torch.randn(1, 2, 8), camera)
    assert out.abs().max() == 0


def test_half_precision_weights_give_nearly_the_same_prediction():
    half = CausalDiT(CONFIG).to(torch.bfloat16)
    half.load_state_dict(golden("dit_tiny"))
    shape = tiny_cache(15).shape
    cache = CausalKVCache(shape, dtype=torch.bfloat16, device="cpu")
    camera = half.prepare_camera(IO["in.plucker"][:, :, :CHUNK])
    shared = ChunkContext(IO["in.text_p1"][None], camera, cache, CrossAttentionCache(), 0)
    out = half(model_input(0, "A"), TIMESTEPS["A"], shared)[0]
    assert out.dtype == torch.float32
    assert difference(out, IO["out.global.chunk0.A"]) < 0.2


def test_a_model_of_any_size_is_built_without_memory():
    with torch.device("meta"):
        large = CausalDiT(DiTConfig(dim=5120, heads=40, layers=40, ffn_dim=13824, text_length=512, text_dim=4096))
    assert round(sum(p.numel() for p in large.parameters()) / 1e9, 3) == 18.544


@pytest.mark.parametrize(("heads", "split"), [(3, None), (2, (4, 4, 4))])
def test_sizes_that_do_not_fit_together_are_refused(heads, split):
    with pytest.raises(ValueError, match="split"):
        DiTConfig(dim=32, heads=heads, layers=1, ffn_dim=48, text_length=4, text_dim=8, rope_split=split)


def test_a_clip_with_directions_for_positions_is_the_stream_frame_by_frame():
    torch.manual_seed(0)
    config = DiTConfig(32, 2, 2, 48, 4, 8, camera_channels=4, rope_split=(0, 4, 4), rope_turns=(10, 4, 2, 1))
    model, frames = CausalDiT(config).eval(), 4
    x, text, rays = torch.randn(1, 36, frames, 4, 6), torch.randn(1, 4, 8), torch.randn(1, 4, frames, 4, 6)
    rope = direction_table((10, 4, 2, 1), 4, torch.rand(1, frames, 3), torch.rand(1, frames, 2))
    timesteps = torch.linspace(0, 999, frames)[None]
    with torch.no_grad():
        clip = model.forward_clip(x, timesteps, text, model.prepare_camera(rays), rope=rope.flatten(1, 2))
        cache, cross = (
            CausalKVCache(CacheShape(2, 2, 16, 6 * frames), dtype=torch.float32, device="cpu"),
            CrossAttentionCache(),
        )
        for f in range(frames):
            one = slice(f, f + 1)
            shared = ChunkContext(text, model.prepare_camera(rays[:, :, one]), cache, cross, f, rope=rope[0, f])
            assert difference(model(x[:, :, one], timesteps[:, one], shared), clip[:, :, one]) < 1e-5


@pytest.mark.parametrize("history", [0, 1, 3, 4])
def test_clean_history_before_noisy_frames_is_the_mask_that_says_so(history):
    torch.manual_seed(0)
    model, frames = CausalDiT(DiTConfig(32, 2, 2, 48, 4, 8, camera_channels=4)).eval(), 4
    model.init_weights()
    nn.init.normal_(model.head.head.weight)
    x, text = torch.randn(2, 36, frames, 4, 6), torch.randn(2, 4, 8)
    camera = model.prepare_camera(torch.randn(2, 4, frames, 4, 6))
    visible = torch.eye(frames, dtype=torch.bool)
    visible[:history, :history] = torch.ones(history, history, dtype=torch.bool).tril()
    visible[history:, :history] = True
    timesteps = torch.full((2, frames), 300.0)
    masked = model.forward_clip(x, timesteps, text, camera, visible=visible)
    assert difference(model.forward_clip(x, timesteps, text, camera, history=history), masked) < 1e-5
