"""What lies over the running world: quiet, and gone when nobody needs it. Pictures, no decisions."""

from __future__ import annotations

import pygame

from app import details, hints, instant_view, rewind_view
from app.facts import Stage
from app.pages import darken
from app.prompt_box import PromptBox
from app.theme import (
    BACKGROUND,
    LINE,
    PANEL,
    QUIET,
    TEXT,
    Colour,
    Panel,
    Role,
    Theme,
    faded,
    hint_line,
)
from app.values import AppState

FADE_AFTER_SECONDS = 4.0
FADE_SECONDS = 1.2
FADE_STEPS = 12

DETAILS_WIDTH = 460

PAD = (("w", "forward", 1, 0), ("a", "left", 0, 1), ("s", "back", 1, 1), ("d", "right", 2, 1))
LOOK_PAD = (("i", "look_up", 1, 0), ("j", "look_left", 0, 1), ("k", "look_down", 1, 1), ("l", "look_right", 2, 1))
"""(action, what is bound to its key, column, row)"""


def presence(state: AppState, now: float) -> float:
    """How much of the fading parts is to be seen, 0 to 1, in few steps so that fading costs few pictures."""
    if state.steering.held or state.paused:
        return 1.0
    if state.settings.app.reduced_motion:
        return 1.0 if now - state.touched_at < FADE_AFTER_SECONDS else 0.0
    left = 1.0 - (now - state.touched_at - FADE_AFTER_SECONDS) / FADE_SECONDS
    return round(max(0.0, min(1.0, left)) * FADE_STEPS) / FADE_STEPS


def draw(surface: pygame.Surface, theme: Theme, state: AppState, room: pygame.Rect, now: float) -> None:
    """Everything over the picture, which lies in ``room``, but the prompt box, the menu and failures."""
    shown = presence(state, now)
    lies_free = state.prompt_box is None and not state.prompts.hinted and state.prompts.chosen is None
    if shown > 0.0 and lies_free and not (state.details and _details_reach_foot(theme, state, room)):
        _draw_foot(surface, theme, state, room, shown)
    elif lies_free and state.world is not None and state.world.fade is not None:
        _draw_prompt_line(surface, theme, state, room.inflate(-2 * theme.px(20), 0), 1.0)
    if state.details:
        _draw_details(surface, theme, state, room)
    if state.recording is not None:
        _draw_recording(surface, theme, state, room)
    if state.instant.turn is not None:
        instant_view.draw(surface, theme, state.instant.turn, room)
    if state.time.rewind is not None:
        rewind_view.draw(surface, theme, state, room)
    elif state.paused and state.menu is None:
        _pill(
            surface,
            theme,
            theme.say("hud.paused"),
            theme.say("hud.go_on", key=hints.key_of(state, "pause")),
            room.center,
        )


def draw_toasts(surface: pygame.Surface, theme: Theme, state: AppState) -> None:
    """Sentences at the top, the newest lowest: over a walk in the middle, over pages where no heading is."""
    left, y = theme.px(DETAILS_WIDTH + 56) if state.details and state.walking else 0, theme.px(20)
    width = surface.get_width() - left
    for toast in state.toasts:
        lines = theme.wrapped(toast.text, Role.BODY, min(theme.px(620), width - theme.px(120)))[:5]
        if not lines:
            continue
        drawn = [theme.text(line, Role.BODY) for line in lines]
        pad, step = theme.px(18), theme.px(25)
        panel = Panel(
            max(line.get_width() for line in drawn) + 2 * pad,
            step * len(drawn) + theme.px(20),
            theme.px(13),
            alpha=238,
            line=theme.bad if toast.bad else LINE,
        )
        middle, edge = left + (width - panel.width) // 2, left + width - panel.width - theme.px(20)
        x = max(left, edge) if state.behind or state.help else middle
        surface.blit(theme.panel(panel), (x, y))
        for index, line in enumerate(drawn):
            surface.blit(line, (x + pad, y + theme.px(11) + index * step))
        y += panel.height + theme.px(10)


def draw_help(surface: pygame.Surface, theme: Theme, state: AppState) -> None:
    width, height = surface.get_size()
    darken(surface, 120)
    keys = hints.help_lines(state)
    theme = theme.fitting(theme.px(124 + 25 * len(keys)), height)
    pad = theme.px(30)
    step = min(theme.px(34), (height - 2 * pad - theme.px(64)) // len(keys))
    key_width = max(theme.width(key, Role.STRONG) for key, _ in keys) + theme.px(28)
    inner = key_width + max(theme.width(meaning, Role.BODY) for _, meaning in keys)
    panel = Panel(
        min(width, inner + 2 * pad), 2 * pad + theme.px(48) + step * len(keys), theme.px(18), alpha=244, line=LINE
    )
    x, y = (width - panel.width) // 2, (height - panel.height) // 2
    surface.blit(theme.panel(panel), (x, y))
    surface.blit(theme.text(theme.say("help.title"), Role.HEADING), (x + pad, y + pad - theme.px(6)))
    close = theme.text(hints.help_closes(state), Role.SMALL, QUIET)
    surface.blit(close, (x + panel.width - pad - close.get_width(), y + pad + theme.px(4)))
    y += pad + theme.px(48)
    for key, meaning in keys:
        surface.blit(theme.text(key, Role.STRONG, theme.accent), (x + pad, y))
        surface.blit(theme.text(meaning, Role.BODY), (x + pad + key_width, y))
        y += step


def caret_lit(state: AppState, now: float) -> bool:
    """Whether the caret is seen; it blinks unless motion is reduced."""
    return state.settings.app.reduced_motion or (now - state.touched_at) % 1.06 < 0.58


def draw_line(
    surface: pygame.Surface,
    theme: Theme,
    state: AppState,
    box: PromptBox,
    inner: pygame.Rect,
    *,
    now: float,
    empty: str = "prompt.empty",
) -> pygame.Rect:
    """A line that is being typed, in ``inner``; ``empty``: what is told where it is. Returns where its caret is."""
    text = box.text[: box.caret] + box.composition + box.text[box.caret :]
    place = box.caret + box.composition_caret
    before = surface.get_clip()
    surface.set_clip(inner)
    first = _first_visible(theme, text, place, inner.width - theme.px(30))
    visible = text[first : first + 400]
    y = inner.y + (inner.height - theme.line_height(Role.BODY)) // 2

    def across(index: int) -> int:
        return inner.x + theme.width(text[first : max(first, index)], Role.BODY)

    line_height = theme.line_height(Role.BODY)
    start, end = box.selection
    if start != end and not box.composition:
        marked = pygame.Rect(across(start), y - 2, across(end) - across(start), line_height + 4)
        surface.blit(theme.panel(Panel(max(1, marked.width), marked.height, theme.px(4), theme.accent, 110)), marked)
    if visible:
        surface.blit(theme.text(visible, Role.BODY), (inner.x, y))
    elif not text and state.prompt_box is not None:
        surface.blit(theme.text(theme.say(empty), Role.BODY, (116, 124, 138)), (inner.x + theme.px(4), y))
    if box.composition:
        left, right = across(box.caret), across(box.caret + len(box.composition))
        pygame.draw.line(surface, theme.accent, (left, y + line_height), (right, y + line_height), max(1, theme.px(2)))
    caret = pygame.Rect(across(place), y - theme.px(1), max(1, theme.px(2)), line_height + theme.px(2))
    if caret_lit(state, now):
        surface.fill(theme.accent, caret)
    surface.set_clip(before)
    return caret


def _first_visible(theme: Theme, text: str, caret: int, width: int) -> int:
    """From where the line is shown, so that the caret is in sight and as much before it as fits."""
    used, first = 0, caret
    while first > 0:
        used += theme.width(text[first - 1], Role.BODY)
        if used > width:
            break
        first -= 1
    return first


def _draw_foot(surface: pygame.Surface, theme: Theme, state: AppState, room: pygame.Rect, shown: float) -> None:
    """Key pads at the left, the prompt in the middle, hints at the right."""
    key, gap, margin = theme.px(30), theme.px(5), theme.px(20)
    pad_width = 3 * key + 2 * gap
    looks_left = room.left + margin + pad_width + theme.px(22)
    for pad, left in ((PAD, room.left + margin), (LOOK_PAD, looks_left)):
        for action, thing, column, row in pad:
            at = (left + column * (key + gap), room.bottom - margin - (2 - row) * key - (1 - row) * gap)
            _draw_key(surface, theme, hints.key_of(state, thing), at, key, _look_of(theme, state, action), shown)
    words = hint_line(theme, hints.walking(state))
    begins = _chip(surface, theme, words, (room.right - margin, room.bottom - margin), shown)
    left = looks_left + pad_width + margin
    free = pygame.Rect(left, room.y, begins - margin - left, room.height)
    if free.width < theme.px(120) and state.world is not None and state.world.fade is not None:
        free = pygame.Rect(room.x + margin, room.y, room.width - 2 * margin, room.height - theme.px(72))
    _draw_prompt_line(surface, theme, state, free, shown)


def _chip(surface: pygame.Surface, theme: Theme, words: pygame.Surface, corner: tuple[int, int], shown: float) -> int:
    """A line of words on its own dark ground, its lower right at ``corner``. Returns its left side."""
    look = Panel(words.get_width() + theme.px(28), theme.px(32), theme.px(11), alpha=165)
    x, y = corner[0] - look.width, corner[1] - look.height
    surface.blit(faded(theme.panel(look), shown), (x, y))
    surface.blit(faded(words, shown), (x + theme.px(14), y + (look.height - words.get_height()) // 2))
    return x


def _draw_prompt_line(surface: pygame.Surface, theme: Theme, state: AppState, free: pygame.Rect, shown: float) -> None:
    """The prompt that the picture follows, and above it the one on its way, told apart."""
    prompt, world = state.prompt, state.world
    if world is None or world.prompt is None or free.width < theme.px(120):
        return
    rows = [(theme.prompt(world.prompt), TEXT)]
    if prompt is not None and prompt.stage is not Stage.APPLIED:
        rows.append((f"{theme.prompt(prompt.text)} · {details.prompt_state(state)}", theme.accent))
    bottom = free.bottom - theme.px(20)
    for index, (text, colour) in enumerate(rows):
        words = theme.text(theme.shortened(text, Role.SMALL, free.width - theme.px(28)), Role.SMALL, colour)
        right = surface.get_width() // 2 + (words.get_width() + theme.px(28)) // 2
        right = max(free.left + words.get_width() + theme.px(28), min(free.right, right))
        left = _chip(surface, theme, words, (right, bottom), shown)
        if index == 0 and world.fade is not None:
            chip = pygame.Rect(left, bottom - theme.px(32), right - left, theme.px(32))
            draw_way(surface, theme, world.fade, chip)
        bottom -= theme.px(38)


def draw_way(surface: pygame.Surface, theme: Theme, share: float, chip: pygame.Rect) -> None:
    """How far the world has come to its prompt, as a thin line at the foot of the prompt's ``chip``."""
    thick, inset = max(2, theme.px(3)), theme.px(10)
    whole = pygame.Rect(chip.x + inset, chip.bottom - thick, chip.width - 2 * inset, thick)
    surface.fill(LINE, whole)
    surface.fill(theme.accent, (whole.x, whole.y, round(whole.width * share), thick))


def _look_of(theme: Theme, state: AppState, action: str) -> tuple[Colour, int, Colour | None, Colour]:
    """(fill, alpha, outline, letter): filled is applied, outlined in colour is accepted, in white only held."""
    line: Colour | None = None
    if action in state.accepted:
        line = theme.accent
    elif action in state.steering.actions:
        line = TEXT
    if action in state.applied:
        return theme.accent, 235, line, BACKGROUND
    return PANEL, 165, line, TEXT if line is not None else QUIET


def _draw_key(
    surface: pygame.Surface,
    theme: Theme,
    label: str,
    at: tuple[int, int],
    size: int,
    look: tuple[Colour, int, Colour | None, Colour],
    shown: float,
) -> None:
    fill, alpha, line, colour = look
    panel = theme.panel(Panel(size, size, theme.px(8), fill, alpha, line))
    letter = theme.text(theme.shortened(label, Role.SMALL_STRONG, size - 2), Role.SMALL_STRONG, colour)
    surface.blit(faded(panel, shown), at)
    centre = (at[0] + (size - letter.get_width()) // 2, at[1] + (size - letter.get_height()) // 2)
    surface.blit(faded(letter, shown), centre)


def _details_reach_foot(theme: Theme, state: AppState, room: pygame.Rect) -> bool:
    """Whether there is so much of the details that key pads and hints would lie under them."""
    return _details_px(theme, state) > room.height - theme.px(20 + 2 * 30 + 5 + 8)


def _details_px(theme: Theme, state: AppState) -> int:
    """How far down the details reach."""
    return sum(theme.px(21 if name else 9) for name, _ in details.lines(state)) + theme.px(20 + 2 * 18)


def _draw_details(surface: pygame.Surface, theme: Theme, state: AppState, room: pygame.Rect) -> None:
    lines = details.lines(state)
    theme = theme.fitting(_details_px(theme, state), room.height - theme.px(20))
    step, gap, pad, column = theme.px(21), theme.px(9), theme.px(18), theme.px(128)
    values = [theme.shortened(value, Role.SMALL, theme.px(DETAILS_WIDTH - 128 - 36)) for _, value in lines]
    inner = column + max(theme.width(value, Role.SMALL) for value in values)
    tall = sum(step if name else gap for name, _ in lines)
    panel = Panel(max(theme.px(DETAILS_WIDTH), inner + 2 * pad), tall + 2 * pad - theme.px(6), theme.px(14), alpha=214)
    x, y = room.x + theme.px(20), room.y + theme.px(20)
    surface.blit(theme.panel(panel), (x, y))
    y += pad - theme.px(3)
    for (name, _), value in zip(lines, values, strict=True):
        if name:
            surface.blit(theme.text(name, Role.SMALL, QUIET), (x + pad, y))
            colour = QUIET if value == details.unknown(state) else TEXT
            surface.blit(theme.text(value, Role.SMALL, colour), (x + pad + column, y))
        y += step if name else gap


def _draw_recording(surface: pygame.Surface, theme: Theme, state: AppState, room: pygame.Rect) -> None:
    recording = state.recording
    assert recording is not None
    # the length of the film, which stands still when the world does
    seconds = int(recording.frames / state.world.card.fps_nominal) if state.world is not None else 0
    words = theme.say("hud.finishing") if recording.finishing else f"{seconds // 60}:{seconds % 60:02d}"
    if recording.dropped:
        words += "   " + theme.say("hud.dropped", count=recording.dropped)
    text = theme.text(words, Role.SMALL_STRONG)
    dot, pad = theme.px(12), theme.px(13)
    panel = Panel(text.get_width() + dot + theme.px(9) + 2 * pad, theme.px(34), theme.px(12), alpha=190)
    x, y = room.right - theme.px(20) - panel.width, room.y + theme.px(20)
    surface.blit(theme.panel(panel), (x, y))
    lit = Panel(dot, dot, dot // 2, QUIET if recording.finishing else theme.bad, 255)
    surface.blit(theme.panel(lit), (x + pad, y + (panel.height - dot) // 2))
    surface.blit(text, (x + pad + dot + theme.px(9), y + (panel.height - text.get_height()) // 2))


def _pill(surface: pygame.Surface, theme: Theme, strong: str, quiet: str, centre: tuple[int, int]) -> None:
    first, second = theme.text(strong, Role.STRONG), theme.text(quiet, Role.BODY, QUIET)
    gap, pad = theme.px(14), theme.px(24)
    panel = Panel(first.get_width() + second.get_width() + gap + 2 * pad, theme.px(52), theme.px(16), alpha=222)
    x, y = centre[0] - panel.width // 2, centre[1] - panel.height // 2
    surface.blit(theme.panel(panel), (x, y))
    surface.blit(first, (x + pad, y + (panel.height - first.get_height()) // 2))
    surface.blit(second, (x + pad + first.get_width() + gap, y + (panel.height - second.get_height()) // 2))
