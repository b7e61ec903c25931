"""English: the words of a walk's branches."""

from __future__ import annotations

WORDS = {
    "menu.branches": "Branches of this walk",
    "name.app.keys.branches": "Branches of this walk",
    "help.branches": "branches of this walk",
    "branches.title": "Branches of this walk",
    "branches.subtitle": "Going back and walking on begins another way. Any place here can be walked on from.",
    "branches.start": "Start",
    "branches.parting": "Fork",
    "branches.end": "End",
    "branches.here": "You are here",
    "branches.time": "{time} · {name}",
    "branches.dropped": "not kept any more",
    "branches.forget": "Forget this way?",
    "told.branch_gone": "This place is not kept any more: there is no memory left for it.",
    "told.went_to": "At {time} of the walk.",
    "hint.forget": "forget",
}
