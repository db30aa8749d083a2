"""Verbs and nouns of a summary whose number does not agree, where the source has another form.

Owns `disagreements`: a verb put into the present that does not fit its subject ("officials
accuses" for "officials accused"), "is" and "are" behind another subject than the source's, a
plural behind "a" ("an arbitrary values" for "an arbitrary value"), and "a" or "an" that was before
another word ("an book").
"""

from __future__ import annotations

from collections.abc import Iterator

from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.truth.claims import Places
from sumfit.truth.forms import FINITE, PREPOSITIONS
from sumfit.truth.ordinary import ordinary_words
from sumfit.truth.reading import Reading, are_neighbours, next_word
from sumfit.truth.stems import is_past, stem

__all__ = ["disagreements"]

_PLURALS = frozenset("people police men women children".split())
_NO_PLURALS = frozenset(
    "news series means species headquarters mathematics physics politics economics sports gas bus "
    "lens always perhaps towards afterwards besides".split()
)
_OF_MANY = _PLURALS | frozenset(
    "team government side club band company family crew committee board council staff group public "
    "army cast jury data media majority couple pair number press firm party squad force".split()
)
"""Words behind which either form of a verb is heard."""
_NO_SUBJECTS = PREPOSITIONS | FINITE | frozenset("who that which to".split())
_ONE = frozenset("a an each every one another".split())
_OTHER_FORMS = {"are": ("is",), "were": ("was",), "is": ("are",), "was": ("were",)}
_BEGINS = frozenset(":.;")
_VOWELS = frozenset("aeiouh")
_LIKE_CONSONANTS = ("h", "u", "eu", "ew", "one", "once")
_LONGEST_SUBJECT = 5  # words before the last one of a subject
_LONGEST_NOUN = 4  # words from an article to the noun
_SHORTEST_PLURAL = 4  # characters


def disagreements(summary: Reading, source: Reading, places: Places) -> Iterator[str]:
    """Yield words of a summary whose number does not agree.

    Args:
        summary: The summary.
        source: The source.
        places: Places of the source's words.

    Yields:
        The subject and its verb, or "a" with what stands up to the plural.
    """
    if _asks_of_singular(summary, source, places):
        yield " ".join(summary.words[:2])
    for place, word in enumerate(summary.folded):
        if place and (
            _is_wrong_present(summary, place, source, places)
            or _is_wrong_be(summary, place, source, places)
        ):
            yield f"{summary.words[place - 1]} {summary.words[place]}"
        if word in _ONE:
            noun = _noun_behind(summary, place)
            if noun and _was_singular(summary, noun, source, places):
                yield " ".join(summary.words[place : noun + 1])
            elif _sounds_wrong(summary, place, source, places):
                yield " ".join(summary.words[place : place + 2])


def _is_wrong_present(summary: Reading, place: int, source: Reading, places: Places) -> bool:
    """Whether a verb that the source has in the past is put into the wrong present."""
    noun, verb = summary.folded[place - 1 : place + 1]
    if verb in places or summary.after[place - 1] or not summary.is_content[place - 1]:
        return False
    pasts = [
        i
        for i in places.get(noun, ())
        if i + 1 < len(source)
        and not source.after[i]
        and source.stems[i + 1] == summary.stems[place]
        and is_past(source.folded[i + 1])
    ]
    before = _subject_before(summary, place - 1) if pasts else None
    if before is None:
        return False
    is_lower = source.words[pasts[0]].islower()
    if verb.endswith("s") and not verb.endswith("ss"):
        return "and" in before or (is_lower and (noun in _PLURALS or _is_plural(noun)))
    is_other = verb.endswith(("s", "ing")) or is_past(verb) or "and" in before
    if is_other or noun in _OF_MANY or noun.endswith(("s", "ly")):
        return False
    return not is_lower or noun in ordinary_words()


def _subject_before(summary: Reading, noun: int) -> list[str] | None:
    """The words of a subject before its last one; ``None`` if that may not be the whole of it."""
    first = noun
    while first and not summary.after[first - 1] and noun - first <= _LONGEST_SUBJECT:
        first -= 1
    words = summary.folded[first:noun]
    is_begun = not first or summary.after[first - 1] in _BEGINS
    if not is_begun or len(words) > _LONGEST_SUBJECT or not _NO_SUBJECTS.isdisjoint(words):
        return None
    return words


def _is_wrong_be(summary: Reading, place: int, source: Reading, places: Places) -> bool:
    """Whether "is" stands behind a plural or "are" behind a singular, and the source differs."""
    noun, verb = summary.folded[place - 1 : place + 1]
    if verb not in _OTHER_FORMS or summary.after[place - 1] or not summary.is_content[place - 1]:
        return False
    if are_neighbours(source, places.get(noun, ()), verb):
        return False
    is_many = verb in ("are", "were")
    if is_many and noun not in places:
        return any(are_neighbours(source, places.get(one, ()), verb) for one in _plurals(noun))
    if is_many == _is_plural(noun) or (is_many and "and" in summary.folded[:place]):
        return False
    return any(are_neighbours(source, places.get(noun, ()), be) for be in _OTHER_FORMS[verb])


def _asks_of_singular(summary: Reading, source: Reading, places: Places) -> bool:
    """Whether a question begins with "Are" and a singular whose plural the source has there."""
    verb, noun, *_ = [*summary.folded[:2], "", ""]
    if verb not in ("are", "were") or noun in places:
        return False
    return any(are_neighbours(source, places.get(verb, ()), one) for one in _plurals(noun))


def _plurals(noun: str) -> tuple[str, ...]:
    return (f"{noun}s", f"{noun[:-1]}ies") if noun.endswith("y") else (f"{noun}s",)


def _is_plural(word: str) -> bool:
    return (
        len(word) >= _SHORTEST_PLURAL
        and word.endswith("s")
        and not word.endswith(("ss", "us", "is"))
        and word not in _NO_PLURALS
        and word in ordinary_words()
        and stem(word) != word
    )


def _noun_behind(summary: Reading, article: int) -> int:
    """The place of the plural that ends what an article begins, 0 for none."""
    for place in range(article + 1, min(len(summary), article + 1 + _LONGEST_NOUN)):
        is_inside = not summary.after[place - 1] and not summary.is_number[place]
        if not is_inside or summary.folded[place] in FUNCTION_WORDS:
            return 0
        is_last = place + 1 == len(summary) or summary.after[place]
        if is_last or summary.folded[place + 1] in FUNCTION_WORDS:
            return place if _is_plural(summary.folded[place]) else 0
    return 0


def _sounds_wrong(summary: Reading, article: int, source: Reading, places: Places) -> bool:
    """Whether "an" stands before a consonant or "a" before a vowel, and not so in the source."""
    word, noun = summary.folded[article], next_word(summary, article)
    if word == "an":
        is_wrong = noun[:1] not in _VOWELS
    else:
        is_wrong = word == "a" and noun[:1] in _VOWELS and not noun.startswith(_LIKE_CONSONANTS)
    if not is_wrong or noun not in ordinary_words() or not summary.words[article + 1].islower():
        return False
    return not are_neighbours(source, places.get(word, ()), noun)


def _was_singular(summary: Reading, noun: int, source: Reading, places: Places) -> bool:
    """Whether the word before a plural has its singular behind it in the source."""
    before, plural = summary.folded[noun - 1 : noun + 1]
    theirs = places.get(before, ())
    if are_neighbours(source, theirs, plural):
        return False
    singulars = [plural[:-1]]
    if plural.endswith("es"):
        singulars.append(f"{plural[:-3]}y" if plural.endswith("ies") else plural[:-2])
    return any(are_neighbours(source, theirs, one) for one in singulars)
