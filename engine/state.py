"""``WorldState``: the only mutable object of a running world, and its file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from engine.camera import CameraState, Poses
from engine.controls import ControlQueues
from engine.errors import BadValue, FileProblem
from engine.events import check_prompt
from engine.models.kv_cache import CausalKVCache, CrossAttentionCache
from engine.protocol import Prompt, prompt_to_wire
from engine.scenery import Scenery
from engine.window import MotionState

SNAPSHOT_SCHEMA = 2
_SCENERY = "scenery."


@dataclass(frozen=True, slots=True)
class SharedTensor:
    """A tensor of the scenery, and itself in main memory: the same one, or a copy of what lies on a graphics card."""

    source: Tensor
    kept: Tensor


@dataclass(frozen=True, slots=True)
class KeptState:
    """A ``WorldState`` as it was, in main memory. Nobody writes into it."""

    tensors: Mapping[str, Tensor]
    plain: str
    shared: Mapping[str, SharedTensor]

    @property
    def parts(self) -> dict[int, int]:
        """Bytes of each piece of memory, by its address."""
        storages = [tensor.untyped_storage() for tensor in self.tensors.values()]
        return {storage.data_ptr(): storage.nbytes() for storage in storages if storage.nbytes()}


@dataclass(slots=True)
class WorldState:
    """Everything that changes while a world runs. ``scenery`` holds what only its kind of world has."""

    scenery: Scenery
    camera: CameraState
    shown: Poses
    """[4, 4], the camera of the frame shown last; a world's first picture stands still while the camera may go on."""
    motion: MotionState
    controls: ControlQueues
    cache: CausalKVCache
    cross: CrossAttentionCache
    prompt: Prompt
    chunk: int = 0
    latent_frame: int = 0
    """Position of the next chunk's first latent frame."""

    @property
    def byte_count(self) -> int:
        """Of the tensors that ``save`` would write."""
        return self.cache.used_bytes + sum(tensor.nbytes for tensor in self.scenery.tensors().values())

    def keep(self, known: Mapping[str, SharedTensor]) -> KeptState:
        """All of it in main memory. ``known``: what was kept last and is not copied again where it is the same."""
        cached = self.cache.snapshot("cpu")
        shared = {
            name: known[name] if name in known and known[name].source is tensor else SharedTensor(tensor, tensor.cpu())
            for name, tensor in self.scenery.tensors().items()
        }
        tensors = {k: v for k, v in cached.items() if isinstance(v, Tensor)}
        tensors |= {_SCENERY + name: one.kept for name, one in shared.items()}
        return KeptState(tensors, self._plain(cached), shared)

    def go_back(self, kept: KeptState) -> None:
        """Be what it was."""
        self._take(json.loads(kept.plain), kept.tensors)

    def save(self, path: Path, model_sha256: str) -> None:
        """Write all of it to ``path``, whole or not at all: safetensors, the rest JSON in its metadata. FileProblem."""
        cached = self.cache.snapshot()
        tensors = {k: v.contiguous() for k, v in cached.items() if isinstance(v, Tensor)}
        tensors |= {_SCENERY + k: v.contiguous() for k, v in self.scenery.tensors().items()}
        metadata = {
            "schema": str(SNAPSHOT_SCHEMA),
            "model_sha256": model_sha256,
            "state": self._plain(cached),
        }
        part = path.with_name(path.name + ".part")
        try:
            save_file(tensors, part, metadata)
        except SafetensorError as error:
            problem = f"the world cannot be saved ({error})"
            raise FileProblem(path, problem, "Choose a folder that exists, on a disk with room.") from None
        os.replace(part, path)

    def load(self, path: Path, model_sha256: str) -> None:
        """Take over a saved state of the same model; ``FileProblem`` where the file is not one."""
        cure = "Start the scene anew instead."
        try:
            with safe_open(path, "pt") as file:
                metadata = file.metadata() or {}
                tensors = {k: file.get_tensor(k) for k in file.keys()}  # noqa: SIM118  (not a dict)
            plain = json.loads(metadata["state"])
            if metadata["schema"] != str(SNAPSHOT_SCHEMA) or metadata["model_sha256"] != model_sha256:
                raise FileProblem(path, "the snapshot belongs to another model or version", cure)
            self._take(plain, tensors)
        except (OSError, SafetensorError, BadValue, KeyError, TypeError, ValueError) as error:
            raise FileProblem(path, f"the snapshot cannot be read ({error})", cure) from None

    def _plain(self, cached: Mapping[str, Tensor | int]) -> str:
        """What is no tensor, as JSON."""
        plain = {
            "scenery": self.scenery.plain(),
            "camera": asdict(self.camera),
            "shown": self.shown.reshape(-1).tolist(),
            "motion": asdict(self.motion),
            "controls": self.controls.to_dict(),
            "prompt": prompt_to_wire(self.prompt),
            "chunk": self.chunk,
            "latent_frame": self.latent_frame,
            "cache": {k: v for k, v in cached.items() if isinstance(v, int)},
        }
        return json.dumps(plain)

    def _take(self, plain: Mapping[str, dict[str, object]], tensors: Mapping[str, Tensor]) -> None:
        cached: dict[str, Tensor | int] = {"keys": tensors["keys"], "values": tensors["values"]}
        for name, number in plain["cache"].items():
            cached[name] = int(str(number))
        self.cache.restore(cached)
        self.cross.reset()
        own = {k.removeprefix(_SCENERY): v for k, v in tensors.items() if k.startswith(_SCENERY)}
        self.scenery.take(plain["scenery"], own)
        motion = plain["motion"]
        recent = motion["recent"]
        self.motion = MotionState(int(str(motion["consecutive_still"])), None if recent is None else int(str(recent)))
        self.camera = _camera(plain["camera"])
        self.shown = np.array(plain["shown"], dtype=np.float64).reshape(4, 4)
        self.controls = ControlQueues.from_dict(plain["controls"])
        self.prompt = check_prompt(plain["prompt"], ("prompt",))
        self.chunk, self.latent_frame = int(str(plain["chunk"])), int(str(plain["latent_frame"]))


def _camera(values: Mapping[str, object]) -> CameraState:
    def number(name: str) -> float:
        return float(str(values[name]))

    return CameraState(
        x=number("x"),
        y=number("y"),
        z=number("z"),
        yaw_degrees=number("yaw_degrees"),
        pitch_degrees=number("pitch_degrees"),
        longest_translation=number("longest_translation"),
        started=bool(values["started"]),
        roll_degrees=number("roll_degrees"),
    )
