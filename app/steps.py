"""The larger steps from one value of the app to the next; ``state.update`` decides which is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app import errands, menu, options, steering
from app.branches import Tree
from app.errands import Ask
from app.facts import MOST_TOASTS, Measured, PromptStatus, Screen, Stage, Toast
from app.films import Rewalking
from app.gamepad import rest
from app.prompts import Prompts
from app.remembered import arranged, play
from app.rewind import TimeMachine
from app.values import AppState, Change
from app.words.sentences import spoken
from engine.config import EngineConfig
from engine.protocol import CloseWorld, OpenWorld, Restore, SceneSpec


def open_world(state: AppState, scene: SceneSpec, now: float, again: Rewalking | None = None) -> Change:
    """Begin a world. What is on show stays until the new world's first frame, if a world was there before.

    ``again``: make it as it was at a moment of an earlier walk, with the engine that walked it.
    """
    switch = _switch(state) if again is None else _switch_to(again.engine)
    restart = switch or _restart(state)
    state = _new_session(state, scene, now)
    state = replace(state, remembered=play(state.remembered, scene.name), snapshot=None)
    if again is None:
        screen = Screen.WALK if state.screen is Screen.WALK else Screen.LOADING
        return replace(state, screen=screen), (*restart, OpenWorld(scene, state.seed, state.session_id))
    state = replace(state, screen=Screen.LOADING, seed=again.seed, time=TimeMachine(resumed=True))
    request = OpenWorld(scene, again.seed, state.session_id, again.chunks, again.events, again.model_sha256)
    return state, (*restart, request)


def reset(state: AppState, now: float) -> Change:
    """The same scene from its beginning, with the prompt that is current now."""
    if state.scene is None:
        return state, ()
    mix = state.prompts.mix
    prompt = state.current_prompt if mix is None else mix.text
    scene = state.scene if prompt is None else replace(state.scene, prompt=prompt)
    state, asks = open_world(state, scene, now)
    return replace(state, prompts=Prompts(again=mix)), asks


def recover(state: AppState, now: float) -> Change:
    """After a failure: the engine again if it was lost, then the world from its last snapshot, or from the start."""
    if state.scene is None or state.snapshot is None:
        return reset(state, now)
    restart, snapshot = _restart(state), state.snapshot
    state = replace(_new_session(state, state.scene, now), time=TimeMachine(resumed=True))
    assert state.scene is not None
    return state, (*restart, Restore(state.scene, state.seed, state.session_id, snapshot))


def resume(state: AppState, scene: SceneSpec, seed: int, path: str, now: float) -> Change:
    """Go on from a saved world; a new beginning of it will have its seed."""
    restart = _switch(state) or _restart(state)
    screen = Screen.WALK if state.screen is Screen.WALK else Screen.LOADING
    began = _new_session(replace(state, screen=screen, seed=seed, snapshot=None), scene, now)
    state = replace(began, time=TimeMachine(resumed=True))
    return state, (*restart, Restore(scene, seed, state.session_id, path))


def _switch(state: AppState) -> tuple[Ask, ...]:
    """Settings of the engine count from the next world on: one that was told others is ended before."""
    if state.engine is None or state.engine == state.settings.engine:
        return ()
    return (errands.SwitchEngine(state.settings.engine),)


def _switch_to(engine: EngineConfig | None) -> tuple[Ask, ...]:
    return () if engine is None else (errands.SwitchEngine(engine),)


def _restart(state: AppState) -> tuple[Ask, ...]:
    lost = state.failure is not None and state.failure.engine_lost
    return (errands.RestartEngine(),) if lost else ()


def close_world(state: AppState) -> Change:
    """Leave the program. The recording is finished by the app, whatever happens."""
    keeps = (errands.KeepSettings(state.settings.own),) if state.unkept_at is not None else ()
    return replace(state, quitting=True, unkept_at=None), (*keeps, CloseWorld())


def tell(state: AppState, text: str, now: float, *, bad: bool = False) -> AppState:
    """Show a sentence for some seconds, in the window's language; the same sentence is not stacked."""
    text = spoken(state.language, text)
    others = tuple(toast for toast in state.toasts if toast.text != text)
    return replace(state, toasts=(*others, Toast(text, bad, now))[-MOST_TOASTS:])


def list_scenes(state: AppState, scenes: Sequence[SceneSpec]) -> AppState:
    """The scenes in their order, with the cards behind them that begin a world of the user's own."""
    count = len(scenes) + len(menu.OWN_CARDS)
    return replace(state, scenes=arranged(scenes, state.remembered), gallery=replace(state.gallery, count=count))


def open_gallery(state: AppState) -> AppState:
    state = list_scenes(state, state.scenes)
    names = [scene.name for scene in state.scenes]
    last = names.index(state.remembered.played[0]) if set(names) & set(state.remembered.played[:1]) else 0
    gallery = menu.select(state.gallery, last, state.room)
    return replace(state, screen=Screen.SCENES, gallery=gallery, menu=None, page=None)


def fitted(state: AppState) -> AppState:
    """What is chosen lies in view, whatever the room has become."""
    state = replace(state, gallery=menu.select(state.gallery, state.gallery.selected, state.room))
    if state.page is None:
        return state
    shown = options.choose(state.page, state.page.selected, state.room)
    return replace(state, page=replace(state.page, first=shown.first))


def let_go(state: AppState, at: float) -> AppState:
    """No key is held any longer, no stick pushed, the pointer is free."""
    page = None if state.page is None else replace(state.page, trying=False)
    released = steering.release_all(state.steering, at)
    return replace(state, steering=released, gamepad=rest(state.gamepad), captured=False, page=page)


def _new_session(state: AppState, scene: SceneSpec, now: float) -> AppState:
    return replace(
        state,
        scene=scene,
        session_id=state.session_id + 1,
        world=None,
        failure=None,
        loading=None,
        menu=None,
        page=None,
        picker=None,
        crop=None,
        line_page=None,
        slots=None,
        tree=Tree(),
        branches=None,
        films=None,
        film=None,
        photo=None,
        paused=False,
        prompt=PromptStatus(scene.prompt, Stage.TYPED),
        prompts=Prompts(),
        in_flight=(),
        accepted=(),
        applied=(),
        measured=Measured(),
        time=TimeMachine(),
        steering=steering.forget_sent(state.steering),
        touched_at=now,
    )
