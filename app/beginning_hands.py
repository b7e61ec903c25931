"""What the user begins a world with: pasted, dropped, typed, chosen in a dialog, or words. Part of ``update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import beginnings, crop, errands, gestures, line_page, messages, prompt_box, remembered
from app.beginnings import Held, LookInClipboard
from app.errands import Ask
from app.facts import Screen
from app.gestures import Edit
from app.line_page import Kind, LinePage, Purpose
from app.pasted_path import path_in
from app.prompt_box import PromptBox
from app.steps import let_go, open_world, tell
from app.values import AppState, Change
from engine.protocol import SceneSpec
from engine.wording import prompt_problem

WORDS_BACKENDS = ("bundled", "test_card")
"""Backends whose worlds can begin without a picture."""
SUGGESTED = tuple(f"words.suggested_{number}" for number in range(1, 9))

Text = gestures.TextTyped | gestures.TextComposed | gestures.Edited | gestures.Pasted


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is not about the beginning of a world."""
    match message:
        case gestures.FileDropped(path, at):
            return (state, ()) if _is_busy(state) else (let_go(state, at), (errands.ReadPicture(path),))
        case messages.PictureRead(path, picture, size, at):
            if _is_busy(state):
                return state, ()
            known = next((own for own in state.remembered.pictures if own.path == path), None)
            prompt, shift = (crop.DEFAULT_PROMPT, 0.0) if known is None else (known.prompt, known.shift)
            page = crop.CropPage(path, picture, size, prompt, shift)
            return replace(let_go(state, at), crop=page, line_page=None, menu=None, picker=None, help=False), ()
        case messages.PictureMade(scene, own, at):
            with_own = remembered.add_picture(state.remembered, own)
            return open_world(_with_scene(replace(state, remembered=with_own, crop=None, page=None), scene), scene, at)
        case beginnings.WordsMade(scene, own, at):
            with_own = remembered.add_words(state.remembered, own)
            state = replace(state, remembered=with_own, page=None, history=_history(state, scene.prompt))
            return open_world(_with_scene(state, scene), scene, at)
        case beginnings.HandChanged(by_pad):
            return replace(state, by_pad=by_pad), ()
        case beginnings.PasteAsked(at):
            return (state, ()) if _is_elsewhere(state) else (replace(state, touched_at=at), (_clipboard(state),))
        case beginnings.BrowseAsked(at):
            return (state, ()) if _is_elsewhere(state) else _browse(state, at)
        case beginnings.ClipboardHeld(held, text, at):
            return _pasted(state, held, text, at)
        case beginnings.ClipboardRefused(why, at):
            return tell(state, state.say(why), at, bad=True), ()
        case beginnings.DialogEnded():
            return _after_dialog(state, message)
        case beginnings.PathsListed():
            return (state if state.line_page is None else _listed(state, state.line_page, message)), ()
    if state.line_page is None or state.page is not None or state.prompt_box is not None:
        return None
    return _in_line_page(state, state.line_page, message)


def open_path(state: AppState, at: float) -> Change:
    """The line where the path of a picture is typed, with what is in its folder."""
    last = next((own.path for own in state.remembered.pictures if "pasted-" not in own.path), "")
    folder = last[: max(last.rfind("/"), last.rfind("\\")) + 1]
    page = LinePage(Purpose.PATH, PromptBox(text=folder, caret=len(folder), anchor=len(folder)))
    return replace(let_go(state, at), line_page=page), (beginnings.ListPaths(folder),)


def open_words(state: AppState, at: float) -> Change:
    """The line where a world's words are typed; where the model needs a picture, a sentence says so."""
    if state.settings.engine.backend not in WORDS_BACKENDS:
        return tell(state, state.say("told.words_need_picture"), at, bad=True), ()
    return replace(let_go(state, at), line_page=line_page.of_words(tuple(reversed(suggested(state))))), ()


def suggested(state: AppState) -> tuple[str, ...]:
    """Words that a world may begin with, the last one first in line: what was typed last, then examples."""
    examples = [state.say(key) for key in reversed(SUGGESTED)]
    return (*(words for words in examples if words not in state.history[-3:]), *state.history[-3:])


def _is_busy(state: AppState) -> bool:
    """Whether something is being typed or set that a picture must not take the place of."""
    return state.prompt_box is not None or state.page is not None


def _is_elsewhere(state: AppState) -> bool:
    """Whether another page than the start page or the line of a path is open."""
    words = state.line_page is not None and state.line_page.purpose is Purpose.WORDS
    pages = (state.films, state.film, state.slots, state.picker)
    return _is_busy(state) or words or any(page is not None for page in pages)


def _with_scene(state: AppState, scene: SceneSpec) -> AppState:
    return replace(state, scenes=(scene, *(other for other in state.scenes if other.name != scene.name)))


def _listed(state: AppState, page: LinePage, found: beginnings.PathsListed) -> AppState:
    return replace(state, line_page=line_page.listed(page, found))


def _history(state: AppState, words: str) -> tuple[str, ...]:
    return prompt_box.remember(state.history, words)


# ---- clipboard and dialog ----------------------------------------------------------------------------------------


def _clipboard(state: AppState) -> LookInClipboard:
    return LookInClipboard(tuple(own.path for own in state.remembered.pictures))


def _pasted(state: AppState, held: Held, text: str, at: float) -> Change:
    """A picture, or the path of one, leads to its page; other text into the line that is typed, if there is one."""
    page = state.line_page
    if held is Held.TEXT and page is not None:
        return _typed(state, page, prompt_box.type_text(page.line, text), ())
    path = text if held is Held.PICTURE else path_in(text)
    if path is None:
        return tell(state, state.say("told.clipboard_nothing"), at, bad=True), ()
    return (state, ()) if _is_busy(state) else (state, (errands.ReadPicture(path),))


def _browse(state: AppState, at: float) -> Change:
    if state.is_dialog_open:
        return tell(state, state.say("told.dialog_open"), at), ()
    page = state.line_page
    text = page.line.text if page is not None else ""
    asked = beginnings.OpenDialog(state.say("path.dialog"), text)
    return replace(let_go(state, at), is_dialog_open=True), (asked,)


def _after_dialog(state: AppState, ended: beginnings.DialogEnded) -> Change:
    state = replace(state, is_dialog_open=False)
    if ended.path is not None:
        return (state, ()) if _is_busy(state) else (state, (errands.ReadPicture(ended.path),))
    if ended.why is None:
        return state, ()
    state = tell(state, state.say(ended.why), ended.at, bad=True)
    return open_path(state, ended.at) if state.line_page is None and state.screen is Screen.SCENES else (state, ())


# ---- the line and its choices ------------------------------------------------------------------------------------


def _in_line_page(state: AppState, page: LinePage, message: messages.Message) -> Change | None:
    match message:
        case gestures.MenuMoved(columns, rows, at):
            return _steered(replace(state, touched_at=at), page, columns, rows)
        case gestures.Scrolled(notches):
            return replace(state, line_page=line_page.scroll(page, -notches, state.room)), ()
        case gestures.MouseMoved(x, y):
            over = line_page.choice_at(page, x, y, state.room)
            if over is None or over == page.selected or page.purpose is Purpose.WORDS:
                return state, ()
            return replace(state, line_page=replace(page, selected=over)), ()
        case gestures.MouseClicked(x, y, at):
            return _clicked(replace(state, touched_at=at), page, x, y)
        case beginnings.CompletionAsked(at):
            return _typed(replace(state, touched_at=at), page, line_page.completed(page).line, ())
        case gestures.Edited(Edit.OLDER | Edit.NEWER as key, at) if not page.line.composition:
            rows = -1 if key is Edit.OLDER else 1
            return replace(state, line_page=line_page.move(page, rows, state.room), touched_at=at), ()
        case gestures.Edited(Edit.PASTE, at) if page.purpose is Purpose.PATH:
            return replace(state, touched_at=at), (_clipboard(state),)
    if not isinstance(message, Text):
        return None
    line, ended, asks = typed_into(page.line, message)
    if ended is Edit.CANCEL:
        return replace(state, line_page=None), ()
    if isinstance(message, gestures.TextTyped | gestures.Edited):
        state = replace(state, touched_at=message.at)
    return _taken(state, page) if ended is Edit.APPLY else _typed(state, page, line, asks)


def _typed(state: AppState, page: LinePage, line: PromptBox, asks: tuple[Ask, ...]) -> Change:
    """The line after an edit; a path that changed is looked up."""
    after = line_page.typed(page, line)
    if page.purpose is Purpose.PATH and line.text != page.line.text:
        asks = (*asks, beginnings.ListPaths(line.text))
    return replace(state, line_page=after), asks


def _steered(state: AppState, page: LinePage, columns: int, rows: int) -> Change:
    """By stick or direction pad: up and down through the choices, left to the folder above, right into a folder."""
    if rows:
        return replace(state, line_page=line_page.move(page, rows, state.room)), ()
    if page.purpose is Purpose.WORDS:
        return state, ()
    if columns < 0:
        return _typed(state, page, line_page.put(page, line_page.parent(page.folder)).line, ())
    return _typed(state, page, line_page.completed(page).line, ())


def _clicked(state: AppState, page: LinePage, x: int, y: int) -> Change:
    """A choice is taken, words at the second click; a click beside the panel closes the page."""
    over = line_page.choice_at(page, x, y, state.room)
    if over is None:
        inside = line_page.panel(state.room).contains(x, y)
        return (state if inside else replace(state, line_page=None)), ()
    if page.purpose is Purpose.WORDS and over != page.selected:
        return replace(state, line_page=line_page.select(page, over, state.room)), ()
    return _taken(state, replace(page, selected=over))


def _taken(state: AppState, page: LinePage) -> Change:
    """Enter: what is chosen, or what is typed. The page of a path closes when its picture has been read."""
    if page.purpose is Purpose.WORDS:
        words = page.line.text.strip()
        return (state, ()) if prompt_problem(words) is not None else (state, (beginnings.MakeFromWords(words),))
    choice = page.choice
    if choice is None:
        text = page.line.text.strip()
        return state, ((errands.ReadPicture(text),) if text and text != page.folder else ())
    match choice.kind:
        case Kind.BROWSE:
            return _browse(replace(state, line_page=page), state.touched_at)
        case Kind.FILE:
            return state, (errands.ReadPicture(line_page.inside(page, choice)),)
    return _typed(state, page, line_page.completed(page).line, ())


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
