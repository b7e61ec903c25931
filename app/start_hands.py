"""What the user's hands do before a walk: an own picture, the list of models, pins. Part of ``update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import bindings, crop, errands, gestures, menu, messages, page_hands, prompt_box, remembered
from app.beginning_hands import Text, suggested, typed_into
from app.facts import Screen
from app.gestures import Edit, MenuAct
from app.prompt_box import PromptBox
from app.remembered import OwnPicture
from app.steps import list_scenes, tell
from app.values import AppState, Change
from engine.wording import prompt_problem


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where nothing of this page is open, or the message is not its business."""
    match message:
        case messages.ModelsListed(models):
            return replace(state, models=models), ()
        case gestures.MenuActed(MenuAct.PIN | MenuAct.CLEAR as act, at) if _on_cards(state):
            return _pin(state, at) if act is MenuAct.PIN else _remove(state, at)
    if state.page is not None or state.prompt_box is not None:
        return None
    if state.crop is not None:
        return _in_crop(state, message)
    return _in_picker(state, message) if state.picker is not None else None


def _on_cards(state: AppState) -> bool:
    """Whether a scene's card is what is chosen, and nothing lies over it."""
    over = (state.menu, state.page, state.picker, state.crop, state.line_page, state.films, state.film, state.slots)
    on_a_scene = state.screen is Screen.SCENES and state.gallery.selected < len(state.scenes)
    return on_a_scene and all(part is None for part in over)


def _remove(state: AppState, at: float) -> Change:
    """The card of an own world goes; its picture's file stays. Scenes that come along stay too."""
    scene = state.scenes[state.gallery.selected]
    if not state.remembered.is_own(scene.name):
        return tell(state, state.say("told.card_stays"), at), ()
    known = remembered.forget(state.remembered, scene.name)
    others = tuple(other for other in state.scenes if other is not scene)
    state = list_scenes(replace(state, remembered=known, touched_at=at), others)
    gallery = menu.select(state.gallery, state.gallery.selected, state.room)
    return tell(replace(state, gallery=gallery), state.say("told.card_removed", name=scene.name), at), ()


def _pin(state: AppState, at: float) -> Change:
    name = state.scenes[state.gallery.selected].name
    known = remembered.pin(state.remembered, name)
    state = list_scenes(replace(state, remembered=known, touched_at=at), state.scenes)
    at_card = next(index for index, scene in enumerate(state.scenes) if scene.name == name)
    gallery = menu.select(state.gallery, at_card, state.room)
    return replace(state, gallery=gallery), ()


def _at(message: Text, state: AppState) -> float:
    return message.at if isinstance(message, gestures.TextTyped | gestures.Edited) else state.touched_at


# ---- the picture and its part ------------------------------------------------------------------------------------


def _in_crop(state: AppState, message: messages.Message) -> Change | None:
    page = state.crop
    assert page is not None
    match message:
        case gestures.MenuMoved(_, rows, at) if page.line is not None:  # a gamepad's way to other words
            key = Edit.OLDER if rows < 0 else Edit.NEWER
            return replace(state, crop=replace(page, line=prompt_box.edit(page.line, key)), touched_at=at), ()
        case gestures.MenuMoved(columns, rows):
            return replace(state, crop=crop.move(page, columns, rows)), ()
        case gestures.Scrolled(notches):
            return replace(state, crop=crop.move(page, -notches, -notches)), ()
        case gestures.MouseClicked(x, y):
            return replace(state, crop=crop.point(page, x, y, state.room)), ()
        case gestures.MenuChosen():
            return state, (errands.MakePicture(OwnPicture(page.path, page.prompt, page.shift)),)
        case gestures.Commanded(gestures.Command.PROMPT, at) | gestures.MenuActed(MenuAct.PIN, at):
            typed = page.prompt if page.prompt != crop.DEFAULT_PROMPT else ""
            keys, labels = state.settings.app.keys, state.settings.app.key_labels
            swallow = "" if state.by_pad else bindings.letter_of(keys, "prompt", labels)
            line = PromptBox(typed, len(typed), len(typed), history=suggested(state), swallow=swallow)
            return replace(state, crop=replace(page, line=line), touched_at=at), ()
        case gestures.Commanded(gestures.Command.BACK | gestures.Command.MENU):
            return replace(state, crop=None), ()
        case gestures.MouseMoved():
            return state, ()
    if page.line is None or not isinstance(message, Text):
        return None
    line, ended, asks = typed_into(page.line, message)
    if ended is Edit.CANCEL:
        return replace(state, crop=replace(page, line=None)), ()
    if ended is Edit.APPLY:
        text = line.text.strip()
        if prompt_problem(text) is not None:
            return replace(state, crop=replace(page, line=None)), ()
        return replace(state, crop=replace(page, line=None, prompt=text)), ()
    return replace(state, crop=replace(page, line=line), touched_at=_at(message, state)), asks


# ---- models ------------------------------------------------------------------------------------------------------


def current_model(state: AppState) -> int:
    """Which of the list is in use; the first one of its kind where it is a model of the user's own."""
    engine = state.settings.engine
    same = [index for index, model in enumerate(state.models) if model.backend == engine.backend]
    exact = [index for index in same if state.models[index].model == engine.model]
    return (exact or same or [0])[0]


def _in_picker(state: AppState, message: messages.Message) -> Change | None:
    assert state.picker is not None
    count = max(1, len(state.models))
    match message:
        case gestures.MenuMoved(_, rows):
            return replace(state, picker=(state.picker + rows) % count), ()
        case gestures.Scrolled(notches):
            return replace(state, picker=max(0, min(count - 1, state.picker - notches))), ()
        case gestures.MouseMoved(x, y):
            over = menu.line_at(count, x, y, state.room)
            return (state if over is None else replace(state, picker=over)), ()
        case gestures.MouseClicked(x, y, at):
            over = menu.line_at(count, x, y, state.room)
            return (state, ()) if over is None else (_use(state, over, at), ())
        case gestures.MenuChosen(at):
            return _use(state, state.picker, at), ()
        case gestures.Commanded(gestures.Command.BACK | gestures.Command.MENU):
            return replace(state, picker=None), ()
    return None


def _use(state: AppState, index: int, at: float) -> AppState:
    """This model from the next world on; where the walk has not begun, that is the next one anyhow."""
    if index >= len(state.models):
        return state
    model = state.models[index]
    values = {"engine.backend": model.backend, "engine.model": model.model}
    state = page_hands.change(replace(state, picker=None), values, at)
    return tell(state, state.say("told.model", name=model.title), at)
