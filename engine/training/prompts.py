"""Phrasings of biome, time and weather, from which training prompts are made; a part is held out for measurement."""

from __future__ import annotations

import random


def _words(text: str) -> list[str]:
    return text.split("; ")


BIOME_WORDS: dict[str, list[str]] = {
    "meadow": _words(
        "a green meadow; grassland; rolling grassy hills; a field of grass; green pastures; spring meadows; "
        "prairie; countryside; lush fields; a park; fields of flowers; farmland; grass; lawn; steppe; "
        "savannah; the shire; ireland"
    ),
    "forest": _words(
        "a forest; a pine forest; deep woods; woodland; tall fir trees; dense trees; a jungle; conifers; "
        "evergreen forest; the woods; dark forest; a spruce grove; rainforest; black forest; trees "
        "everywhere; redwoods; taiga"
    ),
    "desert": _words(
        "a desert; sand dunes; the sahara; a sandy desert; dry dunes; endless sand; barren desert; arid land; "
        "an oasis; hot sand; drought; egypt; dunes; sand; wasteland; dune sea"
    ),
    "snow": _words(
        "snow; a snowy landscape; winter; snow covered hills; an arctic land; frozen tundra; ice and snow; "
        "make it winter; snowy mountains; a glacier; christmas landscape; polar ice; iceland in winter; "
        "freezing cold; frost; siberia; alps in january; snowfields; antarctica"
    ),
    "canyon": _words(
        "a canyon; red rocks; the grand canyon; mesas; red cliffs; sandstone cliffs; a rocky gorge; badlands; "
        "mars; arizona; red stone plateaus; a ravine; rock walls; monument valley; wild west; buttes; rocky "
        "cliffs"
    ),
    "islands": _words(
        "islands; a tropical island; a beach; the sea; an archipelago; the ocean; a lagoon; coast; seaside; "
        "palm beach; a bay with islands; the caribbean; blue water; hawaii; lake; maldives; water everywhere; "
        "atoll; shore"
    ),
    "autumn": _words(
        "autumn; fall foliage; autumn leaves; orange trees; golden leaves; a fall forest; red and orange "
        "trees; october woods; indian summer; autumn forest; colorful fall trees; maple trees in october; "
        "november park; yellow leaves; harvest season"
    ),
}
TIME_WORDS: dict[str, list[str]] = {
    "dawn": _words(
        "at dawn; at sunrise; in the early morning; first light; daybreak; as the sun rises; morning; "
        "sunrise; early morning light; the break of day; morning glow; pastel morning"
    ),
    "noon": _words(
        "at noon; at midday; in bright daylight; daytime; under the midday sun; in full daylight; day; "
        "afternoon; broad daylight; high noon; in the middle of the day; lunchtime; by day"
    ),
    "dusk": _words(
        "at dusk; at sunset; in the evening; golden hour; as the sun sets; twilight; evening light; sundown; "
        "sunset; nightfall glow; orange evening sky; late evening; the sun goes down; gloaming"
    ),
    "night": _words(
        "at night; at midnight; under the stars; in the moonlight; night; a starry sky; in the dark of night; "
        "moonlit; under a full moon; midnight; nocturnal; starlight; dark night; after dark; late at night"
    ),
}
WEATHER_WORDS: dict[str, list[str]] = {
    "clear": _words(
        "clear sky; sunny; cloudless; under a clear sky; with a blue sky; bright sunshine; fine weather; no "
        "clouds; clear weather; the sky clears; the fog lifts; remove the fog; no fog; stop the rain; without "
        "clouds; the storm is over; blue skies; nice weather"
    ),
    "cloudy": _words(
        "cloudy; overcast; with many clouds; under grey clouds; a cloudy sky; scattered clouds; clouds; grey "
        "sky; some clouds; clouds drifting; more clouds; fluffy clouds; dull sky"
    ),
    "fog": _words(
        "fog; foggy; misty; in thick fog; mist; haze; in the mist; dense fog; low visibility; hazy; veiled in "
        "mist; foggy air; smoky haze; mysterious mist; steam"
    ),
    "storm": _words(
        "a storm; stormy; thunderstorm; dark storm clouds; heavy rain; raining; a tempest; rain; thunder and "
        "lightning; bad weather; a hurricane; downpour; rainy; drizzle; gale; rain clouds; ominous black "
        "clouds"
    ),
}
JOINT_WORDS: dict[str, tuple[str | None, str | None, str | None]] = {
    "a snowstorm": ("snow", None, "storm"),
    "blizzard": ("snow", None, "storm"),
    "a sandstorm": ("desert", None, "storm"),
    "polar night": ("snow", "night", None),
    "winter wonderland": ("snow", None, "clear"),
    "sunny beach": ("islands", "noon", "clear"),
    "misty woods": ("forest", None, "fog"),
    "sunset over the sea": ("islands", "dusk", None),
    "starry desert": ("desert", "night", "clear"),
    "a gloomy rainy autumn day": ("autumn", "noon", "storm"),
    "sea fog": ("islands", None, "fog"),
    "morning mist": (None, "dawn", "fog"),
    "tropical storm": ("islands", None, "storm"),
    "harvest moon": ("autumn", "night", None),
    "summer day": ("meadow", "noon", "clear"),
    "aurora": ("snow", "night", None),
    "milky way": (None, "night", "clear"),
    "spring morning": ("meadow", "dawn", None),
}
NOTHING = _words(
    "hello; a dragon; a castle; make it better; go faster; a robot walks by; what is this; my friend "
    "anna; music; please; a car; 1234; beautiful; more detail; cinematic; unreal engine; photorealistic "
    "4k; a house; a cat; the quick brown fox; i like this; an army of knights; test; turn around; walk "
    "forward; interesting; money"
)
_FRAMES = _words(
    "{}; {}; {}; a view of {}; make it {}; turn it into {}; I want {}; change to {}; now {}; show me {}; "
    "{} please; the world becomes {}; walk through {}; let there be {}; cinematic shot of {}; a beautiful "
    "picture of {}; it is {}; suddenly {}"
)

_NEGATIONS = _words(
    "remove the {}; no {}; without {}; stop the {}; not {}; no more {}; get rid of {}; {} goes away; the "
    "{} is gone; end {}"
)

GROUPS: tuple[dict[str, list[str]], ...] = (BIOME_WORDS, TIME_WORDS, WEATHER_WORDS)
HELD_OUT_EVERY = 6


def _choose(words: list[str], rng: random.Random, held_out: bool) -> str:
    """A phrasing; one in ``HELD_OUT_EVERY`` of each list is kept for measurement."""
    kept = [w for i, w in enumerate(words) if (i % HELD_OUT_EVERY == HELD_OUT_EVERY - 1) == held_out]
    return rng.choice(kept)


def phrase(labels: tuple[str | None, str | None, str | None], rng: random.Random, *, held_out: bool = False) -> str:
    """A sentence that asks for these labels (None: the group is not spoken of)."""
    parts = [_choose(group[label], rng, held_out) for group, label in zip(GROUPS, labels, strict=True) if label]
    if not parts:
        return rng.choice(_FRAMES).format(rng.choice(NOTHING))
    rng.shuffle(parts)
    joined = rng.choice([" ", ", ", " and ", " with ", ", "]).join(parts)
    return rng.choice(_FRAMES).format(joined)


def sample(rng: random.Random, *, held_out: bool = False) -> tuple[str, tuple[str | None, str | None, str | None]]:
    """A random prompt and the labels it stands for."""
    kind = rng.random()
    if kind < 0.10:
        return phrase((None, None, None), rng), (None, None, None)
    if 0.10 <= kind < 0.16:
        weather = rng.choice(["cloudy", "fog", "storm"])
        return rng.choice(_NEGATIONS).format(_choose(WEATHER_WORDS[weather], rng, held_out)), (None, None, "clear")
    if kind < 0.28 and not held_out:
        text, labels = rng.choice(list(JOINT_WORDS.items()))
        return rng.choice(_FRAMES).format(text), labels
    chosen = [rng.choice(list(group)) if rng.random() < 0.6 else None for group in GROUPS]
    labels = (chosen[0], chosen[1], chosen[2])
    return phrase(labels, rng, held_out=held_out), labels
