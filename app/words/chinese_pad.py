"""Simplified Chinese: gamepads."""

from __future__ import annotations

WORDS = {
    "tab.gamepad": "手柄",
    "settings.press_button": "请按一个键",
    "about.buttons": "选择后，再按手柄上新的键。返回键总是用来返回，不能绑定。",
    "name.app.pad.quick": "预设提示词",
    "button.left_shoulder": "左上键",
    "button.right_shoulder": "右上键",
    "button.left_trigger": "左下键",
    "button.right_trigger": "右下键",
    "button.left_stick": "按下左摇杆",
    "button.right_stick": "按下右摇杆",
    "button.dpad_up": "方向键 ↑",
    "button.dpad_down": "方向键 ↓",
    "button.dpad_left": "方向键 ←",
    "button.dpad_right": "方向键 →",
    "pad.left_stick": "左摇杆",
    "pad.right_stick": "右摇杆",
    "help.pad_quick": "从预设的提示词中选择",
    "help.closes_pad": "按 {key} 或 {back} 关闭",
    "hint.quick": "提示词",
    "hint.compare_pad": "来回看",
}
