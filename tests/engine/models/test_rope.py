import pytest
import torch

from engine.models.rope import chunk_table, direction_table, rope_table, rotate, rotate_by, standard_split
from tests.engine.tiny_dit import difference, golden

CPU = torch.device("cpu")


@pytest.mark.parametrize(("head_dim", "split"), [(128, (22, 21, 21)), (32, (6, 5, 5)), (64, (12, 10, 10))])
def test_the_rest_of_the_pairs_goes_to_time(head_dim, split):
    assert standard_split(head_dim) == split


@pytest.mark.parametrize("start", [0, 7, 900])
def test_rotation_as_golden(start):
    io = golden("dit_tiny_io")
    table = rope_table((6, 5, 5), (start, start + 1, start + 2), 2, 3, CPU)
    assert difference(rotate(io["unit.rope_in"], table), io[f"unit.rope_out.start{start}"]) < 1e-5


def test_positions_never_run_out():
    far = rope_table((6, 5, 5), (10_000_000,), 2, 3, CPU)
    assert torch.allclose(far.abs(), torch.ones(6, 16))
    assert torch.equal(far[:, 6:], rope_table((6, 5, 5), (0,), 2, 3, CPU)[:, 6:])


def test_without_a_time_axis_all_latent_frames_are_rotated_alike():
    assert torch.equal(rope_table((0, 8, 8), (5,), 2, 3, CPU), rope_table((0, 8, 8), (900,), 2, 3, CPU))


def test_a_table_first_made_under_inference_mode_serves_training_too():
    with torch.inference_mode():
        table = rope_table((1, 1, 2), (31,), 2, 2, CPU)
    x = torch.ones(1, 4, 1, 8, requires_grad=True)
    rotate(x, table).sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("start", [0, 5, 1021, 1024, 5000, 10_000_000])
@pytest.mark.parametrize("split", [(6, 5, 5), (0, 8, 8), (22, 21, 21)])
def test_a_chunks_table_from_parts_is_the_table_of_its_positions(split, start):
    whole = rope_table(split, tuple(range(start, start + 4)), 3, 5, CPU)
    assert torch.equal(torch.view_as_complex(chunk_table(split, start, 4, 3, 5, CPU)), whole)


def test_rotation_without_complex_numbers_is_the_same():
    x, table = torch.randn(2, 18, 4, 32), chunk_table((6, 5, 5), 900, 3, 2, 3, CPU)
    compiled = torch.compile(rotate_by, backend="eager", fullgraph=True)
    assert torch.equal(compiled(x, table), rotate(x, torch.view_as_complex(table)))


TURNS = (10, 4, 2, 1)


def test_a_direction_is_the_same_after_any_number_of_full_turns():
    azimuth, rows = torch.linspace(-0.6, 0.6, 5), torch.tensor([-1.5, 0.0, 2.0])
    here = direction_table(TURNS, 4, azimuth, rows)
    assert here.shape == (15, 8, 2)
    assert torch.allclose(here, direction_table(TURNS, 4, azimuth + 6 * torch.pi, rows), atol=1e-4)


def test_directions_with_even_steps_turn_as_columns_do():
    """A grid whose columns are one radian apart, and whose first frequency is one turn a turn."""
    azimuth, rows = torch.arange(3).double(), torch.arange(2).double()
    grid = torch.view_as_real(rope_table((0, 4, 1), (0,), 2, 3, CPU))
    assert torch.allclose(direction_table((1,), 4, azimuth, rows), grid, atol=1e-6)


def test_each_item_of_a_batch_is_rotated_by_its_own_table():
    x, tables = torch.randn(2, 6, 3, 16), direction_table(TURNS, 4, torch.rand(2, 3), torch.rand(2, 2))
    both = rotate_by(x, tables)
    for i in range(2):
        assert torch.equal(rotate_by(x[i : i + 1], tables[i])[0], both[i])
