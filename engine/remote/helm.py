"""What the server is told of prompt and camera, and what it is seen to have followed. Pure; the clock is passed in.

The server samples its newest input when it begins a chunk. Held keys go as a state, which it repeats. It knows no
mouse: a look becomes keys i, j, k, l held for single latent frames, which only a script can say, so the script holds
the other keys too. Each event names everything that is in force, because a newer one replaces what an older one had
left to do.

Steps that were replaced before they were made are owed again. What was made is known by the event id that comes back
with each chunk; what is being made is foretold from when events were sent and how long the server takes to send. So the
sum of all steps follows the sum of degrees to within half a step, whatever the timing. (A server that sends no ids back
leaves only the foretelling, and then a step may be lost or made twice.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.protocol import ActionScript, CompositeEvent, SampledEvent
from engine.remote.odometer import PITCH_DEGREES, PITCH_LIMIT_DEGREES, YAW_DEGREES, Odometer
from engine.remote.wire import pack_event

Actions = tuple[str, ...]

HELD_LATENT_FRAMES = 48
"""Latent frames for which a script with looks in it goes on holding the keys; a state takes over long before."""
MOST_STEPS = 120
"""Of a look in one event; what is more follows in the next ones."""
MOST_TRANSITIONS, MOST_COURSES, MOST_WAITING = 64, 512, 4096
PACED_SECONDS = 0.02
UNANSWERED_CHUNKS, UNANSWERED_SECONDS = 3, 1.0
"""A server that sends no event ids back has followed an event by so many chunks later: one was being sent and one being
made when it came. The time is for chunks that were on their way already."""
_USUAL_LATENT_FRAMES = 3


@dataclass(frozen=True, slots=True)
class Course:
    """What an event told the server of the camera: ``frames`` one by one, then ``after`` for ever.

    ``turns``: yaw and pitch steps of the mouse in each of the first frames. ``ends_at``: frames of a script after which
    something must follow it. ``followed``: latent frames of it that were seen to be made.
    """

    event_id: int
    sent_at: float
    frames: tuple[Actions, ...]
    after: Actions = ()
    turns: tuple[tuple[int, int], ...] = ()
    ends_at: int | None = None
    followed: int = 0

    def part(self, start: int, count: int) -> tuple[Actions, ...]:
        part = self.frames[start : start + count]
        return part + (self.after,) * (count - len(part))

    def turned(self, start: int, count: int | None = None) -> tuple[int, int]:
        """(yaw, pitch) steps of the mouse in these latent frames."""
        turns = self.turns[start:] if count is None else self.turns[start : start + count]
        return sum(yaw for yaw, _ in turns), sum(pitch for _, pitch in turns)


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a chunk followed. ``answered_after``: seconds since its newest event was sent, if it is the first of one."""

    actions: tuple[Actions, ...]
    events: tuple[SampledEvent, ...]
    prompt: str
    prompt_updated: bool
    pose: tuple[float, ...]
    answered_after: float | None

    @property
    def moving(self) -> bool:
        return any(self.actions)


@dataclass(frozen=True, slots=True)
class _Asked:
    """An event of the user; ``message`` is the id of the one that carried it to the server."""

    event: CompositeEvent
    wire: Mapping[str, object]
    accepted_at: float
    message: int = 0
    sent_at: float = 0.0

    def sampled(self, pressed_at: float | None, now: float) -> SampledEvent:
        return SampledEvent(self.event.event_id, self.wire, pressed_at, self.accepted_at, now)


@dataclass(frozen=True, slots=True)
class _Sent:
    event_id: int
    sent_at: float
    after_chunk: int
    prompt: str | None


class Helm:
    """One session's steering. Not thread-safe."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt
        """In force in the newest chunk that arrived."""
        self.prompts_sent = 0
        self._next_id = 1
        self._chunk = -1
        self._latent_frames = _USUAL_LATENT_FRAMES
        self._unsent: deque[_Asked] = deque(maxlen=MOST_WAITING)
        self._asked: deque[_Asked] = deque(maxlen=MOST_WAITING)
        self._sent: deque[_Sent] = deque()
        self._courses: deque[Course] = deque()
        self._foretold: tuple[int | None, ...] = ()
        self._lag_seconds, self._is_paced = 0.0, False
        self._odometer = Odometer()
        self._new_prompt: str | None = None
        self._touched = self._news = self._standing = self._echoes = False
        self._held: Actions = ()
        self._script: tuple[Actions, ...] | None = None
        self._taps: deque[tuple[Actions, int | None]] = deque(maxlen=MOST_TRANSITIONS)
        self._wanted = [0.0, 0.0]
        self._turned = [0, 0]

    # ---- what is asked ------------------------------------------------------------------------------------------

    def apply(self, event: CompositeEvent, wire: Mapping[str, object], now: float) -> None:
        """Take a whole event."""
        if isinstance(event.prompt, str):  # a mix is refused before it comes here
            self._new_prompt = event.prompt
        camera = event.camera_actions
        if isinstance(camera, ActionScript):
            self._script, self._held, self._news, self._touched = camera.frames, (), True, True
            self._taps.clear()
        elif camera is not None and camera.transitions:
            self._script, self._held = (), camera.transitions[-1].actions
            self._taps.extend((transition.actions, None) for transition in camera.transitions)
            self._news = self._touched = True
        if event.look is not None:
            self._touched = True
            self._look(event.look.yaw_degrees, event.look.pitch_degrees)
        self._unsent.append(_Asked(event, wire, now))

    def pause(self, standing: bool) -> None:
        """Stand still, or go on with the keys that are held."""
        if standing != self._standing:
            self._script = self._script_left()
            self._standing, self._news = standing, self._touched

    def refresh(self) -> None:
        """Say again what is held, so that a server which ends idle sessions hears of somebody."""
        self._news = self._news or self._touched

    def _look(self, yaw: float, pitch: float) -> None:
        made = self._foretold_turns()[1] * PITCH_DEGREES
        at = self._odometer.pitch_degrees
        tilt = self._wanted[1] + pitch - made
        tilt = min(max(tilt, -PITCH_LIMIT_DEGREES - at), PITCH_LIMIT_DEGREES - at)  # the server goes no further
        self._wanted = [self._wanted[0] + yaw, made + tilt]

    # ---- what is told -------------------------------------------------------------------------------------------

    def next_message(self, now: float) -> bytes | None:
        """The event to send now, or None where the server knows everything."""
        if not self._has_news():
            return None
        event_id, self._next_id = self._next_id, self._next_id + 1
        prompt, self._new_prompt = self._new_prompt, None
        camera = self._set_course(event_id, now) if self._touched else None
        self.prompts_sent += prompt is not None
        self._news = False
        if not self._standing:
            self._script = None
        self._sent.append(_Sent(event_id, now, self._chunk, prompt))
        self._taps = deque(((a, i or event_id) for a, i in self._taps), maxlen=MOST_TRANSITIONS)
        self._asked.extend(replace(asked, message=event_id, sent_at=now) for asked in self._unsent)
        self._unsent.clear()
        return pack_event(event_id, prompt, camera)

    def _has_news(self) -> bool:
        if self._news or self._new_prompt is not None:
            return True
        if not self._touched or self._standing:
            return False
        newest = self._courses[-1] if self._courses else None
        if newest is None:
            return self._steps() != (0, 0)
        done = self._foretold_followed(newest)
        ends = newest.ends_at is not None and done >= newest.ends_at
        return ends or newest.turned(done) != self._steps()

    def _set_course(self, event_id: int, now: float) -> object:
        """The camera as it is now wanted, in the server's own form, and kept as the newest course."""
        script, steps = self._script_left(), self._steps()
        held, taps = self._held, tuple(actions for actions, _ in self._taps)
        if self._standing:
            held, script, taps = (), (), ()
        if script:
            self._keep(Course(event_id, now, script, ends_at=len(script)))
            return [list(actions) for actions in script]
        pulse = () if (tapped := _pulse(taps)) is None else (tapped,)
        if steps == (0, 0):
            self._keep(Course(event_id, now, pulse, held))
            told = [*taps, held] if not taps or frozenset(taps[-1]) != frozenset(held) else taps
            return {"mode": "state", "transitions": [{"actions": list(actions)} for actions in told]}
        turns = [
            (_sign(steps[0]) * (i < abs(steps[0])), _sign(steps[1]) * (i < abs(steps[1])))
            for i in range(max(abs(steps[0]), abs(steps[1])))
        ]
        turning = [_turning(held, *turn) for turn in turns]
        tail = [held] * (HELD_LATENT_FRAMES if held else 0)
        frames, ends_at = (*pulse, *turning, *tail), len(pulse) + len(turning) + len(tail) // 2
        self._keep(Course(event_id, now, frames, (), (((0, 0),) * len(pulse)) + tuple(turns), ends_at))
        return [list(actions) for actions in frames]

    def _keep(self, course: Course) -> None:
        self._courses.append(course)
        while len(self._courses) > MOST_COURSES:
            self._courses.popleft()

    def _steps(self) -> tuple[int, int]:
        """Steps that are owed: what was asked, less what was made and what is being made.

        Where keys turn already, by hand or by script, more of the same is not to be had: the mouse waits for them.
        """
        if self._standing or self._script_left():
            return 0, 0
        made = self._foretold_turns()
        yaw = round(self._wanted[0] / YAW_DEGREES - made[0])
        pitch = round(self._wanted[1] / PITCH_DEGREES - made[1])
        yaw = 0 if ("l" if yaw > 0 else "j") in self._held else yaw
        pitch = 0 if ("i" if pitch > 0 else "k") in self._held else pitch
        return max(-MOST_STEPS, min(MOST_STEPS, yaw)), max(-MOST_STEPS, min(MOST_STEPS, pitch))

    def _script_left(self) -> tuple[Actions, ...]:
        """What is left of the user's own script."""
        if self._script is not None or not self._courses:
            return self._script or ()
        newest = self._courses[-1]
        own = newest.ends_at is not None and newest.ends_at == len(newest.frames) and not newest.turns
        return newest.frames[self._foretold_followed(newest) :] if own else ()

    def _foretold_followed(self, course: Course) -> int:
        return course.followed + self._latent_frames * self._foretold.count(course.event_id)

    def _foretold_turns(self) -> tuple[int, int]:
        yaw, pitch = self._turned
        for event_id in set(self._foretold):
            course = self._course(event_id)
            if course is not None:
                turned = course.turned(course.followed, self._foretold_followed(course) - course.followed)
                yaw, pitch = yaw + turned[0], pitch + turned[1]
        return yaw, pitch

    # ---- what was followed --------------------------------------------------------------------------------------

    def arrived(self, chunk: int, event_id: int | None, frames: int, now: float) -> Sampled:
        """A chunk of so many video frames came with this event id."""
        self._latent_frames = latent_frames = max(1, (frames + 3) // 4 if chunk == 0 else frames // 4)
        if event_id is not None and not self._echoes:
            self._begin_to_believe()
        course = self._course(event_id) or self._course(self._foretold[0] if self._foretold else None)
        actions: tuple[Actions, ...] = ((),) * latent_frames
        if course is not None:
            actions = course.part(course.followed, latent_frames)
            yaw, pitch = course.turned(course.followed, latent_frames)
            self._turned = [self._turned[0] + yaw, self._turned[1] + pitch]
            while self._courses[0].event_id < course.event_id:
                self._courses.popleft()
            self._courses[0] = replace(course, followed=course.followed + latent_frames)
        self._odometer = self._odometer.after(actions)
        self._chunk = chunk
        covered = self._covered(event_id, now)
        events, answered_after = self._take_events(covered, now)
        updated = self._take_prompts(covered)
        self._foretell(now)
        return Sampled(actions, events, self.prompt, updated, self._odometer.c2w(), answered_after)

    def measured(self, now: float, *, paced_seconds: float, sending_seconds: float, round_trip_seconds: float) -> None:
        """The server told of the chunk that has just arrived how long it was held back and took to send."""
        self._lag_seconds = paced_seconds + sending_seconds + round_trip_seconds
        self._is_paced = paced_seconds > PACED_SECONDS
        self._foretell(now)

    def _foretell(self, now: float) -> None:
        """Which events the chunks follow that the server has begun but not yet sent.

        The next one was begun when the last one was ready to be sent. Where that had to wait, the next one is ready by
        now as well, and one more has just been begun.
        """
        before = self._newest_sent_by(now - self._lag_seconds)
        self._foretold = (before, self._newest_sent_by(now)) if self._is_paced else (before,)
        newest = self._foretold[-1] or 0
        self._taps = deque(((a, i) for a, i in self._taps if i is None or i > newest), maxlen=MOST_TRANSITIONS)

    def _newest_sent_by(self, moment: float) -> int | None:
        """The newest event that the server had by then; at the least the one that it was seen to follow."""
        known = [course for course in self._courses if course.sent_at <= moment or course.followed]
        return known[-1].event_id if known else None

    def _begin_to_believe(self) -> None:
        """The first echo: this server tells what it follows, so all chunks before it followed nothing."""
        self._echoes = True
        self._turned, self._odometer = [0, 0], Odometer()
        self._courses = deque(replace(course, followed=0) for course in self._courses)

    def _covered(self, event_id: int | None, now: float) -> int:
        """Everything up to this id is in force."""
        if event_id is not None or self._echoes:
            return event_id or 0
        late, before = self._chunk - UNANSWERED_CHUNKS, now - UNANSWERED_SECONDS
        found = (sent.event_id for sent in self._sent if sent.after_chunk <= late and sent.sent_at <= before)
        return max(found, default=0)

    def _take_events(self, covered: int, now: float) -> tuple[tuple[SampledEvent, ...], float | None]:
        """The user's events that are in force now, and how long ago the newest of them was sent.

        A look too small for a step yet was sent nowhere: it counts as taken, but nothing of it can be seen.
        """
        events: list[SampledEvent] = []
        answered_after: float | None = None
        while self._asked and self._asked[0].message <= covered:
            asked = self._asked.popleft()
            events.append(asked.sampled(asked.event.pressed_at, now))
            answered_after = now - asked.sent_at
        if not self._asked and not self._has_news():
            events.extend(asked.sampled(None, now) for asked in self._unsent)
            self._unsent.clear()
        return tuple(events), answered_after

    def _take_prompts(self, covered: int) -> bool:
        updated = False
        while self._sent and self._sent[0].event_id <= covered:
            prompt = self._sent.popleft().prompt
            if prompt is not None:
                self.prompt, updated = prompt, True
        return updated

    def _course(self, event_id: int | None) -> Course | None:
        return next((course for course in self._courses if course.event_id == event_id), None)


def _pulse(taps: Sequence[Actions]) -> Actions | None:
    """What the server holds for one latent frame of keys that were released again (its own rule)."""
    newest = next((actions for actions in reversed(taps) if actions), None)
    return None if newest is None or frozenset(newest) == frozenset(taps[-1]) else newest


def _turning(actions: Actions, yaw: int, pitch: int) -> Actions:
    """The keys with a step of the mouse; a key that is held the other way and the step cancel out."""
    keys = dict.fromkeys(actions)
    for turn, plus, minus in ((yaw, "l", "j"), (pitch, "i", "k")):
        if turn:
            keys[plus if turn > 0 else minus] = None
    return tuple(keys)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
