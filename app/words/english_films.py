"""English: the words about films."""

from __future__ import annotations

WORDS = {
    "menu.films": "Recordings",
    "films.title": "Recordings",
    "films.subtitle": "Watch a film, or take the wheel where you like and walk on from there.",
    "films.none": "There are no films yet. {record} records, {clip} keeps the last half minute.",
    "films.walks": "walk inside",
    "films.delete": "Delete “{name}” for good?",
    "films.rename": "A new name for the film",
    "films.deleted": "{name} is deleted.",
    "films.folder": "The films are in {folder}.",
    "film.reading": "Reading the walk…",
    "film.no_walk": "This film carries no walk: it can be watched, but not walked on.",
    "film.no_moments": "This film does not tell which picture was made when: it can be watched, but not walked on.",
    "clip.nothing": "There is nothing to keep yet.",
    "clip.saved": "The last {seconds} s are saved: {name}",
    "hint.play": "watch",
    "hint.rename": "rename",
    "hint.delete": "delete",
    "hint.keep": "keep it",
    "hint.folder": "open the folder",
    "hint.wheel": "take the wheel here",
    "hint.pause": "stop, go on",
    "hint.seek": "5 s back or on",
    "help.clip": "save the last half minute as a film",
    "name.app.keys.clip": "Save the last half minute",
    "name.app.captions": "Prompts as subtitles",
    "about.app.captions": "Films get a subtitle track with the prompts.",
    "stage.Making the world again": "Making the world again",
}
