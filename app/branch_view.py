"""The tree of a walk on screen. Pictures, no decisions."""

from __future__ import annotations

import pygame

from app import branch_hands, branches, hints
from app.branches import CELL_WIDTH, PICTURE_HEIGHT, Kind, Node, TreePage
from app.pages import Prints
from app.theme import BACKGROUND, LINE, PANEL, QUIET, TEXT, Panel, Role, Theme, hint_line
from app.values import AppState
from engine.protocol import Pixels


def draw(
    surface: pygame.Surface, theme: Theme, prints: Prints, state: AppState, page: TreePage, frame: Pixels | None
) -> None:
    """The whole page. ``frame`` is what the world looks like now."""
    surface.fill(BACKGROUND)
    found, width, side = branch_hands.shown(state), surface.get_width(), theme.px(branches.SIDE)
    surface.blit(theme.text(theme.say("branches.title"), Role.TITLE), (side, theme.px(26)))
    about = theme.shortened(theme.say("branches.subtitle"), Role.BODY, width - 2 * side)
    surface.blit(theme.text(about, Role.BODY, QUIET), (side, theme.px(78)))
    room = pygame.Rect(0, theme.px(branches.TOP - 12), width, surface.get_height())
    room.height -= room.y + theme.px(branches.FOOT - 8)
    surface.set_clip(room)
    for node in found:
        if node.before is not None:
            _draw_way(surface, theme, state, page, found[node.before], node)
    for number, node in enumerate(found):
        place = branches.node_rect(page, node, state.room)
        if room.colliderect((place.x, place.y, place.width, place.height)):
            picture = frame if node.kind is Kind.HERE else node.picture
            _draw_node(surface, theme, prints, state, page, node, picture, chosen=number == page.selected)
    surface.set_clip(None)
    _draw_foot(surface, theme, state, page, found)


def _picture_rect(theme: Theme, state: AppState, page: TreePage, node: Node) -> pygame.Rect:
    place = branches.node_rect(page, node, state.room)
    return pygame.Rect(place.x, place.y, place.width, theme.px(PICTURE_HEIGHT))


def _draw_way(surface: pygame.Surface, theme: Theme, state: AppState, page: TreePage, before: Node, node: Node) -> None:
    """From the picture before to this one; to a row below along the gap between two columns."""
    start, end = _picture_rect(theme, state, page, before), _picture_rect(theme, state, page, node)
    thick, gap = max(2, theme.px(2)), theme.px(CELL_WIDTH) - start.width
    middle, colour = start.right + gap // 2, theme.accent if node.kind is Kind.HERE else LINE
    surface.fill(colour, (start.right, start.centery - thick // 2, middle - start.right + thick, thick))
    top, bottom = sorted((start.centery, end.centery))
    surface.fill(colour, (middle, top - thick // 2, thick, bottom - top + thick))
    surface.fill(colour, (middle, end.centery - thick // 2, end.left - middle, thick))


def _draw_node(
    surface: pygame.Surface,
    theme: Theme,
    prints: Prints,
    state: AppState,
    page: TreePage,
    node: Node,
    picture: Pixels | None,
    *,
    chosen: bool,
) -> None:
    box = _picture_rect(theme, state, page, node)
    edge, radius = theme.px(4), theme.px(10)
    outer = box.inflate(2 * edge, 2 * edge)
    line = theme.accent if chosen else LINE
    surface.blit(theme.panel(Panel(outer.width, outer.height, radius + edge, PANEL, 255, line)), outer)
    if picture is not None:
        shown = prints.scaled(picture, box.width, box.height, radius)
        shown.set_alpha(255 if _is_open(node) else 90)
        surface.blit(shown, box)
    name = branch_hands.name_of(state, node)
    words = theme.say("branches.time", time=branches.clock(node.seconds), name=name)
    strong = theme.accent if node.kind is Kind.HERE else TEXT
    surface.blit(
        theme.text(theme.shortened(words, Role.SMALL, box.width), Role.SMALL, strong), (box.x, box.bottom + 2 * edge)
    )
    below = theme.prompt(node.prompt) if _is_open(node) else theme.say("branches.dropped")
    quiet = theme.text(theme.shortened(below, Role.SMALL, box.width), Role.SMALL, QUIET)
    surface.blit(quiet, (box.x, box.bottom + theme.px(30)))


def _is_open(node: Node) -> bool:
    """Whether one can go there: what was saved lies on the disk, too."""
    return node.kept or node.name is not None


def _draw_foot(surface: pygame.Surface, theme: Theme, state: AppState, page: TreePage, found: tuple[Node, ...]) -> None:
    """The whole prompt of the chosen place, or the question, above the hints."""
    side, height = theme.px(branches.SIDE), surface.get_height()
    if page.selected < len(found):
        node = found[page.selected]
        words = theme.say("branches.forget") if page.asking else theme.prompt(node.prompt)
        shown = theme.shortened(words, Role.BODY, surface.get_width() - 2 * side)
        surface.blit(theme.text(shown, Role.BODY, theme.bad if page.asking else TEXT), (side, height - theme.px(78)))
    surface.blit(hint_line(theme, hints.branches(state), surface.get_width() - 2 * side), (side, height - theme.px(42)))
