"""Simplified Chinese: the words of a walk's branches."""

from __future__ import annotations

WORDS = {
    "menu.branches": "行走的分支",
    "name.app.keys.branches": "行走的分支",
    "help.branches": "行走的分支",
    "branches.title": "行走的分支",
    "branches.subtitle": "返回后继续行走，就开始另一条路。可以从这里的任何地方继续。",
    "branches.start": "开始",
    "branches.parting": "分开处",
    "branches.end": "终点",
    "branches.here": "你在这里",
    "branches.time": "{time} · {name}",
    "branches.dropped": "已不再保存",
    "branches.forget": "删除这条路？",
    "told.branch_gone": "这个地方已不再保存：内存不够。",
    "told.went_to": "到达行走的 {time}。",
    "hint.forget": "删除",
}
