"""What the tests of a remote walk begin with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from engine.config import RemoteConfig
from engine.protocol import FrameChunk, SceneSpec
from engine.remote.link import Patience
from engine.remote.world import RemoteModel, RemoteWorld
from tests.sglang_server import Log, SGLangServer

SCENE = SceneSpec("meadow", "a green meadow", image=np.full((48, 64, 3), 90, np.uint8))
CONFIG = RemoteConfig(width_px=64, height_px=48, output_format="raw")
QUICK = Patience(connect=5.0, picture=5.0, ping_every=0.2, dead=5.0, close=0.5, busy=0.3, busy_every=0.1, refresh=20.0)


def model_on(server: SGLangServer, patience: Patience = QUICK, **changes: object) -> RemoteModel:
    config = replace(CONFIG, server=server.url, **changes)  # type: ignore[arg-type]
    return RemoteModel(config, lambda stage, fraction: None, lambda line: None, patience)


def world_on(server: SGLangServer, patience: Patience = QUICK, **changes: object) -> RemoteWorld:
    return model_on(server, patience, **changes).open(SCENE, 7, 1)


def ask(world: RemoteWorld, event_id: int, **parts: object) -> None:
    now = time.monotonic()
    world.apply({"event_id": event_id, "input_types": list(parts), **parts}, now, now)


def held(*names: list[str]) -> Mapping[str, object]:
    return {"mode": "state", "transitions": [{"actions": actions} for actions in names]}


def until(world: RemoteWorld, found: Callable[[FrameChunk], bool], most: int = 400) -> list[FrameChunk]:
    """Chunks up to the first one that fits."""
    chunks: list[FrameChunk] = []
    for _ in range(most):
        chunks.append(world.step(time.monotonic))
        if found(chunks[-1]):
            return chunks
    raise AssertionError(f"nothing fitting in {most} chunks")


def answering(event_id: int) -> Callable[[FrameChunk], bool]:
    return lambda chunk: event_id in [event.event_id for event in chunk.events]


def eventually(is_so: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def log_of(server: SGLangServer) -> Log:
    return server.sessions[-1]
