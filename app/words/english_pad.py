"""English: gamepads."""

from __future__ import annotations

WORDS = {
    "tab.gamepad": "Gamepad",
    "settings.press_button": "press a button",
    "about.buttons": "Choose, then press the new button. The button that leads back always does, and cannot be bound.",
    "name.app.pad.quick": "Prepared prompts",
    "button.left_shoulder": "left shoulder",
    "button.right_shoulder": "right shoulder",
    "button.left_trigger": "left trigger",
    "button.right_trigger": "right trigger",
    "button.left_stick": "left stick pressed",
    "button.right_stick": "right stick pressed",
    "button.dpad_up": "D-pad ↑",
    "button.dpad_down": "D-pad ↓",
    "button.dpad_left": "D-pad ←",
    "button.dpad_right": "D-pad →",
    "pad.left_stick": "Left stick",
    "pad.right_stick": "Right stick",
    "help.pad_quick": "prepared prompts to choose from",
    "help.closes_pad": "{key} or {back} closes",
    "hint.quick": "prompts",
    "hint.compare_pad": "in turn with the original",
}
