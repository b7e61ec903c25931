"""A world made again up to a moment that was walked before: chunk after chunk, as fast as the model can, unseen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from engine.backends import StreamedWorld, World
from engine.errors import BadValue
from engine.protocol import EventRejected, FrameChunk, ModelCard, OpenWorld

STAGE = "Making the world again"


class Rewalk:
    """``step`` until ``is_done``; then ``world`` goes on as it did the first time.

    Raises BadValue where the world would become another one: other weights, or a server that keeps its own time.
    """

    def __init__(self, world: World, request: OpenWorld, card: ModelCard) -> None:
        if isinstance(world, StreamedWorld):
            cure = "Use a model on this computer, or replay the film with: python main.py replay FILE.mp4"
            raise BadValue(request.scene.name, "a server's world", "one that is made on this computer", cure)
        if request.model_sha256 is not None and request.model_sha256 != card.model_sha256:
            got, expected = request.model_sha256[:12], f"one of {card.model} {card.model_sha256[:12]}"
            cure = "Choose the model with which it was recorded; a film can be watched without."
            raise BadValue(request.scene.name, f"a walk of the model {got}", expected, cure)
        self.world, self.request = world, request
        self.made = 0
        self._events = list(request.events)

    @property
    def is_done(self) -> bool:
        return self.made >= self.request.chunks

    @property
    def fraction(self) -> float:
        return self.made / self.request.chunks

    def step(self, clock: Callable[[], float]) -> FrameChunk:
        """Make the next chunk after what was asked before it. Raises BadValue for an event that is refused."""
        due = list(takewhile(lambda event: event[0] <= self.made, self._events))
        del self._events[: len(due)]
        for chunk, wire in due:
            answer = self.world.apply(wire, None, clock())
            if isinstance(answer, EventRejected):
                where = f"the walk's event before chunk {chunk}, {answer.path}"
                raise BadValue(where, answer.got, answer.expected, "Watch the film instead.")
        made = self.world.step(clock)
        self.made += 1
        return made
