"""An open-ended vocabulary of English-like words, addressed by frequency rank; rank 0 is the most frequent.

The first ranks are real function words, the next real content words, then their inflections, prefixed forms and
compounds. Stop lists and stemmers therefore meet what they meet in English, and a subword tokenizer cuts the words
into about as many pieces as it does there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ranks = npt.NDArray[np.int64]

# In about the order of their frequency in English text.
_FUNCTION_TEXT = """
    the of and to in a is that for it was as with be by on not he his but at are this have from they which or had
    you we her she all their an were been one has would what will there if can more when who so no said out up its
    about into them then than only other some could time these two may first do any like my now over such our man me
    even most made after also did many before must through years where much your way well down should because each
    just those people how too little good very make still own see work long get here between both being under never
    same another know while last might us great since against come go right used take three himself few during without
    again place around however
"""

_STEM_TEXT = """
    water house school state family student group country problem hand part case week company system program
    question government number night point home mother area money story fact month lot book eye job word business
    issue side kind head service friend father power hour game line end member law car city community name president
    team minute idea kid body information back parent face level office door health person art war history party
    result change morning reason research girl guy moment air teacher force education foot boy age policy music
    market sense nation plan college interest death experience effect use class control field development role
    effort rate heart drug show leader light voice wife police mind price report decision son view relation town
    road arm difference value building action season society tax director position player record paper space ground
    form event official matter center couple site project base star table need court american oil situation cost
    industry figure street image phone data picture practice piece land product doctor wall patient worker news test
    movie north love support technology step baby computer type attention film tree source truth answer ask begin
    believe bring build buy call carry catch cause choose claim clean clear climb close collect compare complain
    complete connect consider contain continue cook copy correct count cover create cross cry cut dance deal decide
    deliver demand deny depend describe design destroy develop die discover discuss divide draw dream dress drink
    drive drop dry earn eat employ encourage enjoy enter examine exist expect explain express extend fail fall fear
    feed feel fight fill find finish fit fix fly fold follow forget forgive freeze gain gather give grow guess guide
    hang happen hate hear heat help hide hit hold hope hunt hurry hurt improve include increase influence inform
    introduce invent invite join judge jump keep kick kill kiss knock laugh lay lead learn leave lend let lie lift
    limit link listen live lock look lose manage mark marry measure meet melt mention miss mix move note notice obey
    object observe obtain occur offer open operate order organize owe pack paint pass pay perform permit pick place
    plant play please polish pour pray prefer prepare present press prevent print produce promise propose protect
    prove provide publish pull punish push put raise reach read realize receive recognize reduce refer refuse regret
    reject relax rely remain remember remind remove repair repeat replace reply represent request require rescue
    resist respect respond rest return reveal ride ring rise roll rub rule run rush sail save search seem select sell
    send separate serve settle shake shape share shine shoot shout sing sink sit sleep slide slip smell smile smoke
    solve sort sound speak spell spend spread stand stare start stay steal stick stop store stretch strike struggle
    study succeed suffer suggest supply suppose surprise surround survive swear swim swing switch talk taste teach
    tear tell tend thank think threaten throw tie touch trace trade train translate trap travel treat trust turn
    understand unite visit wait wake walk want warn wash waste watch wave wear weigh whisper win wind wish wonder
    worry wrap write wrong yellow young zero angle animal apple army attack bank bar battle beach bear bed bell bird
    blood board boat bone border bottle bottom box brain branch bread break bridge brother brown brush bus button
    camera camp captain card castle cat cell chain chair chance channel chapter charge chest chicken child church
    circle climate clock cloth cloud coal coast coat code coffee color column concert contract corner corn cotton
    cream crew crime crop crowd crown culture cup curve customer cycle dark daughter desert desk detail diet dinner
    disease dish distance district dog dollar dust ear earth east edge egg election electric element engine english
    error estate evening evidence example exercise expert factor factory farm fashion fault fire fish flag flame
    flight floor flow flower fog food forest fortune frame freedom fruit fuel garden gas gate gift glass goal gold
    grain grass green guard gun hair hall harbor hat hill hole holiday horse hospital hotel ice income ink insect
    instrument iron island jacket jewel journal journey judgment key king kitchen knife lake lamp language leaf
    leather lesson letter library lion lip list literature loan local lunch machine magazine map mass master meal
    meat medal medicine memory metal method middle mile milk mill mine minister mirror mode model mountain mouse
    mouth muscle museum nail neck needle nerve net network noise nose novel nurse ocean orange organ page pain palace
    pan park passage path pattern peace pen pencil pepper period photo pilot pipe planet plastic plate platform pocket
    poem poet poison pole pool port post pot potato pound prince prison prize process profit property queen quality
    quarter race radio rail rain range ray region religion rent rice river rock roof room root rope rose route row
    royal salt sand scale scene science screen sea seat secret section seed shade sheep sheet shell ship shirt shock
    shoe shop shore shoulder signal silk silver sister skill skin sky snow soap soil soldier song soul soup south
    speech speed spirit sport spot spring square staff stage stair stamp station steam steel stem stock stomach stone
    storm stream string sugar suit summer sun surface sword symbol tail target task tea temple tent term theory
    thread ticket tide title tone tool tooth tower toy track tradition traffic tube uncle union unit university
    valley vegetable vessel victory village violin visitor volume vote wage wagon water weapon weather web weight
    west wheel wheat window wine wing winter wire witness wolf woman wood wool yard youth
"""
FUNCTION_WORDS = tuple(_FUNCTION_TEXT.split())
CONTENT_STEMS = tuple(dict.fromkeys(stem for stem in _STEM_TEXT.split() if stem not in FUNCTION_WORDS))

# Few endings a stem: in English most of the first 10,000 words are of different stems.
SUFFIXES = ("s", "ing", "ed", "er")
PREFIXES = ("re", "un", "over", "under", "out", "inter", "non", "pre", "sub", "super", "counter", "micro")
COMPOUND_SUFFIXES = ("", "s")

FUNCTION_COUNT = len(FUNCTION_WORDS)
STEM_COUNT = len(CONTENT_STEMS)
DERIVED_FROM = FUNCTION_COUNT + STEM_COUNT
DERIVED_COUNT = STEM_COUNT * len(SUFFIXES)
PREFIXED_FROM = DERIVED_FROM + DERIVED_COUNT
PREFIXED_COUNT = STEM_COUNT * len(PREFIXES)
COMPOUND_FROM = PREFIXED_FROM + PREFIXED_COUNT
COMPOUND_COUNT = STEM_COUNT * STEM_COUNT * len(COMPOUND_SUFFIXES)
VOCABULARY_SIZE = COMPOUND_FROM + COMPOUND_COUNT

# Multiplying by a prime larger than any class spreads neighbouring ranks over stems and endings, one to one.
SPREAD = 2_147_483_647


def word(rank: int) -> str:
    """The word at this rank. Two ranks may share a word (`out` + `run`, `outrun`), as homographs do."""
    if rank < FUNCTION_COUNT:
        return FUNCTION_WORDS[rank]
    if rank < DERIVED_FROM:
        return CONTENT_STEMS[rank - FUNCTION_COUNT]
    if rank < PREFIXED_FROM:
        stem, ending = _split(rank - DERIVED_FROM, DERIVED_COUNT)
        return inflected(CONTENT_STEMS[stem], SUFFIXES[ending])
    if rank < COMPOUND_FROM:
        stem, prefix = _split(rank - PREFIXED_FROM, PREFIXED_COUNT)
        return PREFIXES[prefix] + CONTENT_STEMS[stem]
    stem, form = _split(rank - COMPOUND_FROM, COMPOUND_COUNT)
    second, ending = divmod(form, len(COMPOUND_SUFFIXES))
    return CONTENT_STEMS[stem] + inflected(CONTENT_STEMS[second], COMPOUND_SUFFIXES[ending])


def stems_of(ranks: Ranks) -> Ranks:
    """The number of the (first) stem of each content rank: words of one stem belong together."""
    stems = ranks - FUNCTION_COUNT
    for start, count in (
        (DERIVED_FROM, DERIVED_COUNT),
        (PREFIXED_FROM, PREFIXED_COUNT),
        (COMPOUND_FROM, COMPOUND_COUNT),
    ):
        inside = (ranks >= start) & (ranks < start + count)
        stems[inside] = (ranks[inside] - start) * SPREAD % count % STEM_COUNT
    return stems


def inflected(stem: str, suffix: str) -> str:
    """English spelling of stem + suffix, near enough for a stemmer: `make` + `ing`, `carry` + `ed`."""
    if stem.endswith("e") and suffix[:1] in tuple("aeiou"):
        return stem[:-1] + suffix
    if stem.endswith("y") and stem[-2:-1] not in tuple("aeiou") and suffix and suffix != "ing":
        return f"{stem[:-1]}ies" if suffix == "s" else f"{stem[:-1]}i{suffix}"
    return stem + suffix


def _split(index: int, count: int) -> tuple[int, int]:
    form, stem = divmod(index * SPREAD % count, STEM_COUNT)
    return stem, form
