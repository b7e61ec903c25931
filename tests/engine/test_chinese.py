"""Chinese prompts become English word by word."""

import pytest

from engine.chinese import has_chinese, to_english


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("雪", "snow"),
        ("沙漠的夜晚", "desert night"),
        ("去掉雾", "remove fog"),
        ("没有云", "no cloudy"),
        ("雨停了", "rain is gone"),
        ("一半沙漠一半草地", "half desert half meadow"),
        ("把沙漠变成雪原", "desert becomes a snowy landscape"),
        ("暗一点", "darker"),
        ("更多的雪", "more snow"),
        ("a 森林 at night", "a forest at night"),
        ("今天", ""),
        ("你好", ""),
    ],
)
def test_the_longest_known_words_are_taken_in_order(chinese: str, english: str) -> None:
    assert to_english(chinese) == english


def test_only_chinese_is_translated() -> None:
    assert not has_chinese("a snowy forest, naïve café")
    assert has_chinese("a 雪 forest")
