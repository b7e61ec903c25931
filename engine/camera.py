"""Actions and look become camera poses, and poses become the rays that the transformer is given. Pure functions.

Poses are camera-to-world 4x4, float64, OpenCV axes (x right, y down, z forward). A camera is held as position, yaw
(positive to the right), pitch (positive upwards) and roll, and a chunk costs the same however long the walk is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.protocol import Look, Optics

Poses = NDArray[np.float64]

NEAR_ZERO = 1e-6
"""Translations below this are rounding; dividing by the largest of them would blow them up to length 1."""


@dataclass(frozen=True, slots=True)
class CameraScale:
    """How far one step of the integrator goes. A key that would pass the pitch limit is dropped, a look stops at it."""

    move_step: float = 0.05
    yaw_degrees: float = 6.0
    pitch_degrees: float = 4.0
    pitch_limit_degrees: float = 85.0


class CameraConvention(Enum):
    """Which of the published integrators is used, with its step sizes and lens.

    SGLANG: one step a latent frame. LINGBOT (v1): one smaller step for each of its four video frames, and the first
    latent frame, a single picture, stands where the world begins. REACTOR: one step a latent frame with six degrees of
    freedom: it turns and moves along the camera's own axes, and only compares translations within a chunk.
    """

    SGLANG = "sglang"
    LINGBOT = "lingbot"
    REACTOR = "reactor"

    @property
    def scale(self) -> CameraScale:
        if self is CameraConvention.REACTOR:  # 45 degrees a second at four latent frames a second, no limit
            return CameraScale(yaw_degrees=11.25, pitch_degrees=11.25, pitch_limit_degrees=math.inf)
        return CameraScale() if self is CameraConvention.SGLANG else CameraScale(yaw_degrees=2.0, pitch_degrees=2.0)

    @property
    def remembers_lengths(self) -> bool:
        """Translations are divided by the longest of the walk so far; if not, by the longest of their chunk."""
        return self is not CameraConvention.REACTOR

    def steps(self, *, first: bool) -> int:
        """Integrator steps in a latent frame; ``first`` is the first one of a world."""
        if self is CameraConvention.LINGBOT:
            return 0 if first else 4
        return 1

    def intrinsics(self, width_px: int, height_px: int) -> Intrinsics:
        """The lens that goes with it: SGLang's fixed one, else that of LingBot-World's example walks, to size."""
        if self is CameraConvention.SGLANG:
            return Intrinsics.sglang(width_px, height_px)
        return Intrinsics(503.0, 503.0, 416.0, 240.0).scaled(width_px / 832, height_px / 480)


@dataclass(frozen=True, slots=True)
class CameraState:
    """Where the camera is, and the two facts of the past that the next chunk needs. Plain numbers."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    yaw_degrees: float = 0.0
    pitch_degrees: float = 0.0
    longest_translation: float = 0.0
    """Between two latent frames, over the whole walk: what relative translations are divided by."""
    started: bool = False
    """Whether a latent frame was made. The first one is its own origin, so the transformer does not see its motion."""
    roll_degrees: float = 0.0

    def c2w(self) -> Poses:
        """[4, 4]: Ry(yaw) Rx(pitch) Rz(roll) and the position."""
        level = self._c2w_without_roll()
        if self.roll_degrees:
            level[:3, :3] = level[:3, :3] @ _rotation_z(self.roll_degrees)
        return level

    def _c2w_without_roll(self) -> Poses:
        yaw, pitch = math.radians(self.yaw_degrees), math.radians(self.pitch_degrees)
        cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
        return np.array(
            [
                [cy, sy * sp, sy * cp, self.x],
                [0.0, cp, -sp, self.y],
                [-sy, cy * sp, cy * cp, self.z],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )


@dataclass(frozen=True, slots=True)
class ChunkPoses:
    """The poses of one chunk: ``absolute`` [F, 4, 4], each latent frame's; ``previous`` [4, 4], before the chunk.

    ``relative`` [F, 4, 4] is from latent frame to latent frame, translations divided by the longest so far (or of the
    chunk, see ``CameraConvention.remembers_lengths``).
    """

    previous: Poses
    absolute: Poses
    relative: Poses


@dataclass(frozen=True, slots=True)
class Intrinsics:
    """Pinhole camera in pixels."""

    fx: float
    fy: float
    cx: float
    cy: float

    @classmethod
    def sglang(cls, width_px: int, height_px: int) -> Intrinsics:
        """500 pixels of focal length whatever the size, as SGLang-Diffusion has it."""
        return cls(500.0, 500.0, width_px / 2, height_px / 2)

    def scaled(self, horizontal: float, vertical: float) -> Intrinsics:
        """For a picture resized by these factors."""
        return Intrinsics(self.fx * horizontal, self.fy * vertical, self.cx * horizontal, self.cy * vertical)


@dataclass(frozen=True, slots=True)
class CameraPreset:
    """All that a model is told motion by."""

    convention: CameraConvention
    scale: CameraScale
    intrinsics: Intrinsics

    def optics(self, width_px: int, *, shifts: bool = False) -> Optics:
        """What follows from it for pictures of this width."""
        scale, steps = self.scale, self.convention.steps(first=False)
        yaw, pitch = scale.yaw_degrees * steps, scale.pitch_degrees * steps
        return Optics(yaw, pitch, scale.pitch_limit_degrees, self.intrinsics.fx / width_px, shifts)


def advance(
    state: CameraState,
    actions: Sequence[Sequence[str]],
    look: Look,
    scale: CameraScale,
    convention: CameraConvention = CameraConvention.SGLANG,
) -> tuple[CameraState, ChunkPoses]:
    """The poses of the next chunk from one list of held actions a latent frame; costs the same at any time.

    ``look`` is spread evenly over the latent frames. Unknown names do nothing, a name given twice counts once.
    """
    previous, poses, relative = state.c2w(), [], []
    share = Look(look.yaw_degrees / len(actions), look.pitch_degrees / len(actions))
    for held in actions:
        before = state.c2w()
        if convention is CameraConvention.REACTOR:
            state = _free_step(state, frozenset(held), share, scale)
        else:
            parts = convention.steps(first=not state.started)
            state = _move_latent_frame(state, frozenset(held), share, scale, parts)
        after = state.c2w()
        poses.append(after)
        relative.append(_relative(before, after) if state.started else np.eye(4))
        state = replace(state, started=True)
    so_far = state.longest_translation if convention.remembers_lengths else 0.0
    steps, longest = _normalised(np.stack(relative), so_far)
    return replace(state, longest_translation=longest), ChunkPoses(previous, np.stack(poses), steps)


def poses_from_actions(actions: Sequence[Sequence[str]], scale: CameraScale) -> Poses:
    """[n + 1, 4, 4] from n entries, beginning with the identity: the whole-history form of the integrator."""
    states = [CameraState()]
    for held in actions:
        states.append(_step(states[-1], frozenset(held), Look(), scale))
    return np.stack([state.c2w() for state in states])


def relative_poses(c2w: Poses, *, framewise: bool = True, normalised: bool = True) -> Poses:
    """[n, 4, 4] poses of a whole history -> each relative to the one before, or to the first; the first is identity.

    ``normalised`` divides all translations by the longest of them.
    """
    steps = [np.eye(4)]
    for i in range(1, len(c2w)):
        steps.append(_relative(c2w[i - 1] if framewise else c2w[0], c2w[i]))
    relative = np.stack(steps)
    return _normalised(relative, 0.0)[0] if normalised else relative


def pluecker_rays(
    relative: Poses, intrinsics: Intrinsics, height_px: int, width_px: int, device: torch.device | str = "cpu"
) -> Tensor:
    """Relative poses [F, 4, 4] -> origins and directions of all pixels, float32 [1, 384, F, H/8, W/8].

    Six numbers a pixel, the origin o and the unit direction d (no cross product), folded by 8x8 pixels: channel
    c * 64 + dy * 8 + dx (LingBot-World).
    """
    poses = torch.from_numpy(relative).to(device=device, dtype=torch.float32)
    directions = _pixel_directions(intrinsics, height_px, width_px, torch.device(device)) @ poses[:, None, :3, :3].mT
    origins = poses[:, None, None, :3, 3].expand_as(directions)
    rays = torch.cat([origins, directions], dim=-1)  # [F, H, W, 6]
    folded = rays.view(len(poses), height_px // 8, 8, width_px // 8, 8, 6)
    return folded.permute(5, 2, 4, 0, 1, 3).flatten(0, 2)[None]


def video_poses(previous: Poses, current: Poses, frames: int) -> Poses:
    """[frames, 4, 4]: from after ``previous`` to ``current`` in even steps of position, yaw and pitch."""
    old, new = _state_of(previous), _state_of(current)
    turn = math.remainder(new.yaw_degrees - old.yaw_degrees, 360.0)
    poses = []
    for i in range(1, frames + 1):
        part = i / frames
        state = CameraState(
            old.x + part * (new.x - old.x),
            old.y + part * (new.y - old.y),
            old.z + part * (new.z - old.z),
            old.yaw_degrees + part * turn,
            old.pitch_degrees + part * (new.pitch_degrees - old.pitch_degrees),
        )
        poses.append(state.c2w())
    return np.stack(poses)


def latent_pose_indices(video_poses_given: int, chunk_latent_frames: int) -> Poses:
    """Where a pose file is read for each latent frame: evenly over the first 4n + 1 of its poses (LingBot-World)."""
    last = (video_poses_given - 1) // 4 * 4
    latent_frames = (last // 4 + 1) // chunk_latent_frames * chunk_latent_frames
    return np.linspace(0.0, last, latent_frames)


def interpolate_poses(c2w: Poses, indices: Poses) -> Poses:
    """[n, 4, 4] poses at fractional ``indices`` [F] -> [F, 4, 4]; translation linear, rotation on the great circle."""
    lower = np.minimum(np.floor(indices).astype(int), len(c2w) - 2)
    found = []
    for i, part in zip(lower, indices - lower, strict=True):
        pose = np.eye(4)
        pose[:3, :3] = c2w[i, :3, :3] @ _rotation_power(c2w[i, :3, :3].T @ c2w[i + 1, :3, :3], float(part))
        pose[:3, 3] = (1 - part) * c2w[i, :3, 3] + part * c2w[i + 1, :3, 3]
        found.append(pose)
    return np.stack(found)


def _move_latent_frame(
    state: CameraState, held: frozenset[str], look: Look, scale: CameraScale, steps: int
) -> CameraState:
    share = Look(look.yaw_degrees / max(1, steps), look.pitch_degrees / max(1, steps))
    for _ in range(steps):
        state = _step(state, held, share, scale)
    return state


def _step(state: CameraState, held: frozenset[str], look: Look, scale: CameraScale) -> CameraState:
    """One step of the integrator: turn first, then move along the new horizontal directions."""
    limit = scale.pitch_limit_degrees
    tilted = state.pitch_degrees + scale.pitch_degrees * (("i" in held) - ("k" in held))
    pitch = tilted if abs(tilted) <= limit else state.pitch_degrees
    if look.pitch_degrees:
        pitch = min(max(pitch + look.pitch_degrees, -limit), limit)
    turn = scale.yaw_degrees * (("l" in held) - ("j" in held)) + look.yaw_degrees
    yaw = math.remainder(state.yaw_degrees + turn, 360.0)
    sin, cos, level = math.sin(math.radians(yaw)), math.cos(math.radians(yaw)), math.cos(math.radians(pitch))
    # The published code divides by the norm plus 1e-6, which its numbers show.
    ahead = scale.move_step * (("w" in held) - ("s" in held)) * level / (level + 1e-6)
    aside = scale.move_step * (("d" in held) - ("a" in held)) / (1 + 1e-6)
    return replace(
        state,
        x=state.x + ahead * sin + aside * cos,
        z=state.z + ahead * cos - aside * sin,
        yaw_degrees=yaw,
        pitch_degrees=pitch,
    )


def _free_step(state: CameraState, held: frozenset[str], look: Look, scale: CameraScale) -> CameraState:
    """One step along the camera's own axes: moved as it stood, then turned. Diagonals are no longer than straights.

    The planner that Reactor serves LingBot-World v2 with; its pitch axis has the opposite sign.
    """
    ahead, aside = _bounded(("w" in held) - ("s" in held), ("d" in held) - ("a" in held))
    up, right = _bounded(("i" in held) - ("k" in held), ("l" in held) - ("j" in held))
    turn = CameraState(
        yaw_degrees=scale.yaw_degrees * right + look.yaw_degrees,
        pitch_degrees=scale.pitch_degrees * up + look.pitch_degrees,
    )
    here = state.c2w()
    there = here[:3, 3] + scale.move_step * (ahead * here[:3, 2] + aside * here[:3, 0])
    yaw, pitch, roll = _angles_of(here[:3, :3] @ turn.c2w()[:3, :3])
    return replace(
        state,
        x=float(there[0]),
        y=float(there[1]),
        z=float(there[2]),
        yaw_degrees=yaw,
        pitch_degrees=pitch,
        roll_degrees=roll,
    )


def _bounded(a: float, b: float) -> tuple[float, float]:
    """The pair, shortened to length 1 where it is longer."""
    length = max(1.0, math.hypot(a, b))
    return a / length, b / length


def _angles_of(rotation: Poses) -> tuple[float, float, float]:
    """Yaw, pitch and roll in degrees of Ry(yaw) Rx(pitch) Rz(roll)."""
    ahead = rotation[:, 2]
    level = math.hypot(ahead[0], ahead[2])
    pitch = math.atan2(-ahead[1], level)
    if level < 1e-9:  # straight up or down, where yaw and roll are one: all of it is yaw
        return math.degrees(math.atan2(-rotation[2, 0], rotation[0, 0])), math.degrees(pitch), 0.0
    yaw, roll = math.atan2(ahead[0], ahead[2]), math.atan2(rotation[1, 0], rotation[1, 1])
    return math.degrees(yaw), math.degrees(pitch), math.degrees(roll)


def _rotation_z(degrees: float) -> Poses:
    sin, cos = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _relative(before: Poses, after: Poses) -> Poses:
    """inv(before) after; the inverse of a rotation is its transpose."""
    pose = np.eye(4)
    pose[:3, :3] = before[:3, :3].T @ after[:3, :3]
    pose[:3, 3] = before[:3, :3].T @ (after[:3, 3] - before[:3, 3])
    return pose


def _normalised(relative: Poses, longest_so_far: float) -> tuple[Poses, float]:
    """Translations divided by the longest ever seen, near-zero ones exactly zero; and that longest."""
    lengths = np.linalg.norm(relative[:, :3, 3], axis=1)
    longest = max(longest_so_far, float(lengths.max()))
    scaled = relative.copy()
    scaled[lengths < NEAR_ZERO, :3, 3] = 0.0
    if longest >= NEAR_ZERO:
        scaled[:, :3, 3] /= longest
    return scaled, longest


@lru_cache(maxsize=8)
def _pixel_directions(intrinsics: Intrinsics, height_px: int, width_px: int, device: torch.device) -> Tensor:
    """Unit directions through the pixel centres, float32 [H, W, 3]."""
    with torch.inference_mode(False):
        x = (torch.arange(width_px, dtype=torch.float64) + 0.5 - intrinsics.cx) / intrinsics.fx
        y = (torch.arange(height_px, dtype=torch.float64) + 0.5 - intrinsics.cy) / intrinsics.fy
        rows, columns = torch.meshgrid(y, x, indexing="ij")
        directions = torch.stack([columns, rows, torch.ones_like(rows)], dim=-1)
        return torch.nn.functional.normalize(directions, dim=-1).float().to(device)


def _state_of(c2w: Poses) -> CameraState:
    """Position, yaw and pitch of a pose without roll."""
    forward = c2w[:3, 2]
    # Yaw from the sideways axis, which stays well defined when one looks straight up.
    yaw = math.degrees(math.atan2(-c2w[2, 0], c2w[0, 0]))
    pitch = math.degrees(math.atan2(-forward[1], c2w[1, 1]))
    return CameraState(float(c2w[0, 3]), float(c2w[1, 3]), float(c2w[2, 3]), yaw, pitch)


def _rotation_power(rotation: Poses, power: float) -> Poses:
    """The rotation about the same axis by ``power`` times the angle (Rodrigues)."""
    axis = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    sine = float(np.linalg.norm(axis)) / 2
    angle = math.atan2(sine, (float(np.trace(rotation)) - 1) / 2)
    if sine < 1e-12:
        return np.eye(3)
    x, y, z = axis / (2 * sine)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    result: Poses = np.eye(3) + math.sin(power * angle) * cross + (1 - math.cos(power * angle)) * cross @ cross
    return result
