"""What stands in front of a world: loading page, scene gallery, menu, failure. Pictures, no decisions."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import pygame

from app import hints, menu, timing
from app.theme import (
    BACKGROUND,
    LINE,
    PANEL,
    QUIET,
    TEXT,
    Colour,
    Panel,
    Role,
    Theme,
    hint_line,
    rounded,
)
from app.values import AppState
from app.words import scenes, table
from engine.protocol import Pixels, SceneSpec

MOST_PRINTS = 120


class Pictures:
    """Scene pictures at the sizes that are drawn, made once."""

    def __init__(self) -> None:
        self._cards: dict[tuple[str, int, int], tuple[Pixels | None, pygame.Surface]] = {}
        self._grain: pygame.Surface | None = None
        self._backdrop: tuple[tuple[str, int, int], pygame.Surface] | None = None

    def card(self, scene: SceneSpec, width: int, height: int, radius: int) -> pygame.Surface:
        """The scene's picture, cropped to fill, its corners round."""
        key = (scene.name, width, height)
        if key not in self._cards or self._cards[key][0] is not scene.image:  # the same name, another part of a picture
            if len(self._cards) > 120:
                self._cards.clear()
            self._cards[key] = scene.image, rounded(filling(_source(scene), width, height), radius)
        return self._cards[key][1]

    def backdrop(self, scene: SceneSpec | None, width: int, height: int) -> pygame.Surface:
        """A dark, soft memory of the scene that fills the window."""
        key = ("" if scene is None else scene.name, width, height)
        if self._backdrop is None or self._backdrop[0] != key:
            if self._grain is None:
                self._grain = _grain()
            self._backdrop = (key, _soft(scene, width, height, self._grain))
        return self._backdrop[1]


def draw_loading(surface: pygame.Surface, theme: Theme, pictures: Pictures, state: AppState, now: float) -> None:
    """Stage in plain words and how far it is. Shown from the first moment on, when nothing is known yet."""
    width, height = surface.get_size()
    surface.blit(pictures.backdrop(state.scene, width, height), (0, 0))
    middle, y = width // 2, height // 2
    title = _title(theme, state.scene) if state.scene is not None else theme.say("name")
    _centred(surface, theme.text(title, Role.TITLE), middle, y - theme.px(56))
    stage = theme.say("loading.starting") if state.loading is None else table.stage(theme.language, state.loading.stage)
    below = y + theme.px(36)
    for line in theme.wrapped(stage, Role.BODY, min(width * 3 // 4, theme.px(620)))[:3]:
        _centred(surface, theme.text(line, Role.BODY, QUIET), middle, below)
        below += theme.px(26)
    left = seconds_left(state, now)
    if left is not None:
        words = theme.say("loading.left", seconds=left)
        _centred(surface, theme.text(words, Role.SMALL, QUIET), middle, below + theme.px(6))
    bar = pygame.Rect(0, 0, min(theme.px(360), width * 2 // 3), max(3, theme.px(4)))
    bar.center = (middle, y + theme.px(8))
    radius = bar.height // 2
    track = Panel(bar.width, bar.height, radius, fill=TEXT, alpha=38)
    surface.blit(theme.panel(track), bar)
    fraction = state.loading.fraction if state.loading is not None else None
    if fraction is None:
        part = bar.width if state.settings.app.reduced_motion else max(bar.height, bar.width // 5)
        sway = abs((now * 0.6) % 2.0 - 1.0)
        lit = pygame.Rect(bar.x + round((bar.width - part) * sway), bar.y, part, bar.height)
    else:
        lit = pygame.Rect(bar.x, bar.y, max(bar.height, round(bar.width * min(1.0, max(0.0, fraction)))), bar.height)
    surface.blit(theme.panel(Panel(lit.width, lit.height, radius, fill=theme.accent, alpha=255)), lit)
    if state.scene is not None:
        prompt = theme.shortened(theme.prompt(state.scene.prompt), Role.SMALL, width * 3 // 4)
        _centred(surface, theme.text(prompt, Role.SMALL, QUIET), middle, height - theme.px(40))


def seconds_left(state: AppState, now: float) -> int | None:
    """Whole seconds until the world is there, as the last run knew it; None where it did not, or it takes longer."""
    backend = state.settings.engine.backend
    seconds = timing.seconds_left(state.timing, state.remembered.stages(backend), now)
    return None if seconds is None or seconds < 0.5 else round(seconds)


def draw_gallery(surface: pygame.Surface, theme: Theme, pictures: Pictures, state: AppState) -> None:
    width, height = surface.get_size()
    gallery = state.gallery
    chosen = state.scenes[gallery.selected] if gallery.selected < len(state.scenes) else None
    surface.blit(pictures.backdrop(chosen, width, height), (0, 0))
    layout = menu.gallery_layout(gallery.count, state.room)
    surface.blit(theme.text(theme.say("name"), Role.TITLE), (layout.left, theme.px(30)))
    words = theme.say("gallery.subtitle" if state.scenes else "gallery.none")
    subtitle = theme.shortened(words, Role.BODY, width - 2 * layout.left)
    surface.blit(theme.text(subtitle, Role.BODY, QUIET), (layout.left, theme.px(88)))
    for index, scene in enumerate(state.scenes):
        rect = menu.card_rect(gallery, index, state.room)
        if rect is not None:
            pinned = scene.name in state.remembered.pinned
            look = CardLook(rect, layout.picture_height, index == gallery.selected, pinned)
            _draw_card(surface, theme, pictures, scene, look)
    for index, kind in enumerate(menu.OWN_CARDS, len(state.scenes)):
        own = menu.card_rect(gallery, index, state.room) if index < gallery.count else None
        if own is not None:
            _draw_own_card(surface, theme, kind, CardLook(own, layout.picture_height, index == gallery.selected))
    _draw_foot(surface, theme, state, layout.left)


def _draw_foot(surface: pygame.Surface, theme: Theme, state: AppState, left: int) -> None:
    """What the keys do; on the right that there are more cards, else what is being loaded, where there is room."""
    width, y = surface.get_width() - 2 * left, surface.get_height() - theme.px(40)
    side = None
    if menu.rows_below(state.gallery, state.room):
        side = theme.text(theme.say("gallery.more"), Role.SMALL, theme.accent)
    elif state.loading is not None:
        words = table.stage(theme.language, state.loading.stage)
        side = theme.text(theme.shortened(words, Role.SMALL, width // 4), Role.SMALL, QUIET)
    room = width if side is None else width - side.get_width() - theme.px(28)
    surface.blit(hint_line(theme, hints.gallery(state), room), (left, y))
    if side is not None:
        surface.blit(side, (left + width - side.get_width(), y))


def draw_menu(surface: pygame.Surface, theme: Theme, shown: menu.Menu, room: menu.Room) -> None:
    """The menu over a darkened window."""
    darken(surface, 120)
    panel = menu.menu_panel(shown, room)
    look = Panel(panel.width, panel.height, theme.px(18), alpha=244, line=LINE)
    surface.blit(theme.panel(look), (panel.x, panel.y))
    _centred(
        surface, theme.text(theme.say(shown.title), Role.HEADING), panel.x + panel.width // 2, panel.y + theme.px(40)
    )
    for index, item in enumerate(shown.items):
        rect = menu.menu_item_rect(shown, index, room)
        chosen = index == shown.selected
        if chosen:
            surface.blit(theme.panel(Panel(rect.width, rect.height, theme.px(12), theme.accent, 255)), (rect.x, rect.y))
        label = theme.text(
            theme.say(f"menu.{item}"), Role.STRONG if chosen else Role.BODY, BACKGROUND if chosen else TEXT
        )
        _centred(surface, label, rect.x + rect.width // 2, rect.y + rect.height // 2)


def draw_failure(surface: pygame.Surface, theme: Theme, state: AppState) -> None:
    """What happened and what helps, over the last picture."""
    if state.failure is None:
        return
    width, height = surface.get_size()
    darken(surface, 130)
    inner = min(theme.px(560), width - theme.px(120))
    message = theme.wrapped(theme.spoken(state.failure.message), Role.BODY, inner)[:8]
    cure = theme.wrapped(theme.spoken(state.failure.cure), Role.BODY, inner)[:5]
    step, pad = theme.px(26), theme.px(36)
    panel_height = pad * 2 + theme.px(52) + step * (len(message) + len(cure)) + theme.px(64)
    panel = Panel(inner + 2 * pad, panel_height, theme.px(18), alpha=246, line=LINE)
    x, y = (width - panel.width) // 2, (height - panel.height) // 2
    surface.blit(theme.panel(panel), (x, y))
    x, y = x + pad, y + pad
    heading = theme.say("failure.lost" if state.failure.engine_lost else "failure.other")
    surface.blit(theme.text(heading, Role.HEADING, theme.bad), (x, y))
    y += theme.px(48)
    for lines, colour in ((message, TEXT), (cure, QUIET)):
        for line in lines:
            surface.blit(theme.text(line, Role.BODY, colour), (x, y))
            y += step
        y += theme.px(10)
    surface.blit(hint_line(theme, hints.failure(state)), (x, y + theme.px(12)))


def darken(surface: pygame.Surface, alpha: int) -> None:
    """Lay a dark glass of ``alpha`` 0 to 255 over everything."""
    keep = 255 - alpha
    surface.fill((keep, keep, keep), special_flags=pygame.BLEND_RGB_MULT)


@dataclass(frozen=True, slots=True)
class CardLook:
    """Where a card lies, how much of it is picture, and what is said about it."""

    rect: menu.Rect
    picture_height: int
    chosen: bool
    pinned: bool = False


def _draw_card(surface: pygame.Surface, theme: Theme, pictures: Pictures, scene: SceneSpec, look: CardLook) -> None:
    rect, radius, inset = look.rect, theme.px(14), theme.px(6)
    _draw_frame(surface, theme, rect, chosen=look.chosen)
    picture = pictures.card(scene, rect.width - 2 * inset, look.picture_height - inset, radius - inset // 2)
    surface.blit(picture, (rect.x + inset, rect.y + inset))
    if look.pinned:
        mark = theme.text(theme.say("gallery.pinned"), Role.SMALL_STRONG, theme.accent)
        plate = Panel(mark.get_width() + theme.px(16), mark.get_height() + theme.px(6), theme.px(8), BACKGROUND, 205)
        at = rect.x + rect.width - inset - plate.width - theme.px(6), rect.y + inset + theme.px(6)
        surface.blit(theme.panel(plate), at)
        surface.blit(mark, (at[0] + theme.px(8), at[1] + theme.px(3)))
    # words that began a world are its name already
    prompt = "" if scene.prompt == scene.name else theme.prompt(scene.prompt)
    _draw_words(surface, theme, look, _title(theme, scene), prompt)


def _draw_words(surface: pygame.Surface, theme: Theme, look: CardLook, name: str, about: str) -> None:
    """Three lines below a card's picture: a long name takes the second of them."""
    left, inner = look.rect.x + theme.px(14), look.rect.width - theme.px(28)
    y = look.rect.y + look.picture_height + theme.px(9)
    names = theme.wrapped(name, Role.STRONG, inner)
    names = names if len(names) < 3 else [names[0], " ".join(names[1:])]
    for line in names:
        surface.blit(theme.text(theme.shortened(line, Role.STRONG, inner), Role.STRONG), (left, y))
        y += theme.px(23)
    lines = theme.wrapped(about[:200], Role.SMALL, inner)
    room = 3 - len(names)
    lines = [*lines[: room - 1], " ".join(lines[room - 1 :])]
    for line in lines:
        surface.blit(theme.text(theme.shortened(line, Role.SMALL, inner), Role.SMALL, QUIET), (left, y + theme.px(2)))
        y += theme.px(19)


def _draw_frame(surface: pygame.Surface, theme: Theme, rect: menu.Rect, *, chosen: bool) -> None:
    radius = theme.px(14)
    if chosen:
        ring = theme.px(4)
        frame = Panel(rect.width + 2 * ring, rect.height + 2 * ring, radius + ring, theme.accent, 255)
        surface.blit(theme.panel(frame), (rect.x - ring, rect.y - ring))
    surface.blit(theme.panel(Panel(rect.width, rect.height, radius, PANEL, 255 if chosen else 214)), (rect.x, rect.y))


def _draw_own_card(surface: pygame.Surface, theme: Theme, kind: str, look: CardLook) -> None:
    """A card behind the scenes: a picture of the user's own, with a plus, or words, as two lines and a caret."""
    _draw_frame(surface, theme, look.rect, chosen=look.chosen)
    arm, thick = theme.px(22), max(2, theme.px(3))
    x, y = look.rect.x + look.rect.width // 2, look.rect.y + look.picture_height // 2
    colour = theme.accent if look.chosen else QUIET
    if kind == "own":
        surface.fill(colour, (x - arm, y - thick // 2, 2 * arm, thick))
        surface.fill(colour, (x - thick // 2, y - arm, thick, 2 * arm))
    else:
        surface.fill(colour, (x - arm, y - theme.px(9), 2 * arm, thick))
        surface.fill(colour, (x - arm, y + theme.px(7), round(1.2 * arm), thick))
        surface.fill(colour, (x - arm + round(1.4 * arm), y, thick, theme.px(17)))
    _draw_words(surface, theme, look, theme.say(f"gallery.{kind}"), theme.say(f"gallery.{kind}_about"))


def _centred(surface: pygame.Surface, drawn: pygame.Surface, x: int, y: int) -> None:
    surface.blit(drawn, (x - drawn.get_width() // 2, y - drawn.get_height() // 2))


def _title(theme: Theme, scene: SceneSpec) -> str:
    """Its name as people write it; a scene that comes along has one in the window's language."""
    words = scene.name.replace("_", " ").replace("-", " ").strip()
    shipped = None if scene.own_image else scenes.title(theme.language, scene.name)
    return shipped or words[:1].upper() + words[1:]


def _source(scene: SceneSpec) -> pygame.Surface:
    """The scene's picture, or, where it has none, a dusk of its own colours."""
    if scene.image is not None:
        return picture_of(scene.image)
    seed = zlib.crc32(scene.name.encode())
    sky, ground = _hue(seed % 360), _hue((seed >> 9) % 360)
    column = np.linspace(0.0, 1.0, 56)[None, :, None]
    blend = np.array(sky) * (1 - column) + np.array(ground) * column
    return picture_of(np.repeat(blend, 96, axis=0).swapaxes(0, 1).astype(np.uint8))


def picture_of(pixels: Pixels) -> pygame.Surface:
    """RGB uint8 [H, W, 3] as a surface of 32 bits, which scales several times faster than one of 24."""
    height, width, _ = pixels.shape
    return pygame.image.frombuffer(pixels.tobytes(), (width, height), "RGB").convert()


class Prints:
    """Pictures at the sizes that are drawn, each filling its size, made once."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, int, int], tuple[Pixels, pygame.Surface]] = {}

    def scaled(self, picture: Pixels, width: int, height: int, radius: int = 0) -> pygame.Surface:
        key = (id(picture), width, height, radius)
        if key not in self._kept:
            if len(self._kept) >= MOST_PRINTS:
                self._kept.clear()
            scaled = filling(picture_of(picture), width, height)
            print_ = rounded(scaled, radius) if radius else scaled
            self._kept[key] = picture, print_  # the picture is held, so that its id stays its own
        return self._kept[key][1]


def filling(picture: pygame.Surface, width: int, height: int) -> pygame.Surface:
    """Scaled and cropped so that it fills the size without distortion."""
    width, height = max(1, width), max(1, height)
    factor = max(width / picture.get_width(), height / picture.get_height())
    scaled = pygame.transform.smoothscale(
        picture, (max(width, round(picture.get_width() * factor)), max(height, round(picture.get_height() * factor)))
    )
    crop = pygame.Rect(0, 0, width, height)
    crop.center = scaled.get_rect().center
    return scaled.subsurface(crop.clamp(scaled.get_rect()))


def _soft(scene: SceneSpec | None, width: int, height: int, grain: pygame.Surface) -> pygame.Surface:
    surface = pygame.Surface((width, height))
    if scene is None:
        surface.fill(BACKGROUND)
        return surface
    small = pygame.transform.smoothscale(filling(_source(scene), 32, 18), (10, 6))
    pygame.transform.smoothscale(small, (width, height), surface)
    # dark gradients have few levels: a little grain before the last darkening hides their steps
    darken(surface, 90)
    for y in range(0, height, grain.get_height()):
        for x in range(0, width, grain.get_width()):
            surface.blit(grain, (x, y), special_flags=pygame.BLEND_RGB_ADD)
    darken(surface, 150)
    return surface


def _grain() -> pygame.Surface:
    noise = np.random.default_rng(0).integers(0, 7, (256, 256, 1), dtype=np.uint8)
    return picture_of(np.repeat(noise, 3, axis=2))


def _hue(degrees: float) -> Colour:
    colour = pygame.Color(0, 0, 0)
    colour.hsva = (degrees, 38, 62, 100)
    return colour.r, colour.g, colour.b
