"""What a text denies and what it calls only possible: cue words, and the words they govern.

Owns the lists of cues and their scopes. A scope is a run of words in one sentence: what follows
"not", "denied" or "may" up to the next clause, and what precedes "was rejected".
"""

from __future__ import annotations

from dataclasses import dataclass

from sumfit.truth.reading import Reading
from sumfit.truth.stems import stem

__all__ = ["BREAKS", "Scope", "Scopes", "denials", "doubts", "keeps_denial", "keeps_doubt"]


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_NOT = frozenset(
    "not never no none nobody nothing nowhere neither nor without cannot hardly barely scarcely "
    "cant wont dont didnt doesnt isnt wasnt arent werent wouldnt couldnt shouldnt hasnt havent "
    "hadnt aint non can't won't don't didn't doesn't isn't wasn't aren't weren't wouldn't couldn't "
    "shouldn't hasn't haven't hadn't ain't mustn't needn't mightn't".split()
)
_NOT_VERBS = frozenset(word for word in _NOT if word[-3:] == "n't") | {"not", "never", "cannot"}
_DENY = _stems(
    "deny reject refuse dismiss dispute overturn quash refute rebuff scrap abandon cancel revert "
    "rescind annul nullify veto acquit exonerate disprove debunk disqualify"
)
_DENY_WEAKLY = _stems(
    "block ban prohibit forbid bar prevent avoid oppose suspend postpone shelve withdraw withhold "
    "lack reverse halt decline"
)
_DENY_IN_TWO = {
    stem(first): _stems(second)
    for first, second in {
        "rule": "out",
        "throw": "out",
        "turn": "down",
        "call": "off",
        "strike": "down",
        "vote": "down against",
        "shoot": "down",
        "knock": "back",
        "pull": "out",
        "back": "out",
        "shut": "out",
        "lift": "ban bans order orders curfew restrictions sanctions curbs embargo",
        "drop": "plan plans bid case charge lawsuit suit appeal proposal idea",
        "dropped": "the a its their his her all",
        "dropping": "the a its their his her all",
    }.items()
}
_FAIL = _stems("fail")
_LIFT, _REVERT = stem("lift"), stem("revert")
_BEFORE_OBJECTS = frozenset("to the a an any all this that his her its their your my our".split())
_UNABLE = frozenset(
    "unable unlikely unwilling impossible untrue false unfounded baseless unproven hoax fake "
    "ineligible invalid absent".split()
)
_BE = frozenset("be am is are was were been being get gets got getting".split())
_FINITE = frozenset(
    "is are was were has have had will would can could may might must shall should do does did "
    "he she it they we i you".split()
)
BREAKS = frozenset(
    "but because although though while whereas when after before until unless if since as so "
    "which who whose where despite however yet".split()
)
"""Words that begin another clause."""
_MODAL = frozenset(
    "may might could would maybe perhaps possibly probably allegedly reportedly supposedly "
    "potentially apparently likely unlikely".split()
)
_DOUBT = _stems(
    "allege suspect rumour rumoured believe accuse consider mull propose threaten claim boast "
    "hope conjecture possible potential alleged expect plan weigh"
)
_DOUBT_NEEDS_TO = _stems("expect plan hope aim seek want intend threaten agree promise pledge vow")
_SAID_TO = frozenset("said thought understood known reported".split())
_CONDITIONS = frozenset("if unless".split())
_DENIAL_CUES = _NOT | _DENY | _DENY_WEAKLY | frozenset(_DENY_IN_TWO) | _FAIL | _UNABLE
_DOUBT_CUES = _MODAL | _DOUBT | _DOUBT_NEEDS_TO | _CONDITIONS | _SAID_TO
_LONGEST = 14  # words of a scope
_FEW = 3  # words between "was" and "rejected"

_KEEPS_DENIAL = (
    _DENY
    | _DENY_WEAKLY
    | _FAIL
    | _stems(
        "nix axe against halt stop drop end remove fix skip disable ignore undo unchanged delay "
        "freeze exclude omit clear stay keep remain dispute contradict rule snub spurn defy "
        "resist fight stall escape spare free safe collapse cut delete ditch "
        "discard oust stand opposition rejection denial refusal cancellation failure ban lack "
        "reversal withdrawal acquittal veto suspension postponement wrong incorrect mistaken "
        "unchanged untouched unhurt unharmed uninjured out off down wo ca"
    )
)
_KEEPS_DOUBT = (
    _MODAL
    | _DOUBT
    | _DOUBT_NEEDS_TO
    | _CONDITIONS
    | _stems(
        "to can should warn fear risk say says call urge ask suggest set eye bid rumor talk "
        "chance prospect ready offer proposal plan possibility danger threat suspicion "
        "allegation claim accusation charge trial unclear doubt question predict forecast "
        "want wish report speculation probe investigate near think deny await whether would "
        "conjecture"
    )
) - {"be"}


@dataclass(frozen=True, slots=True)
class Scope:
    """One cue and what it governs.

    Attributes:
        cue: Its place.
        head: Place of the first content word after it (before it, in the passive); -1 for none.
        places: Places of the words it governs, cue left out.
        is_weak: The cue denies in some uses only, so that it takes more to say it was lost.
        subject: Places of the words before "not" and "never" in its clause, which these do not
            govern.
    """

    cue: int
    head: int
    places: tuple[int, ...]
    is_weak: bool = False
    subject: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """The scopes of one kind in a text.

    Attributes:
        scopes: In the order of their cues.
        inside: Stems of content words within them.
        outside: Stems of content words that also stand outside all of them.
    """

    scopes: tuple[Scope, ...]
    inside: frozenset[str]
    outside: frozenset[str]


def denials(reading: Reading) -> Scopes:
    """Find what a text denies, rejects or says not to be.

    Args:
        reading: The text.

    Returns:
        The scopes.
    """
    found: list[Scope] = []
    for place in _places_of(reading, _DENIAL_CUES):
        folded, root = reading.folded[place], reading.stems[place]
        following = _next(reading, place)
        if folded in _NOT:
            if following in ("only", "just", "least", "doubt", "matter"):
                continue
            found.append(_after(reading, place))
        elif root in _DENY or (root in _DENY_WEAKLY and _denies_here(reading, place, following)):
            is_weak = root in _DENY_WEAKLY and root != "declin"
            if _is_passive(reading, place):
                found.append(_around(reading, place, is_weak=is_weak))
            else:
                found.append(_after(reading, place, is_weak=is_weak))
        elif root in _DENY_IN_TWO or folded in _DENY_IN_TWO:
            seconds = _DENY_IN_TWO.get(folded) or _DENY_IN_TWO[root]
            if root == _LIFT:  # "lifted the ban"
                following = _next_content(reading, place)
            if stem(following) in seconds:
                if _is_passive(reading, place):
                    found.append(_around(reading, place))
                else:
                    found.append(_after(reading, place + (following in ("out", "down", "off"))))
        elif root in _FAIL:
            if following == "to" or following == "in":
                found.append(_after(reading, place))
            else:
                found.append(_around(reading, place, is_weak=True))
        elif folded in _UNABLE:
            if following in ("to", "that"):
                found.append(_after(reading, place))
            elif _follows_be(reading, place):
                found.append(_around(reading, place))
    return _collected(reading, found)


def doubts(reading: Reading) -> Scopes:
    """Find what a text calls possible, alleged, planned or conditional.

    Args:
        reading: The text.

    Returns:
        The scopes.
    """
    found: list[Scope] = []
    for place in _places_of(reading, _DOUBT_CUES):
        folded, root = reading.folded[place], reading.stems[place]
        following = _next(reading, place)
        if folded in _MODAL:
            if following == "not" or _is_month(reading, place):
                continue
            if folded == "likely" and following != "to":
                found.append(_around(reading, place, is_weak=True))
            else:
                found.append(_after(reading, place))
        elif folded in _CONDITIONS:
            found.append(_after(reading, place, is_weak=True))
        elif root in _DOUBT_NEEDS_TO:
            if following == "to":
                found.append(_after(reading, place + 1))
        elif folded in _SAID_TO:
            if following == "to" and _follows_be(reading, place):
                found.append(_after(reading, place + 1))
        elif root in _DOUBT:
            if _is_passive(reading, place) and following not in ("to", "of"):
                found.append(_around(reading, place, is_weak=True))
            else:
                found.append(_after(reading, place, is_weak=True))
    return _collected(reading, found)


def keeps_denial(reading: Reading, place: int) -> bool:
    """Return whether a word of a summary says that something is not so.

    Args:
        reading: The summary.
        place: The word's place.

    Returns:
        The verdict.
    """
    folded = reading.folded[place]
    return (
        folded in _NOT
        or folded in _UNABLE
        or reading.stems[place] in _KEEPS_DENIAL
        or (folded.startswith("un") and len(folded) > 5)
    )


def keeps_doubt(reading: Reading, place: int) -> bool:
    """Return whether a word of a summary, or the mark after it, leaves something open.

    Args:
        reading: The summary.
        place: The word's place.

    Returns:
        The verdict.
    """
    return (
        (reading.folded[place] in _MODAL and not _is_month(reading, place))
        or reading.stems[place] in _KEEPS_DOUBT
        or reading.after[place].startswith("?")
    )


def _next_content(reading: Reading, place: int) -> str:
    for after in range(place + 1, min(len(reading), place + 1 + _FEW)):
        if reading.sentence[after] == reading.sentence[place] and reading.is_content[after]:
            return reading.folded[after]
    return ""


def _is_month(reading: Reading, place: int) -> bool:
    return reading.words[place] == "May" and not reading.is_first[place]


def _next(reading: Reading, place: int) -> str:
    after = place + 1
    is_one = after < len(reading) and reading.sentence[after] == reading.sentence[place]
    return reading.folded[after] if is_one else ""


def _places_of(reading: Reading, cues: frozenset[str]) -> list[int]:
    return [
        place
        for place, (folded, root) in enumerate(zip(reading.folded, reading.stems, strict=True))
        if folded in cues or root in cues
    ]


def _denies_here(reading: Reading, place: int, following: str) -> bool:
    if reading.stems[place] != "declin":
        return True
    # "declined the offer", "was declined", "declined to say", not "sales declined"
    return following in _BEFORE_OBJECTS or _is_passive(reading, place)


def _is_passive(reading: Reading, place: int) -> bool:
    if not reading.folded[place].endswith(("ed", "en", "n", "t", "wn")):
        return False
    return _next(reading, place) == "by" or _follows_be(reading, place)


def _follows_be(reading: Reading, place: int) -> bool:
    for back in range(place - 1, max(-1, place - 1 - _FEW), -1):
        if reading.clause[back] != reading.clause[place]:
            return False
        if reading.folded[back] in _BE:
            return True
        if reading.is_content[back] and not reading.folded[back].endswith("ly"):
            return False
    return False


def _after(reading: Reading, cue: int, *, is_weak: bool = False) -> Scope:
    places = _following(reading, cue)
    head = next((place for place in places if reading.is_content[place]), -1)
    subject = tuple(_preceding(reading, cue)) if reading.folded[cue] in _NOT_VERBS else ()
    return Scope(cue, head, tuple(places), is_weak, subject)


def _around(reading: Reading, cue: int, *, is_weak: bool = False) -> Scope:
    before, after = _preceding(reading, cue), _following(reading, cue)
    head = next((place for place in reversed(before) if reading.is_content[place]), -1)
    return Scope(cue, head, (*before, *after), is_weak)


def _preceding(reading: Reading, cue: int) -> list[int]:
    places: list[int] = []
    for place in range(cue - 1, max(-1, cue - 1 - _LONGEST), -1):
        if reading.clause[place] != reading.clause[cue] or reading.folded[place] in BREAKS:
            break
        if reading.folded[place] == "and" and reading.folded[place + 1] in _FINITE:
            break
        places.append(place)
    places.reverse()
    return places


def _following(reading: Reading, cue: int) -> list[int]:
    places: list[int] = []
    n = len(reading)
    # what is reverted is named in full
    parts = reading.sentence if reading.stems[cue] == _REVERT else reading.clause
    for place in range(cue + 1, min(n, cue + 1 + _LONGEST)):
        folded = reading.folded[place]
        if parts[place] != parts[cue] or folded in BREAKS:
            break
        if folded == "and" and place + 1 < n and reading.folded[place + 1] in _FINITE:
            break
        places.append(place)
    return places


def _collected(reading: Reading, found: list[Scope]) -> Scopes:
    if not found:
        return Scopes((), frozenset(), frozenset())
    covered: set[int] = set()
    for scope in found:
        covered.update(scope.places)
    stems, is_content = reading.stems, reading.is_content
    inside = {stems[place] for place in covered if is_content[place]}
    outside = {
        stems[place] for place in range(len(reading)) if place not in covered and is_content[place]
    }
    return Scopes(tuple(found), frozenset(inside), frozenset(outside))
