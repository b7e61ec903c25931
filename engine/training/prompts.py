"""Phrasings of biome, time and weather, from which training prompts are made."""

from __future__ import annotations

import random

from engine import phrases


def _words(text: str) -> list[str]:
    return text.split("; ")


BIOME_WORDS: dict[str, list[str]] = {
    "meadow": _words(
        "a green meadow; grassland; rolling grassy hills; a field of grass; green pastures; spring meadows; prairie; "
        "countryside; lush fields; a park; fields of flowers; farmland; grass; lawn; steppe; savannah; the shire; "
        "ireland; green hills; gentle hills; wildflowers; daisies and poppies; clover; cows grazing; a shepherd and "
        "his sheep; horses on a pasture; wheat fields; corn fields; barley; a village green; springtime; summer "
        "countryside; tall grass; a grassy plain; the great plains; wide green plains; pampas; rural england; wales; "
        "tuscany; the cotswolds; mongolia; kentucky; bavaria; nebraska; iowa; grassy; grassy slopes; alpine pasture; "
        "moorland; heath; garden; flowers; blossoming valley; buttercups; a picnic meadow; farm; agricultural land; "
        "hay; lavender fields; green valley; verdant hills; hobbiton; dandelions; scotland; scottish highlands; "
        "yorkshire; devon; sussex downs; brittany; normandy; hungary; the puszta; ukraine; kazakhstan; kyrgyzstan; "
        "inner mongolia; argentina; uruguay; new zealand; oklahoma; wisconsin; missouri; north dakota; alberta "
        "prairie; serengeti; kenya; masai mara; holland; denmark; picardy; emmental; allgaeu; romania; moravia; "
        "provence in may; hay meadow; haystacks; mown grass; turf; downs; dales; glen; ranch; lambs; hillside; "
        "knolls; tulip fields; rice fields; vineyard; rape fields; poppy field; spring"
    ),
    "forest": _words(
        "a forest; a pine forest; deep woods; woodland; tall fir trees; dense trees; a jungle; conifers; evergreen "
        "forest; the woods; dark forest; a spruce grove; rainforest; black forest; trees everywhere; redwoods; "
        "taiga; firs; pines; oak trees; beech wood; birches; cedar; sequoias; bamboo; mossy forest; undergrowth; "
        "ferns; mushrooms; tree trunks; a timberland; wooded hills; wooded; bushes; shrubs; thick jungle; amazon "
        "rainforest; borneo; bavarian forest; ardennes; fangorn; mirkwood; a fairy tale wood; a glade; trees; a "
        "tree; many trees; canopy; leafy; leafy trees; lumberjack country; pine needles; madagascar; tropical "
        "jungle; vietnam jungle; costa rica; oregon; thuringia; wildwood; hardwood; saplings; enchanted forest; "
        "congo; the congo basin; gabon; cameroon; peru jungle; colombia; guyana; ecuador; amazonia; papua; new "
        "guinea; malaysia; laos; cambodia jungle; bialowieza; schwarzwald; the vosges; bohemian forest; carpathians; "
        "karelia; latvia; british columbia; washington state; tasmania forest; yakushima; squirrels; woodpeckers; "
        "oak; beech; elm; poplars; eucalyptus; larches; thicket; copse; grove; vines; orchids; hollow tree; "
        "treetops; gorillas; monkeys; elves; wolves"
    ),
    "desert": _words(
        "a desert; sand dunes; the sahara; a sandy desert; dry dunes; endless sand; barren desert; arid land; an "
        "oasis; hot sand; drought; egypt; dunes; sand; wasteland; dune sea; sandy; dusty; sandy hills; cactus; a "
        "camel caravan; bedouins; scorched earth; dry land; parched; barren; heat; hot; burning heat; dry; kalahari; "
        "sinai; arabian desert; dubai; qatar; libya; algeria; tunisia; sudan; mali; the outback; mojave; atacama; "
        "arrakis; tatooine; pyramids; mirage; sand sea; dust; yellow sand; golden dunes; oman; yemen; jordan; wadi; "
        "merzouga; negev; australian desert; timbuktu; sand ripples; morocco; namibia; niger; mauritania desert; "
        "western sahara; eritrea; djibouti; somalia; botswana; saudi arabia; the emirates; iraq; iran; the lut "
        "desert; gobi; taklamakan; turkmenistan; karakum; thar; rajasthan; death valley; sonora; mexico desert; "
        "chihuahua; central australia; alice springs; namib; hoggar; rub al khali; tuareg; nomads; camels; "
        "rattlesnakes; cacti; agave; salt flats; dry lake; dry riverbed; barren waste; thirsty; sunburnt; arid; "
        "scorching; sandhills; sand everywhere"
    ),
    "snow": _words(
        "snow; a snowy landscape; winter; snow covered hills; an arctic land; frozen tundra; ice and snow; make it "
        "winter; snowy mountains; a glacier; christmas landscape; polar ice; iceland in winter; freezing cold; "
        "frost; siberia; alps in january; snowfields; antarctica; snowy; icy; frozen; wintry; ice; icicles; an "
        "iceberg; snowflakes; snowfall; deep snow; powder snow; cold; very cold; freezing; frosty; frostbite; white "
        "winter; white landscape; a ski resort; skiing; sledding; snowman; reindeer; penguins; polar bears; igloo; "
        "arctic; the arctic; north pole; narnia; alaska; iceland; norway in winter; canada in winter; finland; "
        "sweden in december; himalayas; alps; mont blanc; patagonia ice field; january; december; february; ice age; "
        "permafrost; hoth; snow drifts; slush; avalanche; yukon; murmansk; spitsbergen; frozen lake; eternal ice; "
        "snowcapped peaks; tibet; rocky mountains in winter; everest; greenland; lapland; svalbard; siberia in "
        "winter; yakutia; kamchatka; novosibirsk in january; moscow in winter; hokkaido; sapporo; quebec in winter; "
        "nunavut; baffin island; manitoba in february; minnesota in january; switzerland in winter; austria in "
        "winter; the dolomites; zermatt; davos; nepal; k2; mount elbrus; kilimanjaro summit; patagonia glaciers; "
        "ross ice shelf; south pole; huskies; sled dogs; polar expedition; seals; walrus; snow leopard; skis; "
        "snowboard; toboggan; sleigh; below zero; freezing; ice cold; sleet; frozen river; white peaks; midwinter; "
        "snowbound; snow laden; powder"
    ),
    "canyon": _words(
        "a canyon; red rocks; the grand canyon; mesas; red cliffs; sandstone cliffs; a rocky gorge; badlands; mars; "
        "arizona; red stone plateaus; a ravine; rock walls; monument valley; wild west; buttes; rocky cliffs; "
        "canyons; gorge; gulch; cliff; cliffs; bluffs; rocks; rocky; stony; boulders; stone; sandstone; red "
        "sandstone; a mesa; plateau; rock formations; rock arches; stone pillars; a rift; a narrow gorge; steep rock "
        "faces; eroded rock; nevada; sedona; new mexico; texas badlands; petra; cappadocia; wadi rum; cowboys; red "
        "planet; martian landscape; escarpment; precipice; chasm; crags; quarry; slot canyon; antelope canyon; zion; "
        "moab; south dakota badlands; uluru; red earth; red desert rocks; geological layers; rust coloured stone; "
        "canyonlands; utah; bryce; colorado; colorado plateau; wyoming; capitol reef; arches national park; zion "
        "national park; black canyon; copper canyon; verdon gorge; bryce amphitheatre; fish river canyon; the "
        "kimberley; ayers rock; dolomite walls; meteora; goreme; tabernas; ethiopian highlands; lalibela; vultures; "
        "condors; rock climbing; climbers; vertical rock; rock towers; hoodoos; arches; spires; pinnacles; outcrops; "
        "ledges; crimson cliffs; ochre rock; terracotta rock; red buttes; bluff; cliff edge; abyss; gully; granite; "
        "basalt columns; limestone walls; cave; volcanic rock"
    ),
    "islands": _words(
        "islands; a tropical island; a beach; the sea; an archipelago; the ocean; a lagoon; coast; seaside; palm "
        "beach; a bay with islands; the caribbean; blue water; hawaii; lake; maldives; water everywhere; atoll; "
        "shore; island; isles; islets; sandy beach; white beach; palm trees; palms; coconuts; coral; reef; waves; "
        "surf; surfing; sailing; boats; harbour; a bay; a cove; coastline; seashore; beachfront; waterfront; sea; "
        "water; turquoise lagoon; tropical; tropical paradise; tropical water; cuba; jamaica; barbados; fiji; samoa; "
        "mauritius; polynesia; micronesia; indonesia; philippines; thailand beach; santorini; crete; mediterranean; "
        "aegean; pacific; atlantic; galapagos; canary islands; sardinia; lofoten; croatia coast; river; pond; lakes; "
        "lakeside; swimming; dolphins; okinawa; zanzibar; tide; an estuary; bali; tahiti; seychelles; bahamas; "
        "bermuda; reunion; the azores islands; madeira; malta; cyprus; sicily; corsica; mallorca; ibiza; greece; "
        "greek islands; mykonos; cornwall coast; california beach; malibu; florida; miami beach; rio beach; cancun; "
        "belize; honduras bay islands; antigua; trinidad; haiti; tuvalu; palau; kiribati; vanuatu; solomon islands; "
        "new caledonia; cook islands; palawan; boracay; phuket; goa; andaman; nicobar; cape cod; nantucket; faroe "
        "islands; hebrides; gotland; seagulls; shells; seashells; starfish; turtles; whales; snorkelling; diving; "
        "ships; sailor; pier; jetty; lighthouse; sunbathers; ocean waves; breakers; sandbank; peninsula; strait; "
        "gulf; inlet; marina; fishing village; cove; reefs; norwegian sea"
    ),
    "autumn": _words(
        "autumn; fall foliage; autumn leaves; orange trees; golden leaves; a fall forest; red and orange trees; "
        "october woods; indian summer; autumn forest; colorful fall trees; maple trees in october; november park; "
        "yellow leaves; harvest season; fall; fall season; autumnal; october; november; september leaves; falling "
        "leaves; dead leaves; fallen leaves; red leaves; brown leaves; red maples; rust coloured leaves; colourful "
        "foliage; foliage; golden october; pumpkins; acorns; harvest; harvest time; vermont; new england foliage; "
        "maple leaves; red and golden trees; yellow birches; orange foliage; autumn colours; late autumn; fall "
        "colors; leaf fall; autumn trees; autumn park; crimson leaves; golden trees; quebec in fall; massachusetts "
        "in october; maine in october; michigan in fall; new hampshire; adirondacks; kyoto in november; black forest "
        "in october; mushrooms in october; leaves turn; leaves changing colour; leaves turning; turning leaves; leaf "
        "peeping; crunchy leaves; windblown leaves; leaf pile; raking leaves; crisp autumn air; autumn equinox; wine "
        "harvest; beech in october; scarlet maples; blazing maples; amber leaves; bronze leaves; copper beeches; "
        "trees turning orange; trees changing; red foliage; rust and gold; september; brown leaves on the ground; "
        "sycamore; russet; orange"
    ),
}
TIME_WORDS: dict[str, list[str]] = {
    "dawn": _words(
        "at dawn; at sunrise; in the early morning; first light; daybreak; as the sun rises; morning; sunrise; early "
        "morning light; the break of day; morning glow; pastel morning; dawn; sunup; the sun comes up; sun rising; "
        "rising sun; early; early hours; crack of dawn; morning light; morning sun; birds waking up; the day begins; "
        "a new day; aurora of the morning; pink morning sky; morning dew; beginning of the day; before sunrise; "
        "cockcrow; sunrise glow; sun peeks out; the sun peeps over the horizon; dawning; dawn breaking; morning has "
        "broken; first rays; first sunlight; the first rays of the sun; rosy morning; young day; sunlight creeping; "
        "day is breaking; sunrise sky"
    ),
    "noon": _words(
        "at noon; at midday; in bright daylight; daytime; under the midday sun; in full daylight; day; afternoon; "
        "broad daylight; high noon; in the middle of the day; lunchtime; by day; noon; midday; daylight; bright day; "
        "twelve o'clock; sun overhead; sun high up; bright; bright light; well lit; middle of the afternoon; day "
        "time; the hottest hour; full day; light of day; brightly lit; sunlight overhead; sun at its zenith; zenith; "
        "sun straight above; at its highest; noontime; after lunch; early afternoon; bright midday; midday light; "
        "noon heat; full sunlight; blinding light; daylight hours; mid day"
    ),
    "dusk": _words(
        "at dusk; at sunset; in the evening; golden hour; as the sun sets; twilight; evening light; sundown; sunset; "
        "nightfall glow; orange evening sky; late evening; the sun goes down; gloaming; dusk; evening; setting sun; "
        "sun setting; the sun is setting; the sun sinks; sinking sun; red evening sky; pink sunset; afterglow; end "
        "of the day; day ends; eventide; evening glow; low sun; last light; crepuscular; blue hour; early evening; "
        "sunset glow; evening red; the day is ending; evening falls; dusk falls; last rays; the last rays of light; "
        "sun disappears behind the horizon; sun low on the horizon; sun touching the horizon; sundowner; glowing "
        "evening; red sun; burning sky; day is over; late sun; long shadows; sunset colours; purple evening; late "
        "afternoon; sun dips; evening star"
    ),
    "night": _words(
        "at night; at midnight; under the stars; in the moonlight; night; a starry sky; in the dark of night; "
        "moonlit; under a full moon; midnight; nocturnal; starlight; dark night; after dark; late at night; dark; "
        "darkness; black night; stars; starry; star filled sky; moon; moonlight; moonrise; crescent moon; night "
        "time; nighttime; constellation; galaxy; shooting stars; black sky; nightfall; owls; tonight; in total "
        "darkness; pitch black; a night sky; astronomers; lunar light; small hours; in the small hours; dead of "
        "night; full moon; moonless; starlit; starry heavens; constellations; milky; night falls; night has fallen; "
        "nightly; pitch dark; lightless; black as ink; fireflies; campfire night; comets; orion; big dipper; werewolf"
    ),
}
WEATHER_WORDS: dict[str, list[str]] = {
    "clear": _words(
        "clear sky; sunny; cloudless; under a clear sky; with a blue sky; bright sunshine; fine weather; no clouds; "
        "clear weather; the sky clears; the fog lifts; remove the fog; no fog; stop the rain; without clouds; the "
        "storm is over; blue skies; nice weather; clear; sunshine; sun shining; sunlit; sunny weather; blue sky; "
        "pure blue sky; good weather; great weather; beautiful weather; clear view; clear air; transparent air; good "
        "visibility; fair weather; bright sun; brilliant sun; sunbathing weather; summer weather; blazing sun; "
        "immaculate sky; spotless sky; bright blue sky; glorious sunshine; sunny day; heavens are blue; clear up; "
        "lovely sunshine; blue heavens; clear heavens; crystal clear; crystal clear air; not hazy; far view; azure; "
        "azure sky; cloud free; dry weather; weather improves; weather gets better; sun comes out; sun is out; calm "
        "weather; sun all day; endless blue sky; pristine sky; golden sunshine; splendid weather; mild weather; heat "
        "wave"
    ),
    "cloudy": _words(
        "cloudy; overcast; with many clouds; under grey clouds; a cloudy sky; scattered clouds; clouds; grey sky; "
        "some clouds; clouds drifting; more clouds; fluffy clouds; dull sky; cloud; gray clouds; gray sky; leaden "
        "sky; white clouds; cloud cover; clouded; cloud bank; cumulus clouds; stratus; covered sky; grey; grey day; "
        "gray day; dull weather; gloomy sky; gloomy; sunless; clouds rolling in; clouds gather; a sky full of "
        "clouds; low clouds; cirrus; grey overcast; dreary; no sun; puffy clouds; drab sky; england weather; puffy "
        "cumulus; cumulus; nimbus; blanket of cloud; grey blanket; cloud layer; overclouded; heavily clouded; "
        "cloudscape; clouding over; sky covered; steel grey sky; ashen sky; wool clouds; cotton clouds; clouds "
        "everywhere; sun behind clouds; sombre sky; gray overhead; typical gray day; greyness"
    ),
    "fog": _words(
        "fog; foggy; misty; in thick fog; mist; haze; in the mist; dense fog; low visibility; hazy; veiled in mist; "
        "foggy air; smoky haze; mysterious mist; brume; murky air; smog; smoke; smoky; fog bank; fog banks; fog "
        "rolling in; mists; shrouded; shrouded in fog; milky air; vapor; vapour; misty air; blurry distance; poor "
        "visibility; nebulous; drifting fog; white mist; ground fog; foggy weather; cannot see far; silent hill; pea "
        "soup fog; obscured by mist; thick haze; murk; murky; gloom and mist; veil; veils of mist; wisps of fog; "
        "wisps; thick air; foggy veil; white nothing; fogbound; fogged in; obscured; hidden in haze; blurred; cloud "
        "on the ground; dew mist; damp mist; cannot see a thing; see nothing; can hardly see; dim haze; hazy air; "
        "dusty haze; swirling mist; opaque air; london fog"
    ),
    "storm": _words(
        "a storm; stormy; thunderstorm; dark storm clouds; heavy rain; raining; a tempest; rain; thunder and "
        "lightning; bad weather; a hurricane; downpour; rainy; drizzle; gale; rain clouds; ominous black clouds; "
        "storm; stormy weather; thunder; lightning; thunderclouds; thundery; rainstorm; rainfall; rain pours; "
        "pouring rain; it rains; shower; showers; wet weather; wet; torrential rain; cloudburst; typhoon; cyclone; "
        "tornado; squall; windstorm; strong wind; windy; wind; storm clouds; black clouds; lightning bolts; hail; "
        "monsoon; terrible weather; awful weather; nasty weather; violent weather; deluge; umbrella weather; rainy "
        "day; turbulent sky; threatening sky; pouring; pours; pouring down; raindrops; puddles; wet through; soaked; "
        "soaking; lightning strikes; thunderbolt; thunder rolls; howling wind; howling; gusts; gusty; breeze; gale "
        "force; raging storm; raging; tempestuous; stormy winds; cats and dogs; rain lashing; squalls; flash of "
        "lightning; severe weather; storm front; rough weather; blustery; hailstorm; hailstones; foul weather"
    ),
}
JOINT_WORDS: dict[str, tuple[str | None, str | None, str | None]] = {
    "a snowstorm": ("snow", None, "storm"),
    "blizzard": ("snow", None, "storm"),
    "a sandstorm": ("desert", None, "storm"),
    "dust storm": ("desert", None, "storm"),
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
    "northern lights": ("snow", "night", None),
    "milky way": (None, "night", "clear"),
    "spring morning": ("meadow", "dawn", None),
    "christmas eve": ("snow", "night", None),
    "stormy sea": ("islands", None, "storm"),
    "sunny day": (None, "noon", "clear"),
    "rainy day": (None, "noon", "storm"),
    "stormy night": (None, "night", "storm"),
    "summer evening": ("meadow", "dusk", "clear"),
}
PAIR_WORDS: dict[str, tuple[str, str]] = {
    "a fjord": ("islands", "canyon"),
    "fjords": ("islands", "canyon"),
    "mangroves": ("forest", "islands"),
    "coastal cliffs": ("canyon", "islands"),
    "sea cliffs": ("canyon", "islands"),
    "rocky desert": ("desert", "canyon"),
    "utah desert": ("desert", "canyon"),
    "orchard": ("meadow", "forest"),
    "scrubland": ("meadow", "desert"),
    "wooded island": ("forest", "islands"),
    "frozen sea": ("snow", "islands"),
}
"""What lies between two biomes."""
ADJECTIVES: dict[str, list[str]] = {
    "meadow": ["grassy", "green", "flowery", "pastoral"],
    "forest": ["wooded", "forested", "tree covered", "jungle"],
    "desert": ["sandy", "arid", "desert", "dry"],
    "snow": ["snowy", "icy", "frozen", "snow covered", "winter", "wintry", "frosty"],
    "canyon": ["rocky", "canyon", "stony", "craggy"],
    "islands": ["tropical", "coastal", "island", "beach", "seaside"],
    "autumn": ["autumn", "autumnal", "fall"],
}
NOUNS: dict[str, list[str]] = {
    "meadow": ["meadow", "meadows", "field", "fields", "grassland", "prairie", "pasture", "plain"],
    "forest": ["forest", "woods", "trees", "pines", "jungle", "firs", "woodland", "pine forest"],
    "desert": ["desert", "dunes", "sand", "sand dunes"],
    "snow": ["snow", "winter", "glacier", "tundra", "ice"],
    "canyon": ["canyon", "cliffs", "rocks", "gorge", "mesas", "ravine"],
    "islands": ["island", "islands", "beach", "coast", "sea", "lagoon", "shore"],
    "autumn": ["autumn", "autumn leaves", "fall foliage", "maples"],
}
"""Together they name two biomes at once: "a snowy forest"."""
NOTHING = _words(
    "hello; a dragon; a castle; make it better; go faster; a robot walks by; what is this; my friend anna; music; "
    "please; a car; 1234; beautiful; more detail; cinematic; unreal engine; photorealistic 4k; a house; a cat; the "
    "quick brown fox; i like this; an army of knights; test; turn around; walk forward; interesting; money; the "
    "world; landscape; scenery; a place; nature; outside; view; picture; somewhere; everything; something else; the "
    "weather; the sky; time; a day trip; the ground; change; different; computer; software; a business meeting; "
    "email; telephone; a dinner recipe; pizza; bread and butter; a movie star; politics; election; bank account; "
    "shopping; a school; mathematics; homework; a doctor; hospital; football; a train; airplane; a cow boy hat; "
    "history of rome; language; grammar; love; angry; happy; sad; god; philosophy; game; player; score; keyboard; "
    "screen; window; door; kitchen; bathroom; sofa; clothes; shoes; wedding; birthday; baby; children; king; queen; "
    "war; weapon; sword; zombie; alien; wizard; princess; superhero; dog; elephant; lion; insect; traffic; street; "
    "city; skyscraper; factory; office; report; password; internet; video; song; guitar; dance; poem; novel; "
    "newspaper; blue; red; yellow; white; black; big; small; old; new; good; bad; fast; slow; one two three"
)
EVERYDAY = _words(
    "sky; weather; air; land; world; place; ground; person; people; man; woman; child; boy; girl; mother; father; "
    "brother; sister; grandmother; uncle; neighbour; boss; teacher; student; engineer; nurse; police; soldier; "
    "actor; singer; writer; customer; tourist; friend; enemy; face; hair; hand; foot; nose; brain; heart; blood; "
    "tooth; shoe; shirt; dress; hat; glove; ring; watch; bag; box; cup; glass; plate; knife; spoon; bottle; chair; "
    "table; bed; lamp; mirror; curtain; wall; roof; stairs; bell; key; clock; paper; pen; pencil; book; letter; "
    "page; chapter; word; sentence; question; answer; number; list; name; title; milk; cheese; egg; meat; sausage; "
    "apple; banana; sugar; salt; tea; coffee; beer; wine; soup; salad; sandwich; recipe; cook; eat; drink; buy; "
    "sell; pay; cost; price; tax; loan; salary; budget; invoice; contract; company; market; stock; meeting; project; "
    "plan; team; job; career; interview; deadline; presentation; laptop; phone; tablet; printer; camera; battery; "
    "cable; robot; machine; engine; wheel; bicycle; motorcycle; bus; truck; tractor; ticket; station; hotel; "
    "restaurant; shop; mall; museum; theatre; stadium; church; prison; library; university; exam; lesson; science; "
    "chemistry; biology; economics; psychology; religion; law; court; judge; crime; thief; victim; president; "
    "minister; party; vote; country; nation; capital; border; army; gun; bomb; peace; freedom; truth; justice; idea; "
    "thought; memory; opinion; reason; problem; solution; mistake; success; failure; luck; joke; story; secret; "
    "happiness; anger; fear; hope; pride; shame; beauty; pain; illness; fever; medicine; vaccine; diet; exercise; "
    "sport; tennis; chess; cards; puzzle; toy; doll; ball; prize; winner; race; match; goal; coach; violin; piano; "
    "drum; trumpet; opera; concert; album; band; film; series; comedy; photo; sculpture; fashion; makeup; haircut; "
    "marriage; divorce; funeral; holiday; gift; visit; invitation; conversation; message; email; website; app; code; "
    "program; database; server; network; file; folder; menu; button; mouse; settings; volume; subtitle; download; "
    "update; login; bug; error; algorithm; equation; percent; sum; divide; multiply; triangle; circle; six; seven; "
    "eight; ten; hundred; first; second; last; next; monday; friday; year; month; week; hour; minute; age; who; "
    "what; why; how; when; run; jump; sit; stand; talk; speak; listen; read; write; think; know; believe; try; help; "
    "start; open; close; break; fix; build; carry; push; pull; throw; catch; win; learn; teach; play; work; hurry; "
    "wait; sorry; thanks; yes; maybe; funny; clever; stupid; rich; famous; tired; hungry; busy; lovely; ugly; "
    "expensive; modern; ancient; electric; digital; plastic; metal; spaceship; rocket; alien; unicorn; ghost; giant; "
    "elf; kitten; puppy; parrot; hamster; spider; dinosaur; monster; pirate; ninja; detective; astronaut; clown"
)
"""Words that are about something else. A few of them in any order are no prompt for a world."""
FRAMES = _words(
    "{}; {}; {}; a view of {}; make it {}; turn it into {}; I want {}; change to {}; now {}; show me {}; {} please; "
    "the world becomes {}; walk through {}; let there be {}; cinematic shot of {}; a beautiful picture of {}; it is "
    "{}; suddenly {}"
)

GROUPS: tuple[dict[str, list[str]], ...] = (BIOME_WORDS, TIME_WORDS, WEATHER_WORDS)

Parts = tuple[dict[str, float], dict[str, float], dict[str, float]]
"""Per group what a phrase names, with parts that sum to 1; empty where it says nothing of the group."""


def phrase(labels: tuple[str | None, str | None, str | None], rng: random.Random) -> str:
    """A sentence that asks for these labels (None: the group is not spoken of)."""
    parts = [rng.choice(group[label]) for group, label in zip(GROUPS, labels, strict=True) if label]
    if not parts:
        return rng.choice(FRAMES).format(rng.choice(NOTHING))
    rng.shuffle(parts)
    joined = rng.choice([" ", ", ", " and ", " with ", ", "]).join(parts)
    return rng.choice(FRAMES).format(joined)


def _plain(words: list[str]) -> list[str]:
    """Without what the grammar takes apart ("no fog"), and without the small words at which it parts phrases."""
    out = []
    for text in words:
        found = phrases.split(text)
        if all(part.act is phrases.Act.SET for part in found):
            out.append(" ".join(part.text for part in found))
    return [text for text in out if text]


_PLAIN = tuple({name: _plain(words) for name, words in group.items()} for group in GROUPS)
_PLAIN_NOTHING = _plain(NOTHING)
LEADS = _words(
    "; ; ; ; ; a view of; make it; i want; change; now; show me; the world; walk; let there be; cinematic shot of; "
    "take me; i would like; it is; suddenly; give me; somewhere; imagine; go; please; can we have; something; see; i "
    "want to see; let me see; look; we are; there is; i feel like; looks like; bring me; how about; could you; the "
    "place has; the weather gets; the weather is; time for; let us visit; put me; my favourite; only; all; i think "
    "of; a picture of; all around; everything is; it gets; nothing else than; a land of; full of; the sky is; the sky "
    "has; the trees are; the ground is; the light is; a place"
)


def sample(rng: random.Random) -> tuple[str, Parts]:
    """A random phrase, as the grammar leaves it, and what it names."""
    kind = rng.random()
    parts: Parts = ({}, {}, {})
    if kind < 0.24:
        texts = [_nothing(rng)]
    elif kind < 0.32:
        text, labels = rng.choice(list(JOINT_WORDS.items()))
        texts, parts = [text], _pure(labels)
    elif kind < 0.36:
        text, pair = rng.choice(list(PAIR_WORDS.items()))
        texts, parts = [text], (dict.fromkeys(pair, 0.5), {}, {})
    elif kind < 0.50:
        one, other = rng.sample(list(ADJECTIVES), 2)
        texts = [f"{rng.choice(ADJECTIVES[one])} {rng.choice(NOUNS[other])}"]
        parts = ({one: 1.0} if (one, other) == ("autumn", "forest") else {one: 0.5, other: 0.5}, {}, {})
    else:
        said = rng.choice([(0,), (0,), (0,), (1,), (1,), (2,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
        names = tuple(rng.choice(list(group)) if i in said else None for i, group in enumerate(GROUPS))
        texts = [rng.choice(_PLAIN[i][name]) for i, name in enumerate(names) if name is not None]
        rng.shuffle(texts)
        parts = _pure(names)
    return f"{rng.choice(LEADS)} {' '.join(texts)}".strip(), parts


def _nothing(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(_PLAIN_NOTHING)
    if kind < 0.75:
        return " ".join(rng.choice(EVERYDAY) for _ in range(rng.randint(1, 4)))
    return ""


def _pure(labels: tuple[str | None, ...]) -> Parts:
    biome, time, weather = ({} if label is None else {label: 1.0} for label in labels)
    return biome, time, weather
