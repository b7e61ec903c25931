"""What is asked in one tick: held actions, a turn of the head, a prompt, a retake, and the composite event of them."""

from __future__ import annotations

from dataclasses import dataclass

ACTIONS = ("w", "a", "s", "d", "i", "j", "k", "l")
"""Camera actions: w/s forward and back, a/d sideways, i/k pitch up and down, j/l yaw left and right."""

INPUT_TYPES = ("camera_actions", "look", "prompt", "retake")


@dataclass(frozen=True, slots=True)
class Look:
    """A turn of the head in degrees; yaw is positive to the right, pitch is positive upwards."""

    yaw_degrees: float = 0.0
    pitch_degrees: float = 0.0


@dataclass(frozen=True, slots=True)
class Transition:
    """From now on exactly these actions are held (an empty tuple: all keys released)."""

    actions: tuple[str, ...]
    client_ts_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ActionState:
    """Held keys as a list of transitions; the last one stays in force until the next event."""

    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True)
class ActionScript:
    """One tuple of action names per latent frame, consumed in order."""

    frames: tuple[tuple[str, ...], ...]


CameraActions = ActionState | ActionScript


@dataclass(frozen=True, slots=True)
class PromptMix:
    """Two prompts at once: ``share`` (0 to 1) of the second, the rest of the first."""

    text: str
    mixed_with: str
    share: float

    @property
    def words(self) -> str:
        """The mix as one line for people; nothing reads it back."""
        if self.share in (0.0, 1.0):
            return self.mixed_with if self.share else self.text
        return f"{self.text} {1 - self.share:.0%} + {self.mixed_with} {self.share:.0%}"

    def to_wire(self) -> dict[str, object]:
        return {"text": self.text, "mixed_with": self.mixed_with, "share": self.share}


Prompt = str | PromptMix


def prompt_words(prompt: Prompt) -> str:
    """A prompt as it is shown and written into films."""
    return prompt.words if isinstance(prompt, PromptMix) else prompt


def prompt_to_wire(prompt: Prompt) -> object:
    return prompt.to_wire() if isinstance(prompt, PromptMix) else prompt


@dataclass(frozen=True, slots=True)
class Retake:
    """The next chunk is made in another way. ``seed``: of the noise that it and all after it are drawn from (None: as
    it comes). ``steps``: denoising passes of this one chunk (None: the model's own)."""

    seed: int | None = None
    steps: int | None = None

    def to_wire(self) -> dict[str, object]:
        """The map that stands in an event; empty where nothing is asked."""
        return {name: value for name, value in (("seed", self.seed), ("steps", self.steps)) if value is not None}

    def over(self, earlier: Retake | None) -> Retake:
        """Both for one chunk: what this one does not say is as the ``earlier`` one has it."""
        if earlier is None:
            return self
        return Retake(
            earlier.seed if self.seed is None else self.seed, earlier.steps if self.steps is None else self.steps
        )


@dataclass(frozen=True, slots=True)
class CompositeEvent:
    """Everything asked in one tick. ``input_types`` gives the order in which the parts are applied."""

    event_id: int | None
    input_types: tuple[str, ...]
    camera_actions: CameraActions | None = None
    look: Look | None = None
    prompt: Prompt | None = None
    pressed_at: float | None = None
    retake: Retake | None = None

    def to_wire(self) -> dict[str, object]:
        """The event as the map that travels (see ``engine.events`` for its rules)."""
        wire: dict[str, object] = {"input_types": list(self.input_types)}
        if self.event_id is not None:
            wire["event_id"] = self.event_id
        if isinstance(self.camera_actions, ActionScript):
            wire["camera_actions"] = [list(frame) for frame in self.camera_actions.frames]
        elif self.camera_actions is not None:
            wire["camera_actions"] = {
                "mode": "state",
                "transitions": [
                    {"actions": list(t.actions)}
                    if t.client_ts_ms is None
                    else {"actions": list(t.actions), "client_ts_ms": t.client_ts_ms}
                    for t in self.camera_actions.transitions
                ],
            }
        if self.look is not None:
            wire["look"] = {"yaw_degrees": self.look.yaw_degrees, "pitch_degrees": self.look.pitch_degrees}
        if self.prompt is not None:
            wire["prompt"] = prompt_to_wire(self.prompt)
        if self.retake is not None:
            wire["retake"] = self.retake.to_wire()
        return wire
