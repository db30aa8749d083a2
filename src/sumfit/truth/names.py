"""Names of a summary that its source does not give.

Owns what counts as a name, and which other forms of a name are the same one: plural and
possessive, country and people ("Germany", "German"), initials of a name in full ("European Union",
"EU"), a few usual short forms ("prime minister", "PM").
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from sumfit.truth.numbers import NUMBER_WORDS
from sumfit.truth.ordinary import ordinary_words
from sumfit.truth.reading import FUNCTION, Reading, read
from sumfit.truth.stems import stem

__all__ = [
    "NameFacts",
    "initials",
    "is_ordinary",
    "mixed_names",
    "name_facts",
    "new_names",
    "other_forms",
    "related_names",
]

_SAME = """
france french frenchman; spain spanish spaniard spaniards; england english; wales welsh;
britain british briton britons uk; us usa america american americans u.s; eu europe european;
netherlands dutch holland; denmark danish dane danes; sweden swedish swede swedes;
finland finnish finn finns; poland polish pole poles; turkey turkish turk turks; greece greek
greeks; switzerland swiss; ireland irish; scotland scottish scot scots; thailand thai thais;
philippines philippine filipino filipinos; norway norwegian norwegians; peru peruvian;
argentina argentine argentinian argentines; lebanon lebanese; congo congolese; portugal portuguese;
afghanistan afghan afghans; kazakhstan kazakh kazakhs; uzbekistan uzbek uzbeks; cyprus cypriot
cypriots; belgium belgian belgians; slovakia slovak slovaks; croatia croat croats; serbia serb
serbs; brussels eu; washington us; kremlin russia; gop republican republicans;
monday mon; tuesday tue tues; wednesday wed; thursday thu thurs; friday fri; saturday sat;
sunday sun; january jan; february feb; march mar; april apr; june jun; july jul; august aug;
september sep sept; october oct; november nov; december dec; tv television; ad advertisement;
mp lawmaker; mps lawmakers; covid coronavirus; congress congressional; christian christians
"""
_IN_FULL = {
    "pm": "prime minister",
    "ceo": "chief executive",
    "cfo": "chief financial",
    "coo": "chief operating",
    "vp": "vice president",
    "mp": "member parliament",
    "mps": "members parliament",
    "ai": "artificial intelligence",
    "gdp": "gross domestic product",
    "nhs": "national health service",
    "us": "united states",
    "usa": "united states",
    "uk": "united kingdom",
    "un": "united nations",
    "eu": "european union",
    "uae": "united arab emirates",
    "nz": "new zealand",
    "ev": "electric vehicle",
    "evs": "electric vehicles",
    "pr": "pull request",
    "api": "application programming interface",
    "fed": "federal reserve",
    "ui": "user interface",
    "os": "operating system",
    "hq": "head headquarters",
}
_PLACE_ENDINGS = ("", "a", "ia", "y", "e", "o", "s")
_PEOPLE_ENDINGS = (
    "n", "an", "ian", "ns", "ans", "ians", "ese", "i", "is", "ish", "ean", "eans", "er", "ers",
    "ic",
)  # fmt: skip
_WITHIN_NAMES = frozenset(("of", "and", "the", "for"))
_LONGEST_JOINT = 3  # places from one word of a name to its next
_LEAST_BASE = 4
_LONGEST_INITIALS = 5
_AFTER_NUMBER = frozenset(
    "k m mn mln b bn tn am pm st nd rd th x km kg cm mm mph ft lb gb mb tb ms hz mhz ghz kw mw gw "
    "p percent pct s".split()
)
_CONTRACTED = ("n't", "'ll", "'re", "'ve", "'d", "'m", "'s")


def _same() -> dict[str, frozenset[str]]:
    groups: dict[str, frozenset[str]] = {}
    for line in _SAME.split(";"):
        names = frozenset(line.split())
        for name in names:
            groups[name] = groups.get(name, frozenset()) | names
    return groups


_GROUPS = _same()


@dataclass(frozen=True, slots=True, eq=False)
class NameFacts:
    """What a source has that a name may come from.

    Attributes:
        folded: Its words in lower case.
        stems: Their stems.
        initials: Initials of its names of several words.
        together: Pairs of words that stand in one of its names, in their order.
        beginnings: Words with another one of the same name right after them.
        ends: Words with another one of the same name right before them.
    """

    folded: frozenset[str]
    stems: frozenset[str]
    initials: frozenset[str]
    together: frozenset[tuple[str, str]] = frozenset()
    beginnings: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()


def name_facts(reading: Reading) -> NameFacts:
    """Collect what names may come from.

    Args:
        reading: The source.

    Returns:
        Its words, initials and names of several words.
    """
    full = [] if _has_capitals_throughout(reading) else list(_names_of_several_words(reading))
    pairs = [pair for name in full for pair in itertools.pairwise(name)]
    return NameFacts(
        frozenset(reading.folded),
        frozenset(reading.stems),
        frozenset(initials(reading)),
        frozenset(pair for name in full for pair in itertools.combinations(name, 2)),
        frozenset(first for first, _ in pairs),
        frozenset(second for _, second in pairs),
    )


def _has_capitals_throughout(reading: Reading) -> bool:
    """Whether most words that texts write small have a capital, as in titles."""
    inner = [
        word[0].isupper()
        for place, word in enumerate(reading.words)
        if reading.is_content[place]
        and not reading.is_first[place]
        and is_ordinary(reading.folded[place])
    ]
    return sum(inner) * 2 > len(inner)


def _names_of_several_words(reading: Reading) -> Iterator[tuple[str, ...]]:
    """Words with capitals side by side, in lower case; of a long row those up to five together."""
    run: list[str] = []
    for place, word in enumerate([*reading.words, ""]):
        if word and word[0].isupper() and not (run and _is_parted(reading, place)):
            run.append(reading.folded[place])
            continue
        for first in range(0, max(len(run) - _LONGEST_INITIALS, 0) + 1):
            if len(run) > 1:
                yield tuple(run[first : first + _LONGEST_INITIALS])
        run = [reading.folded[place]] if word and word[0].isupper() else []


def _is_parted(reading: Reading, place: int) -> bool:
    """Whether a mark stands between a word and the one before it, no stop of an initial."""
    after = reading.after[place - 1]
    is_initial = after == "." and reading.sentence[place] == reading.sentence[place - 1]
    return bool(reading.before[place] or (after and not is_initial))


def initials(reading: Reading) -> Iterator[str]:
    """Initials of the names of two to five words of a text, function words within left out.

    Args:
        reading: The text.

    Yields:
        Initials in lower case.
    """
    run: list[str] = []
    last = -1
    for place, word in enumerate(reading.words):
        if not word[0].isupper():
            continue
        if place - last > _LONGEST_JOINT or any(
            reading.before[i] or (i < place and reading.folded[i] not in _WITHIN_NAMES)
            for i in range(last + 1, place + 1)
        ):
            run = []
        last = place
        run.append(word[0].lower())
        for n in range(2, min(len(run), _LONGEST_INITIALS) + 1):
            yield "".join(run[-n:])


def other_forms(name: str) -> Iterator[str]:
    """Other forms of a name: of people and place, and the usual short ones.

    Args:
        name: One word in lower case.

    Yields:
        Forms in lower case; most of them are no words.
    """
    yield from _GROUPS.get(name, ())
    yield name + "s"
    if name.endswith("s"):
        yield name[:-1]
    for ending, others in ((_PLACE_ENDINGS, _PEOPLE_ENDINGS), (_PEOPLE_ENDINGS, _PLACE_ENDINGS)):
        for end in ending:
            base = name[: len(name) - len(end)]
            if len(base) >= _LEAST_BASE and name.endswith(end):
                for other in others:
                    yield base + other
    if name.endswith("y"):
        yield name[:-1]
    if name.endswith("n"):  # Germany and German
        yield name + "y"


@lru_cache(maxsize=1 << 16)
def is_ordinary(folded: str) -> bool:
    """Return whether a word in lower case, or the word that it is a form of, is an ordinary one.

    Args:
        folded: The word.

    Returns:
        ``False`` for what texts write mostly with a capital, and for what is not known.
    """
    known = ordinary_words()
    if folded in known or folded in FUNCTION or folded in NUMBER_WORDS:
        return True
    if folded.endswith(_CONTRACTED):
        return True
    root = stem(folded)
    return root != folded and (root in known or root + "e" in known)


def related_names(text: str, known: Collection[str]) -> set[str]:
    """Find the names that a text vouches for without having them letter by letter.

    Args:
        text: The text.
        known: Names to choose from, lower-cased.

    Returns:
        Other forms, initials and short forms of names of the text, lower-cased.
    """
    reading = read(text)
    folded = frozenset(reading.folded)
    names = {
        low for word, low in zip(reading.words, reading.folded, strict=True) if word[0].isupper()
    }
    found = {form for name in names | (folded & _GROUPS.keys()) for form in other_forms(name)}
    found.update(initials(reading))
    found.update(short for short, full in _IN_FULL.items() if folded.issuperset(full.split()))
    return {form for form in found if form in known}


def new_names(summary: Reading, source: NameFacts) -> tuple[str, ...]:
    """List the names of a summary that its source does not have.

    A word that the source lacks in every form is a name if no text would write it small, wherever
    it stands; an ordinary word with a capital is one unless it begins the summary, a sentence or
    what follows a colon, or the whole line has capitals.

    Args:
        summary: The summary.
        source: What its source has.

    Returns:
        The names, as the summary writes them.
    """
    is_title: bool | None = None
    found: list[str] = []
    for place, folded in enumerate(summary.folded):
        if summary.is_number[place] or folded in source.folded or folded in FUNCTION:
            continue
        if summary.stems[place] in source.stems or _is_of_number(summary, place):
            continue
        word = summary.words[place]
        is_capital = word[0].isupper()
        if is_ordinary(folded):
            if not is_capital or summary.is_first[place]:
                continue
            if is_title is None:
                is_title = _is_title_case(summary)
            if is_title:
                continue
        if folded in source.initials or _is_short_for(folded, source):
            continue
        if any(form in source.folded for form in other_forms(folded)):
            continue
        if len(folded) == 1 and not is_capital:
            continue
        found.append(word)
    return tuple(found)


def mixed_names(summary: Reading, source: NameFacts) -> Iterator[str]:
    """Find names of two words that are put together from two names of the source.

    Such as "Peter Miller" of "Peter Hansen" and "John Miller"; words that texts write small and
    words in capitals throughout are left out.

    Args:
        summary: The summary.
        source: What its source has.

    Yields:
        Both words with a space between them, whatever the summary has there.
    """
    for place in range(1, len(summary)):
        first, second = summary.folded[place - 1], summary.folded[place]
        if first not in source.beginnings or second not in source.ends:
            continue
        if (first, second) in source.together or _is_parted(summary, place):
            continue
        words = summary.words[place - 1 : place + 1]
        are_names = all(word[0].isupper() and not word.isupper() for word in words)
        if are_names and not is_ordinary(first) and not is_ordinary(second):
            yield " ".join(words)


def _is_of_number(summary: Reading, place: int) -> bool:
    is_after = place > 0 and summary.is_number[place - 1] and not summary.before[place]
    return is_after and summary.folded[place] in _AFTER_NUMBER


def _is_short_for(folded: str, source: NameFacts) -> bool:
    in_full = _IN_FULL.get(folded)
    return in_full is not None and source.folded.issuperset(in_full.split())


def _is_title_case(summary: Reading) -> bool:
    inner = [
        word
        for word, is_first in zip(summary.words, summary.is_first, strict=True)
        if not is_first and len(word) > 3 and word[0].isalpha()
    ]
    return sum(word[0].isupper() for word in inner) * 2 > len(inner) >= 2
