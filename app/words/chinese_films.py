"""Simplified Chinese: the words about films."""

from __future__ import annotations

WORDS = {
    "menu.films": "录像",
    "films.title": "录像",
    "films.subtitle": "观看录像，或在任意时刻接管，从那里继续行走。",
    "films.none": "还没有录像。{record} 录制，{clip} 保存最近半分钟。",
    "films.walks": "含行走记录",
    "films.delete": "永久删除“{name}”？",
    "films.rename": "录像的新名称",
    "films.deleted": "{name} 已删除。",
    "films.folder": "录像在 {folder}。",
    "film.reading": "正在读取行走记录…",
    "film.no_walk": "这段录像没有行走记录：可以观看，但不能接着走。",
    "film.no_moments": "这段录像没有说明画面是何时生成的：可以观看，但不能接着走。",
    "clip.nothing": "还没有可以保存的内容。",
    "clip.saved": "最近 {seconds} 秒已保存：{name}",
    "hint.play": "观看",
    "hint.rename": "重命名",
    "hint.delete": "删除",
    "hint.keep": "保留",
    "hint.folder": "打开文件夹",
    "hint.wheel": "从这里接管",
    "hint.pause": "暂停、继续",
    "hint.seek": "后退或前进 5 秒",
    "help.clip": "把最近半分钟保存为录像",
    "name.app.keys.clip": "保存最近半分钟",
    "name.app.captions": "提示词字幕",
    "about.app.captions": "录像带有提示词字幕轨。",
    "stage.Making the world again": "正在重新生成世界",
}
