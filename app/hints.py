"""Which keys are named where, as words: lines of advice, the page of keys. Pure."""

from __future__ import annotations

from app import bindings, options
from app.line_page import Purpose
from app.pad_names import button, button_of
from app.prompts import Place
from app.theme import Hints
from app.values import AppState


def key_name(state: AppState, key: str) -> str:
    """What is written on a key, or what it is called, in the user's language."""
    word = f"key.{key}"
    return state.say(word) if word in KEY_WORDS else bindings.label(key, state.settings.app.key_labels)


def bound_name(state: AppState, row: str, key: str) -> str:
    """A key, or a gamepad's button, of a row of the settings pages."""
    return button(state, key) if options.is_buttons(row) else key_name(state, key)


def key_of(state: AppState, thing: str) -> str:
    """The first key of a thing; a dash where it has none."""
    keys = bindings.keys_of(state.settings.app.keys, thing)
    return key_name(state, keys[0]) if keys else "–"


def keys_of(state: AppState, thing: str) -> str:
    """All keys of a thing."""
    keys = bindings.keys_of(state.settings.app.keys, thing)
    return f" {state.say('or')} ".join(key_name(state, key) for key in keys) or "–"


def help_lines(state: AppState) -> tuple[tuple[str, str], ...]:
    """(keys, what they do) of everything, as they are bound; a gamepad's buttons where one was used last."""
    if state.by_pad:
        return _pad_help(state)
    walk = " ".join(key_of(state, thing) for thing in ("forward", "left", "back", "right"))
    look = " ".join(key_of(state, thing) for thing in ("look_up", "look_left", "look_down", "look_right"))
    things = (
        *("prompt", "pause", "rewind", "quick_save", "quick_load", "worlds", "branches", "photo", "reset"),
        *("snapshot", "details", "inputs", "record", "clip", "fullscreen"),
    )
    return (
        (walk, state.say("help.walk")),
        (look, state.say("help.look")),
        (state.say("help.mouse_keys"), state.say("help.mouse")),
        *((keys_of(state, thing), state.say(f"help.{thing}")) for thing in things),
        ("Ctrl+1 … 9", state.say("help.quick")),
        (f"Esc {state.say('or')} {keys_of(state, 'menu')}", state.say("help.menu")),
    )


def help_closes(state: AppState) -> str:
    """What closes the page of keys."""
    if state.by_pad:
        return state.say("help.closes_pad", key=button_of(state, "help"), back=button(state, "b"))
    return state.say("help.closes", key=key_of(state, "help"))


def _pad_help(state: AppState) -> tuple[tuple[str, str], ...]:
    pad, say = state.settings.app.pad, state.say
    things = [thing for thing in bindings.PAD_THINGS if thing not in bindings.ACTIONS]
    bound = [(thing, bindings.keys_of(pad, thing)) for thing in things]
    return (
        (say("pad.left_stick"), say("help.walk")),
        (say("pad.right_stick"), say("help.look")),
        *(
            (f" {say('or')} ".join(button(state, place) for place in places), say(_HELP.get(thing, f"help.{thing}")))
            for thing, places in bound
            if places
        ),
        (button(state, "b"), say("hint.back")),
    )


_HELP = {"quick": "help.pad_quick", "help": "name.app.keys.help"}
"""What is told of a thing otherwise than with its key."""


def thing(state: AppState, name: str) -> str:
    """What asks for a thing, by whichever hand was used last."""
    return button_of(state, name) if state.by_pad else key_of(state, name)


def named(state: AppState, key: str, place: str) -> str:
    """A key of the keyboard, or the button at ``place`` where a gamepad was used last."""
    return button(state, place) if state.by_pad else key


def gallery(state: AppState) -> Hints:
    """What the keys do to the card that is chosen."""
    say, at = state.say, state.gallery.selected
    own = at >= len(state.scenes)
    name = "" if own else state.scenes[at].name
    mine = state.remembered.is_own(name)
    return (
        (say("pad.ways" if state.by_pad else "hint.arrows"), say("hint.choose")),
        (named(state, "Enter", "a"), say("hint.open" if own and state.gallery.count else "hint.walk")),
        *(() if own else ((named(state, "P", "y"), say("hint.pin")),)),
        *(((named(state, "Del", "x"), say("hint.remove")),) if mine else ()),
        *(() if state.by_pad else ((key_of(state, "prompt"), say("hint.from_words")), ("Ctrl+V", say("hint.paste")))),
        (thing(state, "help"), say("hint.keys")),
        (button_of(state, "menu") if state.by_pad else "Esc", say("hint.menu")),
    )


def walking(state: AppState) -> Hints:
    say, prompt = state.say, (key_of(state, "prompt"), state.say("hint.prompt"))
    if state.by_pad:
        words = {"quick": "hint.quick", "help": "hint.keys", "menu": "hint.menu"}
        return tuple((button_of(state, name), say(word)) for name, word in words.items())
    if state.captured:
        return (("Esc", say("hint.frees")), prompt)
    return (
        (say("hint.click"), say("hint.look")),
        prompt,
        (key_of(state, "help"), say("hint.keys")),
        ("Esc", say("hint.menu")),
    )


def typing(state: AppState) -> Hints:
    """What the keys do in the prompt box, for the part of it that has them."""
    say, mixing = state.say, state.prompts.mixing
    ends = (("Enter", say("hint.apply")), ("Esc", say("hint.cancel")))
    if mixing is None:
        return (*ends, ("↑", say("hint.earlier")), ("Tab", say("hint.mix")))
    if mixing.place is Place.SLIDER:
        return (("← →", say("hint.shares")), ("Tab", say("hint.words")), *ends)
    return (("Tab", say("hint.second" if mixing.place is Place.FIRST else "hint.shares")), *ends)


def quick(state: AppState) -> Hints:
    """What the keys do in the list of prepared prompts."""
    say, enter, back = state.say, named(state, "Enter", "a"), named(state, "Esc", "b")
    return (("↑ ↓", say("hint.choose")), (enter, say("hint.use")), (back, say("hint.back")))


def failure(state: AppState) -> Hints:
    say, menu = state.say, ("Esc", state.say("hint.menu"))
    if state.scene is None:
        return (menu,)
    how = "hint.again_snapshot" if state.snapshot is not None else "hint.again"
    return ((key_of(state, "reset"), say(how)), menu)


def first_keys(state: AppState) -> Hints:
    """The six keys that matter first."""
    say = state.say
    if state.by_pad:
        named_things = ("rewind", "record", "snapshot", "menu")
        ways = ((say("pad.left_stick"), say("help.walk")), (say("pad.right_stick"), say("hint.look")))
        return (*ways, *((button_of(state, name), say(f"help.{name}")) for name in named_things))
    walk = " ".join(key_of(state, thing) for thing in ("forward", "left", "back", "right"))
    look = " ".join(key_of(state, thing) for thing in ("look_up", "look_left", "look_down", "look_right"))
    return (
        (walk, say("help.walk")),
        (f"{look} {say('or')} {say('hint.click')}", say("hint.look")),
        (key_of(state, "prompt"), say("help.prompt")),
        (key_of(state, "record"), say("help.record")),
        (key_of(state, "snapshot"), say("help.snapshot")),
        ("Esc", say("help.menu")),
    )


def crop(state: AppState) -> Hints:
    say, page = state.say, state.crop
    enter, back = named(state, "Enter", "a"), named(state, "Esc", "b")
    if page is not None and page.line is not None:
        return ((enter, say("hint.apply")), (back, say("hint.cancel")))
    return (
        (say("pad.ways") if state.by_pad else "← → ↑ ↓", say("hint.move_part")),
        (named(state, key_of(state, "prompt"), "y"), say("hint.prompt")),
        (enter, say("hint.walk")),
        (back, say("hint.cancel")),
    )


def worlds(state: AppState) -> Hints:
    """What the keys do on the page of saved worlds."""
    say, page = state.say, state.slots
    if page is not None and page.line is not None:
        return (("Enter", say("hint.save")), ("Esc", say("hint.cancel")))
    if page is not None and page.asking:
        return (("Enter", say("hint.delete")), ("Esc", say("hint.cancel")))
    return (
        (say("hint.arrows"), say("hint.choose")),
        ("Enter", say("hint.walk_on")),
        ("Del", say("hint.delete")),
        ("Esc", say("hint.back")),
    )


def line(state: AppState) -> Hints:
    """While a path or the words of a world are typed."""
    say, page = state.say, state.line_page
    choose = ("↑ ↓", say("hint.choose"))
    enter, back = named(state, "Enter", "a"), (named(state, "Esc", "b"), say("hint.cancel"))
    if page is not None and page.purpose is Purpose.WORDS:
        return (choose, (enter, say("hint.start")), back)
    if state.by_pad:
        dialog = ((button(state, "x"), say("hint.dialog")),) if page is not None and page.dialog else ()
        return (choose, (enter, say("hint.open")), ("← →", say("hint.folders")), *dialog, back)
    return (choose, (enter, say("hint.open")), ("Tab", say("hint.complete")), ("Ctrl+V", say("hint.paste")), back)


def films(state: AppState) -> Hints:
    say = state.say
    if state.films is None or not state.films.films:
        return (("O", say("hint.folder")), ("Esc", say("hint.back")))
    return (
        (say("hint.arrows"), say("hint.choose")),
        ("Enter", say("hint.play")),
        ("N", say("hint.rename")),
        ("Del", say("hint.delete")),
        ("O", say("hint.folder")),
        ("Esc", say("hint.back")),
    )


def question(state: AppState) -> Hints:
    return (("Enter", state.say("hint.delete")), ("Esc", state.say("hint.keep")))


def naming(state: AppState) -> Hints:
    return (("Enter", state.say("hint.apply")), ("Esc", state.say("hint.cancel")))


def film(state: AppState) -> Hints:
    """What the keys do while a film is watched; the wheel only where the film carries its walk."""
    say, page = state.say, state.film
    wheel = (("Enter", say("hint.wheel")),) if page is not None and page.facts.walks else ()
    return (("Space", say("hint.pause")), ("← →", say("hint.seek")), *wheel, ("Esc", say("hint.back")))


def branches(state: AppState) -> Hints:
    """What the keys do on the page of a walk's branches."""
    say, page = state.say, state.branches
    enter, back = named(state, "Enter", "a"), named(state, "Esc", "b")
    if page is not None and page.asking:
        return ((enter, say("hint.forget")), (back, say("hint.keep")))
    return (
        (say("pad.ways" if state.by_pad else "hint.arrows"), say("hint.choose")),
        (enter, say("hint.walk_on")),
        (named(state, "Del", "x"), say("hint.forget")),
        (back, say("hint.back")),
    )


def photo(state: AppState) -> Hints:
    """What the keys do in photo mode."""
    say = state.say
    if state.by_pad:
        return (
            (say("pad.ways"), say("hint.choose")),
            (button(state, "a"), say("hint.go_on")),
            (button(state, "x"), say("hint.compare_pad")),
            (button(state, "y"), say("hint.save")),
            (button(state, "right_shoulder"), say("hint.other_seeds")),
            (button(state, "b"), say("hint.from_original")),
        )
    return (
        (say("hint.arrows"), say("hint.choose")),
        ("Enter", say("hint.go_on")),
        (say("key.Space"), say("hint.compare")),
        (key_of(state, "snapshot"), say("hint.save")),
        ("Tab", say("hint.other_seeds")),
        ("Esc", say("hint.from_original")),
    )


def models(state: AppState) -> Hints:
    say = state.say
    enter, back = named(state, "Enter", "a"), named(state, "Esc", "b")
    return (("↑ ↓", say("hint.choose")), (enter, say("hint.use")), (back, say("hint.back")))


def settings(state: AppState) -> Hints:
    """What the keys do on the settings pages, for the row that is chosen."""
    say, page = state.say, state.page
    assert page is not None
    enter, back = named(state, "Enter", "a"), named(state, "Esc", "b")
    if page.catching:
        return ((back, say("hint.cancel")),)
    if page.line is not None:
        return ((enter, say("hint.apply")), (back, say("hint.cancel")))
    if page.trying:
        return (("← →", say("hint.sensitivity")), (back, say("hint.frees")))
    return (
        ("↑ ↓", say("hint.choose")),
        ("← →", say("hint.change")),
        (enter, say("hint.edit")),
        (named(state, "Del", "x"), say("hint.default")),
        (named(state, "Tab", "right_shoulder"), say("hint.next_page")),
        (back, say("hint.back")),
    )


KEY_WORDS = frozenset(f"key.{name}" for name in ("Space", *bindings.MOUSE_BUTTONS))
"""Keys that are called by a word; all others by what is printed on them."""
