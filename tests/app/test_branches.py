"""The tree of a walk: its nodes, their places, its rules, by synthetic events; and the whole window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pygame
import pytest

from app import branches
from app.branches import Kind, PlaceSeen, Tree, TreePage
from app.gestures import Command, Commanded, MenuAct, MenuActed, MenuChosen, MenuMoved, MouseClicked, MouseMoved
from app.menu import Room
from app.rewind import RewindPressed
from app.slots import ReadSlot, SlotKept, SlotReady
from app.values import AppState
from app.view import View
from engine.lines import WalkLine
from engine.protocol import (
    Failed,
    ForgetLine,
    GoBack,
    MomentsKept,
    Pause,
    SaveWorld,
    StayedHere,
    WentBack,
    WorldSaved,
)
from tests.app.stripes import Stage, down, tap, up
from tests.app.test_slots import SLOT, chunk_shown
from tests.app.walks import after, frame_chunk, opened, walking

OPEN = Commanded(Command.BRANCHES, 2.0)
LINES = (
    WalkLine(0, None, -1, 20, (0, 4, 8, 20)),
    WalkLine(1, 0, 8, 30, (12, 30)),
    WalkLine(2, 0, 4, 9, (9,)),
    WalkLine(3, 1, 12, 40, (40,)),
)
"""Line 3 is walked; 0 ends after 20, 1 leaves it after 8 and ends after 30, 2 leaves 0 after 4, 3 leaves 1 after 12."""
KEPT = MomentsKept(1, (0, 4, 8, 12, 40), 1000, line=3, lines=LINES)


def place(line: int, chunk: int, prompt: str = "fog") -> PlaceSeen:
    return PlaceSeen(line, chunk, (chunk + 1) * 0.5, prompt, np.full((9, 16, 3), chunk, np.uint8))


def shown() -> AppState:
    """The page is open over a walk of four lines."""
    state, _ = after(walking(), [chunk_shown(42), KEPT, place(0, 20), place(0, 8), OPEN])
    assert state.branches is not None
    return state


def found(state: AppState) -> list[tuple[Kind, int, int, int | None, int, int]]:
    nodes = branches.nodes(state.tree, 42, "now")
    return [(node.kind, node.line, node.chunk, node.before, node.column, node.row) for node in nodes]


def choose(state: AppState, kind: Kind, chunk: int) -> AppState:
    nodes = branches.nodes(state.tree, 42, "now")
    number = next(i for i, node in enumerate(nodes) if (node.kind, node.chunk) == (kind, chunk))
    return replace(state, branches=TreePage(number))


# ---- the nodes ----------------------------------------------------------------------------------------------------


def test_the_tree_shows_where_it_began_where_it_parts_each_end_and_where_one_is() -> None:
    assert found(shown()) == [
        (Kind.START, 0, 0, None, 0, 0),
        (Kind.PARTING, 0, 4, 0, 1, 0),
        (Kind.PARTING, 0, 8, 1, 2, 0),
        (Kind.END, 0, 20, 2, 3, 0),
        (Kind.PARTING, 1, 12, 2, 3, 1),
        (Kind.END, 1, 30, 4, 4, 1),
        (Kind.HERE, 3, 42, 4, 5 - 1, 2),
        (Kind.END, 2, 9, 1, 2, 3),
    ]


def test_where_a_walk_parts_at_its_very_beginning_that_is_its_start() -> None:
    lines = (WalkLine(0, None, -1, 9, (0, 9)), WalkLine(1, 0, 0, 5))
    state, _ = after(walking(), [MomentsKept(1, (0,), 1, line=1, lines=lines)])
    assert [kind for kind, *_ in found(state)] == [Kind.START, Kind.END, Kind.HERE]


def test_a_place_tells_its_time_its_prompt_and_what_it_looks_like() -> None:
    end = next(node for node in branches.nodes(shown().tree, 42, "now") if node.chunk == 20)
    assert (end.seconds, end.prompt, end.kept) == (10.5, "fog", True)
    assert end.picture is not None
    assert branches.clock(end.seconds) == "0:10"


def test_a_line_whose_end_is_given_up_has_none_and_parts_no_more_where_one_way_is_left() -> None:
    lines = (WalkLine(0, None, -1, 20, (0, 8)), WalkLine(1, 0, 8, 9))
    state, _ = after(walking(), [MomentsKept(1, (0, 8), 1, line=1, lines=lines)])
    assert found(state) == [(Kind.START, 0, 0, None, 0, 0), (Kind.HERE, 1, 42, 0, 1, 1)]


def test_what_is_seen_of_lines_that_are_gone_is_forgotten() -> None:
    state, _ = after(shown(), [replace(KEPT, lines=LINES[1:])])
    assert state.tree.places == ()


def test_a_saved_world_stands_where_it_was_saved_with_its_picture() -> None:
    state, _ = after(walking(), [chunk_shown(5), replace(KEPT, line=0, lines=LINES[:1])])
    state, asks = after(state, [SlotReady("mill", "file"), WorldSaved(1, 8, "file")])
    assert asks[0] == SaveWorld(1, "file")
    state, _ = after(state, [SlotKept(replace(SLOT.line, name="mill"), 3.0)])
    kinds = [(node.kind, node.chunk, node.name) for node in branches.nodes(state.tree, 42, "now")]
    assert kinds == [(Kind.START, 0, None), (Kind.SAVED, 8, "mill"), (Kind.HERE, 42, None)]
    state, _ = after(state, [SlotReady("mill", "again"), WorldSaved(1, 20, "again")])
    assert [(one.name, one.chunk) for one in state.tree.saved] == [("mill", 20)]


def test_no_two_lines_share_a_row_and_arrows_reach_every_place() -> None:
    nodes = branches.nodes(shown().tree, 42, "now")
    assert len({(node.column, node.row) for node in nodes}) == len(nodes)
    reached, waiting = {0}, [0]
    while waiting:
        at = waiting.pop()
        for columns, rows in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            to = branches.step(nodes, at, columns, rows)
            if to not in reached:
                reached.add(to)
                waiting.append(to)
    assert reached == set(range(len(nodes)))


@pytest.mark.parametrize("room", [Room(1280, 720), Room(1920, 1080, 2.0), Room(480, 320), Room(1280, 720, 2.0)])
def test_whatever_is_chosen_is_brought_into_view_in_every_window(room: Room) -> None:
    lines = tuple(WalkLine(n, n - 1 if n else None, 4 * n - 1, 4 * n + 8, (4 * n, 4 * n + 8)) for n in range(40))
    nodes = branches.nodes(Tree(lines, 39, chunk_seconds=0.5), 500, "now")
    page = TreePage()
    for number in (len(nodes) - 1, 0, len(nodes) // 2):
        page = branches.choose(page, nodes, number, room)
        assert branches.is_shown(page, nodes[number], room)
        rect = branches.node_rect(page, nodes[number], room)
        assert 0 <= rect.x < rect.x + rect.width <= room.width
        assert branches.node_at(page, nodes, rect.x + 2, rect.y + 2, room) == number


# ---- the rules ----------------------------------------------------------------------------------------------------


def test_the_page_opens_on_the_present_place_and_the_world_stands_still() -> None:
    state, asks = after(walking(), [chunk_shown(42), KEPT, OPEN])
    assert asks == [Pause(True)]
    assert state.branches is not None
    assert branches.nodes(state.tree, 42, "now")[state.branches.selected].kind is Kind.HERE
    assert after(state, [Commanded(Command.BACK, 3.0)])[1] == [Pause(False)]
    assert after(state, [MenuChosen(3.0)])[1] == [Pause(False)]


def test_the_page_stays_closed_where_nothing_is_kept_or_time_goes_backwards() -> None:
    state, asks = after(walking(), [chunk_shown(1), MomentsKept(1, (), 0, "A server's."), OPEN])
    assert (state.branches, asks, state.toasts[-1].text) == (None, [], "A server's.")
    state, _ = after(walking(), [chunk_shown(1), KEPT, RewindPressed("key 42", 1.0), OPEN])
    assert state.branches is None


def test_an_end_is_gone_to_and_what_was_made_before_it_is_not_shown() -> None:
    state, asks = after(choose(shown(), Kind.END, 20), [MenuChosen(3.0)])
    assert asks == [GoBack(1, 20, 0)]
    assert (state.branches, state.standing) == (None, True)
    kept = replace(KEPT, line=0, chunks=(0, 4, 8, 20))
    state, asks = after(state, [WentBack(1, 20, "fog", line=0, origin=0), kept])
    assert asks == [Pause(False)]
    assert (state.tree.line, state.time.chunks, state.time.rewind) == (0, (0, 4, 8, 20), None)
    assert state.world is not None
    assert (state.world.chunk, state.world.prompt, state.toasts[-1].text) == (20, "fog", "At 0:10 of the walk.")


def test_where_the_engine_cannot_go_the_walk_goes_on() -> None:
    state, _ = after(choose(shown(), Kind.END, 20), [MenuChosen(3.0)])
    state, asks = after(state, [StayedHere(1, "No.")])
    assert (asks, state.toasts[-1].text) == ([Pause(False)], "No.")


def test_a_place_that_is_not_kept_is_told_and_a_saved_one_is_loaded() -> None:
    lines = (replace(LINES[0], kept=(0, 4, 20)), *LINES[1:])
    state, _ = after(shown(), [replace(KEPT, lines=lines)])
    gone, asks = after(choose(state, Kind.PARTING, 8), [MenuChosen(3.0)])
    assert (asks, gone.branches is not None, gone.toasts[-1].bad) == ([], True, True)
    state = replace(state, tree=branches.saved(replace(state.tree, line=0), "mill", 8, "fog"))
    state = replace(state, tree=replace(state.tree, line=3))
    assert after(choose(state, Kind.SAVED, 8), [MenuChosen(3.0)])[1][0] == ReadSlot("mill")


def test_an_end_is_forgotten_only_after_a_question_and_nothing_else_is() -> None:
    state, asks = after(choose(shown(), Kind.END, 20), [MenuActed(MenuAct.CLEAR, 3.0)])
    assert state.branches is not None
    assert (asks, state.branches.asking) == ([], True)
    assert after(state, [MenuMoved(0, 1, 3.1), MenuChosen(3.2)])[1][0] != ForgetLine(1, 0)
    kept, asks = after(state, [Commanded(Command.BACK, 3.1)])
    assert kept.branches is not None
    assert (asks, kept.branches.asking) == ([], False)
    assert after(state, [MenuChosen(3.1)])[1] == [ForgetLine(1, 0)]
    for kind, chunk in ((Kind.START, 0), (Kind.PARTING, 8), (Kind.HERE, 42)):
        state, _ = after(choose(shown(), kind, chunk), [MenuActed(MenuAct.CLEAR, 3.0)])
        assert state.branches is not None
        assert not state.branches.asking


def test_the_pointer_chooses_and_goes() -> None:
    state = shown()
    assert state.branches is not None
    nodes = branches.nodes(state.tree, 42, "now")
    rect = branches.node_rect(state.branches, nodes[3], state.room)
    state, _ = after(state, [MouseMoved(rect.x + 5, rect.y + 5, 1, 1, 2.5)])
    assert state.branches is not None
    assert state.branches.selected == 3
    assert after(state, [MouseClicked(rect.x + 5, rect.y + 5, 2.6)])[1] == [GoBack(1, 20, 0)]


def test_a_world_that_fails_closes_the_page() -> None:
    state, _ = after(shown(), [Failed("The engine's process ended.", "Press R.", engine_lost=True)])
    assert (state.branches, state.failure is not None) == (None, True)


def test_another_world_begins_without_branches() -> None:
    state, _ = after(shown(), [Commanded(Command.BACK, 3.0), Commanded(Command.RESET, 3.1), opened(2)])
    assert (state.tree, state.branches) == (Tree(), None)


@pytest.mark.parametrize("size", [(1280, 720), (480, 320)])
def test_the_page_is_drawn(size: tuple[int, int]) -> None:
    pygame.init()
    pygame.display.set_mode(size)
    view, state = View(), replace(shown(), width=size[0], height=size[1])
    frame = frame_chunk().frames[0]
    assert view.draw(pygame.Surface(size), state, frame, 3.0)
    asking, _ = after(choose(state, Kind.END, 20), [MenuActed(MenuAct.CLEAR, 3.0)])
    assert view.draw(pygame.Surface(size), asking, None, 3.0)
    pygame.quit()


# ---- the whole window ---------------------------------------------------------------------------------------------


def test_the_way_that_was_left_is_gone_on_from_and_the_film_is_told_all_that_was_asked_of_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    hands = [(0.5, down(pygame.K_w)), (0.8, up(pygame.K_w)), (1.0, tap(pygame.K_F9))]
    hands += [(2.0, down(pygame.K_BACKSPACE)), (2.6, up(pygame.K_BACKSPACE)), (3.2, tap(pygame.K_d))]
    hands += [(4.0, tap(pygame.K_F12)), (4.2, tap(pygame.K_UP)), (4.4, tap(pygame.K_RETURN)), (6.0, tap(pygame.K_F9))]
    stage.play(hands, seconds=7.0)
    back, to_end = [request for request in stage.engine.requests if isinstance(request, GoBack)]
    assert (back.line, to_end.line) == (None, 0)
    assert to_end.chunk > back.chunk
    _, _, log = stage.takes[0]
    assert log.restarts == [back.chunk, to_end.chunk]
    assert log.chunks[-1] > to_end.chunk
    state = stage.app.state
    assert state.tree.line == 0
    assert {place.chunk for place in state.tree.places} >= {0, back.chunk, to_end.chunk}
