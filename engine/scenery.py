"""What is different from one kind of model to another: how a world begins, is told, and becomes pictures.

``WorldSession`` does everything else the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from engine.camera import ChunkPoses, Poses
from engine.protocol import Prompt
from engine.sampler import Renoise


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """What surrounds the noise of one chunk, and the noise itself."""

    condition: Tensor  # [1, 20, F, h, w]: mask and condition latent, behind the noisy channels in every pass
    noise: Tensor  # [1, 16, F, h, w]
    renoise: Renoise
    shown: Poses
    """[4, 4], the camera of the last frame that will be shown."""
    decode: Callable[[Tensor], Iterator[Tensor]]
    """The chunk's x0 [1, 16, F, h, w] -> its frames [T, 3, H, W] in -1..1, in parts as they are ready. Called once."""
    known: Tensor | None = None
    """x0 where nothing has to be denoised."""
    rope: Tensor | None = None
    """Positions of the chunk's tokens [N, D/2, 2] where they are directions in the world."""
    anew: bool = False
    """What is remembered ends before this chunk, which a world begins with."""


class Scenery(Protocol):
    """One world's own part of the session, with the state that only this kind of world has."""

    @property
    def notice(self) -> str | None:
        """A sentence that the user must be told of how the world began or of the newest prompt, or None."""

    @property
    def text_rows(self) -> Tensor:
        """The words of the newest chunk for the cross-attention, [1, L, D]."""

    @property
    def fade_share(self) -> float | None:
        """How far the newest chunk has come from one prompt to the next, 0 to 1; None where nothing is on its way."""

    def follow(self, prompt: Prompt) -> None:
        """Take a new prompt, or a mix of two."""

    def fade(self) -> bool:
        """Before each chunk: a step nearer to the words of the prompt. Whether they are others than before."""

    def prepare(self, chunk: int, shown: Poses, poses: ChunkPoses) -> PreparedChunk:
        """Chunk number ``chunk``, which moves from the camera ``shown`` last [4, 4] over ``poses``."""

    def redraw(self, seed: int) -> None:
        """From the next chunk on, noise comes from ``seed``."""

    def mark(self) -> Callable[[], None]:
        """What sets the state back to that of now, should the next chunk fail. Costs no memory."""

    def plain(self) -> Mapping[str, object]:
        """The state apart from tensors, as JSON has it."""

    def tensors(self) -> dict[str, Tensor]:
        """The state's tensors, under names that do not change. Nothing is ever written into one: a chunk that changes
        the state makes new ones, so that who holds the old ones holds the state as it was."""

    def take(self, plain: Mapping[str, object], tensors: Mapping[str, Tensor]) -> None:
        """Continue bit for bit from a saved state. KeyError, TypeError or ValueError where it does not fit."""
