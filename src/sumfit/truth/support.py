"""What a summary says that its source does not: one verdict with its reasons.

Owns `Support`, `support` and `rank_by_support`. The rules read words, not meaning: what they find
is mostly wrong with the summary, what they do not find may still be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sumfit.text.orders import order_of
from sumfit.truth.agreement import disagreements
from sumfit.truth.claims import (
    Places,
    added_denials,
    glued_words,
    lost_denials,
    lost_doubts,
    places_of,
    swapped_roles,
    turned_back,
    turned_directions,
)
from sumfit.truth.forms import broken_forms
from sumfit.truth.fragments import fragments
from sumfit.truth.joints import Joints
from sumfit.truth.limits import Limit, limits_of, lost_limits
from sumfit.truth.names import NameFacts, is_ordinary, mixed_names, name_facts, new_names
from sumfit.truth.numbers import NUMBER_WORDS, NumberFacts, new_numbers, number_facts
from sumfit.truth.reading import Reading, read
from sumfit.truth.scopes import Scopes, denials, doubts
from sumfit.truth.speakers import Speech, speech_of, wrong_speakers

__all__ = ["CHECKS", "Support", "joints_of", "rank_by_support", "support"]

CHECKS = ("numbers", "names", "negation", "modality", "roles")
"""What `Support.supported` is the conjunction of."""

_KEPT_SOURCES = 64  # sources whose reading is kept
_LONGEST_KEPT = 20_000  # characters of a source whose reading is kept
_FAMILY = 5  # letters that words of one family share
_PARTS = re.compile(r"[-_'’]")
_SHORT_FORMS = frozenset(
    """
    ad ads agree app apps auto config demo doc docs exam exams fed free info init lab labs man memo
    mic phone photo photos repo repos tech temp vet win wins
    """.split()
)
"""Words that are said for longer ones, or are the verb of a noun ("win" for "winner")."""
_WEIGHTS = {
    "numbers": 4.0,
    "names": 4.0,
    "lost_negation": 4.0,
    "added_negation": 4.0,
    "lost_modality": 2.0,
    "lost_limits": 3.0,
    "swapped_roles": 3.0,
    "wrong_speakers": 3.0,
    "turned": 3.0,
    "broken": 2.0,
    "glued": 1.0,
    "new_words": 0.5,
}
_WORDING = {
    "numbers": "number not in the source: {}",
    "names": "name not in the source: {}",
    "lost_negation": "denied in the source, stated here: {}",
    "added_negation": "stated in the source, denied here: {}",
    "lost_modality": "only possible in the source, stated here: {}",
    "lost_limits": "limited in the source, stated here without that: {}",
    "swapped_roles": "who and whom are swapped around: {}",
    "wrong_speakers": "another one says it in the source: {}",
    "turned": "direction turned round: {}",
    "broken": "copied without a piece that it needs, or not agreeing: {}",
    "glued": "never together in a sentence of the source: {}",
    "new_words": "word not in the source: {}",
}


@dataclass(frozen=True, slots=True)
class Support:
    """What a summary says that its source does not; every field is empty where nothing was found.

    Attributes:
        numbers: Numbers that the source does not state.
        names: Names that the source does not have, or has only in parts of two others.
        lost_negation: What the source denies and the summary states.
        added_negation: What the source states and the summary denies.
        lost_modality: What the source calls possible, alleged or planned, and the summary states.
        lost_limits: What the source says with an exception, a condition that follows ("unless"), or
            of a few only, and the summary without.
        swapped_roles: Verbs and comparisons around which who and whom are swapped.
        wrong_speakers: Who says something in the summary, though another one does in the source.
        turned: Words of the direction opposite to the source's: "rises" for "fell", and "revert to"
            what the source goes back from.
        broken: What is copied without a piece that it needs: "a litre water", "between junction 6",
            "ext" of "extended", or does not agree ("officials accuses"); bad English more often
            than untrue.
        glued: Neighbours that no sentence of the source has together; a hint, not a verdict.
        new_words: Content words that the source does not have; they may well be right.
    """

    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    lost_negation: tuple[str, ...] = ()
    added_negation: tuple[str, ...] = ()
    lost_modality: tuple[str, ...] = ()
    lost_limits: tuple[str, ...] = ()
    swapped_roles: tuple[str, ...] = ()
    wrong_speakers: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    glued: tuple[str, ...] = ()
    new_words: tuple[str, ...] = ()

    @property
    def checks(self) -> dict[str, bool]:
        """The verdict on each of `CHECKS`: ``True`` where nothing was found."""
        return {
            "numbers": not self.numbers,
            "names": not self.names,
            "negation": not (self.lost_negation or self.added_negation),
            "modality": not (self.lost_modality or self.lost_limits),
            "roles": not (self.swapped_roles or self.wrong_speakers or self.turned),
        }

    @property
    def supported(self) -> bool:
        """Whether all of `CHECKS` hold; broken, glued and new words do not count."""
        return all(self.checks.values())

    @property
    def penalty(self) -> float:
        """How much speaks against the summary, 0 for nothing; about in nats."""
        return sum(weight * len(getattr(self, name)) for name, weight in _WEIGHTS.items())

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was found in plain words, the gravest first."""
        return tuple(
            wording.format(", ".join(getattr(self, name)))
            for name, wording in _WORDING.items()
            if getattr(self, name)
        )


class _Source:
    """A source as the checks need it; each part is made when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.reading: Reading = read(text)

    @cached_property
    def joints(self) -> Joints:
        return Joints(self.reading, self.text)

    @cached_property
    def numbers(self) -> NumberFacts:
        return number_facts(self.reading)

    @cached_property
    def names(self) -> NameFacts:
        return name_facts(self.reading)

    @cached_property
    def denials(self) -> Scopes:
        return denials(self.reading)

    @cached_property
    def doubts(self) -> Scopes:
        return doubts(self.reading)

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        return limits_of(self.reading)

    @cached_property
    def speech(self) -> Speech:
        return speech_of(self.reading)

    @cached_property
    def places(self) -> Places:
        return places_of(self.reading.stems)

    @cached_property
    def word_places(self) -> dict[str, list[int]]:
        return places_of(self.reading.folded)

    @cached_property
    def families(self) -> frozenset[str]:
        return frozenset(folded[:_FAMILY] for folded in self.reading.folded)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return tuple({part for folded in self.reading.folded for part in _PARTS.split(folded)})


@lru_cache(maxsize=_KEPT_SOURCES)
def _kept(text: str) -> _Source:
    return _Source(text)


def _source(text: str) -> _Source:
    return _kept(text) if len(text) <= _LONGEST_KEPT else _Source(text)


def support(source: str, summary: str) -> Support:
    """Say what a summary claims that its source does not.

    Rules over words, without a model, in time linear in both texts; English only. They err: a
    summary in words of its own may be right and still be reported, and one that is reported for
    nothing may be wrong.

    Args:
        source: The source.
        summary: The summary.

    Returns:
        What was found.
    """
    return _compare(_source(source), summary)


def joints_of(source: str) -> Joints:
    """What looks at the commas of summaries of a source.

    Args:
        source: The source.

    Returns:
        It.
    """
    return _source(source).joints


def rank_by_support(source: str, candidates: Sequence[str]) -> list[float]:
    """Penalties of candidates of one source, for a scorer that adds up what it knows.

    Args:
        source: The source, read once.
        candidates: Texts.

    Returns:
        `Support.penalty` of each, in their order; the lower the better.
    """
    known = _source(source)
    return [_compare(known, text).penalty for text in candidates]


def _compare(source: _Source, text: str) -> Support:
    summary, given = read(text), source.reading
    places = places_of(summary.stems)
    own = denials(summary)
    names = new_names(summary, source.names)
    new = _new_words(summary, source, frozenset(names))
    return Support(
        numbers=new_numbers(summary, number_facts(summary), source.numbers),
        names=(*names, *(name for name in mixed_names(summary, source.names) if name in text)),
        lost_negation=lost_denials(summary, given, source.denials),
        added_negation=added_denials(summary, own, given, source.denials),
        lost_modality=lost_doubts(summary, given, source.doubts),
        lost_limits=lost_limits(summary, given, source.limits, source.places),
        swapped_roles=swapped_roles(summary, given, places, source.places),
        wrong_speakers=wrong_speakers(summary, source.speech),
        turned=(*turned_directions(summary, given), *turned_back(summary, given)),
        broken=(
            *broken_forms(summary, text, given, source.word_places),
            *disagreements(summary, given, source.word_places),
            *fragments(summary, text, given, source.word_places),
            *_stumps(new, text, source),
        ),
        glued=glued_words(summary, given, source.places),
        new_words=new,
    )


def _new_words(summary: Reading, source: _Source, names: Iterable[str]) -> tuple[str, ...]:
    """Content words that the source has in no form; a long word may share its first letters."""
    found = []
    for place, folded in enumerate(summary.folded):
        if not summary.is_content[place] or folded in NUMBER_WORDS:
            continue
        if folded in source.names.folded or summary.stems[place] in source.names.stems:
            continue
        if len(folded) > _FAMILY and folded[:_FAMILY] in source.families:
            continue
        if summary.words[place] in names or not is_ordinary(folded):
            continue
        found.append(summary.words[place])
    return tuple(found)


def _stumps(new: Iterable[str], text: str, source: _Source) -> Iterator[str]:
    """New words that a word of the source begins with, but for labels and orders ("Add")."""
    known = {text.partition(":")[0].casefold(), order_of(text)}
    for word in new:
        folded = word.casefold()
        if folded in known or folded in _SHORT_FORMS or f"{word}-" in text:
            continue
        if any(part != folded and part.startswith(folded) for part in source.parts):
            yield word
