"""English: the words of photo mode."""

from __future__ import annotations

WORDS = {
    "menu.photo": "Photo mode",
    "name.app.keys.photo": "Photo mode",
    "help.photo": "photo mode: this moment made in other ways",
    "photo.title": "Photo mode",
    "photo.subtitle": "This moment, made in other ways. The world waits, nothing is recorded.",
    "photo.original": "original",
    "photo.seed": "seed {seed}",
    "photo.steps": "{steps} steps",
    "photo.differs": "differs by {percent} %",
    "photo.same": "the same as the original",
    "photo.making": "being made…",
    "photo.waiting": "to be made",
    "photo.taking": "Going on from here…",
    "photo.no_picture": "There is no picture yet.",
    "photo.goes_on": "Went on from {name}.",
    "photo.not_elsewhere": "A server makes each moment once, so there is no photo mode in its worlds.",
    "photo.not_first": "A world's first picture is given and cannot be made again. Take a step first.",
    "photo.not_no_moment": "No moment before this one is kept. Walk on a little, or change the chunks between moments "
    "and the memory for going back.",
    "photo.not_memory": "The graphics card lacks the memory for more of them. The world is as it was.",
    "photo.not_gone": "What was chosen is not there any more. The world is as it was.",
    "hint.go_on": "go on from it",
    "hint.compare": "hold: in turn with the original",
    "hint.other_seeds": "other seeds",
    "hint.from_original": "go on from the original",
}
