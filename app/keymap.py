"""pygame event -> Message | None. The only file that names keys."""

from __future__ import annotations

import pygame

from app.messages import (
    ActionPressed,
    ActionReleased,
    CloseAsked,
    Command,
    Commanded,
    Edit,
    Edited,
    Focus,
    FocusLost,
    MenuChosen,
    MenuMoved,
    Message,
    MouseClicked,
    MouseMoved,
    Scrolled,
    TextComposed,
    TextTyped,
    WindowExposed,
    WindowResized,
)

ACTION_KEYS: dict[int, str] = {
    pygame.K_w: "w",
    pygame.K_a: "a",
    pygame.K_s: "s",
    pygame.K_d: "d",
    pygame.K_i: "i",
    pygame.K_j: "j",
    pygame.K_k: "k",
    pygame.K_l: "l",
    pygame.K_UP: "i",
    pygame.K_LEFT: "j",
    pygame.K_DOWN: "k",
    pygame.K_RIGHT: "l",
}

ANYWHERE_KEYS: dict[int, Command] = {
    pygame.K_F1: Command.HELP,
    pygame.K_F2: Command.SNAPSHOT,
    pygame.K_F3: Command.DETAILS,
    pygame.K_F9: Command.RECORD,
    pygame.K_F11: Command.FULLSCREEN,
}

WALK_KEYS: dict[int, Command] = {
    pygame.K_t: Command.PROMPT,
    pygame.K_RETURN: Command.PROMPT,
    pygame.K_KP_ENTER: Command.PROMPT,
    pygame.K_SPACE: Command.PAUSE,
    pygame.K_r: Command.RESET,
    pygame.K_q: Command.MENU,
    pygame.K_ESCAPE: Command.BACK,
}

MENU_MOVES: dict[int, tuple[int, int]] = {
    pygame.K_LEFT: (-1, 0),
    pygame.K_RIGHT: (1, 0),
    pygame.K_UP: (0, -1),
    pygame.K_DOWN: (0, 1),
    pygame.K_a: (-1, 0),
    pygame.K_d: (1, 0),
    pygame.K_w: (0, -1),
    pygame.K_s: (0, 1),
}

MENU_CHOOSES = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)

TEXT_KEYS: dict[int, Edit] = {
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

CONTROL_KEYS: dict[int, Edit] = {
    pygame.K_a: Edit.ALL,
    pygame.K_c: Edit.COPY,
    pygame.K_x: Edit.CUT,
    pygame.K_v: Edit.PASTE,
}

LEFT_BUTTON = 1


def translate(event: pygame.event.Event, focus: Focus, now: float) -> Message | None:
    """What an event of the window system means to the app; None where it means nothing."""
    match event.type:
        case pygame.KEYDOWN:
            return _key_down(event.key, event.mod, focus, now)
        case pygame.KEYUP:
            # a release counts whoever has the keyboard, or a key that went down before the menu came would stick
            return ActionReleased(_source(event.key), now) if event.key in ACTION_KEYS else None
        case pygame.TEXTINPUT:
            return TextTyped(event.text, now)
        case pygame.TEXTEDITING:
            return TextComposed(event.text, event.start)
        case pygame.MOUSEMOTION:
            (x, y), (dx, dy) = event.pos, event.rel
            return MouseMoved(x, y, dx, dy, now)
        case pygame.MOUSEBUTTONDOWN:
            x, y = event.pos
            return MouseClicked(x, y, now) if event.button == LEFT_BUTTON else None
        case pygame.MOUSEWHEEL:
            return Scrolled(event.y)
        case pygame.WINDOWFOCUSLOST | pygame.WINDOWMINIMIZED:
            return FocusLost(now)
        case pygame.VIDEORESIZE:
            return WindowResized(event.w, event.h)
        case pygame.WINDOWSIZECHANGED:
            return WindowResized(event.x, event.y)
        case pygame.WINDOWEXPOSED | pygame.WINDOWRESTORED:
            return WindowExposed()
        case pygame.QUIT:
            return CloseAsked()
    return None


def _key_down(key: int, mod: int, focus: Focus, now: float) -> Message | None:
    if key in ANYWHERE_KEYS:
        return Commanded(ANYWHERE_KEYS[key], now)
    if focus is Focus.TEXT:
        return _text_key(key, mod, now)
    if focus is Focus.MENU:
        if key in MENU_MOVES:
            return MenuMoved(*MENU_MOVES[key], now)
        if key in MENU_CHOOSES:
            return MenuChosen(now)
        return Commanded(WALK_KEYS[key], now) if key in (pygame.K_ESCAPE, pygame.K_q, pygame.K_r) else None
    if key in ACTION_KEYS:
        return ActionPressed(ACTION_KEYS[key], _source(key), now)
    return Commanded(WALK_KEYS[key], now) if key in WALK_KEYS else None


def _text_key(key: int, mod: int, now: float) -> Message | None:
    control = bool(mod & (pygame.KMOD_CTRL | pygame.KMOD_META))
    if control and key in CONTROL_KEYS:
        return Edited(CONTROL_KEYS[key], now)
    if key in TEXT_KEYS:
        return Edited(TEXT_KEYS[key], now, selecting=bool(mod & pygame.KMOD_SHIFT), by_word=control)
    return None


def _source(key: int) -> str:
    return f"key {key}"
