"""The passes that make a network faster: same function, no recompile after the warm-up, refusals with a cure."""

import copy

import pytest
import torch
from torch import nn

from engine import optimize
from engine.bench.counters import graphs_compiled
from engine.errors import NeedsHardware
from engine.lingbot.memory import PUBLISHED, Room, plan
from engine.models.dit import ChunkContext
from engine.models.kv_cache import CausalKVCache, CrossAttentionCache
from engine.optimize import AttentionShape, Fp8Linear, choose_attention, compile_blocks, fp8_linears
from engine.window import WindowPolicy
from tests.engine.tiny_dit import CHUNK, TOKENS_PER_FRAME, chunk_frames, golden, tiny_cache, tiny_dit

IO = golden("dit_tiny_io")
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


def walk(dit, chunks=5, dtype=torch.float32):
    """Chunks that first fill the memory, then look at a part of it; the first without a camera. -> outputs, graphs."""
    cache = CausalKVCache(tiny_cache(9, 3).shape, dtype=dtype, device="cpu")
    cross, outputs, graphs = CrossAttentionCache(), [], []
    for chunk in range(chunks):
        frames = chunk_frames(chunk)
        camera = dit.prepare_camera(IO["in.plucker"][:, :, frames]) if chunk else None
        recent = None if chunk < 3 else TOKENS_PER_FRAME * 2
        context = ChunkContext(IO["in.text_p1"][None], camera, cache, cross, CHUNK * chunk, recent)
        x = torch.cat([IO["in.latents_A"][:, frames], IO["in.condition"][:, frames]])[None]
        outputs.append(dit(x, torch.tensor(999.0), context))
        dit.write_cache(x, torch.tensor(0.0), context)
        graphs.append(graphs_compiled())
    return torch.stack(outputs), graphs


def test_compiled_blocks_are_the_same_function_and_nothing_recompiles_once_a_camera_was_there():
    eager, _ = walk(tiny_dit())
    dit = copy.deepcopy(tiny_dit())
    before = graphs_compiled()
    assert compile_blocks(dit, "eager") == "blocks compiled by eager"
    compiled, graphs = walk(dit)
    assert torch.equal(compiled, eager)
    assert graphs[0] - before == 3  # project, finish without a camera, keys and values: not one for each layer
    assert graphs[1] - graphs[0] == 2  # camera, finish with one
    assert graphs[1:] == [graphs[1]] * 4


def test_without_a_compiler_the_cure_is_said(monkeypatch):
    monkeypatch.setattr(optimize.shutil, "which", lambda _: None)
    with pytest.raises(NeedsHardware, match="compiler"):
        compile_blocks(copy.deepcopy(tiny_dit()))


@pytest.mark.parametrize("rowwise", [True, False])
def test_an_fp8_product_is_the_product_of_the_rounded_numbers(rowwise):
    torch.manual_seed(0)
    linear = nn.Linear(64, 48).bfloat16()
    small = Fp8Linear(linear, rowwise=rowwise)
    x = torch.randn(2, 9, 64).bfloat16()
    scale = optimize._scale(x.flatten(0, 1), rowwise)
    rounded = (x.flatten(0, 1).float() / scale).to(optimize.FP8).float() * scale
    own = small.get_buffer("scale")
    weight = small.weight.float() * (own.T if rowwise else own)
    wanted = rounded @ weight.T + linear.bias.float()
    assert torch.allclose(small(x).flatten(0, 1).float(), wanted, atol=0.01, rtol=0.01)
    assert (small(x) - linear(x)).abs().max() < 0.15


def test_a_network_in_fp8_predicts_nearly_the_same_with_half_the_bytes():
    plain = copy.deepcopy(tiny_dit()).bfloat16()
    small = copy.deepcopy(plain)
    assert fp8_linears(small, (9, 0)) == "42 matrices in fp8, scaled by row"
    matrices = [m for m in small.blocks.modules() if isinstance(m, Fp8Linear)]
    assert all(m.weight.element_size() == 1 for m in matrices)
    assert small.state_dict().keys() >= plain.state_dict().keys()
    a, _ = walk(plain, 2, torch.bfloat16)
    b, _ = walk(small, 2, torch.bfloat16)
    assert (a - b).square().mean().sqrt() < 0.1 * a.square().mean().sqrt()


@pytest.mark.parametrize(("capability", "half", "said"), [((8, 6), True, "8.6"), ((9, 0), False, "bfloat16")])
def test_fp8_is_refused_where_it_cannot_be(capability, half, said):
    dit = copy.deepcopy(tiny_dit())
    with pytest.raises(NeedsHardware, match=said):
        fp8_linears(dit.bfloat16() if half else dit, capability)


def test_the_fastest_attention_is_measured_and_taken():
    choice = choose_attention(AttentionShape(2, 32, 64, 256), device=CPU, dtype=torch.float32)
    assert set(choice.milliseconds) == {"flash", "math"}
    assert choice.milliseconds[choice.backend] == min(choice.milliseconds.values())
    assert choice.line.startswith(f"attention: {choice.backend} (")


def test_a_kernel_that_cannot_run_is_left_out(monkeypatch):
    def only_math(q, k, v, backend):
        if backend is not optimize.SDPBackend.MATH:
            raise RuntimeError("No available kernel. Aborting execution.")
        return 1.0

    monkeypatch.setattr(optimize, "_attention_ms", only_math)
    assert choose_attention(AttentionShape(1, 8, 4, 4), device=CPU, dtype=torch.float32).backend == "math"


def test_the_chosen_kernel_is_the_only_fused_one():
    try:
        assert (
            optimize.use_attention(optimize.AttentionChoice("cudnn", {"cudnn": 1.0}))
            == "attention: cudnn (cudnn 1.00 ms)"
        )
        assert not torch.backends.cuda.flash_sdp_enabled()
        assert torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_flash_sdp(True)
        torch.backends.cuda.enable_mem_efficient_sdp(True)
        torch.backends.cuda.enable_cudnn_sdp(True)


def test_passes_that_nobody_asked_for_are_not_made():
    dit = copy.deepcopy(tiny_dit())
    assert optimize.apply(dit, optimize.Passes(False, False, 18, 54)) == []
    with pytest.raises(NeedsHardware, match="no fp8"):
        optimize.apply(dit, optimize.Passes(True, False, 18, 54))


def test_attention_is_probed_over_all_that_is_remembered():
    chosen = plan(PUBLISHED["v2-14b"], WindowPolicy(interactive=True), Room(139 * 10**9, (9, 0)))
    passes = optimize.Passes.of(chosen, True, PUBLISHED["v2-14b"].stream)
    assert passes == optimize.Passes(False, True, 3 * 1560, (6 + 12 + 3) * 1560)
