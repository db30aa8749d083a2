"""Whether a summary still denies, doubts and compares what its source denies, doubts and compares.

Owns the comparison of a summary's scopes with its source's, the order of who did what to whom,
the direction of change, and the heuristic for glued sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sumfit.truth.reading import Reading
from sumfit.truth.scopes import BREAKS, Scope, Scopes, keeps_denial, keeps_doubt
from sumfit.truth.stems import stem

__all__ = [
    "Places",
    "added_denials",
    "glued_words",
    "lost_denials",
    "lost_doubts",
    "places_of",
    "swapped_roles",
    "turned_back",
    "turned_directions",
]

Places = Mapping[str, list[int]]
"""Where each stem of a text stands."""

_MANY = 2  # content words of a scope that tell that a summary reports it
_HALF = 0.5
_WINDOW = 8  # content words on each side of a verb
_REACH = 24  # words on each side of a verb
_MOST_PLACES = 8  # of one word; what stands in more is not judged
_NEAR = 3  # words between a verb and its subject
_TURNS = frozenset("in on at for to with from over as into onto under near against about".split())
_AGENT_AFTER = frozenset(("by",))
_SPEECH = frozenset(map(stem, "say tell report add state note".split()))
_UP = frozenset(
    map(
        stem,
        "rise rise increase climb grow jump surge soar higher gain raise hike boost up above "
        "expand strengthen widen longer bigger larger".split(),
    )
)
_DOWN = frozenset(
    map(
        stem,
        "fall drop decline decrease slump plunge lower slip slide shrink dip reduce down below "
        "tumble weaken narrow shorter smaller less fewer cut ease lose".split(),
    )
)
_WIN = frozenset(map(stem, "win beat defeat victory triumph".split()))
_LOSE = frozenset(map(stem, "lose defeat loss beat".split()))
_BACK = frozenset(map(stem, "revert undo restore return back rollback".split()))
_CHANGE = frozenset(
    map(stem, "switch move migrate change convert upgrade port replace swap".split())
)
_BEGINNING = 3  # words in which a text says that it takes something back
_UNLIKE = (("un", 4), ("non", 4))


@dataclass(frozen=True, slots=True)
class _Sides:
    before: frozenset[str]
    after: frozenset[str]


def places_of(words: Iterable[str]) -> dict[str, list[int]]:
    """Find where each word or stem of a text stands.

    Args:
        words: Words of the text, or their stems.

    Returns:
        Places of each.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    return places


def lost_denials(summary: Reading, source: Reading, scopes: Scopes) -> tuple[str, ...]:
    """List what a source denies and its summary reports without the denial.

    Args:
        summary: The summary.
        source: The source.
        scopes: What the source denies.

    Returns:
        The words that lost it, with their cue.
    """
    return _lost(summary, source, scopes, keeps_denial)


def lost_doubts(summary: Reading, source: Reading, scopes: Scopes) -> tuple[str, ...]:
    """List what a source leaves open and its summary states.

    Args:
        summary: The summary.
        source: The source.
        scopes: What the source leaves open.

    Returns:
        The words that lost it, with their cue.
    """
    return _lost(summary, source, scopes, keeps_doubt)


def _lost(
    summary: Reading,
    source: Reading,
    scopes: Scopes,
    keeps: Callable[[Reading, int], bool],
) -> tuple[str, ...]:
    content = {summary.stems[i] for i in range(len(summary)) if summary.is_content[i]} - _SPEECH
    only_inside = (content & scopes.inside) - scopes.outside
    if not only_inside and not any(scope.subject for scope in scopes.scopes):
        return ()
    kept_by = {root for place, root in enumerate(summary.stems) if keeps(summary, place)}
    found = []
    for scope in scopes.scopes:
        told = {source.stems[place] for place in scope.places} & only_inside
        if source.stems[scope.cue] in content or kept_by - told:
            continue
        if not told:
            if scope.subject and _is_bare(content, source, scope):
                found.append(f"{source.folded[scope.cue]} … {' '.join(summary.words)}")
            continue
        is_head = scope.head >= 0 and source.stems[scope.head] in told
        is_most = len(told) >= _HALF * len(content)
        is_told = len(told) >= _MANY or is_head or is_most
        if scope.is_weak:
            is_told = len(told) >= _MANY and is_most
        if is_told:
            words = [source.words[i] for i in scope.places if source.stems[i] in told]
            found.append(f"{source.folded[scope.cue]} … {' '.join(words)}")
    return tuple(found)


def _is_bare(content: set[str], source: Reading, scope: Scope) -> bool:
    """Return whether a summary is no more than the subject of what its source denies."""
    subject = {source.stems[place] for place in scope.subject if source.is_content[place]}
    if not content or not content <= subject:
        return False
    clause = source.clause[scope.cue]
    return not any(
        root in content and source.clause[place] != clause
        for place, root in enumerate(source.stems)
    )


def added_denials(
    summary: Reading, own: Scopes, source: Reading, scopes: Scopes
) -> tuple[str, ...]:
    """List what a summary denies though its source says it, or its opposite word.

    Args:
        summary: The summary.
        own: What the summary denies.
        source: The source.
        scopes: What the source denies.

    Returns:
        The words that the summary should not deny.
    """
    known = set(source.stems)
    found = []
    for scope in own.scopes:
        if scope.is_weak or scope.head < 0 or summary.stems[scope.cue] in known:
            continue
        head = summary.stems[scope.head]
        if head in known and head not in scopes.inside:
            found.append(f"{summary.folded[scope.cue]} {summary.words[scope.head]}")
    folded = set(source.folded)
    for place, word in enumerate(summary.folded):
        if word in folded or summary.stems[place] in known or not summary.is_content[place]:
            continue
        for prefix, least in _UNLIKE:
            if len(word) >= least and prefix + word in folded:
                found.append(word)
            elif word.startswith(prefix) and len(word) - len(prefix) >= least:
                if word[len(prefix) :] in folded:
                    found.append(word)
    return tuple(found)


def swapped_roles(
    summary: Reading, source: Reading, own: Places, places: Places
) -> tuple[str, ...]:
    """List verbs and comparisons around which a summary has who and whom the other way round.

    Words that stand before a verb in the summary and after it in the source, with others the other
    way, are swapped, unless one of the two is passive. "than" is looked at like a verb.

    Args:
        summary: The summary.
        source: The source.
        own: Places of the summary's stems.
        places: Places of the source's stems.

    Returns:
        The verbs.
    """
    found = []
    for root, mine in own.items():
        theirs = places.get(root)
        if theirs is None or len(theirs) > _MOST_PLACES or not _may_turn(summary, mine[0]):
            continue
        here = _sides(summary, mine[0])
        one, two = here.before - here.after, here.after - here.before
        if not one or not two:
            continue
        is_swapped = False
        for place in theirs:
            there = _sides(source, place)
            only_before, only_after = there.before - there.after, there.after - there.before
            if one & only_before and two & only_after:
                is_swapped = False
                break
            is_swapped = is_swapped or bool(one & only_after and two & only_before)
        if is_swapped:
            found.append(summary.words[mine[0]])
    return tuple(found)


def _may_turn(reading: Reading, place: int) -> bool:
    return reading.folded[place] == "than" or (
        reading.is_content[place] and reading.words[place][0].islower()
    )


def _sides(reading: Reading, place: int) -> _Sides:
    """Content words before and after a verb, turned round where the verb is passive with "by"."""
    before: list[str] = []
    after: list[str] = []
    clause, n = reading.clause[place], len(reading)
    is_verb = reading.folded[place] != "than"
    ends = BREAKS | _TURNS if is_verb else BREAKS
    for i in range(place - 1, max(-1, place - _REACH), -1):
        if reading.clause[i] != clause or reading.folded[i] in ends or len(before) >= _WINDOW:
            break
        if reading.is_content[i]:
            before.append(reading.stems[i])
    is_object = True  # nothing but the object stands between the verb and this word
    for i in range(place + 1, min(n, place + _REACH)):
        folded = reading.folded[i]
        if reading.clause[i] != clause or folded in BREAKS or len(after) >= _WINDOW:
            break
        if folded in _AGENT_AFTER and is_verb and _is_participle(reading, place):
            agent = [reading.stems[k] for k in range(i + 1, min(n, i + 4)) if reading.is_content[k]]
            return _Sides(frozenset(agent), frozenset(before))
        is_object = is_object and folded not in ends
        if is_object and reading.is_content[i]:
            after.append(reading.stems[i])
    return _Sides(frozenset(before), frozenset(after))


def _is_participle(reading: Reading, place: int) -> bool:
    return reading.folded[place].endswith(("ed", "en", "wn", "t", "ne", "ung", "id", "old", "lt"))


def turned_directions(summary: Reading, source: Reading) -> tuple[str, ...]:
    """List words of one direction where the source has only words of the other.

    Args:
        summary: The summary.
        source: The source.

    Returns:
        The words, such as "rises" where the source has "fell".
    """
    known = set(source.stems)
    found = []
    for one, other in ((_UP, _DOWN), (_DOWN, _UP), (_WIN, _LOSE), (_LOSE, _WIN)):
        only = one - other
        if known.isdisjoint(one) and not known.isdisjoint(other - one):
            found += [
                summary.words[place]
                for place, root in enumerate(summary.stems)
                if root in only and root not in known
            ]
    return tuple(found)


def turned_back(summary: Reading, source: Reading) -> tuple[str, ...]:
    """List where a summary has what was changed and what it goes back to the other way round.

    Such as "Revert the store to clusters", or "Switch the store to clusters", where the source says
    that it reverts a commit, and that switching to clusters went wrong.

    Args:
        summary: The summary.
        source: The source.

    Returns:
        The verb, with what it is to go back to.
    """
    if _CHANGE.issuperset(summary.stems[:1]):
        begins_back = not _BACK.isdisjoint(source.stems[:_BEGINNING])
        if not begins_back or not _BACK.isdisjoint(summary.stems) or not len(summary):
            return ()
        is_order = summary.folded[0] not in source.folded and summary.stems[0] in source.stems
        return (summary.words[0],) if is_order else ()
    if _BACK.isdisjoint(summary.stems[:_BEGINNING]) or _BACK.isdisjoint(source.stems):
        return ()
    if "to" not in summary.folded or not _CHANGE.isdisjoint(summary.stems):
        return ()
    place = len(summary) - 1 - summary.folded[::-1].index("to")
    end = summary.folded[place : place + 2]
    theirs = [i for i in range(len(source) - 1) if source.folded[i : i + 2] == end]
    if not theirs or not all(_is_changed_to(source, i) for i in theirs):
        return ()
    return (f"{summary.words[0]} {' '.join(summary.words[place : place + 2])}",)


def _is_changed_to(source: Reading, place: int) -> bool:
    """Whether a change, no return, leads to what stands behind a "to"."""
    first = max(0, place - _REACH)
    same = [i for i in range(first, place) if source.sentence[i] == source.sentence[place]]
    stems = {source.stems[i] for i in same}
    return not _CHANGE.isdisjoint(stems) and _BACK.isdisjoint(stems)


def glued_words(summary: Reading, source: Reading, places: Places) -> tuple[str, ...]:
    """List neighbours of a summary that no sentence of the source has together.

    A heuristic: two content words side by side, no mark or joint between them, both of the source
    but never in one of its sentences.

    Args:
        summary: The summary.
        source: The source.
        places: Places of the source's stems.

    Returns:
        The pairs.
    """
    found = []
    for place in range(len(summary) - 1):
        after = place + 1
        if summary.clause[place] != summary.clause[after]:
            continue
        if not (summary.is_content[place] and summary.is_content[after]):
            continue
        one = places.get(summary.stems[place])
        two = places.get(summary.stems[after])
        if one is None or two is None or max(len(one), len(two)) > _MOST_PLACES:
            continue
        if place == 0 and _is_only_where(source, one, summary.stems[after]):
            found.append(f"{summary.words[place]} {summary.words[after]}")
            continue
        here = {source.sentence[i] for i in one}
        is_apart = here.isdisjoint(source.sentence[i] for i in two)
        is_name = summary.words[place][0].isupper() and summary.words[after][0].islower()
        if is_apart or (is_name and _has_another_subject(source, one, two)):
            found.append(f"{summary.words[place]} {summary.words[after]}")
    return tuple(found)


def _is_only_where(source: Reading, name: list[int], verb: str) -> bool:
    """Return whether a name is no subject but the place of one: "a court **in Lund acquitted**"."""
    return all(
        source.folded[i - 1 : i] in (["in"], ["at"], ["near"])
        and i + 1 < len(source)
        and source.stems[i + 1] == verb
        and source.clause[i] == source.clause[i + 1]
        for i in name
    )


def _is_near(source: Reading, name: int, verb: int) -> bool:
    """Return whether a name may be a verb's subject: in its clause, or earlier in its sentence."""
    is_before = name < verb and source.sentence[name] == source.sentence[verb]
    return is_before or source.clause[name] == source.clause[verb]


def _has_another_subject(source: Reading, name: list[int], verb: list[int]) -> bool:
    """Return whether another name than the one asked for precedes every place of a word."""
    own = {source.stems[i] for i in name}
    for place in verb:
        subject = -1
        for i in range(place - 1, max(-1, place - 1 - _NEAR), -1):
            if source.clause[i] != source.clause[place]:
                break
            if source.words[i][0].isupper() and source.is_content[i]:
                subject = i
                break
        if subject < 0 or source.stems[subject] in own:
            return False
        if any(_is_near(source, i, place) for i in name):
            return False
    return True
