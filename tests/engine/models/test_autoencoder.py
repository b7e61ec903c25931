"""The decoder's last step: edges of the layout are smooth, and nothing else is touched."""

import torch

from engine.layout import Lens, cast
from engine.models.autoencoder import AutoencoderConfig, GuidedDecoder, smooth_edges
from engine.training.autoencoder_stage import psnr
from engine.training.recipe import GUIDE, GUIDE_ROWS
from engine.training.shading import picture, shade
from engine.worldmap import View, WorldMap, mix_of

LENS = Lens(128, 72)


def test_a_layout_without_edges_leaves_frames_as_they_are():
    frames = torch.randn(2, 4, 3, 8, 12)
    assert torch.equal(smooth_edges(frames, torch.full((2, 4, 8, 12), 0.7)), frames)


def test_stairs_come_nearer_to_pictures_of_four_rays_a_pixel():
    land, one = WorldMap(), torch.ones(1)
    view = View(one * 50, one * 20, one * 1.2, one * 0, mix_of("forest", "noon", "clear")[None], torch.zeros(1, 2))
    guide = cast(land, view, LENS)
    stairs, smooth = shade(guide, view.mix), picture(land, view, LENS)
    edges = torch.tensor(GuidedDecoder(AutoencoderConfig(GUIDE)).edges)
    layout = guide[:, GUIDE_ROWS].movedim(1, -1) @ edges
    made = smooth_edges(stairs[None], layout[None])[0]
    assert psnr(made, smooth) > psnr(stairs, smooth) + 1.5
