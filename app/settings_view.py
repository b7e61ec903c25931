"""The settings pages as a picture; no decisions. What a value is called in words is told here too."""

from __future__ import annotations

import pygame

from app import bindings, hints, hud, options, settings
from app.menu import Rect
from app.options import PRESET, Deed, SettingsPage
from app.pages import darken
from app.theme import BACKGROUND, LINE, PANEL, QUIET, TEXT, Panel, Role, Theme, hint_line
from app.values import AppState
from app.words import table
from engine.config import Value

DEFAULTS = settings.flat(settings.Settings())


def value_words(state: AppState, row: str, value: Value) -> str:
    """A value as the page shows it."""
    if value is None:
        special = f"nothing.{row}"
        return state.say(special if table.knows(special) else "settings.nothing")
    if isinstance(value, bool):
        return state.say("yes" if value else "no")
    if value == 0 and table.knows(f"off.{row}"):
        return state.say(f"off.{row}")
    if isinstance(value, tuple):
        return "  ".join(hints.bound_name(state, row, key) for key in value) or state.say("settings.no_key")
    if isinstance(value, str):
        known = settings.rule_of(row).choices and table.knows(f"value.{value}")
        return state.say(f"value.{value}") if known else value
    text = f"{value:.10g}"
    return state.say(f"unit.{row}", value=text) if table.knows(f"unit.{row}") else text


def draw(surface: pygame.Surface, theme: Theme, state: AppState, now: float) -> pygame.Rect | None:
    """All of the page. Returns where text is being typed, for the input method."""
    page, room = state.page, state.room
    assert page is not None
    height = surface.get_height()
    darken(surface, 250)
    area = options.column(room)
    surface.blit(theme.text(theme.say("settings.title"), Role.HEADING), (area.x + theme.px(6), theme.px(20)))
    _draw_tabs(surface, theme, state, page)
    caret = None
    for index, row in enumerate(options.rows(page.tab)):
        rect = options.row_rect(page, index, room)
        if rect is not None:
            found = _draw_row(surface, theme, state, row, rect, chosen=index == page.selected, now=now)
            caret = found or caret
    _draw_scroll(surface, theme, page, state, area)
    _draw_foot(surface, theme, state, page, pygame.Rect(area.x, height - theme.px(98), area.width, theme.px(98)))
    return caret


def _draw_tabs(surface: pygame.Surface, theme: Theme, state: AppState, page: SettingsPage) -> None:
    names = {tab: theme.say(f"tab.{tab}") for tab in options.TABS}
    room = options.tab_rect(page.tab, state.room).width - theme.px(8)
    small = theme.fitting(max(theme.width(name, Role.STRONG) for name in names.values()), room)
    for tab in options.TABS:
        rect = options.tab_rect(tab, state.room)
        chosen = tab is page.tab
        role, colour = (Role.STRONG, theme.accent) if chosen else (Role.BODY, QUIET)
        words = small.text(names[tab], role, colour)
        surface.blit(words, (rect.x + (rect.width - words.get_width()) // 2, rect.y + theme.px(5)))
        surface.fill(
            theme.accent if chosen else LINE,
            (rect.x, rect.y + rect.height - theme.px(4), rect.width, max(1, theme.px(2))),
        )


def _draw_row(
    surface: pygame.Surface, theme: Theme, state: AppState, row: str, rect: Rect, *, chosen: bool, now: float
) -> pygame.Rect | None:
    page = state.page
    assert page is not None
    look = Panel(rect.width, rect.height, theme.px(10), PANEL, 235 if chosen else 150, theme.accent if chosen else None)
    surface.blit(theme.panel(look), (rect.x, rect.y))
    value = options.value_rect(rect)
    middle = rect.y + rect.height // 2
    name = theme.shortened(_name(state, row), Role.BODY, rect.width - value.width - theme.px(26))
    _left(surface, theme.text(name, Role.BODY, TEXT), rect.x + theme.px(16), middle)
    if options.is_keys(row):
        _draw_keys(surface, theme, state, row, value, chosen=chosen)
        return None
    if chosen and page.line is not None:
        inner = pygame.Rect(value.x + theme.px(12), value.y + 2, value.width - theme.px(24), value.height - 4)
        return hud.draw_line(surface, theme, state, page.line, inner, now=now)
    words, colour = _value(theme, state, row)
    drawn = theme.text(theme.shortened(words, Role.BODY, value.width - 2 * value.height), Role.BODY, colour)
    surface.blit(drawn, (value.x + (value.width - drawn.get_width()) // 2, middle - drawn.get_height() // 2))
    if (options.is_setting(row) and _steps(row)) or row == PRESET:
        for sign, x in (("‹", value.x + value.height // 2), ("›", value.x + value.width - value.height // 2)):
            arrow = theme.text(sign, Role.STRONG, theme.accent if chosen else QUIET)
            surface.blit(arrow, (x - arrow.get_width() // 2, middle - arrow.get_height() // 2))
    return None


def _steps(row: str) -> bool:
    rule = settings.rule_of(row)
    return rule.kind is not str or bool(rule.choices)


def _name(state: AppState, row: str) -> str:
    """What a row is called; a setting that the table does not know yet shows its own name."""
    key = options.name_key(row)
    return state.say(key) if table.knows(key) else row


def _value(theme: Theme, state: AppState, row: str) -> tuple[str, tuple[int, int, int]]:
    if row == PRESET:
        preset = bindings.preset_of(state.settings.app.keys)
        return theme.say("settings.own_keys" if preset is None else f"preset.{preset}"), TEXT
    if not options.is_setting(row):
        page = state.page
        if row == Deed.TRY_LOOK and page is not None and page.trying:
            values = {"yaw": f"{page.tried_yaw:.0f}", "pitch": f"{page.tried_pitch:.0f}"}
            return theme.say("settings.tried", yaw=values["yaw"], pitch=values["pitch"]), theme.accent
        return theme.say("settings.do"), QUIET
    value = settings.flat(state.settings)[row]
    return value_words(state, row, value), TEXT if value == DEFAULTS[row] else theme.accent


def _draw_keys(surface: pygame.Surface, theme: Theme, state: AppState, row: str, value: Rect, *, chosen: bool) -> None:
    """Two slots, each a key, a dash, or what waits for one; a key that means two things is marked."""
    page = state.page
    assert page is not None
    bound = options.bound_of(state.settings, row)
    keys, clashes = bindings.keys_of(bound, options.thing_of(row)), bindings.conflicts(bound)
    width = (value.width - theme.px(20)) // bindings.MOST_KEYS
    for slot in range(bindings.MOST_KEYS):
        key = keys[slot] if slot < len(keys) else None
        here = chosen and page.slot == slot
        clash = key is not None and key in clashes
        line = theme.accent if here else theme.bad if clash else LINE
        look = Panel(width, value.height - theme.px(8), theme.px(8), BACKGROUND, 200, line)
        x, y = value.x + theme.px(8) + slot * (width + theme.px(6)), value.y + theme.px(4)
        surface.blit(theme.panel(look), (x, y))
        words = theme.say("settings.no_key") if key is None else hints.bound_name(state, row, key)
        words += " !" if clash else ""
        if here and page.catching:
            words = theme.say("settings.press_button" if options.is_buttons(row) else "settings.press")
        colour = theme.accent if here and page.catching else theme.bad if clash else TEXT if key else QUIET
        drawn = theme.text(theme.shortened(words, Role.BODY, width - theme.px(10)), Role.BODY, colour)
        surface.blit(drawn, (x + (width - drawn.get_width()) // 2, y + (look.height - drawn.get_height()) // 2))


def _draw_scroll(surface: pygame.Surface, theme: Theme, page: SettingsPage, state: AppState, area: Rect) -> None:
    count, shown = len(options.rows(page.tab)), options.rows_shown(state.room)
    if count <= shown:
        return
    x, whole = area.x + area.width + theme.px(8), shown * options.row_height(state.room)
    track = pygame.Rect(x, area.y, max(2, theme.px(4)), whole)
    surface.fill(LINE, track)
    surface.fill(theme.accent, (x, area.y + whole * page.first // count, track.width, whole * shown // count))


def _draw_foot(surface: pygame.Surface, theme: Theme, state: AppState, page: SettingsPage, area: pygame.Rect) -> None:
    """What the chosen row does, from when on, its default; or what is wrong; and what the keys do."""
    lines, colour = [_about(state, page.row)], TEXT
    clash = _clash(state, page)
    if page.problem is not None:
        lines, colour = [theme.say("settings.expected", what=page.problem)], theme.bad
    elif clash is not None:
        lines, colour = [clash], theme.bad
    if page.trying:
        _draw_compass(surface, theme, state, page, area)
        lines = [theme.say("settings.try")]
    else:
        facts = []
        counts = options.when(page.row)
        if counts is not None:
            facts.append(theme.say(f"when.{counts}"))
        if options.is_setting(page.row):
            facts.append(theme.say("settings.default", value=value_words(state, page.row, DEFAULTS[page.row])))
        lines.append(" · ".join(facts))
    y = area.y + theme.px(4)
    for line, shade in zip(lines, (colour, QUIET), strict=False):
        surface.blit(theme.text(theme.shortened(line, Role.SMALL, area.width), Role.SMALL, shade), (area.x, y))
        y += theme.px(22)
    surface.blit(hint_line(theme, hints.settings(state)), (area.x, area.bottom - theme.px(30)))


def _about(state: AppState, row: str) -> str:
    key = "about.buttons" if options.is_buttons(row) else "about.keys" if options.is_keys(row) else f"about.{row}"
    return state.say(key) if table.knows(key) else ""


def _clash(state: AppState, page: SettingsPage) -> str | None:
    """The sentence for a key of the chosen row that means something else too."""
    if not options.is_keys(page.row):
        return None
    thing, bound = options.thing_of(page.row), options.bound_of(state.settings, page.row)
    before, clashes = page.row.removesuffix(thing), bindings.conflicts(bound)
    for key in bindings.keys_of(bound, thing):
        if key in clashes:
            others = ", ".join(_name(state, before + other) for other in clashes[key] if other != thing)
            return state.say("settings.conflict", key=hints.bound_name(state, page.row, key), others=others)
    return None


def _draw_compass(
    surface: pygame.Surface, theme: Theme, state: AppState, page: SettingsPage, area: pygame.Rect
) -> None:
    """A strip of degrees that turns as the view would: 120 of them across."""
    per_degree = area.width / 120
    y, middle = area.y + theme.px(34), area.x + area.width // 2
    before = surface.get_clip()
    surface.set_clip(area)
    first = int(page.tried_yaw // 15) * 15
    for mark in range(first - 75, first + 91, 15):
        x = round(middle + (mark - page.tried_yaw) * per_degree)
        long = mark % 90 == 0
        surface.fill(theme.accent if long else QUIET, (x, y, max(1, theme.px(2)), theme.px(12 if long else 7)))
        if mark % 30 == 0:
            number = theme.text(f"{mark}°", Role.SMALL, QUIET)
            surface.blit(number, (x + theme.px(5), y - theme.px(4)))
    surface.set_clip(before)
    surface.fill(TEXT, (middle, y - theme.px(4), max(1, theme.px(2)), theme.px(20)))


def _left(surface: pygame.Surface, drawn: pygame.Surface, x: int, middle: int) -> None:
    surface.blit(drawn, (x, middle - drawn.get_height() // 2))
