"""What a wish makes of the mix of worlds."""

import pytest

from engine.phrases import A_LITTLE, Act
from engine.wishes import GROUPS, Clause, Mix, asked_mix, unknown_notice

NAMES = [name for group in GROUPS for name in group]


def mix(**weights: float) -> Mix:
    return tuple(weights.get(name, 0.0) for name in NAMES)


def named(*names: str) -> Mix:
    """Weights as a phrase has them: equal parts within each group."""
    out = {}
    for group in GROUPS:
        said = [name for name in group if name in names]
        out |= {name: 1 / len(said) for name in said}
    return mix(**out)


def shown(weights: Mix) -> dict[str, float]:
    return {name: round(weight, 3) for name, weight in zip(NAMES, weights, strict=True) if weight > 0.0005}


NOON = named("meadow", "noon", "clear")


@pytest.mark.parametrize(
    ("present", "wish", "after"),
    [
        (NOON, [Clause(Act.SET, named("snow"))], {"snow": 1}),
        (NOON, [Clause(Act.SET, named("snow", "forest"))], {"snow": 0.5, "forest": 0.5}),
        (NOON, [Clause(Act.SET, named("snow")), Clause(Act.SET, named("forest"))], {"snow": 0.5, "forest": 0.5}),
        (NOON, [Clause(Act.SET, named("snow"), A_LITTLE)], {"snow": 0.35, "meadow": 0.65}),
        (named("snow", "noon", "clear"), [Clause(Act.SET, named("snow"), A_LITTLE)], {"snow": 0.35, "meadow": 0.65}),
        (named("snow", "noon", "clear"), [Clause(Act.REMOVE, named("snow"))], {"meadow": 1}),
        (named("snow", "forest", "noon", "clear"), [Clause(Act.REMOVE, named("snow"))], {"forest": 1}),
        (NOON, [Clause(Act.REMOVE, named("meadow"))], {"forest": 1}),
        (NOON, [Clause(Act.MORE, named("snow"))], {"meadow": 0.5, "snow": 0.5}),
        (named("snow", "noon", "clear"), [Clause(Act.LESS, named("snow"))], {"meadow": 0.5, "snow": 0.5}),
        (
            NOON,
            [Clause(Act.REMOVE, named("meadow")), Clause(Act.SET, named("desert")), Clause(Act.SET, named("islands"))],
            {"desert": 0.5, "islands": 0.5},
        ),
    ],
)
def test_a_wish_changes_the_group_that_it_speaks_of(present: Mix, wish: list[Clause], after: dict[str, float]) -> None:
    assert shown(asked_mix(present, tuple(wish))) == after | {"noon": 1, "clear": 1}


def test_no_fog_is_no_storm() -> None:
    present = mix(meadow=1, noon=1, fog=0.5, storm=0.5)
    after = shown(asked_mix(present, (Clause(Act.REMOVE, named("fog")),)))
    assert after == {"meadow": 1, "noon": 1, "storm": 0.5, "clear": 0.5}


def test_a_sky_without_clouds_has_no_storm() -> None:
    after = shown(asked_mix(mix(meadow=1, noon=1, storm=1), (Clause(Act.REMOVE, named("cloudy")),)))
    assert after == {"meadow": 1, "noon": 1, "clear": 1}


@pytest.mark.parametrize(
    ("act", "time", "after"),
    [
        (Act.DARKER, "noon", "dusk"),
        (Act.BRIGHTER, "night", "dawn"),
        (Act.LATER, "dawn", "noon"),
        (Act.EARLIER, "dusk", "noon"),
    ],
)
def test_light_and_hour_move_a_step(act: Act, time: str, after: str) -> None:
    moved = shown(asked_mix(named("meadow", time, "clear"), (Clause(act),)))
    assert moved == {"meadow": 1, time: 0.4, after: 0.6, "clear": 1}
    slightly = shown(asked_mix(named("meadow", time, "clear"), (Clause(act, strength=A_LITTLE),)))
    assert slightly[after] == 0.3


def test_a_named_hour_is_kept_by_a_shift() -> None:
    wish = (Clause(Act.SET, named("dusk")), Clause(Act.DARKER))
    assert shown(asked_mix(NOON, wish)) == {"meadow": 1, "dusk": 1, "clear": 1}


def test_every_group_always_sums_to_one() -> None:
    present = mix(forest=0.3, snow=0.7, dusk=0.2, night=0.8, fog=1)
    for act in (Act.SET, Act.REMOVE, Act.MORE, Act.LESS):
        for names in (("snow", "forest"), ("night",), ("clear", "cloudy", "fog", "storm"), ("autumn", "dawn")):
            for strength in (None, 0.2, 2.0):
                after = asked_mix(present, (Clause(act, named(*names), strength),))
                assert min(after) >= 0
                assert [round(sum(after[a:b]), 6) for a, b in ((0, 7), (7, 11), (11, 15))] == [1, 1, 1]


def test_an_empty_wish_changes_nothing() -> None:
    assert asked_mix(NOON, ()) == NOON


def test_the_notice_names_what_was_asked_and_all_that_is_known() -> None:
    told = unknown_notice("my tax return")
    assert "my tax return" in told
    assert all(name in told for name in NAMES)
    assert len(unknown_notice("x" * 4000)) < 300
