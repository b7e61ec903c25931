"""Gamepads that are plugged in: opened as they come, forgotten as they go. What they do, ``keymap`` reads."""

from __future__ import annotations

import pygame
from pygame._sdl2 import controller

from app.gestures import PadOpened


class Pads:
    """The opened gamepads; SDL tells nothing of one that is not open."""

    def __init__(self) -> None:
        """Begin to listen. Those that are there already are told as if they came now."""
        pygame.joystick.init()
        controller.init()
        self._open: dict[int, controller.Controller] = {}

    def hear(self, event: pygame.event.Event, now: float) -> PadOpened | str | None:
        """The news of a gamepad that came; its bare name where the layout of its buttons is not known."""
        if event.type == pygame.JOYDEVICEREMOVED:
            self._open.pop(event.instance_id, None)
            return None
        if event.type != pygame.JOYDEVICEADDED:
            return None
        index: int = event.device_index
        if not controller.is_controller(index):
            return pygame.joystick.Joystick(index).get_name()
        pad = controller.Controller(index)
        number = pad.as_joystick().get_instance_id()
        if number in self._open:
            return None
        self._open[number] = pad
        return PadOpened(number, pad.name, now)

    def close(self) -> None:
        self._open.clear()
        controller.quit()
        pygame.joystick.quit()
