"""Simplified Chinese: the words of photo mode."""

from __future__ import annotations

WORDS = {
    "menu.photo": "照片模式",
    "name.app.keys.photo": "照片模式",
    "help.photo": "照片模式：用其他方式重新生成这一刻",
    "photo.title": "照片模式",
    "photo.subtitle": "同一时刻，以不同方式生成。世界在等待，录制中没有画面。",
    "photo.original": "当前画面",
    "photo.seed": "种子 {seed}",
    "photo.steps": "{steps} 步",
    "photo.differs": "不同 {percent} %",
    "photo.same": "与当前画面相同",
    "photo.making": "正在生成…",
    "photo.waiting": "等待中",
    "photo.taking": "正在从这里继续…",
    "photo.no_picture": "还没有画面。",
    "photo.goes_on": "从“{name}”继续。",
    "photo.not_elsewhere": "服务器上的世界每一刻只生成一次，没有照片模式。",
    "photo.not_first": "世界的第一个画面不能重新生成。请走一步再用。",
    "photo.not_no_moment": "这之前没有保留时刻。请再走一段，或更改“时刻间隔”和“用于返回的内存”。",
    "photo.not_memory": "显卡内存不足，不能生成更多画面。世界没有改变。",
    "photo.not_gone": "选中的画面不在了。世界没有改变。",
    "hint.go_on": "从这里继续",
    "hint.compare": "按住：来回看",
    "hint.other_seeds": "其他种子",
    "hint.from_original": "从当前画面继续",
}
