"""What the user's hands do with films: the page of all, one that is watched, the wheel. Part of ``update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import film_pages, films, gestures, messages
from app.beginning_hands import Text, typed_into
from app.film_pages import FilmPage, FilmsPage
from app.gestures import Command, Edit, MenuAct, Pointed
from app.prompt_box import PromptBox
from app.steps import let_go, open_world, tell
from app.values import AppState, Change

STEP_SECONDS, LEAP_SECONDS = 5.0, 30.0


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is not about films."""
    match message:
        case gestures.FileDropped(path, at) if path.lower().endswith(films.SUFFIXES):
            return watch(state, path, at)
        case films.FilmOpened(facts):
            if state.film is None or state.film.facts.path != facts.path:
                return state, (films.CloseFilm(),)
            return replace(state, film=FilmPage(facts)), ()
        case films.FilmMoved(seconds, ended):
            if state.film is None:
                return state, ()
            return replace(state, film=replace(state.film, seconds=seconds, ended=ended)), ()
        case films.FilmsListed(found, done):
            return _listed(state, found, done=done), ()
        case films.WheelReady(rewalking, at):
            return _walk_on(state, rewalking, at)
        case films.WheelRefused(sentence, at):
            if state.film is not None:
                state = replace(state, film=replace(state.film, asked=False))
            return tell(state, sentence, at, bad=True), ()
        case messages.Told(_, _, True) if state.film is not None and state.film.facts.seconds <= 0.0:
            return replace(state, film=None), ()  # it could not be opened; what is told says why
    if state.page is not None or state.menu is not None:
        return None
    if state.film is not None:
        return _in_film(state, state.film, message)
    return None if state.films is None else _in_films(state, state.films, message)


def watch(state: AppState, path: str, at: float) -> Change:
    """Show a film over whatever there is; the world stands still meanwhile."""
    if state.prompt_box is not None or state.page is not None:
        return state, ()
    opening = FilmPage(films.FilmFacts(path, 16, 9, 25.0, 0.0, walks=False))
    state = replace(let_go(state, at), film=opening, menu=None, picker=None, crop=None, line_page=None, help=False)
    return replace(state, touched_at=at), (films.OpenFilm(path),)


def open_films(state: AppState, at: float) -> Change:
    """The page of all films of the folder."""
    return replace(let_go(state, at), films=FilmsPage(), menu=None, help=False), (films.ListFilms(),)


# ---- a film ------------------------------------------------------------------------------------------------------


def _in_film(state: AppState, page: FilmPage, message: messages.Message) -> Change | None:
    match message:
        case gestures.Commanded(Command.BACK | Command.MENU, at):
            return replace(state, film=None, touched_at=at), (films.CloseFilm(),)
        case gestures.Commanded(Command.RECORD | Command.SNAPSHOT | Command.RESET | Command.PAUSE | Command.PROMPT):
            return state, ()
        case gestures.MouseMoved(at=at):
            return (replace(state, touched_at=at) if at - state.touched_at > 0.5 else state), ()
    if page.facts.seconds <= 0.0 or page.asked:
        return (state, ()) if isinstance(message, Pointed) else None
    match message:
        case gestures.MenuChosen(at, space=True) | gestures.MenuActed(MenuAct.CLEAR, at):
            return _play(replace(state, touched_at=at), page)
        case gestures.MenuChosen(at):
            return _take_wheel(replace(state, touched_at=at), page)
        case gestures.MenuMoved(columns, rows, at):
            step = columns * STEP_SECONDS - rows * LEAP_SECONDS
            return _seek(replace(state, touched_at=at), page, page.seconds + step)
        case gestures.TabMoved(step, at):
            return _seek(replace(state, touched_at=at), page, page.seconds + step * LEAP_SECONDS)
        case gestures.Scrolled(notches):
            return _seek(state, page, page.seconds + notches * STEP_SECONDS)
        case gestures.MouseClicked(x, y, at):
            state = replace(state, touched_at=at)
            if film_pages.timeline_rect(state.room).contains(x, y):
                return _seek(state, page, film_pages.moment_at(page, x, state.room))
            return _play(state, page)
        case gestures.MenuActed():
            return state, ()
    return None


def _play(state: AppState, page: FilmPage) -> Change:
    """Stand still or play on; at its end, from the beginning."""
    if page.ended:
        begun = replace(page, seconds=0.0, ended=False, playing=True)
        return replace(state, film=begun), (films.SeekFilm(0.0), films.PlayFilm(True))
    return replace(state, film=replace(page, playing=not page.playing)), (films.PlayFilm(not page.playing),)


def _seek(state: AppState, page: FilmPage, seconds: float) -> Change:
    seconds = max(0.0, min(seconds, page.facts.seconds))
    return replace(state, film=replace(page, seconds=seconds, ended=False)), (films.SeekFilm(seconds),)


def _take_wheel(state: AppState, page: FilmPage) -> Change:
    if not page.facts.walks:
        return tell(state, state.say("film.no_walk"), state.touched_at, bad=True), ()
    state = replace(state, film=replace(page, asked=True, playing=False))
    return state, (films.PlayFilm(False), films.TakeWheel(page.facts.path, page.seconds, page.facts.fps))


def _walk_on(state: AppState, rewalking: films.Rewalking, at: float) -> Change:
    """The world of the moment is made again, and the walk goes on from there."""
    if state.film is None or not state.film.asked:
        return state, ()
    state = replace(state, film=None, films=None)
    state, asks = open_world(state, rewalking.scene, at, rewalking)
    return state, (films.CloseFilm(), *asks)


# ---- the page of films -------------------------------------------------------------------------------------------


def _listed(state: AppState, found: tuple[films.FilmCard, ...], *, done: bool) -> AppState:
    """The chosen film stays chosen, wherever it has come to lie."""
    page = state.films
    if page is None:
        return state
    chosen = None if page.card is None else page.card.facts.path
    paths = [card.facts.path for card in found]
    index = paths.index(chosen) if chosen in paths else min(page.selected, max(0, len(found) - 1))
    page = replace(page, films=found, listed=True)
    return replace(state, films=film_pages.select(page, index, state.room) if found else replace(page, selected=0))


def _in_films(state: AppState, page: FilmsPage, message: messages.Message) -> Change | None:
    if page.line is not None:
        return _in_name(state, page, page.line, message)
    if page.asking:
        return _in_question(state, page, message)
    match message:
        case gestures.Commanded(Command.BACK | Command.MENU, at):
            return replace(state, films=None, touched_at=at), ()
        case gestures.Commanded(Command.RECORD | Command.SNAPSHOT | Command.RESET | Command.PAUSE | Command.PROMPT):
            return state, ()
        case gestures.MenuMoved(columns, rows):
            return replace(state, films=_step(state, page, columns, rows)), ()
        case gestures.Scrolled(notches):
            return replace(state, films=film_pages.scroll(page, -notches, state.room)), ()
        case gestures.MouseMoved(x, y):
            over = film_pages.film_at(page, x, y, state.room)
            return (state if over is None else replace(state, films=replace(page, selected=over))), ()
        case gestures.MouseClicked(x, y, at):
            over = film_pages.film_at(page, x, y, state.room)
            return (state, ()) if over is None else _open(replace(state, films=replace(page, selected=over)), at)
        case gestures.MenuChosen(at):
            return _open(state, at)
        case gestures.MenuActed(MenuAct.CLEAR):
            return replace(state, films=replace(page, asking=page.card is not None)), ()
        case gestures.MenuActed(MenuAct.RENAME | MenuAct.PIN) if page.card is not None:
            title = page.card.facts.title
            return replace(state, films=replace(page, line=PromptBox(text=title, caret=len(title)))), ()
        case gestures.MenuActed(MenuAct.FOLDER):
            return state, (films.OpenFolder(),)
        case gestures.MenuActed() | gestures.TabMoved():
            return state, ()
    return None


def _open(state: AppState, at: float) -> Change:
    card = None if state.films is None else state.films.card
    if card is None:
        return state, ()
    if card.problem is not None:
        return tell(state, f"{card.facts.title}: {card.problem}.", at, bad=True), ()
    return watch(state, card.facts.path, at)


def _step(state: AppState, page: FilmsPage, columns: int, rows: int) -> FilmsPage:
    target = page.selected + columns + rows * film_pages.films_layout(state.room).columns
    return film_pages.select(page, target, state.room) if 0 <= target < len(page.films) else page


def _in_question(state: AppState, page: FilmsPage, message: messages.Message) -> Change | None:
    """Whether to delete the chosen film: yes by Enter, no by anything else."""
    calm = replace(state, films=replace(page, asking=False))
    match message:
        case gestures.MenuChosen(_, space=False) if page.card is not None:
            return calm, (films.DeleteFilm(page.card.facts.path),)
        case gestures.MouseMoved() | gestures.Scrolled():
            return state, ()
    if isinstance(message, Pointed | gestures.Commanded):
        return calm, ()
    return None


def _in_name(state: AppState, page: FilmsPage, line: PromptBox, message: messages.Message) -> Change | None:
    """The new name of the chosen film is typed."""
    if isinstance(message, Text):
        line, ended, asks = typed_into(line, message)
        if ended is None:
            return replace(state, films=replace(page, line=line)), asks
        name, card = line.text.strip(), page.card
        if ended is Edit.APPLY and card is not None and name:
            asks = (films.RenameFilm(card.facts.path, name),)
        return replace(state, films=replace(page, line=None)), asks
    if isinstance(message, gestures.MouseClicked):
        return replace(state, films=replace(page, line=None)), ()
    return (state, ()) if isinstance(message, Pointed) else None
