"""A world that an SGLang-Diffusion server makes: the same to the rest of the program as one that is made here."""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import os
import threading
import time
import zipfile
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.backends import Log, Progress
from engine.config import EngineConfig, RemoteConfig
from engine.errors import BadValue, FileProblem, RemoteProblem
from engine.events import Rejection, parse
from engine.protocol import (
    ChunkTimings,
    EventAccepted,
    EventRejected,
    FrameChunk,
    ModelCard,
    Optics,
    Pixels,
    PromptMix,
    RemoteShares,
    SceneSpec,
    WindowReport,
)
from engine.remote import probe
from engine.remote.address import parse_address, tls_context
from engine.remote.assembly import WholeChunk
from engine.remote.helm import Helm, Sampled
from engine.remote.inbox import Inbox
from engine.remote.link import Link, Patience
from engine.remote.odometer import PITCH_DEGREES, PITCH_LIMIT_DEGREES, YAW_DEGREES
from engine.remote.pictures import first_frame
from engine.remote.traffic import Traffic
from engine.remote.wire import ChunkStats, Init, Picture, pack_init

SIZE_STEP = 16
SIDES = "engine.remote.width_px", "engine.remote.height_px"
FOCAL_WIDTHS = 500 / 832
USUAL_LATENT_FRAMES = 3
"""Of a chunk; the server does not tell, and nothing but reports depends on it."""
MOST_NOTES = 100
GOODBYE_SECONDS = 1.0


class RemoteModel:
    """Opens worlds on one server, one at a time: the world before is let go of. Holds what was learnt of the line."""

    def __init__(self, config: RemoteConfig, progress: Progress, log: Log, patience: Patience | None = None) -> None:
        """Look for the server. Raises BadValue, FileProblem and RemoteProblem."""
        for side, name in zip((config.width_px, config.height_px), SIDES, strict=True):
            if side % SIZE_STEP:
                raise BadValue(name, str(side), f"a multiple of {SIZE_STEP}")
        self.config, self.log, self._progress = config, log, progress
        self.address = parse_address(config.server, "engine.remote.server")
        self.context = tls_context(self.address, config.ca_file, "engine.remote.ca_file")
        self.picture = Picture(config.width_px, config.height_px)
        self.traffic = Traffic()
        self.patience = patience or Patience(picture=config.patience_seconds)
        self._link: Link | None = None
        atexit.register(self.leave, GOODBYE_SECONDS)
        progress(f"Looking for the server at {self.address.shown}", 0.3)
        name = probe.look(self.address, self.context, self.traffic) or "model of the server"
        self.card = ModelCard(
            backend="sglang",
            model=name,
            model_sha256=hashlib.sha256(f"sglang\n{name}".encode()).hexdigest(),
            device=self.address.shown,
            dtype="unknown",
            threads=0,
            width=config.width_px,
            height=config.height_px,
            fps_nominal=float(config.fps),
            latent_frames_per_chunk=USUAL_LATENT_FRAMES,
        )
        self.optics = Optics(YAW_DEGREES, PITCH_DEGREES, PITCH_LIMIT_DEGREES, FOCAL_WIDTHS)

    def open(self, scene: SceneSpec, seed: int, session_id: int) -> RemoteWorld:
        """A world that begins with the scene's picture. Raises BadValue where it has none."""
        if scene.image is None:
            raise BadValue("scene", "one without a picture", "a picture to begin with", "Give one: --image FILE")
        return RemoteWorld(self, _Seen(scene.image, scene.prompt, None), seed, session_id)

    def restore(self, scene: SceneSpec, seed: int, session_id: int, path: Path) -> RemoteWorld:
        """A new session that begins with the last picture of another one. Raises FileProblem."""
        return RemoteWorld(self, _load(path), seed, session_id)

    def begin(self, world: RemoteWorld) -> Link:
        """The line for ``world``, once the one before has ended."""
        self.leave()
        self._progress("Waiting for the server's first pictures", None)
        self._link = Link(
            self.address,
            self.context,
            self.picture,
            world,
            traffic=self.traffic,
            patience=self.patience,
            previous=self._link,
        )
        return self._link

    def leave(self, wait_seconds: float = 0.0) -> None:
        """Let go of the server, which serves nobody else before."""
        if self._link is not None:
            self._link.close()
            self._link.join(wait_seconds)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was seen last: another session can begin with it. ``chunk`` None: nothing was, this is the beginning."""

    image: Pixels
    prompt: str
    chunk: int | None


class RemoteWorld:
    """See ``engine.backends.StreamedWorld``. Nothing is sent before the first ``step`` or ``go_live``."""

    def __init__(self, model: RemoteModel, begin: _Seen, seed: int, session_id: int) -> None:
        self._model, self._begins, self._last, self._seed = model, begin, begin, seed
        self._session_id, self._first_chunk = session_id, 0 if begin.chunk is None else begin.chunk + 1
        self.notice: str | None = None
        self._lock = threading.Lock()  # guards helm and stats, which both threads use
        self._helm = Helm(begin.prompt)
        self._stats: Mapping[str, int] = {}
        self._inbox = Inbox(model.config.fps, self._poke)
        self._link: Link | None = None
        self._live = False
        self._notes: deque[str] = deque(maxlen=MOST_NOTES)

    # ---- engine.backends.World ----------------------------------------------------------------------------------

    @property
    def prompt(self) -> str:
        return self._last.prompt

    @property
    def mix(self) -> None:
        """Servers mix no prompts."""

    @property
    def text_encodes(self) -> int:
        """Prompts that the server was given, the first one included."""
        return 1 + self._helm.prompts_sent

    @property
    def cross_attention_resets(self) -> int:
        return self._helm.prompts_sent

    def apply(self, wire: Mapping[str, object], pressed_at: float | None, now: float) -> EventAccepted | EventRejected:
        """Send an event on whole, or refuse it whole, here."""
        try:
            event = parse(wire, pressed_at)
        except Rejection as rejection:
            return rejection.report()
        if event.retake is not None:
            return EventRejected(event.event_id, "retake", "another making", "none, as a server makes each chunk once")
        if isinstance(event.prompt, PromptMix):
            return EventRejected(event.event_id, "prompt", "a mix of two", "one text, as servers mix none")
        with self._lock:
            self._helm.apply(event, dict(wire), now)
        self._poke()
        return EventAccepted(event.event_id, pressed_at, now)

    def step(self, clock: Callable[[], float]) -> FrameChunk:
        """The next chunk, as soon as it is here. Raises RemoteProblem once the session has ended."""
        self._begin()
        try:
            chunk = self._inbox.take()
        finally:
            while self._notes:
                self._model.log(self._notes.popleft())
        self._last = _Seen(chunk.frames[-1], chunk.prompt, chunk.chunk)
        return chunk

    def save(self, path: Path) -> None:
        """Keep the last picture and what is needed to begin with it. Raises OSError."""
        facts = {"prompt": self._last.prompt, "chunk": self._last.chunk}
        packed = io.BytesIO()
        np.savez(packed, picture=self._last.image, facts=np.array(json.dumps(facts)))
        part = path.with_name(path.name + ".part")
        part.write_bytes(packed.getvalue())
        os.replace(part, path)

    # ---- engine.backends.StreamedWorld --------------------------------------------------------------------------

    def go_live(self, wake: Callable[[], None]) -> None:
        self._live = True
        self._inbox.go_live(wake)
        self._begin()

    @property
    def is_ready(self) -> bool:
        return self._inbox.is_ready

    @property
    def last_chunk(self) -> int | None:
        return self._last.chunk

    def pause(self, paused: bool) -> None:
        """Stand still. The server knows no pause and goes on; what it makes meanwhile is not shown."""
        with self._lock:
            self._helm.pause(paused)
        self._inbox.pause(paused)
        self._poke()

    def close(self) -> None:
        if self._link is not None:
            self._link.close()

    def _begin(self) -> None:
        if self._link is None:
            self._link = self._model.begin(self)

    def _poke(self) -> None:
        if self._link is not None:
            self._link.poke()

    # ---- engine.remote.link.Listener, on the link's thread ------------------------------------------------------

    def first_message(self) -> bytes:
        config, traffic = self._model.config, self._model.traffic
        encoding = traffic.output_format(config.output_format, self._model.picture, config.fps)
        rate = traffic.bytes_per_second
        measured = "not measured yet" if rate is None else f"{rate / 1e6:.1f} MB/s"
        self.note(f"Pictures travel as {encoding} (line: {measured})")
        init = Init(
            prompt=self._begins.prompt,
            first_frame=first_frame(self._begins.image, self._model.picture),
            picture=self._model.picture,
            fps=config.fps,
            seed=self._seed,
            output_format=encoding,
            paced=self._live,
            output_quality=config.output_quality,
            sink_latent_frames=config.sink_latent_frames,
            window_latent_frames=config.window_latent_frames,
        )
        return pack_init(init)

    def next_message(self) -> bytes | None:
        with self._lock:
            return self._helm.next_message(time.monotonic())

    def refresh(self) -> None:
        with self._lock:
            self._helm.refresh()

    def came(self, chunk: WholeChunk) -> Sampled:
        with self._lock:
            sampled = self._helm.arrived(chunk.number, chunk.event_id, chunk.frames, chunk.came_at)
        self._poke()  # what was owed may be sent now
        return sampled

    def measured(self, stats: ChunkStats, now: float) -> None:
        """A chunk is followed by what the server measured of it."""
        ms = stats.ms
        sending = ms.get("raw_payload_build", 0) + max(
            ms.get("ws_write", 0), ms.get("header_write", 0) + ms.get("raw_write", 0)
        )
        with self._lock:
            self._stats = ms
            self._helm.measured(
                now,
                paced_seconds=ms.get("pace_wait", 0) / 1000,
                sending_seconds=sending / 1000,
                round_trip_seconds=self._model.traffic.round_trip_seconds,
            )
        self._poke()

    def deliver(self, chunk: WholeChunk, sampled: Sampled, frames: Pixels) -> None:
        self._inbox.put(
            FrameChunk(
                session_id=self._session_id,
                chunk=self._first_chunk + chunk.number,
                frames=frames,
                prompt=sampled.prompt,
                prompt_updated=sampled.prompt_updated,
                moving=sampled.moving,
                window=WindowReport("server", None, 0),
                pose=sampled.pose,
                ms=ChunkTimings(),
                made_at=chunk.came_at,
                events=sampled.events,
                remote=self._shares(chunk, sampled),
            )
        )

    def _shares(self, chunk: WholeChunk, sampled: Sampled) -> RemoteShares:
        """The network's share is a round trip and the time that the pictures took to come; the rest is the server's."""
        traffic, ms = self._model.traffic, self._stats
        forward, held_back = ms.get("scheduler_forward"), ms.get("pace_wait")
        shares = RemoteShares(
            encoding=chunk.encoding,
            payload_bytes=chunk.payload_bytes,
            round_trip_ms=traffic.round_trip_seconds * 1000,
            bytes_per_second=traffic.bytes_per_second,
            forward_ms=None if forward is None else float(forward),
            held_back_ms=None if held_back is None else float(held_back),
            dropped_chunks=self._inbox.dropped,
        )
        if sampled.answered_after is None:
            return shares
        crossing = traffic.round_trip_seconds + chunk.came_at - chunk.began_at
        network = min(sampled.answered_after, crossing)
        return replace(shares, server_ms=(sampled.answered_after - network) * 1000, network_ms=network * 1000)

    def note(self, line: str) -> None:
        self._notes.append(line)

    def ended(self, problem: RemoteProblem) -> None:
        self._inbox.end(problem)

    @property
    def has_room(self) -> bool:
        return self._inbox.has_room


def load_remote(config: EngineConfig, progress: Progress, log: Log) -> RemoteModel:
    """The model on the server that the configuration names. Raises WorldwalkError."""
    return RemoteModel(config.remote, progress, log)


def _load(path: Path) -> _Seen:
    """What a snapshot holds; nothing in it is ever run. Raises FileProblem."""
    try:
        with np.load(path, allow_pickle=False) as saved:
            picture, facts = saved["picture"], json.loads(str(saved["facts"]))
        prompt, chunk = facts["prompt"], facts["chunk"]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise FileProblem(path, f"the snapshot cannot be read ({error})", "Start the scene anew instead.") from None
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or not isinstance(prompt, str):
        raise FileProblem(path, "the snapshot is not one of a server's world", "Start the scene anew instead.")
    return _Seen(picture, prompt, int(chunk))
