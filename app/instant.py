"""The instant camera: how far the view was turned that the frame on show does not know of yet. Pure; values only.

Everything is a pair of degrees, yaw to the right and pitch upwards. ``ahead`` is what was asked less what is shown:

- A turn of mouse or stick is asked at once, and its chunk's frames have it bit by bit.
- A held key turns at the model's own pace from the moment of pressing. Once the frames on show follow it, the view
  goes on from frame to frame at their pace, so that it moves evenly though they come seldom.
- A tap that began and ended within one pass turns by one latent frame's turn, as the engine has it (``_tap``). The view
  is drawn there from that pass on. A second tap waits until the first is answered, as both may be one to the engine.
- A frame that comes takes away from ``ahead`` by what it turned. So the view never jumps, whatever comes.

What is known for certain (the turns in the chunks that are here, and the looks that no chunk has answered) is where
``ahead`` must end. It is drawn there slowly as soon as no key makes a guess of it. So no error stays.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from engine.protocol import ActionState, CompositeEvent, Optics, Transition

Angles = tuple[float, float]

MOST_AHEAD: Angles = (12.0, 8.0)
"""A frame is turned by less than this, softly: as far as its border can be stretched without harm."""
SEEN_DEGREES = 0.05
"""What is less is not shown: a tenth of a pixel of the bundled model."""
FADE_SECONDS, SETTLE_SECONDS = 0.1, 0.5
"""How fast a turn goes when the camera is off, and an error when nothing is asked: by e in so many seconds."""
ANSWER_SECONDS = 5.0
"""A look that no chunk has answered for so long is not waited for."""
FIRST_TICK_SECONDS, LONGEST_TICK_SECONDS = 1 / 60, 0.1
USUAL_FRAMES = 4
"""Video frames of a latent frame, before a chunk tells."""
LOOSEST_PHASE, PHASE_GAIN = 1.5, 0.3
"""How far, in frames, the view may go beyond the frame on show while a key turns it, and how hard it is held to half a
frame: what it gains on the frames it loses again, and never all at once."""
MOST_WAITING, MOST_CHUNKS, MOST_LATENCIES = 128, 64, 200


@dataclass(frozen=True, slots=True)
class FrameChosen:
    """This frame will be drawn next: it ends at ``position`` of the walk, in chunks, and the next one is due after
    ``interval_seconds``."""

    position: float
    interval_seconds: float


@dataclass(frozen=True, slots=True)
class MotionShown:
    """A turn that was waited for may be on screen."""

    at: float


InstantMessage = FrameChosen | MotionShown


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that no chunk has answered: what it turns by, and whether keys that turn are held by it.

    ``tapped``: a tap's turn is in ``turn``, and not in what was added to ``ahead`` at once.
    """

    event_id: int | None
    turn: Angles
    keys: bool
    asked_at: float
    tapped: bool = False


@dataclass(frozen=True, slots=True)
class ChunkTurn:
    """A chunk that is here turns from ``before`` to ``after``; ``keys`` are held at its end, -1 to 1 for each axis."""

    chunk: int
    before: Angles
    after: Angles
    keys: Angles


@dataclass(frozen=True, slots=True)
class FirstMotion:
    """A turn was asked and is not on screen: at ``pressed_at``, when the view was ahead by ``ahead``."""

    event_id: int | None
    pressed_at: float
    ahead: Angles


@dataclass(frozen=True, slots=True)
class Instant:
    """``shown`` and ``newest``: where the frame on show looks to, and the last frame that is here, summed over the
    walk, so that nothing goes round at 180 degrees; ``newest`` is None before the first chunk."""

    optics: Optics | None = None
    ahead: Angles = (0.0, 0.0)
    shown: Angles = (0.0, 0.0)
    newest: Angles | None = None
    newest_keys: Angles = (0.0, 0.0)
    chunks: tuple[ChunkTurn, ...] = ()
    """Those that are here, from the one of the frame on show on."""
    waiting: tuple[Waiting, ...] = ()
    next_event_id: int = 1
    ticked_at: float | None = None
    """None while nothing turns, so that an idle window stays the same value."""
    interval_seconds: float = 1 / 16
    frames_per_latent: float = USUAL_FRAMES
    phase: Angles = (0.0, 0.0)
    """How far held keys turned the view since the frame on show came, in frames' turns."""
    shown_keys: Angles = (0.0, 0.0)
    """The keys of its chunk."""
    motion: FirstMotion | None = None
    latencies: tuple[float, ...] = ()
    """Seconds from a turn that was asked to the first picture on screen that turns, the newest last."""

    @property
    def known(self) -> Angles:
        """What of ``ahead`` is certain: turns of chunks that are here, and looks that are on their way."""
        looks = [waiting.turn for waiting in self.waiting]
        newest = self.shown if self.newest is None else self.newest
        yaw = newest[0] - self.shown[0] + sum(turn[0] for turn in looks)
        pitch = newest[1] - self.shown[1] + sum(turn[1] for turn in looks)
        return round(yaw, 6), round(pitch, 6)  # or what is nothing would be 1e-16

    @property
    def turn(self) -> Angles | None:
        """The turn that the frame on show is drawn with; None where it is drawn as it is."""
        yaw, pitch = (_softly(angle, most) for angle, most in zip(self.ahead, MOST_AHEAD, strict=True))
        return None if max(abs(yaw), abs(pitch)) < SEEN_DEGREES else (yaw, pitch)


def begin(optics: Optics | None, next_event_id: int, latencies: tuple[float, ...] = ()) -> Instant:
    """A world begins, or goes on from another moment."""
    return Instant(optics=optics, next_event_id=next_event_id, latencies=latencies)


def ask(instant: Instant, events: Collection[CompositeEvent], now: float, *, wanted: bool) -> Instant:
    """These events were sent in this tick; those that do not turn the view are left out."""
    for event in events:
        look = event.look
        turn = (0.0, 0.0) if look is None else (look.yaw_degrees, look.pitch_degrees)
        transitions = event.camera_actions.transitions if isinstance(event.camera_actions, ActionState) else ()
        if turn == (0.0, 0.0) and not any(any(keys_of(t.actions)) for t in transitions):
            continue
        held = bool(transitions) and any(keys_of(transitions[-1].actions))
        tap = (0.0, 0.0) if held else _tap(instant, transitions)
        asked = Waiting(event.event_id, _sum(turn, tap), held, now, any(tap))
        waiting = (*instant.waiting, asked)[-MOST_WAITING:]
        motion = instant.motion
        if motion is None:
            motion = FirstMotion(event.event_id, now if event.pressed_at is None else event.pressed_at, instant.ahead)
        ahead = _sum(instant.ahead, turn) if wanted else instant.ahead
        instant = replace(instant, waiting=waiting, ahead=ahead, motion=motion)
    return instant


def pass_time(instant: Instant, keys: Angles, now: float) -> Instant:
    """A tick has passed with these ``keys`` held."""
    dt = _passed(instant, now)
    waiting = tuple(one for one in instant.waiting if now - one.asked_at < ANSWER_SECONDS)
    if waiting != instant.waiting:
        instant = replace(instant, waiting=waiting)
    steps = [_key_step(instant, axis, keys[axis], dt) for axis in (0, 1)]
    ahead = _sum(instant.ahead, (steps[0][0], steps[1][0]))
    if not _guesses(instant, keys):
        ahead = _settled(ahead, instant.known, math.exp(-dt / SETTLE_SECONDS))
    ahead = _within(instant, ahead)
    rests = ahead == (0.0, 0.0) and not any(keys)
    return replace(instant, ahead=ahead, phase=(steps[0][1], steps[1][1]), ticked_at=None if rests else now)


def fade(instant: Instant, now: float) -> Instant:
    """A tick has passed in which the camera is off: what is shown becomes the frame as it is."""
    ahead = _settled(instant.ahead, (0.0, 0.0), math.exp(-_passed(instant, now) / FADE_SECONDS))
    return replace(instant, ahead=ahead, phase=(0.0, 0.0), ticked_at=None if ahead == (0.0, 0.0) else now)


def receive(
    instant: Instant,
    chunk: int,
    pose: tuple[float, ...],
    answered: Collection[int | None],
    *,
    keys: Angles | None,
    frames_per_latent: float,
) -> Instant:
    """A chunk is here, not shown yet, that ends at ``pose`` (camera to world, 16 numbers) and answers these events.

    ``keys``: those held from it on; None where its events say nothing of them.
    """
    asked = sum(one.turn[0] for one in instant.waiting if one.event_id in answered)
    yaw, pitch = math.degrees(math.atan2(pose[2], pose[10])), math.degrees(math.asin(max(-1.0, min(1.0, -pose[6]))))
    before = (yaw, pitch) if instant.newest is None else instant.newest
    # of all ways round, the one that is nearest to what was asked
    turn = 0.0 if instant.newest is None else asked + math.remainder(yaw - before[0] - asked, 360.0)
    after = before[0] + turn, pitch
    turned = ChunkTurn(chunk, before, after, instant.newest_keys if keys is None else keys)
    return replace(
        instant,
        shown=before if instant.newest is None else instant.shown,
        newest=after,
        newest_keys=turned.keys,
        waiting=tuple(one for one in instant.waiting if one.event_id not in answered),
        chunks=(*instant.chunks, turned)[-MOST_CHUNKS:],
        frames_per_latent=frames_per_latent,
    )


def refuse(instant: Instant, event_id: int | None) -> Instant:
    """An event was rejected: it will never be answered."""
    waiting = tuple(one for one in instant.waiting if one.event_id != event_id)
    motion = instant.motion
    motion = None if motion is not None and motion.event_id == event_id else motion
    return replace(instant, waiting=waiting, motion=motion)


def show(instant: Instant, chosen: FrameChosen, *, wanted: bool) -> Instant:
    """Another frame comes on show; where the camera is ``wanted`` the view stays where it is."""
    number = math.ceil(chosen.position - 1e-9) - 1
    of = next((turned for turned in instant.chunks if turned.chunk == number), None)
    if of is None:
        return instant
    share = chosen.position - number
    at = (
        of.before[0] + share * (of.after[0] - of.before[0]),
        of.before[1] + share * (of.after[1] - of.before[1]),
    )
    moved = at[0] - instant.shown[0], at[1] - instant.shown[1]
    ahead = (instant.ahead[0] - moved[0], instant.ahead[1] - moved[1]) if wanted else instant.ahead
    phase = max(-LOOSEST_PHASE, instant.phase[0] - 1.0), max(-LOOSEST_PHASE, instant.phase[1] - 1.0)
    return replace(
        instant,
        ahead=ahead,
        shown=at,
        shown_keys=of.keys,
        phase=phase,
        interval_seconds=chosen.interval_seconds,
        chunks=tuple(turned for turned in instant.chunks if turned.chunk >= number),
    )


def measure(instant: Instant, at: float, unseen: Collection[int | None]) -> Instant:
    """A picture came on screen. ``unseen``: events that no frame on show answers yet."""
    motion = instant.motion
    if motion is None:
        return instant
    moved = max(abs(instant.ahead[0] - motion.ahead[0]), abs(instant.ahead[1] - motion.ahead[1])) >= SEEN_DEGREES
    if not moved and motion.event_id in unseen:
        return instant
    latencies = (*instant.latencies, at - motion.pressed_at)[-MOST_LATENCIES:]
    return replace(instant, motion=None, latencies=latencies)


def keys_of(actions: Collection[str]) -> Angles:
    """Which way held actions turn the view: -1, 0 or 1 to the right and upwards."""
    return float(("l" in actions) - ("j" in actions)), float(("i" in actions) - ("k" in actions))


def _tap(instant: Instant, transitions: Sequence[Transition]) -> Angles:
    """What keys turn by that went down and up again within one event, while none that turns is held at its end.

    The engine gives one latent frame to the newest keys that are not those of the end. Nothing while another tap is not
    answered.
    """
    optics = instant.optics
    if optics is None or any(one.tapped for one in instant.waiting):
        return 0.0, 0.0
    end = set(transitions[-1].actions) if transitions else set()
    newest = next((t.actions for t in reversed(transitions) if t.actions and set(t.actions) != end), ())
    yaw, pitch = keys_of(newest)
    return yaw * optics.yaw_degrees, pitch * optics.pitch_degrees


def _key_step(instant: Instant, axis: int, key: float, dt: float) -> tuple[float, float]:
    """(degrees, phase): what a held key turns the view by on one axis in ``dt`` seconds."""
    if not key or instant.optics is None:
        return 0.0, 0.0
    degrees = instant.optics.pitch_degrees if axis else instant.optics.yaw_degrees
    frame = degrees / instant.frames_per_latent
    frames = dt / instant.interval_seconds
    if instant.shown_keys[axis] != key:
        far = key * instant.ahead[axis] > 2 * MOST_AHEAD[axis]  # more would not be seen, and take long to go
        return (0.0 if far else key * frame * frames), 0.0
    phase = instant.phase[axis]
    frames = min(frames * (1 + PHASE_GAIN * (0.5 - phase)), max(0.0, LOOSEST_PHASE - phase))
    return key * frame * frames, phase + frames


def _passed(instant: Instant, now: float) -> float:
    dt = FIRST_TICK_SECONDS if instant.ticked_at is None else now - instant.ticked_at
    return min(LONGEST_TICK_SECONDS, max(0.0, dt))


def _settled(ahead: Angles, known: Angles, left: float) -> Angles:
    """Nearer to what is known, with ``left`` of the error; none where it could not be seen."""
    error = ahead[0] - known[0], ahead[1] - known[1]
    if max(abs(error[0]), abs(error[1])) < SEEN_DEGREES:
        return known
    return known[0] + error[0] * left, known[1] + error[1] * left


def _guesses(instant: Instant, keys: Angles) -> bool:
    """Whether keys turn the view by what is only reckoned: now, in the chunk after the newest one, or on their way."""
    return any(keys) or any(instant.newest_keys) or any(one.keys for one in instant.waiting)


def _within(instant: Instant, ahead: Angles) -> Angles:
    """The view goes no further up or down than the model does."""
    if instant.optics is None:
        return ahead
    limit, at = instant.optics.pitch_limit_degrees, instant.shown[1]
    if abs(at) > limit:
        return ahead
    return ahead[0], max(-limit - at, min(limit - at, ahead[1]))


def _softly(angle: float, most: float) -> float:
    """As it is while it is small, and never as much as ``most``: a frame that turns never makes the view go back."""
    return angle / math.sqrt(math.hypot(1.0, (angle / most) ** 2))


def _sum(one: Angles, other: Angles) -> Angles:
    return one[0] + other[0], one[1] + other[1]
