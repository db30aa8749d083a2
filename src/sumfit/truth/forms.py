"""Words and joints that a summary copies from its source without a piece that they need.

Owns `broken_forms`: words that are clipped ("experience chef" for "an experienced chef"), a small
word left out of a copied run ("a litre water"), a range without its end ("between junction 6"), an
organisation without its name ("ferries from Marine"), "three times" without "as fast", "from" for
"to", a line that begins in the middle of its
subject ("Third quarter was $8 million" for "Revenue for the third quarter was"), an order that
runs into a statement ("Fix upload does not end"), a clause without its subject ("after lost" for
"after he lost"), a question with two verbs ("Is this is"), and marks that stand apart (`" Mambo"`,
"pre- registration"). What is found is
bad English more often than a false statement; a rule stands here only if readers would rarely
print the lines that it finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.text.orders import order_of
from sumfit.truth.claims import Places
from sumfit.truth.reading import Reading, are_neighbours, next_word

__all__ = ["FINITE", "PREPOSITIONS", "broken_forms"]

_ARTICLES = frozenset(
    "a an the his her its their our my your this these those another some any".split()
)
PREPOSITIONS = frozenset(
    "of for in on at with by to from as into against over under about between among during after "
    "before through".split()
)
"""Words behind which something else than the subject stands."""
_NEEDED = frozenset("to of in with as on at from into it not can we which but only".split())
"""What a headline cannot leave out between two words that it copies; it can "is", "the", "that"."""
_CLIPPED = ("ly", "y", "er", "ion", "al")
_CLIPPED_BEHIND_ARTICLE = ("ed", "d")  # elsewhere "Council voted" may well become "Council vote"
_LEAST_CLIPPED = 3
FINITE = frozenset(
    "is are was were has have had will would can could may might must shall should do does "
    "did".split()
)
"""Verbs that show by themselves that a clause is whole."""
_BE = ("is", "are", "was", "were")
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
_TIMED = frozenset("until till by from before after since at".split())
_BOUNDS = frozenset("end start beginning middle close".split())
_COMPARES = frozenset(("as", "more", "less", "what"))
_OTHER_WAY = {"from": "to", "to": "from"}
_LONGEST_FIRST = {"between": 12, "from": 5}  # words from the beginning of a range to its second end
_LONGEST_SUBJECT = 4  # words behind an order, its verb not among them
_LEAST_BEFORE_SYSTEM = 2  # words: a name and "for"
_SHORTEST = 3  # words of a line whose subject is looked at
_CLAUSE_OPENERS = frozenset(
    "after before when while because if as that since until once where how what why".split()
)
_PRONOUNS = frozenset("i you he she it they we".split())
_HAVE = frozenset("had has have".split())
_APART = re.compile(r"(?:^|\s)[\"“] \w+|\b\w*[^\W\d_]- (?!(?:and|or|to)\b)[^\W\d_]+")


def broken_forms(summary: Reading, text: str, source: Reading, places: Places) -> tuple[str, ...]:
    """List what a summary copies without a piece that it needs.

    Args:
        summary: The summary.
        text: The same as it was given.
        source: The source.
        places: Places of the source's words.

    Returns:
        The words as the summary has them.
    """
    found = []
    for place, word in enumerate(summary.folded):
        behind = next_word(summary, place)
        if not behind and (word == "between" or _is_open_multiple(word, source, places)):
            found.append(word)
        elif behind and _is_broken(summary, place, source, places):
            found.append(f"{summary.words[place]} {summary.words[place + 1]}")
        if word in _ORGANISATIONS and _stands_alone(summary, place):
            if word in places and all(_ends_name(source, i) for i in places[word]):
                found.append(summary.words[place])
    for rule in (_headless, _ordered_statement, _version_of_another, _subjectless):
        found.extend(rule(summary, source, places))
    if _has_two_verbs(summary):
        found.append(" ".join(summary.words[:3]))
    kept = [words for words in found if not _is_joined(words, text)]
    return (*kept, *(mark.group().strip() for mark in _APART.finditer(text)))


def _is_broken(summary: Reading, place: int, source: Reading, places: Places) -> bool:
    """Whether a word and the one behind it are no pair of the source but pieces of one."""
    word, behind = summary.folded[place], summary.folded[place + 1]
    is_said_twice = summary.stems[place] == summary.stems[place + 1] and word != behind
    if is_said_twice and summary.is_content[place]:
        return not are_neighbours(source, places.get(word, []), behind)
    if word in _TIMED and _lacks_bound(source, places.get(word, []), behind):
        return True
    if word in _OTHER_WAY and _is_other_way(word, behind, source, places):
        return True
    if word in _RANGE:
        ends = _RANGE[word] in summary.folded[place + 1 :]
        return not ends and any(_is_range(source, i, behind) for i in places.get(word, ()))
    if behind not in places:
        return False
    theirs = places.get(word, [])
    if are_neighbours(source, theirs, behind):
        return False
    if word == "to" and all(i and source.folded[i - 1] in _BE for i in places[behind]):
        return True
    if not theirs:
        is_order = not place and order_of(word) == word
        return not is_order and any(_is_clipped(source, i, word) for i in places[behind])
    return _is_gap(source, theirs, behind)


def _lacks_bound(source: Reading, theirs: list[int], behind: str) -> bool:
    """Whether a time loses its part: "until June" of "until the end of June"."""
    is_lost = False
    for place in theirs:
        rest = source.folded[place + 1 : place + 5]
        if rest[:1] == [behind]:
            return False
        bound, of, *time = [word for word in rest if word != "the"] + ["", ""]
        is_lost |= bound in _BOUNDS and of == "of" and time[:1] == [behind]
    return is_lost


def _is_open_multiple(word: str, source: Reading, places: Places) -> bool:
    """Whether "times" always has its comparison in the source: "three times **as fast**"."""
    behind = [next_word(source, place) for place in places.get(word, ())] if word == "times" else []
    return bool(behind) and all(one in _COMPARES or one.endswith("er") for one in behind)


def _is_other_way(word: str, behind: str, source: Reading, places: Places) -> bool:
    """Whether a line says "from" of what the source only has behind "to", or the reverse."""
    before = (source.folded[place - 1] for place in places.get(behind, ()) if place)
    other = _OTHER_WAY[word]
    return next(before, None) == other and all(one == other for one in before)


def _is_joined(words: str, text: str) -> bool:
    """Whether words are parts of one: of "read_from_disk", "hard-coded"."""
    return " " in words and any(words.replace(" ", mark) in text for mark in "_-")


def _is_gap(source: Reading, theirs: list[int], behind: str) -> bool:
    """Whether one needed word always stands between a word and another one."""
    between = set()
    for place in theirs:
        if source.folded[place + 2 : place + 3] == [behind]:
            is_one = source.clause[place] == source.clause[place + 2]
            between.add(source.folded[place + 1] if is_one and _needs_more(source, place) else "")
    return len(between) == 1 and not between.isdisjoint(_NEEDED) and behind not in _DAYS


def _needs_more(source: Reading, place: int) -> bool:
    """Whether a word cannot do without the small one behind it, as "and", "moving", "2 kg" can."""
    word = source.folded[place]
    if word in _JOINS or word.endswith("ing") or order_of(word) == word:
        return False
    return not (place and source.is_number[place - 1])


def _is_clipped(source: Reading, behind: int, word: str) -> bool:
    """Whether a word is clipped from the one before a place."""
    place = behind - 1
    if place < 0 or not source.folded[place].startswith(word) or len(word) < _LEAST_CLIPPED:
        return False
    if not source.is_content[place] or not next_word(source, place):
        return False
    ending = source.folded[place][len(word) :]
    before = source.folded[place - 1] if place else ""
    is_attribute = before in _ARTICLES or before in PREPOSITIONS
    return ending in _CLIPPED or (is_attribute and ending in _CLIPPED_BEHIND_ARTICLE)


def _is_range(source: Reading, place: int, first: str) -> bool:
    """Whether a range with a second end begins at a place."""
    word = source.folded[place]
    if source.folded[place + 1 : place + 2] != [first] or first in _DAYS:
        return False
    behind = source.folded[place + 2 : place + 2 + _LONGEST_FIRST[word]]
    if _RANGE[word] not in behind:
        return False
    parts = source.sentence if word == "between" else source.clause
    return parts[place + 2 + behind.index(_RANGE[word])] == parts[place]


def _ends_name(source: Reading, place: int) -> bool:
    if not place or not source.words[place][0].isupper() or not next_word(source, place - 1):
        return False
    before = source.words[place - 1]
    return before[0].isupper() and before.lower() not in FUNCTION_WORDS


def _stands_alone(summary: Reading, place: int) -> bool:
    """Whether a word with a capital has no other beside it."""
    word = summary.words[place]
    if not word[0].isupper() or word.isupper():
        return False
    before = summary.words[place - 1] if place and next_word(summary, place - 1) else ""
    behind = summary.words[place + 1] if next_word(summary, place) else ""
    return not before[:1].isupper() and not behind[:1].isupper()


def _headless(summary: Reading, source: Reading, places: Places) -> Iterator[str]:
    """Yield the beginning of a line that is the end of its subject in the source, or "not to"."""
    if summary.folded[:2] == ["not", "to"]:
        yield "not to"
    first = 0
    while first < len(summary) and summary.folded[first] in _ARTICLES:
        first += 1
    if len(summary) - first < _SHORTEST or summary.folded[first] in FUNCTION_WORDS:
        return
    theirs = places.get(summary.folded[first], [])
    second = summary.folded[first + 1]
    alike = [place for place in theirs if source.folded[place + 1 : place + 2] == [second]]
    if theirs and all(_run(summary, first, source, place) for place in alike or theirs):
        yield " ".join(summary.words[first : first + 2])


def _run(summary: Reading, first: int, source: Reading, place: int) -> bool:
    """Whether a line copies the end of a subject from a place on, and then its verb or colon."""
    before = place - 1
    while before >= 0 and source.folded[before] in _ARTICLES:
        before -= 1
    if before < 1 or source.clause[before - 1] != source.clause[place]:
        return False
    is_inside = source.folded[before] in PREPOSITIONS and source.is_content[before - 1]
    if not is_inside or source.folded[before - 1] in _QUANTITIES:
        return False
    for step in range(min(len(summary) - first, len(source) - place)):
        here, there = first + step, place + step
        if summary.folded[here] != source.folded[there]:
            return False
        if step and source.folded[there] in FINITE:
            return True
        if summary.after[here] == ":" and source.after[there] == ":":
            return True
    return False


def _ordered_statement(summary: Reading, source: Reading, places: Places) -> Iterator[str]:
    """Yield subject and verb of a statement behind an order: "Fix **upload does** not end"."""
    order = order_of(summary.words[0]) if len(summary) > _SHORTEST else ""
    if not order or order in _TAKES_CLAUSE:
        return
    if are_neighbours(source, places.get(order, []), summary.folded[1]):
        return  # "Record layer will ..." is no order
    for place in range(1, min(len(summary) - 2, 1 + _LONGEST_SUBJECT)):
        word, verb = summary.folded[place], next_word(summary, place)
        if word in _SUBORDINATES:
            return
        theirs = places.get(word, []) if summary.is_content[place] and verb else []
        theirs = [i for i in theirs if source.folded[i + 1 : i + 2] == [verb]]
        is_finite = (verb in FINITE and verb != "do") or _has_object(source, theirs, verb)
        if theirs and is_finite and next_word(summary, place + 1):
            yield f"{summary.words[place]} {summary.words[place + 1]}"
            return


def _has_object(source: Reading, subjects: list[int], verb: str) -> bool:
    """Whether a past verb has an object behind each subject: "changed **their** name"."""
    return verb.endswith("ed") and all(next_word(source, i + 1) in _ARTICLES for i in subjects)


def _subjectless(summary: Reading, source: Reading, places: Places) -> Iterator[str]:
    """Yield the beginning of a clause that has lost its subject: "after **he** lost"."""
    for place, word in enumerate(summary.folded):
        behind = next_word(summary, place) if word in _CLAUSE_OPENERS else ""
        theirs = places.get(word, []) if behind and not behind.endswith("ing") else []
        if are_neighbours(source, theirs, behind):
            continue
        if any(_has_pronoun(source, i, behind) for i in theirs):
            yield f"{summary.words[place]} {summary.words[place + 1]}"


def _has_pronoun(source: Reading, place: int, verb: str) -> bool:
    """Whether a pronoun stands between a word and a verb, perhaps with "had"."""
    subject, *behind = [*source.folded[place + 1 : place + 4], ""]
    if subject not in _PRONOUNS:
        return False
    is_between = behind[0] in _HAVE or behind[0] == "also"
    return behind[0] == verb or (is_between and verb in behind[1:2])


def _has_two_verbs(summary: Reading) -> bool:
    """Whether a line begins as a question and goes on as a statement: "Is this is"."""
    if len(summary) < _SHORTEST:
        return False
    opening, _, verb = summary.folded[:3]
    return opening in _BE and (verb in _BE or verb in _HAVE)


def _version_of_another(summary: Reading, source: Reading, places: Places) -> Iterator[str]:
    """Yield a system with the version of what runs on it: "iOS 8.3" of "Plantly for iOS 8.3"."""
    behind = next_word(summary, 0) if len(summary) else ""
    if "." not in behind or not summary.is_number[1]:
        return
    theirs = places.get(summary.folded[0], [])
    theirs = [place for place in theirs if source.folded[place + 1 : place + 2] == [behind]]
    if theirs and all(_is_system(source, place, summary.folded) for place in theirs):
        yield f"{summary.words[0]} {summary.words[1]}"


def _is_system(source: Reading, place: int, told: list[str]) -> bool:
    """Whether a name that is not told stands before "for" or "on" and the one at a place."""
    if place < _LEAST_BEFORE_SYSTEM or source.folded[place - 1] not in ("for", "on"):
        return False
    owner = source.words[place - 2]
    is_one = source.clause[place - 2] == source.clause[place] and not owner.islower()
    return is_one and source.folded[place - 2] not in told
