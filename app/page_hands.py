"""What the user's hands do on the settings pages. Part of ``state.update``; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from app import bindings, errands, gestures, options, prompt_box, settings
from app.errands import Ask
from app.gestures import Edit, MenuAct
from app.options import PRESET, Deed, SettingsPage
from app.prompt_box import PromptBox
from app.settings import Settings
from app.steps import fitted, let_go
from app.strict_yaml import load as load_yaml
from app.values import AppState, Change
from engine.config import Value
from engine.errors import BadValue

KEEP_AFTER_SECONDS = 0.7
"""A change is written when so long nothing else was changed: a slider that is held writes once."""

Hand = (
    gestures.MenuMoved
    | gestures.MenuChosen
    | gestures.MenuActed
    | gestures.TabMoved
    | gestures.KeyCaught
    | gestures.Scrolled
    | gestures.TextTyped
    | gestures.TextComposed
    | gestures.Edited
    | gestures.Pasted
)


def handle(state: AppState, message: Hand) -> Change:
    page = _page(state)
    match message:
        case gestures.Scrolled(notches):
            return replace(state, page=options.scroll(page, -notches, state.room)), ()
        case gestures.KeyCaught(key, at, by_pad):
            return _caught(state, key, at, by_pad=by_pad), ()
        case gestures.TabMoved(step):
            return replace(state, page=options.open_tab(page, step), captured=False), ()
        case gestures.MenuMoved(columns, rows, at):
            if rows and not page.trying:
                return replace(state, page=options.choose(page, page.selected + rows, state.room)), ()
            return _step(state, columns, at), ()
        case gestures.MenuChosen(at):
            return _act(state, at), ()
        case gestures.MenuActed(act, at):
            return (_clear(state, at) if act is MenuAct.CLEAR else state), ()
    return _type(state, message)


def back(state: AppState) -> AppState:
    """Escape: out of what is being tried or caught, then out of the pages."""
    page = _page(state)
    if page.trying or page.catching:
        return replace(state, captured=False, page=replace(page, trying=False, catching=False))
    return replace(state, page=None)


def hover(state: AppState, moved: gestures.MouseMoved) -> AppState:
    page = _page(state)
    over = options.row_at(page, moved.x, moved.y, state.room)
    if over in (None, page.selected) or page.catching or page.line is not None:
        return state
    assert over is not None
    return replace(state, page=options.choose(page, over, state.room))


def click(state: AppState, click: gestures.MouseClicked) -> Change:
    page, room = _page(state), state.room
    if page.trying:
        return back(state), ()
    tab = options.tab_at(click.x, click.y, room)
    if tab is not None:
        return replace(state, page=SettingsPage(tab)), ()
    over = options.row_at(page, click.x, click.y, room)
    rect = None if over is None else options.row_rect(page, over, room)
    if over is None or rect is None:
        return replace(state, page=replace(page, catching=False, line=None, problem=None)), ()
    state = replace(state, page=options.choose(page, over, room))
    row = _page(state).row
    if options.is_keys(row):
        value = options.value_rect(rect)
        slot = 0 if click.x < value.x + value.width // 2 else 1
        state = replace(state, page=replace(_page(state), slot=slot))
        return _act(state, click.at), ()
    step = options.step_at(rect, click.x) if options.is_setting(row) or row == PRESET else 0
    return (_step(state, step, click.at) if step else _act(state, click.at)), ()


def try_look(state: AppState, moved: gestures.MouseMoved) -> AppState:
    """The captured pointer moved on the page: count the degrees that it would turn the view."""
    page, feel = _page(state), state.feel
    yaw = page.tried_yaw + moved.dx * feel.degrees_per_px
    pitch = page.tried_pitch - moved.dy * feel.degrees_per_px * (-1 if feel.invert_y else 1)
    return replace(state, page=replace(page, tried_yaw=yaw, tried_pitch=max(-90.0, min(90.0, pitch))))


def change(state: AppState, values: Mapping[str, object], at: float) -> AppState:
    """Settings get other values, by their full names, and are kept a little later. All are allowed, or BadValue."""
    return _adopt(state, settings.changed(state.settings, values), at)


def forget(state: AppState, names: Collection[str], at: float) -> AppState:
    """These settings get their defaults again and are no longer kept as the user's own."""
    return _adopt(state, settings.forgotten(state.settings, names), at)


def _adopt(state: AppState, chosen: Settings, at: float) -> AppState:
    """The settings that count at once do so; a seed or a whole screen that was not touched stays as it is."""
    before, app = state.settings.app, chosen.app
    state = replace(state, settings=chosen, unkept_at=at, touched_at=at)
    if app.seed != before.seed:
        state = replace(state, seed=app.seed)
    if app.fullscreen != before.fullscreen:
        state = replace(state, fullscreen=app.fullscreen)
    if app.input_overlay != before.input_overlay:
        state = replace(state, inputs=app.input_overlay)
    return fitted(state) if app.text_size != before.text_size else state


def keep_in_time(state: AppState, now: float) -> Change:
    """Ask for the changes to be written once the hand rests."""
    if state.unkept_at is None or now - state.unkept_at < KEEP_AFTER_SECONDS:
        return state, ()
    return replace(state, unkept_at=None), (errands.KeepSettings(state.settings.own),)


# ---- rows --------------------------------------------------------------------------------------------------------


def _page(state: AppState) -> SettingsPage:
    assert state.page is not None
    return state.page


def _step(state: AppState, step: int, at: float) -> AppState:
    page = _page(state)
    if step == 0:
        return state
    if page.trying:  # the mouse is being felt: its sensitivity is what is wanted
        row = "app.mouse_degrees_per_100_px"
        return change(state, {row: options.stepped(state.settings, row, step)}, at)
    if page.row == PRESET:
        names = list(bindings.PRESETS)
        current = bindings.preset_of(state.settings.app.keys)
        place = (names.index(current) + step) % len(names) if current in names else 0
        return change(state, _keys(bindings.PRESETS[names[place]]), at)
    if options.is_keys(page.row):
        return replace(state, page=replace(page, slot=(page.slot + step) % bindings.MOST_KEYS))
    if not options.is_setting(page.row):
        return state
    value = options.stepped(state.settings, page.row, step)
    return state if value == settings.flat(state.settings)[page.row] else change(state, {page.row: value}, at)


def _act(state: AppState, at: float) -> AppState:
    page = _page(state)
    if page.trying:
        return back(state)
    match page.row:
        case Deed.TRY_LOOK:
            felt = replace(page, trying=True, tried_yaw=0.0, tried_pitch=0.0)
            return replace(state, page=felt, captured=True, ignores_motion=True, first_motion_at=None)
        case Deed.ONE_HAND:
            return change(state, one_hand(), at)
        case Deed.RESET_TAB:
            return forget(state, tuple(row for row in options.ROWS[page.tab] if options.is_setting(row)), at)
        case Deed.RESET_ALL:
            return forget(state, settings.every_name(), at)
    if page.row == PRESET:
        return _step(state, 1, at)
    if options.is_keys(page.row):
        return replace(state, page=replace(page, catching=True))
    rule = settings.rule_of(page.row)
    if rule.kind is bool or rule.choices:
        return _step(state, 1, at)
    text = typed_value(settings.flat(state.settings)[page.row])
    line = PromptBox(text=text, caret=len(text), anchor=0)
    return replace(state, page=replace(page, line=line, problem=None))


def one_hand() -> dict[str, object]:
    """One hand on the mouse walks and looks: keys on its buttons, slow turning kept slow."""
    return {**_keys(bindings.PRESETS["mouse"]), "app.turn_cap_degrees_per_second": 120.0}


def _clear(state: AppState, at: float) -> AppState:
    """The chosen row as it was made; a key is taken away."""
    page = _page(state)
    if options.is_keys(page.row):
        return _bind(state, None, at)
    return forget(state, (page.row,), at) if options.is_setting(page.row) else state


def _bind(state: AppState, key: str | None, at: float) -> AppState:
    """The key or button in the chosen slot of the chosen row; None takes it away."""
    page, app, thing = _page(state), state.settings.app, options.thing_of(_page(state).row)
    bound: bindings.Bound
    if options.is_buttons(page.row):
        bound = bindings.bind(app.pad, thing, page.slot, key)
    else:
        bound = bindings.bind(app.keys, thing, page.slot, key)
    return change(state, {page.row: bindings.keys_of(bound, thing)}, at)


def _caught(state: AppState, key: str | None, at: float, *, by_pad: bool) -> AppState:
    """The key that was waited for. Escape leaves all as it is; a key is not waited for where a button is wanted."""
    page = _page(state)
    if key is not None and page.catching and by_pad != options.is_buttons(page.row):
        return state
    state = let_go(replace(state, page=replace(page, catching=False)), at)
    if key is None or not page.catching:
        return state
    return _bind(state, key, at)


def _keys(bound: bindings.Bindings) -> dict[str, object]:
    return {f"app.keys.{thing}": bindings.keys_of(bound, thing) for thing in bindings.THINGS}


# ---- values that are typed ---------------------------------------------------------------------------------------


def typed_value(value: Value) -> str:
    """A value as one types it; nothing where it is null."""
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


def _type(
    state: AppState, message: gestures.TextTyped | gestures.TextComposed | gestures.Edited | gestures.Pasted
) -> Change:
    page = _page(state)
    line = page.line
    if line is None:
        return state, ()
    asks: tuple[Ask, ...] = ()
    match message:
        case gestures.TextTyped(text, at):
            state, line = replace(state, touched_at=at), prompt_box.type_text(line, text)
        case gestures.TextComposed(text, caret):
            line = prompt_box.compose_text(line, text, caret)
        case gestures.Pasted(text):
            line = prompt_box.type_text(line, text)
        case gestures.Edited(edit, at, selecting, by_word):
            state = replace(state, touched_at=at)
            if edit is Edit.CANCEL and not line.composition:
                return replace(state, page=replace(page, line=None, problem=None)), ()
            if edit is Edit.APPLY and not line.composition:
                return _take(state, line.text.strip(), at), ()
            if edit in (Edit.COPY, Edit.CUT) and line.selected:
                asks = (errands.CopyText(line.selected),)
            elif edit is Edit.PASTE:
                asks = (errands.PasteText(),)
            line = prompt_box.edit(line, edit, selecting=selecting, by_word=by_word)
    return replace(state, page=replace(page, line=line, problem=None)), asks


def _take(state: AppState, text: str, at: float) -> AppState:
    """The typed value, if the setting's rule allows it; else the line stays open and says what is expected."""
    page = _page(state)
    rule = settings.rule_of(page.row)
    value: object = text
    try:
        if not text and rule.optional:
            value = None
        elif rule.kind is not str:
            value = load_yaml(text, page.row).value
        state = change(state, {page.row: settings.check_one(page.row, value, page.row)}, at)
    except BadValue as error:
        return replace(state, page=replace(page, problem=error.expected))
    return replace(state, page=replace(_page(state), line=None, problem=None))
