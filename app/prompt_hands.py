"""What is done with prompts: the box, a second line and its slider, prepared ones. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import bindings, errands, gestures, messages, prompt_box, steering
from app.beginnings import CompletionAsked
from app.errands import Ask
from app.facts import PromptStatus, Stage
from app.gestures import Command, Edit, Focus
from app.prompt_box import PromptBox
from app.prompts import (
    HALF,
    HINT_AFTER_SECONDS,
    QUICK_COUNT,
    STEPS,
    ControlHeld,
    Mixing,
    Place,
    QuickAsked,
    QuickListed,
    line_of,
    on_slider,
    quick_line_at,
    step_at,
)
from app.steps import let_go, tell
from app.values import AppState, Change
from engine.protocol import EventRejected, Failed, Prompt, PromptMix, WentBack, WorldOpened, prompt_words

MIXES_NOTHING = ("sglang",)
"""Backends that are told one text at a time."""

Text = gestures.TextTyped | gestures.TextComposed | gestures.Edited | gestures.Pasted


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is about something else."""
    match message:
        case QuickAsked(number, at):
            return (_quick(state, number, at) if _is_free(state) else state), ()
        case QuickListed(at):
            return (_list(state, at) if _is_free(state) else state), ()
        case ControlHeld(source, at):
            return replace(state, prompts=replace(state.prompts, control=source, control_at=at, hinted=False)), ()
    if state.prompts.chosen is not None:
        return _choose(state, state.prompts.chosen, message)
    if state.prompt_box is None or state.typing is not state.prompt_box:
        return None
    match message:
        case CompletionAsked(at):
            return _switch(state, state.prompt_box, at), ()
        case gestures.TextTyped() | gestures.TextComposed() | gestures.Edited() | gestures.Pasted():
            return _text(state, state.prompt_box, message)
    return None if state.prompts.mixing is None else _slide(state, state.prompts.mixing, message)


def open_box(state: AppState, at: float) -> AppState:
    """The line for a new prompt; keys are let go of."""
    typed = bindings.letter_of(state.settings.app.keys, "prompt", state.settings.app.key_labels)
    box = PromptBox(history=state.history, swallow=typed)
    prompts = replace(state.prompts, mixing=None, control=None, hinted=False)
    return replace(state, prompt_box=box, prompts=prompts, steering=steering.release_all(state.steering, at))


def quick_text(state: AppState, index: int) -> str:
    """The prepared prompt of a line of the list: the user's own, or the one that comes along in their language."""
    return state.settings.app.quick_prompts[index] or state.say(f"nothing.app.quick_{index + 1}")


def follow(state: AppState, message: messages.Message) -> AppState:
    """What else happened to the app, as far as prompts are concerned. Called after every message."""
    prompts = state.prompts
    match message:
        case messages.Ticked(now):
            return _ticked(state, now)
        case gestures.ActionReleased(source) if source == prompts.control:
            return replace(state, prompts=replace(prompts, control=None, hinted=False))
        case gestures.FocusLost() if prompts.control is not None:
            return replace(state, prompts=replace(prompts, control=None, hinted=False))
        case WorldOpened(session_id) | WentBack(session_id) if session_id == state.session_id:
            return replace(state, prompts=replace(prompts, mix=message.mix))
        case EventRejected(event_id) if state.prompt is not None and event_id == state.prompt.event_id:
            return replace(state, prompts=replace(prompts, mix=None))
        case Failed():
            return replace(state, prompts=replace(prompts, mixing=None, chosen=None, control=None, hinted=False))
    return state


def _ticked(state: AppState, now: float) -> AppState:
    prompts = state.prompts
    if prompts.mixing is not None and state.prompt_box is None:
        prompts = replace(prompts, mixing=None)
    if prompts.control is not None and not prompts.hinted and now - prompts.control_at >= HINT_AFTER_SECONDS:
        prompts = replace(prompts, hinted=_is_free(state))
    if prompts.chosen is not None and not (state.walking and not state.behind):
        prompts = replace(prompts, chosen=None)
    again = prompts.again if state.walking else None
    if again is not None:
        prompts = replace(prompts, again=None)
    state = state if prompts is state.prompts else replace(state, prompts=prompts)
    if state.history is not state.remembered.prompts:
        state = replace(state, remembered=replace(state.remembered, prompts=state.history))
    return state if again is None else _ask(state, again, now)


# ---- prepared prompts --------------------------------------------------------------------------------------------


def _is_free(state: AppState) -> bool:
    """Whether one walks, and nothing that is typed or chosen is open."""
    return state.walking and state.focus is Focus.WALK


def _quick(state: AppState, number: int, at: float) -> AppState:
    text = quick_text(state, number - 1).strip()
    return _ask(_remembered(replace(state, touched_at=at), text), text, at) if text else state


def _list(state: AppState, at: float) -> AppState:
    state = let_go(replace(state, touched_at=at), at)
    return replace(state, prompts=replace(state.prompts, chosen=0, control=None, hinted=False))


def _choose(state: AppState, chosen: int, message: messages.Message) -> Change | None:
    """The list is open: a line of it is chosen with keys, pad or mouse, and the world goes on behind it."""
    closed = replace(state, prompts=replace(state.prompts, chosen=None))
    match message:
        case gestures.MenuMoved(_, rows):
            moved = (chosen + rows) % QUICK_COUNT
            return replace(state, prompts=replace(state.prompts, chosen=moved)), ()
        case gestures.MouseMoved(x, y):
            over = quick_line_at(state.room, x, y)
            return (state if over is None else replace(state, prompts=replace(state.prompts, chosen=over))), ()
        case gestures.MenuChosen(at):
            return _quick(closed, chosen + 1, at), ()
        case gestures.MouseClicked(x, y, at):
            over = quick_line_at(state.room, x, y)
            return (closed if over is None else _quick(closed, over + 1, at)), ()
        case gestures.Commanded(Command.BACK):
            return closed, ()
        case gestures.Scrolled() | gestures.TabMoved() | gestures.MenuActed():
            return state, ()
    return None


# ---- the box -----------------------------------------------------------------------------------------------------


def _text(state: AppState, box: PromptBox, message: Text) -> Change:
    mixing, asks = state.prompts.mixing, tuple[Ask, ...]()
    line = mixing.second if mixing is not None and mixing.place is Place.SECOND else box
    slides = mixing is not None and mixing.place is Place.SLIDER
    match message:
        case gestures.Edited(edit, at, selecting, by_word):
            state = replace(state, touched_at=at)
            if line.composition and not slides:
                return state, ()  # Enter, Escape and arrows are the input method's while it composes
            if edit is Edit.CANCEL:
                return _cancel(state, box, at), ()
            if edit is Edit.APPLY:
                return _apply(state, box, at), ()
            if mixing is not None and slides:
                return _slid(state, _stepped(mixing, edit), at), ()
            if edit in (Edit.COPY, Edit.CUT) and line.selected:
                asks = (errands.CopyText(line.selected),)
            elif edit is Edit.PASTE:
                asks = (errands.PasteText(),)
            line = prompt_box.edit(line, edit, selecting=selecting, by_word=by_word)
        case _ if slides:
            return state, ()
        case gestures.TextTyped(text, at):
            state, line = replace(state, touched_at=at), prompt_box.type_text(line, text)
        case gestures.TextComposed(text, caret):
            line = prompt_box.compose_text(line, text, caret)
        case gestures.Pasted(text):
            line = prompt_box.type_text(replace(line, swallow=""), text)
    if mixing is not None and mixing.place is Place.SECOND:
        return _mixing(state, replace(mixing, second=line)), asks
    return replace(state, prompt_box=line), asks


def _apply(state: AppState, box: PromptBox, at: float) -> AppState:
    """Close the box; a blank line is not sent, and a mix that is in force already not again."""
    mixing, text = state.prompts.mixing, box.text.strip()
    state = replace(state, prompt_box=None, prompts=replace(state.prompts, mixing=None))
    mix = None if mixing is None else mixing.of(text)
    if mixing is not None and mix is not None:
        state = _remembered(_remembered(state, mix.mixed_with), mix.text)
        return state if mix == mixing.sent else _ask(state, mix, at)
    return _ask(_remembered(state, text), text, at) if text else state


def _cancel(state: AppState, box: PromptBox, at: float) -> AppState:
    """Close the box; a world that has followed the slider goes back to the prompt before."""
    mixing = state.prompts.mixing
    state = replace(state, prompt_box=None, prompts=replace(state.prompts, mixing=None))
    if mixing is None or mixing.sent is None or mixing.before is None:
        return state
    is_first = mixing.before == mixing.sent.text
    return _ask(state, replace(mixing.sent, share=0.0) if is_first else mixing.before, at)


def _remembered(state: AppState, text: str) -> AppState:
    return replace(state, history=prompt_box.remember(state.history, text))


def _ask(state: AppState, prompt: Prompt, at: float) -> AppState:
    """Ask for it in this tick's event; the newest of a tick counts."""
    mix = prompt if isinstance(prompt, PromptMix) else None
    return replace(
        state,
        steering=steering.submit(state.steering, prompt, at),
        prompt=PromptStatus(prompt_words(prompt), Stage.TYPED),
        prompts=replace(state.prompts, mix=mix),
    )


# ---- the second line and the slider ------------------------------------------------------------------------------


def _mixing(state: AppState, mixing: Mixing | None) -> AppState:
    return replace(state, prompts=replace(state.prompts, mixing=mixing))


def _switch(state: AppState, box: PromptBox, at: float) -> AppState:
    """From the line to the second one, to the slider, and round; the slider is in force as soon as it is reached."""
    state, mixing = replace(state, touched_at=at), state.prompts.mixing
    if mixing is None:
        return _begin(state, box, at)
    if (box if mixing.place is Place.FIRST else mixing.second).composition:
        return state
    if mixing.place is Place.FIRST:
        return _mixing(state, replace(mixing, place=Place.SECOND))
    if mixing.place is Place.SECOND and mixing.of(box.text) is not None:
        return _slid(state, replace(mixing, place=Place.SLIDER), at)
    return _mixing(state, replace(mixing, place=Place.FIRST, dragging=False))


def _begin(state: AppState, box: PromptBox, at: float) -> AppState:
    """A second line. An empty first one becomes the prompt in force; where that is a mix, its slider is taken again."""
    if state.world is not None and state.world.card.backend in MIXES_NOTHING:
        return tell(state, state.say("told.no_mix"), at, bad=True)
    mix, before = state.prompts.mix, state.prompts.mix or state.current_prompt
    if mix is not None and box.text.strip() in ("", mix.text):
        second = line_of(mix.mixed_with, state.history)
        mixing = Mixing(second, Place.SLIDER, round(mix.share * STEPS), before=mix, sent=mix)
        return _mixing(replace(state, prompt_box=line_of(mix.text, state.history)), mixing)
    if not box.text.strip() and state.current_prompt is not None:
        box = line_of(state.current_prompt, state.history)
    return _mixing(replace(state, prompt_box=box), Mixing(PromptBox(history=state.history), step=HALF, before=before))


def _stepped(mixing: Mixing, edit: Edit) -> Mixing:
    match edit:
        case Edit.LEFT | Edit.RIGHT:
            return mixing.moved(-1 if edit is Edit.LEFT else 1)
        case Edit.HOME | Edit.END:
            return replace(mixing, step=0 if edit is Edit.HOME else STEPS)
    return mixing


def _slid(state: AppState, mixing: Mixing, at: float) -> AppState:
    """The slider stands somewhere: the world is asked to follow, unless it does already."""
    mix = None if state.prompt_box is None else mixing.of(state.prompt_box.text)
    if mix is None or mix == mixing.sent:
        return _mixing(state, mixing)
    return _mixing(_ask(state, mix, at), replace(mixing, sent=mix))


def _slide(state: AppState, mixing: Mixing, message: messages.Message) -> Change | None:
    """Mouse and wheel on the slider, while two lines are there."""
    if state.prompt_box is None or mixing.of(state.prompt_box.text) is None:
        return None
    room = state.room
    match message:
        case gestures.MouseClicked(x, y, at) if on_slider(room, x, y):
            grabbed = replace(mixing, place=Place.SLIDER, step=step_at(room, x), dragging=True)
            return _slid(replace(state, touched_at=at), grabbed, at), ()
        case gestures.MouseMoved(x, _, dx, _, at, pressed):
            if state.captured and mixing.place is Place.SLIDER:
                return _slid(replace(state, touched_at=at), mixing.carried(dx), at), ()
            if mixing.dragging and not pressed:
                return _mixing(state, replace(mixing, dragging=False)), ()
            if mixing.dragging:
                return _slid(replace(state, touched_at=at), replace(mixing, step=step_at(room, x)), at), ()
        case gestures.Scrolled(notches):
            at = state.touched_at
            return _slid(state, replace(mixing, place=Place.SLIDER).moved(notches), at), ()
    return None
