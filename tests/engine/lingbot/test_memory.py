"""What a model takes: published numbers, the network counted on the meta device, and what is chosen or refused."""

import pytest
import torch
from torch.nn import functional

from engine.geometry import ChunkGeometry
from engine.lingbot import memory
from engine.lingbot.config import Family, builtin, parameter_count
from engine.lingbot.memory import PUBLISHED, Room, Setup, Wishes, needed, plan
from engine.models.dit import CausalDiT, ChunkContext
from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from engine.window import StreamShape, WindowPolicy
from tests.engine.lingbot.live_bytes import LiveBytes

OFF, ON = WindowPolicy(), WindowPolicy(interactive=True)
H200, ADA, AMPERE = Room(139 * 10**9, (9, 0)), Room(24 * 10**9, (8, 9)), Room(24 * 10**9, (8, 6))
BIG, SMALL = PUBLISHED["v2-14b"], PUBLISHED["v2-1.3b"]
PLAIN = Setup("bfloat16", False, "cpu", False, 832, 480)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_table_without_torch_is_the_one_with_it(name):
    own, other = PUBLISHED[name], builtin(Family(name))
    assert (own.name, own.dit, own.stream) == (other.name, other.dit, other.stream)
    assert (own.width_px, own.height_px) == (other.width_px, other.height_px)


@pytest.mark.parametrize("model", [BIG, SMALL], ids=["14B", "1.3B"])
def test_matrices_and_the_rest_are_all_parameters(model):
    assert sum(memory.parameters(model.dit)) == parameter_count(model.dit)


@pytest.mark.parametrize(
    ("model", "latent_frames", "height", "gigabytes"),
    [
        (BIG, 1, 480, 1.278),
        (SMALL, 1, 480, 0.288),
        (BIG, 18, 480, 23.0),
        (SMALL, 18, 480, 5.18),
        (BIG, 24, 480, 30.7),
        (SMALL, 24, 480, 6.90),
        (BIG, 45, 480, 57.5),
        (SMALL, 45, 480, 12.9),
        (BIG, 18, 464, 22.2),
        (SMALL, 18, 464, 5.00),
    ],
)
def test_keys_and_values_take_what_is_published(model, latent_frames, height, gigabytes):
    per_frame = 2 * memory.kv_elements_per_latent_frame(model.dit, ChunkGeometry(832, height, 1))
    assert latent_frames * per_frame / 1e9 == pytest.approx(gigabytes, rel=0.005)


def test_camera_weights_and_codec_take_what_is_published():
    small, big = needed(SMALL, OFF, PLAIN), needed(BIG, OFF, PLAIN)
    assert small.camera / 1e9 == pytest.approx(1.15, rel=0.01)
    assert big.camera / 1e9 == pytest.approx(3.83, rel=0.01)
    assert (round(small.weights / 1e9, 2), round(big.weights / 1e9, 1)) == (3.42, 37.1)
    assert small.codec_state == big.codec_state == 1_888_573_440
    fp8 = Setup("bfloat16", True, "cpu", False, 832, 480)
    assert needed(BIG, OFF, fp8).weights / 1e9 == pytest.approx(18.7, rel=0.01)


def test_the_interactive_window_enlarges_the_memory():
    plain, wide = (needed(BIG, ON, Setup("bfloat16", False, "cpu", on, 832, 480)).kv for on in (False, True))
    assert wide / plain == pytest.approx((6 + 12 + 3) / 18)


@pytest.mark.parametrize("model", [BIG, SMALL], ids=["14B", "1.3B"])
def test_the_work_of_a_pass_at_full_size_is_what_was_counted(model, monkeypatch):
    def attention_without_scores(q, k, v, attn_mask=None):
        return torch.empty_like(q)  # a fused kernel keeps no scores; on the meta device torch would make them

    monkeypatch.setattr(functional, "scaled_dot_product_attention", attention_without_scores)
    dit, chunk = memory.replace(model.dit, layers=2), model.stream.chunk_latent_frames
    with torch.inference_mode(), torch.device("meta"):
        network = CausalDiT(dit).bfloat16()
        camera = network.prepare_camera(torch.empty(1, 384, chunk, 60, 104))
        shape = CacheShape(2, dit.heads, dit.head_dim, 18 * 1560)
        cache, cross = CausalKVCache(shape, dtype=torch.bfloat16, device="meta"), CrossAttentionCache()
        cross.fill(network.project_text(torch.empty(1, 5, 4096)))
        x, timestep = torch.empty(1, 36, chunk, 60, 104), torch.empty(())
        known = [*network.parameters(), *camera.scales, *camera.shifts, cache.keys, cache.values, x, timestep]
        known += [tensor for layer in cross.layers for tensor in layer]
        with LiveBytes(*known) as live:
            network(x, timestep, ChunkContext(None, camera, cache, cross, 0))
    geometry = ChunkGeometry(832, 480, chunk)
    formula = memory._denoise_work(model.dit, OFF, model.stream, geometry, 2)
    assert live.peak == pytest.approx(formula, rel=0.05)


def test_a_large_card_gets_what_was_asked():
    found = plan(BIG, ON, H200, Wishes(text_encoder="keep"))
    assert found.fits
    assert not found.notes
    assert found.setup == Setup("bfloat16", False, "keep", True, 832, 480)
    assert found.needed.total < 139e9


def test_the_small_model_fits_a_card_of_24_gb_as_it_is():
    found = plan(SMALL, ON, AMPERE)
    assert found.fits
    assert not found.notes
    assert found.needed.total < 18e9


def test_the_text_encoder_is_the_first_to_go():
    found = plan(SMALL, ON, AMPERE, Wishes(text_encoder="keep"))
    assert found.fits
    assert found.setup == Setup("bfloat16", False, "cpu", True, 832, 480)
    assert "processor" in found.notes[0]


def test_fp8_is_taken_only_where_the_card_has_it_and_memory_needs_it():
    on_ada = plan(BIG, OFF, Room(60 * 10**9, (8, 9)))
    assert on_ada.fits
    assert on_ada.setup.fp8_linears
    assert not plan(BIG, OFF, Room(60 * 10**9, (8, 6))).setup.fp8_linears
    assert not plan(BIG, OFF, Room(60 * 10**9, (8, 9)), Wishes(fp8_linears=False)).setup.fp8_linears


def test_then_the_window_and_then_the_picture_get_smaller():
    first, then = plan(BIG, ON, Room(52 * 10**9, (9, 0))), plan(BIG, ON, Room(44 * 10**9, (9, 0)))
    assert (first.policy.interactive, first.setup.width_px) == (False, 832)
    assert then.fits
    assert (then.setup.width_px, then.setup.height_px) == (640, 368)
    assert len(then.notes) == 3


def test_what_the_user_fixed_is_not_given_up():
    fixed = Wishes(size_fixed=True, window_fixed=True, fp8_linears=False)
    found = plan(BIG, ON, Room(52 * 10**9, (9, 0)), fixed)
    assert not found.fits
    assert (found.setup.width_px, found.policy.interactive) == (832, True)
    assert "smaller picture" in found.cure
    assert "fp8" in found.cure


def test_a_card_that_is_too_small_is_refused_with_the_cure():
    found = plan(BIG, ON, ADA)
    assert not found.fits
    assert "are missing" in found.cure
    assert "1.3B" in found.cure
    assert "1.3B" not in plan(SMALL, ON, Room(4 * 10**9, (8, 9))).cure


def test_main_memory_for_the_text_encoder_is_looked_at_too():
    found = plan(SMALL, ON, Room(24 * 10**9, (8, 9), host_bytes=8 * 10**9))
    assert not found.fits
    assert "main memory" in found.cure
    assert plan(SMALL, ON, Room(40 * 10**9, (8, 9), 8 * 10**9), Wishes(text_encoder="keep")).fits


def test_one_line_says_what_a_model_takes():
    assert memory.requirement(SMALL) == (
        f"{memory.gigabytes(needed(SMALL, OFF, PLAIN).total)} of GPU memory at 832x480, "
        f"{memory.gigabytes(needed(SMALL, OFF, Setup('bfloat16', True, 'cpu', False, 832, 480)).total)} with fp8 "
        "matrices, and 11.4 GB of main memory for the text encoder"
    )
    assert "832x480" in plan(SMALL, OFF, ADA).line


def test_a_stream_of_its_own_is_counted():
    wide = memory.replace(SMALL, stream=StreamShape(4, 45, 6))
    assert needed(wide, OFF, PLAIN).kv / 1e9 == pytest.approx(12.9, rel=0.01)


def test_matrices_are_loaded_before_they_become_fp8():
    found = plan(BIG, OFF, Room(32 * 10**9, (9, 0)))
    assert not found.fits
    assert found.needed.total == found.needed.loading > 37 * 10**9
