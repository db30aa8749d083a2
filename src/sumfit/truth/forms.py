"""Words and joints that a summary copies from its source without a piece that they need.

Owns `broken_forms`: words that are clipped ("experience chef" for "an experienced chef"), a small
word left out of a copied run ("a litre water"), a range without its end ("between junction 6"), an
organisation without its name ("ferries from Marine"), a line that begins in the middle of its
subject ("Third quarter was $8 million" for "Revenue for the third quarter was"), and an order that
runs into a statement ("Fix upload does not end"). What is found is
bad English more often than a false statement; a rule stands here only if readers would rarely
print the lines that it finds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.text.orders import order_of
from sumfit.truth.reading import Reading

__all__ = ["FormFacts", "broken_forms", "form_facts"]

_ARTICLES = frozenset(
    "a an the his her its their our my your this these those another some any".split()
)
_PREPOSITIONS = frozenset(
    "of for in on at with by to from as into against over under about between among during after "
    "before through".split()
)
_NEEDED = frozenset("to of in with as on at from into it not can we which but only".split())
"""What a headline cannot leave out between two words that it copies; it can "is", "the", "that"."""
_CLIPPED = ("ly", "y", "er", "ion", "al")
_CLIPPED_BEHIND_ARTICLE = ("ed", "d")  # elsewhere "Council voted" may well become "Council vote"
_LEAST_CLIPPED = 3
_FINITE = frozenset(
    "is are was were has have had will would can could may might must shall should do does "
    "did".split()
)
_QUANTITIES = frozenset(
    "number numbers lot lots dozens hundreds thousands millions majority most many some few all "
    "half one two three each none any both several part parts percent per cent group series range "
    "pair couple plenty total".split()
)
_ORGANISATIONS = frozenset(
    "agency airlines airways alliance association authority bank board bureau capital club college "
    "commission committee company corporation council department energy federation foundation "
    "foods group health holdings industries institute insurance laboratories labs logistics marine "
    "media ministry motors office partners party pharmaceuticals power press railway reserve "
    "resources services software solutions steel systems technologies technology telecom union "
    "university water works".split()
)
_TAKES_CLAUSE = frozenset(
    "let make ensure check verify assert expect say show teach report mention document remember "
    "assume test see note tell help think know prevent stop detect find only".split()
)
"""Orders behind which a statement may stand: "Check the cache is warm"."""
_SUBORDINATES = frozenset(
    "that if when whether what which who whom whose where how why because since as while until "
    "unless and or".split()
)
_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december today tomorrow".split()
)
_JOINS = frozenset(("and", "or", "but"))
_RANGE = {"between": "and", "from": "to"}
_LONGEST_FIRST = {"between": 12, "from": 5}  # words from the beginning of a range to its second end
_LONGEST_SUBJECT = 4  # words behind an order, its verb not among them
_SHORTEST = 3  # words of a line whose subject is looked at


@dataclass(frozen=True, slots=True, eq=False)
class FormFacts:
    """What a source has that a summary may copy in part.

    Attributes:
        neighbours: Pairs of words side by side.
        gaps: Pairs with the one needed word that always stands between them.
        clipped: Beginnings of words with the word behind these, and the whole word.
        ranges: "between" and "from" with the word behind, of ranges with a second end.
        places: Places of each word.
        nameless: Words for organisations that stand only at the end of a name.
    """

    neighbours: frozenset[tuple[str, str]]
    gaps: Mapping[tuple[str, str], str]
    clipped: Mapping[tuple[str, str], str]
    ranges: frozenset[tuple[str, str]]
    places: Mapping[str, list[int]]
    nameless: frozenset[str]


def form_facts(source: Reading) -> FormFacts:
    """Collect what a summary may copy in part.

    Args:
        source: The source.

    Returns:
        Its pairs, ranges and places.
    """
    folded = source.folded
    places: dict[str, list[int]] = {}
    for place, word in enumerate(folded):
        places.setdefault(word, []).append(place)
    return FormFacts(
        frozenset(itertools.pairwise(folded)),
        _gaps(source),
        dict(_clipped(source)),
        frozenset(_ranges(source)),
        places,
        frozenset(_nameless(source, places)),
    )


def broken_forms(summary: Reading, text: str, source: Reading, facts: FormFacts) -> tuple[str, ...]:
    """List what a summary copies without a piece that it needs.

    Args:
        summary: The summary.
        text: The same as it was given.
        source: The source.
        facts: What it may copy in part.

    Returns:
        The words as the summary has them.
    """
    found = []
    for place, word in enumerate(summary.folded):
        behind = _next(summary, place)
        pair = (word, behind)
        if not behind:
            if word == "between":
                found.append(word)
        elif pair in facts.gaps or (pair in facts.clipped and word not in facts.places):
            if place or order_of(word) != word:
                found.append(f"{summary.words[place]} {summary.words[place + 1]}")
        elif pair in facts.ranges and _RANGE[word] not in summary.folded[place + 1 :]:
            found.append(f"{summary.words[place]} {summary.words[place + 1]}")
        if word in facts.nameless and _stands_alone(summary, place):
            found.append(summary.words[place])
    found.extend(_headless(summary, source, facts))
    found.extend(_ordered_statement(summary, facts))
    return tuple(pair for pair in found if pair in text)  # no parts of "read_from_disk"


def _next(reading: Reading, place: int) -> str:
    """The word right behind another one, ``""`` if a mark or nothing is there."""
    after = place + 1
    if after >= len(reading) or reading.after[place] or reading.before[after]:
        return ""
    return reading.folded[after]


def _gaps(source: Reading) -> dict[tuple[str, str], str]:
    folded, clause = source.folded, source.clause
    gaps: dict[tuple[str, str], str] = {}
    for place in range(len(source) - 2):
        pair = (folded[place], folded[place + 2])
        if folded[place + 1] not in _NEEDED or clause[place] != clause[place + 2]:
            continue
        if pair[1] not in _DAYS and _needs_more(source, place):
            gaps[pair] = folded[place + 1]
    for place in range(len(source) - 2):  # what may be left out, or is not there, elsewhere
        pair = (folded[place], folded[place + 2])
        if pair in gaps and gaps[pair] != folded[place + 1]:
            del gaps[pair]
    for pair in itertools.pairwise(folded):
        gaps.pop(pair, None)
    return gaps


def _needs_more(source: Reading, place: int) -> bool:
    """Whether a word cannot do without the small one behind it, as "and", "moving", "2 kg" can."""
    word = source.folded[place]
    if word in _JOINS or word.endswith("ing") or order_of(word) == word:
        return False
    return not (place and source.is_number[place - 1])


def _clipped(source: Reading) -> Iterator[tuple[tuple[str, str], str]]:
    for place in range(len(source) - 1):
        word = source.folded[place]
        if not source.is_content[place] or not _next(source, place):
            continue
        before = source.folded[place - 1] if place else ""
        is_attribute = before in _ARTICLES or before in _PREPOSITIONS
        endings = _CLIPPED + (_CLIPPED_BEHIND_ARTICLE if is_attribute else ())
        for ending in endings:
            if word.endswith(ending) and len(word) - len(ending) >= _LEAST_CLIPPED:
                yield (word[: len(word) - len(ending)], source.folded[place + 1]), word


def _ranges(source: Reading) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(source.folded[:-1]):
        second = _RANGE.get(word)
        if second is None or source.folded[place + 1] in _DAYS:
            continue
        behind = source.folded[place + 2 : place + 2 + _LONGEST_FIRST[word]]
        if second in behind:
            end = place + 2 + behind.index(second)
            parts = source.sentence if word == "between" else source.clause
            if parts[end] == parts[place]:
                yield word, source.folded[place + 1]


def _nameless(source: Reading, places: Mapping[str, list[int]]) -> Iterator[str]:
    for word in _ORGANISATIONS & places.keys():
        if all(_ends_name(source, place) for place in places[word]):
            yield word


def _ends_name(source: Reading, place: int) -> bool:
    if not place or not source.words[place][0].isupper() or not _next(source, place - 1):
        return False
    before = source.words[place - 1]
    return before[0].isupper() and before.lower() not in FUNCTION_WORDS


def _stands_alone(summary: Reading, place: int) -> bool:
    """Whether a word with a capital has no other beside it."""
    word = summary.words[place]
    if not word[0].isupper() or word.isupper():
        return False
    before = summary.words[place - 1] if place and _next(summary, place - 1) else ""
    behind = summary.words[place + 1] if _next(summary, place) else ""
    return not before[:1].isupper() and not behind[:1].isupper()


def _headless(summary: Reading, source: Reading, facts: FormFacts) -> Iterator[str]:
    """Yield the beginning of a line that is only the end of its subject in the source."""
    first = 0
    while first < len(summary) and summary.folded[first] in _ARTICLES:
        first += 1
    if len(summary) - first < _SHORTEST or summary.folded[first] in FUNCTION_WORDS:
        return
    places = facts.places.get(summary.folded[first], [])
    second = summary.folded[first + 1]
    alike = [place for place in places if source.folded[place + 1 : place + 2] == [second]]
    if places and all(_run(summary, first, source, place) for place in alike or places):
        yield " ".join(summary.words[first : first + 2])


def _run(summary: Reading, first: int, source: Reading, place: int) -> bool:
    """Whether a line copies the end of a subject from a place on, and then its verb or colon."""
    before = place - 1
    while before >= 0 and source.folded[before] in _ARTICLES:
        before -= 1
    if before < 1 or source.clause[before - 1] != source.clause[place]:
        return False
    is_inside = source.folded[before] in _PREPOSITIONS and source.is_content[before - 1]
    if not is_inside or source.folded[before - 1] in _QUANTITIES:
        return False
    for step in range(min(len(summary) - first, len(source) - place)):
        here, there = first + step, place + step
        if summary.folded[here] != source.folded[there]:
            return False
        if step and source.folded[there] in _FINITE:
            return True
        if summary.after[here] == ":" and source.after[there] == ":":
            return True
    return False


def _ordered_statement(summary: Reading, facts: FormFacts) -> Iterator[str]:
    """Yield subject and verb of a statement behind an order: "Fix **upload does** not end"."""
    order = order_of(summary.words[0]) if len(summary) > _SHORTEST else ""
    is_copied = (order, _next(summary, 0)) in facts.neighbours  # "Record layer will", no order
    if not order or is_copied or order in _TAKES_CLAUSE:
        return
    for place in range(1, min(len(summary) - 2, 1 + _LONGEST_SUBJECT)):
        word, verb = summary.folded[place], _next(summary, place)
        if word in _SUBORDINATES:
            return
        is_verb = verb in _FINITE and verb != "do" and _next(summary, place + 1)
        if is_verb and summary.is_content[place] and (word, verb) in facts.neighbours:
            yield f"{summary.words[place]} {summary.words[place + 1]}"
            return
