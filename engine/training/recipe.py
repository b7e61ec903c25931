"""What the shipped bundled model is made of: change it here, train all stages again, and the product follows.

The network sees the layout channels of ``GUIDE``; what the simulator draws beyond them (``HIDDEN``) only a picture of
the world tells, so that its place is in the model's memory.
"""

from __future__ import annotations

from engine.layout import GUIDE_CHANNELS, Lens
from engine.models.dit import DiTConfig

NAME = "Worldwalk Third Light"
WIDTH_PX, HEIGHT_PX = 256, 144
LENS = Lens(WIDTH_PX, HEIGHT_PX)
HIDDEN = ("cloud_high", "patch_noise", "tree_random", "wave")
GUIDE = tuple(name for name in GUIDE_CHANNELS if name not in HIDDEN)
GUIDE_ROWS = [GUIDE_CHANNELS.index(name) for name in GUIDE]
"""Where the network's channels stand among the simulator's."""
SIGMAS = (1.0,)
DIT = DiTConfig(
    dim=192,
    heads=4,
    layers=6,
    ffn_dim=576,
    text_length=16,
    text_dim=128,
    rope_split=(
        0,
        12,
        12,
    ),  # none in time: history is a set of pictures, and an endless walk has no table to run out of
    rope_turns=(10, 4, 2, 1, 7, 3, 0, 0, 0, 0, 0, 0),  # 9.6 patches a radian in the middle of the picture
)
