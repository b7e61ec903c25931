"""pygame event -> Message | None. The only file that knows pygame's keys, buttons and axes."""

from __future__ import annotations

from collections.abc import Mapping

import pygame

from app import bindings, things
from app.beginnings import BrowseAsked, CompletionAsked, PasteAsked
from app.bindings import ANYWHERE, COMMANDS, TYPES_NOTHING, Bindings
from app.gestures import (
    ActionReleased,
    CloseAsked,
    Command,
    Commanded,
    Edit,
    Edited,
    FileDropped,
    Focus,
    FocusLost,
    KeyCaught,
    MenuAct,
    MenuActed,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    MouseMoved,
    PadAxisMoved,
    PadLost,
    PadPressed,
    Scrolled,
    TabMoved,
    TextComposed,
    TextTyped,
    WindowExposed,
    WindowResized,
)
from app.messages import Message
from app.prompts import ControlHeld, QuickAsked

NAMES: Mapping[int, str] = {scancode: name for name, scancode in bindings.KEYS.items()}
BUTTON_NAMES: Mapping[int, str] = {button: name for name, button in bindings.MOUSE_BUTTONS.items()}

MENU_MOVES: Mapping[str, tuple[int, int]] = {"Left": (-1, 0), "Right": (1, 0), "Up": (0, -1), "Down": (0, 1)}
MENU_ACTS: Mapping[str, MenuAct] = {
    "Delete": MenuAct.CLEAR,
    "Backspace": MenuAct.CLEAR,
    "P": MenuAct.PIN,
    "N": MenuAct.RENAME,
    "O": MenuAct.FOLDER,
}
WALK_MOVES: Mapping[str, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "forward": (0, -1), "back": (0, 1)}
MENU_CHOOSES = ("Enter", "Num Enter", "Space")
MENU_COMMANDS = ("menu", "reset", "prompt", "photo")

TEXT_KEYS: Mapping[int, Edit] = {
    pygame.K_LEFT: Edit.LEFT,
    pygame.K_RIGHT: Edit.RIGHT,
    pygame.K_HOME: Edit.HOME,
    pygame.K_END: Edit.END,
    pygame.K_BACKSPACE: Edit.BACKSPACE,
    pygame.K_DELETE: Edit.DELETE,
    pygame.K_UP: Edit.OLDER,
    pygame.K_DOWN: Edit.NEWER,
    pygame.K_RETURN: Edit.APPLY,
    pygame.K_KP_ENTER: Edit.APPLY,
    pygame.K_ESCAPE: Edit.CANCEL,
}

CONTROL_KEYS: Mapping[int, Edit] = {
    pygame.K_a: Edit.ALL,
    pygame.K_c: Edit.COPY,
    pygame.K_x: Edit.CUT,
    pygame.K_v: Edit.PASTE,
}

CONTROL = pygame.KMOD_CTRL | pygame.KMOD_META
CONTROL_NAMES, QUICK_KEYS = ("Left Ctrl", "Right Ctrl"), tuple("123456789")
LEFT_BUTTON = 1

PAD_AXES: Mapping[int, str] = {
    pygame.CONTROLLER_AXIS_LEFTX: "left_x",
    pygame.CONTROLLER_AXIS_LEFTY: "left_y",
    pygame.CONTROLLER_AXIS_RIGHTX: "right_x",
    pygame.CONTROLLER_AXIS_RIGHTY: "right_y",
    pygame.CONTROLLER_AXIS_TRIGGERLEFT: "left_trigger",
    pygame.CONTROLLER_AXIS_TRIGGERRIGHT: "right_trigger",
}
PAD_BUTTONS: Mapping[int, str] = {
    pygame.CONTROLLER_BUTTON_A: "a",
    pygame.CONTROLLER_BUTTON_B: "b",
    pygame.CONTROLLER_BUTTON_X: "x",
    pygame.CONTROLLER_BUTTON_Y: "y",
    pygame.CONTROLLER_BUTTON_START: "start",
    pygame.CONTROLLER_BUTTON_BACK: "back",
    pygame.CONTROLLER_BUTTON_LEFTSHOULDER: "left_shoulder",
    pygame.CONTROLLER_BUTTON_RIGHTSHOULDER: "right_shoulder",
    pygame.CONTROLLER_BUTTON_LEFTSTICK: "left_stick",
    pygame.CONTROLLER_BUTTON_RIGHTSTICK: "right_stick",
    pygame.CONTROLLER_BUTTON_DPAD_UP: "dpad_up",
    pygame.CONTROLLER_BUTTON_DPAD_DOWN: "dpad_down",
    pygame.CONTROLLER_BUTTON_DPAD_LEFT: "dpad_left",
    pygame.CONTROLLER_BUTTON_DPAD_RIGHT: "dpad_right",
}
FULL_PUSH = 32767


def translate(event: pygame.event.Event, focus: Focus, now: float, bound: Bindings) -> Message | None:
    """What an event of the window system means to the app; None where it means nothing."""
    match event.type:
        case pygame.KEYDOWN:
            return _key_down(event, focus, now, bound)
        case pygame.KEYUP:
            # a release counts whoever has the keyboard and whatever the key means by now, or it would stick
            return ActionReleased(_source(event.scancode), now)
        case pygame.TEXTINPUT:
            return TextTyped(event.text, now)
        case pygame.TEXTEDITING:
            return TextComposed(event.text, event.start)
        case pygame.MOUSEMOTION:
            (x, y), (dx, dy) = event.pos, event.rel
            return MouseMoved(x, y, dx, dy, now, pressed=bool(event.buttons[0]))
        case pygame.MOUSEBUTTONDOWN:
            return _button_down(event, focus, now, bound)
        case pygame.MOUSEBUTTONUP:
            return ActionReleased(_button_source(event.button), now) if event.button in BUTTON_NAMES else None
        case pygame.MOUSEWHEEL:
            return Scrolled(event.y)
        case pygame.DROPFILE:
            return FileDropped(event.file, now)
        case pygame.QUIT:
            return CloseAsked()
    return _window_event(event, now) or _pad_event(event, now)


def hand_of(event: pygame.event.Event) -> bool | None:
    """Whether a gamepad (True), or keyboard or mouse (False), was used; None where nobody touched either."""
    match event.type:
        case pygame.CONTROLLERBUTTONDOWN:
            return True
        case pygame.CONTROLLERAXISMOTION:
            return True if event.axis in PAD_AXES and abs(event.value) > FULL_PUSH // 2 else None
        case pygame.KEYDOWN | pygame.MOUSEBUTTONDOWN | pygame.MOUSEWHEEL:
            return False
    return None


def _window_event(event: pygame.event.Event, now: float) -> Message | None:
    match event.type:
        case pygame.WINDOWFOCUSLOST | pygame.WINDOWMINIMIZED:
            return FocusLost(now)
        case pygame.VIDEORESIZE:
            return WindowResized(event.w, event.h)
        case pygame.WINDOWSIZECHANGED:
            return WindowResized(event.x, event.y)
        case pygame.WINDOWEXPOSED | pygame.WINDOWRESTORED:
            return WindowExposed()
    return None


def _key_down(event: pygame.event.Event, focus: Focus, now: float, bound: Bindings) -> Message | None:
    name = NAMES.get(event.scancode, "")
    if focus is Focus.KEY:
        return KeyCaught(name or None, now)
    if focus is Focus.WALK and event.mod & CONTROL and name in QUICK_KEYS:
        return QuickAsked(QUICK_KEYS.index(name) + 1, now)
    thing = bindings.meanings(bound).get(name, "")
    if focus is Focus.WALK and name in CONTROL_NAMES and not thing:
        return ControlHeld(_source(event.scancode), now)
    if thing in ANYWHERE and (focus is not Focus.TEXT or name in TYPES_NOTHING):
        return Commanded(COMMANDS[thing], now)
    if focus is Focus.TEXT:
        return _text_key(event.key, event.mod, now)
    if event.key == pygame.K_ESCAPE:
        return Commanded(Command.BACK, now)
    if focus is Focus.MENU and event.mod & CONTROL and event.key in (pygame.K_v, pygame.K_o):
        return PasteAsked(now) if event.key == pygame.K_v else BrowseAsked(now)
    if focus is Focus.MENU:
        return _menu_key(name, thing, bool(event.mod & pygame.KMOD_SHIFT), now)
    return things.asked(thing, _source(event.scancode), now)


def _menu_key(name: str, thing: str, shift: bool, now: float) -> Message | None:
    """Arrows and Enter always; then what the keys mean while walking, where it has a sense in a menu."""
    if name in MENU_MOVES:
        return MenuMoved(*MENU_MOVES[name], now)
    if name in MENU_CHOOSES:
        return MenuChosen(now, space=name == "Space")
    if name in ("Tab", "Page Down", "Page Up"):
        return TabMoved(-1 if name == "Page Up" or (name == "Tab" and shift) else 1, now)
    if thing in WALK_MOVES:
        return MenuMoved(*WALK_MOVES[thing], now)
    if thing in MENU_COMMANDS:
        return Commanded(COMMANDS[thing], now)
    return MenuActed(MENU_ACTS[name], now) if name in MENU_ACTS else None


def _button_down(event: pygame.event.Event, focus: Focus, now: float, bound: Bindings) -> Message | None:
    if event.button == LEFT_BUTTON:
        x, y = event.pos
        return MouseClicked(x, y, now)
    name = BUTTON_NAMES.get(event.button)
    if name is None:
        return None
    if focus is Focus.KEY:
        return KeyCaught(name, now)
    thing = bindings.meanings(bound).get(name, "")
    if thing in ANYWHERE:
        return Commanded(COMMANDS[thing], now)
    return things.asked(thing, _button_source(event.button), now) if focus is Focus.WALK else None


def _pad_event(event: pygame.event.Event, now: float) -> Message | None:
    """A gamepad of a layout that SDL knows; ``pads`` has opened it. What its buttons mean is not known here."""
    match event.type:
        case pygame.CONTROLLERAXISMOTION:
            axis = PAD_AXES.get(event.axis)
            value = max(-1.0, min(1.0, event.value / FULL_PUSH))
            return None if axis is None else PadAxisMoved(axis, value, now)
        case pygame.CONTROLLERBUTTONDOWN | pygame.CONTROLLERBUTTONUP:
            button = PAD_BUTTONS.get(event.button)
            return None if button is None else PadPressed(button, event.type == pygame.CONTROLLERBUTTONDOWN, now)
        case pygame.CONTROLLERDEVICEREMOVED:
            return PadLost(event.instance_id, now)
    return None


def _text_key(key: int, mod: int, now: float) -> Message | None:
    control = bool(mod & CONTROL)
    if control and key == pygame.K_o:
        return BrowseAsked(now)
    if key == pygame.K_TAB:
        return CompletionAsked(now)
    if control and key in CONTROL_KEYS:
        return Edited(CONTROL_KEYS[key], now)
    if key in TEXT_KEYS:
        return Edited(TEXT_KEYS[key], now, selecting=bool(mod & pygame.KMOD_SHIFT), by_word=control)
    return None


def _source(scancode: int) -> str:
    return f"key {scancode}"


def _button_source(button: int) -> str:
    return f"button {button}"
