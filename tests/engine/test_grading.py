"""A world's own light: put on pictures, taken off them, and found between two of them."""

import pytest
import torch

from engine.grading import GRADING_SIZE, LARGEST_LOOK, grade, look_between, ungrade


@pytest.fixture
def picture():
    """[1, 3, 48, 64] in [0.2, 0.8], with all colours in it."""
    torch.manual_seed(0)
    return torch.nn.functional.interpolate(torch.rand(1, 3, 6, 8), (48, 64), mode="bilinear") * 0.6 + 0.2


LOOKS = [torch.tensor(look) for look in ([0.0] * 5, [0.7, 1.2, 0.5, 0.6, 1.1], [-0.9, -0.6, 0.3, -0.7, -1.0])]


@pytest.mark.parametrize("look", LOOKS)
def test_what_was_put_on_is_taken_off(picture, look):
    assert torch.allclose(ungrade(grade(picture, look[None]), look[None]), picture, atol=1e-5)


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_is_found_between_a_picture_and_the_same_in_it(picture, look):
    graded = grade(picture, look[None])
    found = look_between(picture, graded)
    assert found.shape == (GRADING_SIZE,)
    assert float((grade(picture, found[None]) - graded).abs().max()) < 0.02


def test_what_stands_only_in_one_picture_says_little_of_the_look(picture):
    look = LOOKS[1]
    graded = grade(picture, look[None])
    graded[..., :16, :16] = 0.0
    assert float((grade(picture, look_between(picture, graded)[None]) - grade(picture, look[None])).abs().mean()) < 0.02


def test_no_look_is_beyond_the_largest(picture):
    assert float(look_between(picture, torch.ones_like(picture)).abs().max()) <= LARGEST_LOOK
