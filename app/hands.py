"""What the user's hands mean: keys, mouse, text, menus, the window itself. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import (
    beginning_hands,
    branch_hands,
    errands,
    film_hands,
    gestures,
    menu,
    messages,
    page_hands,
    photo_hands,
    prompt_hands,
    slot_hands,
    start_hands,
    steering,
)
from app.facts import Screen
from app.films import SaveClip
from app.gestures import Command, Focus
from app.menu import MenuItem
from app.options import SettingsPage
from app.steps import close_world, fitted, let_go, open_gallery, open_world, recover, reset, tell
from app.values import AppState, Change


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is not of the user's doing."""
    for hands_of in (
        prompt_hands.handle,
        photo_hands.handle,
        film_hands.handle,
        beginning_hands.handle,
        start_hands.handle,
    ):
        started = hands_of(state, message)
        if started is not None:
            return started
    match message:
        case gestures.ActionPressed(action, source, at):
            if state.focus is not Focus.WALK:
                return state, ()
            return _touched(replace(state, steering=steering.press(state.steering, action, source, at)), at), ()
        case gestures.ActionReleased(source, at):
            after = steering.release(state.steering, source, at)
            return (state if after is state.steering else replace(state, steering=after)), ()
        case gestures.MouseMoved():
            return _mouse_moved(state, message), ()
        case gestures.MouseClicked():
            return _clicked(state, message)
        case gestures.Commanded(command, at):
            return _command(_touched(state, at), command, at)
        case gestures.KeyCaught() | gestures.TabMoved() | gestures.MenuActed():
            return page_hands.handle(state, message) if state.page is not None else (state, ())
        case gestures.MenuMoved() | gestures.MenuChosen() | gestures.Scrolled():
            return _in_menu(state, message)
        case gestures.TextTyped() | gestures.TextComposed() | gestures.Edited() | gestures.Pasted():
            typed = state.page is not None and state.page.line is not None
            return page_hands.handle(state, message) if typed else (state, ())
        case gestures.FocusLost(at):
            state = let_go(state, at)
            return (state if state.page is None else replace(state, page=replace(state.page, catching=False))), ()
        case gestures.WindowResized(width, height):
            if (width, height) == (state.width, state.height):
                return state, ()
            return fitted(replace(state, width=width, height=height)), ()
        case gestures.WindowExposed():
            return replace(state, exposures=state.exposures + 1), ()
        case gestures.CloseAsked():
            return close_world(state)
    return None


def _touched(state: AppState, at: float) -> AppState:
    return replace(state, touched_at=at)


# ---- mouse -------------------------------------------------------------------------------------------------------


def _mouse_moved(state: AppState, moved: gestures.MouseMoved) -> AppState:
    if state.page is not None and not state.captured:
        return page_hands.hover(state, moved)
    if state.menu is not None and state.page is None:
        over = menu.menu_item_at(state.menu, moved.x, moved.y, state.room)
        return state if over in (None, state.menu.selected) else replace(state, menu=replace(state.menu, selected=over))
    if state.screen is Screen.SCENES and state.page is None:
        card = menu.card_at(state.gallery, moved.x, moved.y, state.room)
        if card is None or card == state.gallery.selected:
            return state
        return replace(state, gallery=replace(state.gallery, selected=card))
    if not state.captured:
        return _touched(state, moved.at) if moved.at - state.touched_at > 0.5 else state
    if state.ignores_motion and state.first_motion_at in (None, moved.at):
        # everything that arrives together with the first motion belongs to the jump
        return replace(state, first_motion_at=moved.at)
    state = replace(state, ignores_motion=False)
    if state.page is not None:
        return page_hands.try_look(state, moved)
    if state.focus is not Focus.WALK or state.standing:
        return state
    after = steering.turn(state.steering, moved.dx, moved.dy, moved.at, state.feel)
    return _touched(replace(state, steering=after), moved.at)


def _clicked(state: AppState, click: gestures.MouseClicked) -> Change:
    state = _touched(state, click.at)
    if state.page is not None:
        return page_hands.click(state, click)
    if state.menu is not None:
        over = menu.menu_item_at(state.menu, click.x, click.y, state.room)
        if over is None:
            return state, ()
        return _choose(replace(state, menu=replace(state.menu, selected=over)), click.at)
    if state.screen is Screen.SCENES:
        card = menu.card_at(state.gallery, click.x, click.y, state.room)
        if card is None:
            return state, ()
        return _choose(replace(state, gallery=replace(state.gallery, selected=card)), click.at)
    if state.help:
        return replace(state, help=False), ()
    if state.walking and state.prompt_box is None and not state.captured:
        return replace(state, captured=True, ignores_motion=True, first_motion_at=None), ()
    return state, ()


# ---- commands ----------------------------------------------------------------------------------------------------


def _command(state: AppState, command: Command, at: float) -> Change:
    match command:
        case Command.HELP:
            return replace(state, help=not state.help), ()
        case Command.DETAILS:
            return replace(state, details=not state.details), ()
        case Command.INPUTS:
            return replace(state, inputs=not state.inputs), ()
        case Command.FULLSCREEN:
            return replace(state, fullscreen=not state.fullscreen), ()
        case Command.SNAPSHOT:
            return (state, (errands.SavePicture(),)) if state.screen is Screen.WALK else (state, ())
        case Command.RECORD:
            return _toggle_recording(state, at)
        case Command.CLIP:
            return (state, (SaveClip(),)) if state.world is not None else (state, ())
        case Command.PAUSE:
            return (replace(state, paused=not state.paused), ()) if state.walking else (state, ())
        case Command.RESET:
            return _reset(state, at)
        case Command.PROMPT:
            if state.screen is Screen.SCENES and state.menu is None:
                return beginning_hands.open_words(state, at)
            if not state.walking or state.behind:
                return state, ()
            return prompt_hands.open_box(state, at), ()
        case Command.PHOTO:
            return state, ()  # it is begun where nothing else is open
        case Command.BRANCHES:
            return branch_hands.open_page(state, at), ()
        case Command.MENU:
            return _toggle_menu(state, at), ()
        case Command.BACK:
            return _back(state, at), ()


def _back(state: AppState, at: float) -> AppState:
    """Escape closes the uppermost thing, frees the pointer, or asks whether to leave."""
    if state.prompt_box is not None:
        return replace(state, prompt_box=None)
    if state.help:
        return replace(state, help=False)
    if state.page is not None:
        return page_hands.back(state)
    if state.captured:
        return replace(state, captured=False)
    return _toggle_menu(state, at)


def _toggle_menu(state: AppState, at: float) -> AppState:
    if state.page is not None:
        return replace(state, page=None, captured=False)
    if state.menu is not None:
        return replace(state, menu=None)
    if state.screen is Screen.SCENES and state.scene is not None:
        return replace(state, screen=Screen.WALK if state.world is not None else Screen.LOADING)
    if state.walking:
        shown = menu.WALK_MENU
    else:
        shown = menu.START_MENU if state.screen in (Screen.STARTING, Screen.SCENES) else menu.WAIT_MENU
    return replace(let_go(state, at), menu=shown, help=False)


def _reset(state: AppState, at: float) -> Change:
    if state.page is not None or state.screen is Screen.SCENES or (state.menu is not None and not state.walking):
        return state, ()
    if state.failure is not None:
        return recover(replace(state, menu=None), at)
    return reset(tell(state, state.say("told.reset"), at), at) if state.walking else (state, ())


def _toggle_recording(state: AppState, at: float) -> Change:
    if state.recording is not None:
        if state.recording.finishing:
            return state, ()
        after = replace(state, recording=replace(state.recording, finishing=True), record_next=False)
        return after, (errands.StopRecording(),)
    if state.world is None:
        wanted = not state.record_next
        sentence = state.say("told.records_next" if wanted else "told.records_not")
        return tell(replace(state, record_next=wanted), sentence, at), ()
    return state, (errands.StartRecording(),)


# ---- menus -------------------------------------------------------------------------------------------------------


def _in_menu(state: AppState, message: gestures.MenuMoved | gestures.MenuChosen | gestures.Scrolled) -> Change:
    if state.focus is not Focus.MENU:
        return state, ()
    if state.page is not None:
        return page_hands.handle(state, message)
    if isinstance(message, gestures.Scrolled):
        if state.menu is None:
            state = replace(state, gallery=menu.scroll(state.gallery, -message.notches, state.room))
        return state, ()
    state = _touched(state, message.at)
    if isinstance(message, gestures.MenuChosen):
        return _choose(state, message.at)
    if state.menu is not None:
        return replace(state, menu=menu.move(state.menu, message.rows)), ()
    gallery = menu.step(state.gallery, message.columns, message.rows, state.room)
    return replace(state, gallery=gallery), ()


def _choose(state: AppState, at: float) -> Change:
    if state.menu is None:
        if state.gallery.selected >= len(state.scenes):
            own = menu.OWN_CARDS[state.gallery.selected - len(state.scenes)] if state.gallery.count else "own"
            return (beginning_hands.open_words if own == "words" else beginning_hands.open_path)(state, at)
        scene = state.scenes[state.gallery.selected]
        return open_world(replace(state, screen=Screen.LOADING), scene, at)
    closed = replace(state, menu=None)
    match state.menu.choice:
        case MenuItem.RESUME | MenuItem.BACK:
            return closed, ()
        case MenuItem.PHOTO:
            return photo_hands.begin(closed, at)
        case MenuItem.RESET:
            return _reset(closed, at)
        case MenuItem.SCENES:
            return open_gallery(closed), ()
        case MenuItem.BRANCHES:
            return branch_hands.open_page(closed, at), ()
        case MenuItem.WORLDS:
            return slot_hands.open_page(closed, at)
        case MenuItem.FILMS:
            return film_hands.open_films(closed, at)
        case MenuItem.MODELS:
            return replace(state, picker=start_hands.current_model(state)), ()
        case MenuItem.SETTINGS:
            return replace(state, page=SettingsPage()), ()  # the menu stays behind it
        case MenuItem.HELP:
            return replace(closed, help=True), ()
        case MenuItem.QUIT:
            return close_world(state)  # the menu stays: closing it would set the world going once more
