"""Whether a summary keeps what its source makes an exception of, or says under a condition only.

Owns exceptions ("all ... except ..."), conditions that come after ("... unless ..."), statements
of a few alone ("only members may ..."), and what is not so for a time ("will not ... before ...").
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sumfit.truth.claims import Places
from sumfit.truth.reading import Reading
from sumfit.truth.stems import stem

__all__ = ["Limit", "limits_of", "lost_limits"]


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_EXCEPT = frozenset("except excluding barring".split())
_EXCEPT_IN_TWO = {"apart": "from", "other": "than", "aside": "from"}
_ALL = frozenset("all every each any no none everyone everybody nobody everything nothing".split())
_KEEPS_EXCEPTION = _EXCEPT | _stems(
    "exception exempt exemption but bar apart aside other most almost nearly some many spare only"
)
_KEEPS_CONDITION = _stems(
    "unless if may might could would threaten threat warn vow risk demand ultimatum until without "
    "only provided condition conditional depend or over pending consider possible"
)
_KEEPS_ONLY = _stems(
    "only limit restrict reserve exclusive exclude just sole alone need require must ban bar "
    "except unless if no not"
)
_KEEPS_TIME = frozenset("until till before yet by after from earlier soon again when".split())
_FINITE = frozenset(
    "is are was were has have had will would can could may might must shall should do does "
    "did".split()
)
_TELLS_WHICH = frozenset("with without who that whose over under above below".split())
_NOT_TO_COME = frozenset(("won't", "wont"))
_FUTURE = frozenset("will would shall to".split())
_TOLD = 2  # content words that tell that a summary reports a clause
_HALF = 0.5
_LONGEST_SUBJECT = 10  # words between "only" and its verb
_LONGEST = 60  # words of a sentence that are looked at on each side


@dataclass(frozen=True, slots=True)
class Limit:
    """What a source says with an exception or a condition.

    Attributes:
        cue: Place of the word that limits it.
        limited: Places of content words of what is limited.
        keeps: Words and stems of which a summary needs one.
    """

    cue: int
    limited: list[int]
    keeps: frozenset[str]


def limits_of(source: Reading) -> tuple[Limit, ...]:
    """Find what a source says with an exception or a condition.

    Args:
        source: The source.

    Returns:
        The limits, in order.
    """
    return tuple(itertools.starmap(Limit, _limits(source)))


def lost_limits(
    summary: Reading, source: Reading, limits: Sequence[Limit], places: Places
) -> tuple[str, ...]:
    """List what a source says with an exception or a condition and its summary without.

    What another sentence of the source says without it is not listed.

    Args:
        summary: The summary.
        source: The source.
        limits: Those of the source.
        places: Places of the source's stems.

    Returns:
        The word that limits it, with what it limits, as far as the summary has that.
    """
    if not limits:
        return ()
    content = {summary.stems[i] for i in range(len(summary)) if summary.is_content[i]}
    said = frozenset(summary.folded) | frozenset(summary.stems)
    found = []
    for limit in limits:
        if not said.isdisjoint(limit.keeps):
            continue
        told = [source.words[i] for i in limit.limited if source.stems[i] in content]
        stems = {source.stems[i] for i in limit.limited} & content
        if len(stems) < _TOLD or len(stems) < _HALF * len(content):
            continue
        if not _is_said_elsewhere(stems, source, limit.cue, places):
            found.append(f"{source.folded[limit.cue]} … {' '.join(told)}")
    return tuple(found)


def _is_said_elsewhere(stems: set[str], source: Reading, cue: int, places: Places) -> bool:
    """Return whether a sentence other than that of a limit has all of some stems."""
    rarest, *others = sorted((places[root] for root in stems), key=len)
    shared = {source.sentence[place] for place in rarest} - {source.sentence[cue]}
    for other in others:
        if not shared:
            break
        shared &= {source.sentence[place] for place in other}
    return bool(shared)


def _limits(source: Reading) -> Iterator[tuple[int, list[int], frozenset[str]]]:
    """Yield each word that limits, the places of what it limits, and words that keep the limit."""
    for place, folded in enumerate(source.folded):
        following = source.folded[place + 1] if place + 1 < len(source) else ""
        if folded in _EXCEPT or _EXCEPT_IN_TWO.get(folded) == following:
            before = _sentence_before(source, place)
            if any(source.folded[i] in _ALL for i in before):
                yield place, _content(source, before), _KEEPS_EXCEPTION
        elif folded == "unless":
            main = _sentence_before(source, place) or _after_comma(source, place)
            yield place, _content(source, main), _KEEPS_CONDITION
        elif folded == "only":
            predicate = _said_of_few(source, place)
            if predicate:
                head = next(i for i in range(place + 1, len(source)) if source.is_content[i])
                yield place, predicate, _KEEPS_ONLY | {source.stems[head]}
                if few := _which_few(source, head):
                    yield place, [head, *predicate], few
        elif folded in ("until", "before"):
            denied = _denied_till_then(source, place)
            if denied:
                yield place, denied, _KEEPS_TIME


def _sentence_before(source: Reading, place: int) -> list[int]:
    return list(range(_first(place, source.sentence), place))


def _first(place: int, parts: list[int]) -> int:
    """The first place of the part, such as a sentence, that a place is in."""
    first = place
    while first and place - first < _LONGEST and parts[first - 1] == parts[place]:
        first -= 1
    return first


def _end(place: int, parts: list[int]) -> int:
    """The place behind the last one of the part that a place is in."""
    end = place + 1
    while end < len(parts) and end - place < _LONGEST and parts[end] == parts[place]:
        end += 1
    return end


def _after_comma(source: Reading, place: int) -> list[int]:
    """Places of the clauses behind the one that a word begins."""
    end = _end(place, source.sentence)
    return [i for i in range(place + 1, end) if source.clause[i] != source.clause[place]]


def _content(source: Reading, places: list[int]) -> list[int]:
    return [place for place in places if source.is_content[place]]


def _said_of_few(source: Reading, place: int) -> list[int]:
    """What is said of those of whom alone it is said: "only members **may use the pool**"."""
    n = len(source)
    begins = source.is_first[place] or not place or source.folded[place - 1] in ("that", "and")
    if not begins or place + 1 >= n or source.is_number[place + 1]:
        return []
    for verb in range(place + 1, min(n, place + 1 + _LONGEST_SUBJECT)):
        if source.sentence[verb] != source.sentence[place]:
            return []
        if source.folded[verb] in _FINITE:
            if not any(source.is_content[place + 1 : verb]):
                return []
            return _content(source, list(range(verb + 1, _end(verb, source.sentence))))
    return []


def _which_few(source: Reading, head: int) -> frozenset[str]:
    """Stems and numbers that tell of whom it is said: "with more than **250 employees**"."""
    following = source.folded[head + 1] if head + 1 < len(source) else ""
    if following not in _TELLS_WHICH:
        return frozenset()
    few = set()
    for place in range(head + 2, min(len(source), head + 2 + _LONGEST_SUBJECT)):
        if source.folded[place] in _FINITE or source.clause[place] != source.clause[head]:
            break
        if source.is_content[place] or source.is_number[place]:
            few.add(source.stems[place])
    return frozenset(few)


def _denied_till_then(source: Reading, place: int) -> list[int]:
    """What will not be so "until" or "before" then, if that is what the clause says."""
    clause = source.clause[place]
    for back in range(place - 1, max(-1, place - 1 - _LONGEST_SUBJECT), -1):
        if source.clause[back] != clause:
            return []
        folded = source.folded[back]
        before = source.folded[back - 1] if back else ""
        if folded in _NOT_TO_COME or (folded == "not" and before in _FUTURE):
            return _content(source, list(range(_first(back, source.clause), place)))
    return []
