"""Names and prompts of the scenes that come along, in the window's language: what is shown, not what is sent.

A scene is known by the name of its folder, its prompt by its English words, since the walk tells no more of it than
those. A prompt means the same world in every language, so whoever types what is shown gets what is there.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.wording import PICTURE_PROMPT

TITLES: Mapping[str, Mapping[str, str]] = {
    "zh": {
        "dune_sunset": "沙丘日落",
        "green_wood": "绿林",
        "lagoon": "泻湖",
        "lakeside_meadow": "湖边草地",
        "misty_firs": "雾中冷杉",
        "october_evening": "十月傍晚",
        "polar_night": "极夜",
        "red_canyon": "红色峡谷",
        "storm_coast": "风暴海岸",
        "winter_valley": "冬日山谷",
    }
}
"""For every language but English: the title of a scene's folder."""

PROMPTS: Mapping[str, Mapping[str, str]] = {
    "zh": {
        "sand dunes at sunset under a clear sky": "晴空下日落时的沙丘",
        "a pine forest at noon under a clear sky": "晴空下正午的松林",
        "tropical islands at noon, sunny": "正午阳光明媚的热带岛屿",
        "a green meadow at noon under a clear sky": "晴空下正午的绿色草地",
        "a pine forest at dawn in thick fog": "黎明浓雾中的松林",
        "an autumn forest at dusk under a clear sky": "晴空下黄昏的秋林",
        "a snowy landscape at night under a clear sky": "晴空下夜晚的雪景",
        "a canyon at dawn under a clear sky": "晴空下黎明的峡谷",
        "islands at noon in a storm": "正午暴风雨中的岛屿",
        "a snowy landscape at noon under a cloudy sky": "多云天空下正午的雪景",
        PICTURE_PROMPT: "在图片中漫步",
    }
}
"""For every language but English: the prompt that is shown for an English one that nobody typed."""


def title(language: str, name: str) -> str | None:
    """What the scene of this folder is called, or None where the language has no name of its own for it."""
    return TITLES.get(language, {}).get(name)


def prompt(language: str, english: str) -> str:
    """What is shown for a prompt: a shipped one in ``language``, any other as it was typed."""
    return PROMPTS.get(language, {}).get(english, english)
