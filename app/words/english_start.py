"""English: the words of what comes before a walk."""

from __future__ import annotations

WORDS = {
    "gallery.words": "Start from words",
    "gallery.words_about": "Say what the world is like; nothing else is needed.",
    "path.title_no_dialog": "Path of a picture. No file dialog was found on this system; Tab completes the path.",
    "path.dialog": "A picture to begin a world with",
    "path.browse": "Look for it in the system's file dialog",
    "path.up": "The folder above",
    "words.title": "What is the world like?",
    "words.suggested_1": "a green meadow by a lake in the morning",
    "words.suggested_2": "a snowy forest at night",
    "words.suggested_3": "sand dunes at sunset under a clear sky",
    "words.suggested_4": "tropical islands at noon",
    "words.suggested_5": "an autumn wood in thick fog",
    "words.suggested_6": "a red canyon at dawn",
    "words.suggested_7": "a stormy coast at dusk",
    "words.suggested_8": "a pine forest under clouds",
    "models.speed": "about {fps} frames a second here, the last time",
    "models.speed_unknown": "speed here not measured yet",
    "pad.ways": "Stick or direction pad",
    "hint.start": "begin",
    "hint.from_words": "from words",
    "hint.complete": "complete",
    "hint.dialog": "file dialog",
    "hint.folders": "folders",
    "hint.remove": "remove",
    "told.words_need_picture": "This model begins with a picture: choose a scene or a picture of your own, "
    "and then say in words what should change.",
    "told.clipboard_nothing": "There is no picture in the clipboard, and no path of one.",
    "told.clipboard_program": "Pictures can be taken out of this clipboard once xclip (with Wayland: wl-clipboard) "
    "is installed; until then, drop the file on the window.",
    "told.no_dialog": "No file dialog was found on this system: type the path, Tab completes it.",
    "told.dialog_failed": "The system's file dialog did not work: type the path, Tab completes it.",
    "told.dialog_open": "The file dialog is open already, beside this window.",
    "told.card_removed": "The card {name} is gone; the file stays where it is.",
    "told.card_stays": "Only cards of your own can be removed.",
}
