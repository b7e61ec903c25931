"""Keeps in step what the window has of each line of a walk: the frames that were shown, and what was asked."""

from __future__ import annotations

from app.branches import PlaceSeen
from app.past_frames import PastFrames
from app.playback import Due, Playback
from app.small_pictures import small
from app.takes import Takes
from engine.lines import FIRST
from engine.protocol import FrameChunk, MomentsKept, Pixels, WentBack


class BranchKeeper:
    """One owner, the window's thread."""

    def __init__(self, playback: Playback, past: PastFrames, takes: Takes) -> None:
        self._playback, self._past, self._takes = playback, past, takes
        self._line = FIRST.number
        self._newest: FrameChunk | None = None
        """Of the line that is walked; None where none of it has come yet."""
        self._has_shown = False

    def begin(self) -> None:
        """Another world has opened."""
        self._past.clear()
        self._line, self._newest, self._has_shown = FIRST.number, None, False

    def came(self, chunk: FrameChunk, *, unseen: bool = False) -> None:
        """``chunk`` is the newest one. ``unseen``: it came while the world was on its way to an earlier moment."""
        self._newest = chunk
        if unseen:
            self._takes.left_unseen(chunk)

    def shown(self, due: Due) -> PlaceSeen | None:
        """A frame was shown; the walk's first one is told."""
        self._past.add(due.frame, due.position)
        if self._has_shown or not due.first_of:
            return None
        self._has_shown, chunk = True, due.first_of[-1]
        return self._place(FIRST.number, chunk.chunk, chunk.prompt, due.frame)

    def went(self, back: WentBack) -> tuple[PlaceSeen, ...]:
        """The world is at another moment of its walk. Returns what was left and what was reached."""
        places = []
        if self._newest is not None:
            left, frame = self._newest, self._newest.frames[-1]
            self._past.leave(frame, left.chunk + 1.0)
            places.append(self._place(self._line, left.chunk, left.prompt, frame))
        picture = self._past.go(back.chunk, back.line, back.origin)
        self._playback.go_back(picture)
        self._takes.went(back.chunk, back.line, back.origin)
        if picture is not None:
            places.append(self._place(back.origin, back.chunk, back.prompt, picture))
        self._line, self._newest = back.line, None
        return tuple(places)

    def kept(self, kept: MomentsKept) -> None:
        """What cannot be gone to any more is forgotten."""
        lines = [line.number for line in kept.lines]
        self._past.keep_only(lines)
        self._takes.keep_only(lines)

    def _place(self, line: int, chunk: int, prompt: str, frame: Pixels) -> PlaceSeen:
        return PlaceSeen(line, chunk, (chunk + 1) * self._playback.chunk_seconds, prompt, small(frame))
