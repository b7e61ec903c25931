"""What the user's hands do before a walk: an own picture, the list of models, pins. Part of ``update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import crop, errands, gestures, menu, messages, page_hands, prompt_box, remembered
from app.errands import Ask
from app.facts import Screen
from app.gestures import Edit, MenuAct
from app.prompt_box import PromptBox
from app.remembered import OwnPicture
from app.steps import let_go, list_scenes, open_world, tell
from app.values import AppState, Change
from engine.wording import prompt_problem

Text = gestures.TextTyped | gestures.TextComposed | gestures.Edited | gestures.Pasted


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where nothing of this page is open, or the message is not its business."""
    match message:
        case gestures.FileDropped(path, at):
            if state.prompt_box is not None or state.page is not None:
                return state, ()
            return replace(let_go(state, at), path_line=None), (errands.ReadPicture(path),)
        case messages.PictureRead(path, picture, size, at):
            page = crop.CropPage(path, picture, size, crop.DEFAULT_PROMPT)
            return replace(let_go(state, at), crop=page, menu=None, picker=None, help=False), ()
        case messages.PictureMade(scene, own, at):
            known = remembered.add_picture(state.remembered, own)
            scenes = (scene, *(other for other in state.scenes if other.name != scene.name))
            return open_world(replace(state, remembered=known, scenes=scenes, crop=None, page=None), scene, at)
        case messages.ModelsListed(models):
            return replace(state, models=models), ()
        case gestures.MenuActed(MenuAct.PIN, at) if state.page is None:
            return _pin(state, at)
    if state.page is not None or state.prompt_box is not None:
        return None
    if state.path_line is not None:
        return _in_path(state, message)
    if state.crop is not None:
        return _in_crop(state, message)
    return _in_picker(state, message) if state.picker is not None else None


def open_path(state: AppState) -> AppState:
    """The line where the path of a picture is typed or pasted."""
    return replace(state, path_line=PromptBox())


def _pin(state: AppState, at: float) -> Change:
    if state.screen is not Screen.SCENES or state.menu is not None or state.gallery.selected >= len(state.scenes):
        return state, ()
    name = state.scenes[state.gallery.selected].name
    known = remembered.pin(state.remembered, name)
    state = list_scenes(replace(state, remembered=known, touched_at=at), state.scenes)
    at_card = next(index for index, scene in enumerate(state.scenes) if scene.name == name)
    gallery = menu.select(state.gallery, at_card, state.room)
    return replace(state, gallery=gallery), ()


# ---- the path of a picture ---------------------------------------------------------------------------------------


def _in_path(state: AppState, message: messages.Message) -> Change | None:
    assert state.path_line is not None
    if isinstance(message, gestures.MouseClicked):
        return replace(state, path_line=None), ()
    if not isinstance(message, Text):
        return (state, ()) if isinstance(message, gestures.MouseMoved | gestures.Scrolled) else None
    line, ended, asks = typed_into(state.path_line, message)
    if ended is Edit.CANCEL:
        return replace(state, path_line=None), ()
    if ended is Edit.APPLY:
        text = line.text.strip()
        return replace(state, path_line=None), ((errands.ReadPicture(text),) if text else ())
    return replace(state, path_line=line, touched_at=_at(message, state)), asks


def typed_into(line: PromptBox, message: Text) -> tuple[PromptBox, Edit | None, tuple[Ask, ...]]:
    """The line after a message, how it ended if it did, and what to ask the clipboard for."""
    asks: tuple[Ask, ...] = ()
    match message:
        case gestures.TextTyped(text) | gestures.Pasted(text):
            line = prompt_box.type_text(line, text)
        case gestures.TextComposed(text, caret):
            line = prompt_box.compose_text(line, text, caret)
        case gestures.Edited(edit, _, selecting, by_word):
            if edit in (Edit.CANCEL, Edit.APPLY) and not line.composition:
                return line, edit, ()
            if edit in (Edit.COPY, Edit.CUT) and line.selected:
                asks = (errands.CopyText(line.selected),)
            elif edit is Edit.PASTE:
                asks = (errands.PasteText(),)
            line = prompt_box.edit(line, edit, selecting=selecting, by_word=by_word)
    return line, None, asks


def _at(message: Text, state: AppState) -> float:
    return message.at if isinstance(message, gestures.TextTyped | gestures.Edited) else state.touched_at


# ---- the picture and its part ------------------------------------------------------------------------------------


def _in_crop(state: AppState, message: messages.Message) -> Change | None:
    page = state.crop
    assert page is not None
    match message:
        case gestures.MenuMoved(columns, rows):
            return replace(state, crop=crop.move(page, columns, rows)), ()
        case gestures.Scrolled(notches):
            return replace(state, crop=crop.move(page, -notches, -notches)), ()
        case gestures.MouseClicked(x, y):
            return replace(state, crop=crop.point(page, x, y, state.room)), ()
        case gestures.MenuChosen():
            return state, (errands.MakePicture(OwnPicture(page.path, page.prompt, page.shift)),)
        case gestures.Commanded(gestures.Command.PROMPT, at):
            line = PromptBox(text=page.prompt, caret=len(page.prompt), swallow="t")
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
