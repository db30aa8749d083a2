"""What of a summary is a fragment: of a sentence, of a clause, of a word.

Owns `fragments`: a clause with "if" or "because" without the one that it belongs to, a line that
ends on a verb before its object, one that begins as the continuation of another ("But ..."), a
pronoun glued behind a preposition ("at I need it"), a letter of an abbreviation ("S lowest" of
"U.S."), a word of the source without one of its letters ("stay" for "stray"), half of the
count of a vote or match ("to four" of "seven to four"), and what is not so before or on a day only,
without that ("will not launch" for "will not launch before 2026").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sumfit.text.orders import order_of
from sumfit.truth.claims import Places
from sumfit.truth.forms import PREPOSITIONS
from sumfit.truth.numbers import NUMBER_WORDS
from sumfit.truth.reading import Reading, next_word
from sumfit.truth.stems import is_past, stem

__all__ = ["fragments"]

_OPENERS = frozenset(
    "if when because although though while whereas since unless as after before once".split()
)
_NO_CLAUSE = frozenset("of much for with to per soon well long".split())
"""What "as" and others begin that is no clause: "as of May"."""
_BEFORE_ANOTHER = frozenset("and but or that because so".split())
"""Words behind which the main clause may stand behind "if"."""
_ASKED = frozenset("you me us them know".split())
"""Words behind which "if" and "when" begin what is asked or told."""
_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december".split()
)
_OBJECTS = frozenset(
    "a an the his her its their our your my any this these those him them it me us".split()
)
_TIMES = (
    frozenset(
        "day week weekend month quarter year decade season morning afternoon evening night summer "
        "autumn fall winter spring time".split()
    )
    | _DAYS
)
_BEFORE_VERBS = frozenset(
    "to will would can could may might must shall should not never cannot i we he they she you "
    "who".split()
)
_BE = frozenset("be been is are was were".split())
_BEFORE_NAMES_OF_DOING = frozenset("when while for after before".split())
_NO_ENDS = frozenset("ground wound found left".split())  # may end a line otherwise
_SUBJECTS = frozenset("i we he she they".split())
_JOINING = re.compile(
    r"(?:And|But|Or|Also|Then|However|Plus|Thus|Hence|Therefore|Moreover|Furthermore|Additionally"
    r"|Besides|Anyway)\b|(?:So|Well|Um+|Uh|Oh|Yeah|Ok|Okay),? "
    r"(?:y'know|you know|like|um|uh|I mean|yeah)\b|(?:Y'know|I mean)\b"
)
_FILLING = re.compile(r"\b(?:y'know|you know,|I mean,|um|uh)(?=\W|$)")
_DENIES = frozenset("not never no cannot".split())
_UNTIL = frozenset("before until till if".split())
_ON_DAYS = frozenset("in on at".split())
_COUNTED = frozenset(map(stem, "vote voted win won lead led beat lose lost draw drew".split()))
_SHORTEST = 3  # words of a line whose end is looked at
_SHORTEST_WORD = 3  # characters of one that has lost a letter
_LOOKED_AT = 20  # places of a number
_LONGEST = 40  # words of a clause that are looked at
_NEAR = 5  # words behind "before" of which one tells what follows it
_MOST_KEPT = 0.6  # of what is denied


def fragments(summary: Reading, text: str, source: Reading, places: Places) -> Iterator[str]:
    """Yield what of a summary is no more than a fragment.

    Args:
        summary: The summary.
        text: The same as it was given.
        source: The source.
        places: Places of the source's words.

    Yields:
        Words as the summary has them.
    """
    if not len(summary):
        return
    if joining := _JOINING.match(text) or _FILLING.search(text):
        yield joining.group()
    if not set(",;?:") & set(text) and _is_clause_alone(summary, text, source, places):
        yield " ".join(summary.words[:_SHORTEST])
    if _ends_on_verb(summary, source, places):
        yield summary.words[-1]
    for place, word in enumerate(summary.folded):
        if _is_letter(summary, place) and word not in places and _is_abbreviated(word, source):
            yield summary.words[place]
        elif _is_glued(summary, text, place, source, places):
            yield f"{summary.words[place]} {summary.words[place + 1]}"
        elif _lost_letter(summary, place, source, places):
            yield summary.words[place]
        elif _is_half_count(summary, place, source, places):
            yield " ".join(summary.words[place : place + 2])
    if '"' not in text and not order_of(text):
        yield from _unlimited(summary, source)


def _is_clause_alone(summary: Reading, text: str, source: Reading, places: Places) -> bool:
    """Whether a line is no more than a clause of a sentence that has another one."""
    first = 0
    while first < len(summary) and summary.is_number[first]:
        first += 1
    rest = summary.folded[first:]
    if len(rest) < _SHORTEST or rest[0] not in _OPENERS or rest[1] in _NO_CLAUSE:
        return False
    if f"{summary.words[first]} {summary.words[first + 1]}" not in text:
        return False  # "once-busy"
    return any(_is_part(rest, source, place) for place in places.get(rest[0], ()))


def _is_part(words: list[str], source: Reading, place: int) -> bool:
    """Whether a clause at a place has words, in their order, and another one stands beside it."""
    end = place
    while end < min(len(source), place + _LONGEST) and source.clause[end] == source.clause[place]:
        end += 1
    rest = iter(source.folded[place:end])
    before = source.folded[place - 1] if place else ""
    if before in _ASKED or not all(word in rest for word in words):
        return False
    if end < len(source) and source.sentence[end] == source.sentence[place]:
        return source.clause[end] != source.clause[place]
    is_behind = place > 0 and source.clause[place - 1] == source.clause[place]
    return is_behind and before not in _BEFORE_ANOTHER


def _ends_on_verb(summary: Reading, source: Reading, places: Places) -> bool:
    """Whether the last word has its object behind it wherever the source has that word."""
    if len(summary) < _SHORTEST or not summary.is_content[-1]:
        return False
    before, last = summary.folded[-2:]
    theirs = places.get(last, ())
    if not theirs or not all(_has_object(source, place) for place in theirs):
        return False
    if before in _BEFORE_VERBS and not summary.after[-2] and summary.words[-1].islower():
        return not (before in _DENIES and is_past(last))  # "payment not received"
    if last.endswith("ing"):
        return before not in _OBJECTS and before not in _BEFORE_NAMES_OF_DOING
    if not is_past(last) or before in _BE or last in _NO_ENDS or not summary.words[-1].islower():
        return False
    is_lower = all(source.words[place + 1].islower() for place in theirs)
    return is_lower and any(place and source.folded[place - 1] == before for place in theirs)


def _has_object(source: Reading, place: int) -> bool:
    """Whether what stands behind a word begins as an object does, and is no time ("this week")."""
    is_time = source.folded[place + 2 : place + 3] and source.folded[place + 2] in _TIMES
    return next_word(source, place) in _OBJECTS and not is_time


def _is_letter(summary: Reading, place: int) -> bool:
    """Whether a word is one capital letter, no article, pronoun or initial."""
    word = summary.words[place]
    is_initial = summary.after[place] == "."
    return len(word) == 1 and word.isupper() and word not in "AI" and not is_initial


def _is_abbreviated(letter: str, source: Reading) -> bool:
    """Whether an abbreviation of the source has a letter: "s" of "U.S."."""
    return any("." in word and letter in word.casefold().split(".") for word in source.words)


def _is_glued(summary: Reading, text: str, place: int, source: Reading, places: Places) -> bool:
    """Whether a preposition of the source has a subject and its verb behind it in the summary."""
    word = summary.folded[place]
    subject = next_word(summary, place) if word in PREPOSITIONS and word in places else ""
    if subject not in _SUBJECTS or not next_word(summary, place + 1):
        return False
    if " ".join(summary.words[place : place + 3]) not in text:
        return False  # "i.mx6"
    return all(source.folded[i + 1 : i + 2] != [subject] for i in places[word])


def _lost_letter(summary: Reading, place: int, source: Reading, places: Places) -> bool:
    """Whether a new word is one of the source without a letter that is no ending."""
    word = summary.folded[place]
    if len(word) < _SHORTEST_WORD or word in places or not summary.is_content[place]:
        return False
    if summary.stems[place] in source.stems:
        return False
    return any(
        len(one) == len(word) + 1 and one[0] == word[0] and _is_without_letter(word, one)
        for one in places
    )


def _is_half_count(summary: Reading, place: int, source: Reading, places: Places) -> bool:
    """Whether "to" stands before a number that ends a count, without the one that begins it."""
    if summary.folded[place] != "to" or (place and _is_number(summary, place - 1)):
        return False
    return any(
        i > 2
        and _is_number(source, i - 2)
        and source.folded[i - 1] == "to"
        and source.stems[i - 3] in _COUNTED
        for i in places.get(next_word(summary, place), ())[:_LOOKED_AT]
    )


def _is_number(reading: Reading, place: int) -> bool:
    return reading.is_number[place] or reading.folded[place] in NUMBER_WORDS


def _is_without_letter(word: str, longer: str) -> bool:
    at = next(i for i, letter in enumerate(longer) if word[i : i + 1] != letter)
    return at < len(word) and longer[at + 1 :] == word[at:]


def _unlimited(summary: Reading, source: Reading) -> Iterator[str]:
    """Yield what the source denies for a time alone and the summary altogether."""
    told = set(summary.folded)
    if not any(_is_denial(word) for word in told):
        return
    stems = set(summary.stems)
    for cue, word in enumerate(source.folded):
        if not _is_denial(word) or (word == "no" and next_word(source, cue) != "longer"):
            continue
        for limit in _limits_of(source, cue):
            denied = [i for i in range(cue + 1, limit) if source.is_content[i]]
            kept = sum(source.stems[i] in stems for i in denied)
            is_told = kept >= max(1, len(denied) - 1, _MOST_KEPT * len(denied))
            is_kept = source.folded[limit] in told or any(
                source.stems[i] in stems for i in _told_behind(source, limit)
            )
            if is_told and not is_kept:
                yield f"{word} … {source.folded[limit]}"
                return


def _is_denial(word: str) -> bool:
    return word in _DENIES or word.endswith("n't")


def _limits_of(source: Reading, cue: int) -> Iterator[int]:
    """Yield the places of "before", or of "on" before a day, in the clause of a denial."""
    for place in range(cue + 2, min(len(source), cue + _LONGEST)):
        if source.clause[place] != source.clause[cue]:
            return
        word = source.folded[place]
        is_day = word in _ON_DAYS and next_word(source, place) in _DAYS
        if (word in _UNTIL or is_day) and _told_behind(source, place):
            yield place


def _told_behind(source: Reading, place: int) -> list[int]:
    """Places of content words and numbers near behind a word, in its clause."""
    return [
        i
        for i in range(place + 1, min(len(source), place + 1 + _NEAR))
        if source.clause[i] == source.clause[place]
        and (source.is_content[i] or source.is_number[i])
    ]
