"""A gamepad for real: SDL's own virtual one is plugged in, used and pulled out."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pygame
import pytest

from app import keymap
from app.bindings import Bindings
from app.gestures import Focus, PadAxisMoved, PadLost, PadOpened, PadPressed
from app.messages import Message
from app.pads import Pads

LIBRARIES = sorted((Path(pygame.__file__).parents[1] / "pygame.libs").glob("libSDL2-2*"))
GAME_CONTROLLER, AXES, BUTTONS = 1, 6, 15


@pytest.fixture
def pads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pads]:
    monkeypatch.setenv("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")  # the dummy window has no focus
    pygame.display.init()
    pygame.display.set_mode((64, 64))
    pygame.event.clear()
    pads = Pads()
    yield pads
    pads.close()
    pygame.display.quit()


def heard(pads: Pads) -> list[Message | str]:
    told = ((pads.hear(event, 1.0), event) for event in pygame.event.get())
    every = [news or keymap.translate(event, Focus.WALK, 1.0, Bindings()) for news, event in told]
    kinds = (PadOpened, PadLost, PadAxisMoved, PadPressed, str)
    return [message for message in every if isinstance(message, kinds)]


@pytest.mark.skipif(not LIBRARIES, reason="pygame's SDL is not a file of its own here, so nothing can be plugged in")
def test_a_pad_is_plugged_in_used_and_pulled_out(pads: Pads) -> None:
    sdl = ctypes.CDLL(str(LIBRARIES[0]))
    sdl.SDL_JoystickOpen.restype = ctypes.c_void_p
    device = sdl.SDL_JoystickAttachVirtual(GAME_CONTROLLER, AXES, BUTTONS, 0)
    (opened,) = heard(pads)
    assert isinstance(opened, PadOpened)
    stick = ctypes.c_void_p(sdl.SDL_JoystickOpen(device))
    sdl.SDL_JoystickSetVirtualAxis(stick, 1, ctypes.c_int16(-32768))
    assert heard(pads) == [PadAxisMoved("left_y", -1.0, 1.0)]
    sdl.SDL_JoystickSetVirtualButton(stick, 7, 1)
    sdl.SDL_JoystickSetVirtualButton(stick, 6, 1)
    assert PadPressed("start", True, 1.0) in heard(pads)
    sdl.SDL_JoystickSetVirtualAxis(stick, 4, ctypes.c_int16(32767))
    assert heard(pads) == [PadAxisMoved("left_trigger", 1.0, 1.0)]
    sdl.SDL_JoystickDetachVirtual(device)
    assert PadLost(opened.pad, 1.0) in heard(pads)
