"""Whether those who speak in a summary speak in its source.

Owns who says something in a text: the words before "says", those of a relative clause left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from sumfit.truth.reading import Reading
from sumfit.truth.stems import stem

__all__ = ["Speech", "speech_of", "wrong_speakers"]


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_SPEECH = _stems("say tell warn claim announce admit insist argue promise vow")
_RELATIVE = frozenset("who that which whose whom where".split())
_BEFORE_VERBS = frozenset("to will can could may might would not must should and".split())
_PERSONAL = frozenset("he she they it we i you".split())
_TURNS = frozenset("of in at for from with by on near after to about".split())
_KIN = _stems(
    "aunt uncle mother father brother sister son daughter wife husband widow friend lawyer parent "
    "neighbour teacher critic opponent rival victim survivor doctor colleague partner family"
)
_LONGEST = 24  # words before a verb
_FEW = 8  # words behind it


@dataclass(frozen=True, slots=True)
class Speech:
    """Who speaks in a source.

    Attributes:
        speakers: Stems of words for them; ``None`` where they cannot be told.
        pairs: Verbs of speech with the word behind them.
        late: Stems that the source first has in a sentence in which somebody speaks.
    """

    speakers: frozenset[str] | None
    pairs: frozenset[tuple[str, str]]
    late: frozenset[str]


def speech_of(source: Reading) -> Speech:
    """Find who speaks in a source.

    Args:
        source: The source.

    Returns:
        Who speaks.
    """
    verbs = _verbs(source)
    pairs = frozenset(
        (source.stems[verb], source.folded[verb + 1]) for verb in verbs if verb + 1 < len(source)
    )
    if not verbs or any(_is_personal(source, verb) for verb in verbs):
        return Speech(None, pairs, frozenset())
    speakers = {source.stems[i] for verb in verbs for i in _subject(source, verb, is_source=True)}
    spoken = {source.sentence[verb] for verb in verbs}
    first: dict[str, int] = {}
    for place, root in enumerate(source.stems):
        first.setdefault(root, source.sentence[place])
    late = frozenset(root for root, sentence in first.items() if sentence in spoken)
    return Speech(frozenset(speakers) or None, pairs, late)


def wrong_speakers(summary: Reading, speech: Speech) -> tuple[str, ...]:
    """List those who say something in a summary though in its source another one does.

    Only those count whom the source first names in a sentence in which another one speaks.

    Args:
        summary: The summary.
        speech: Who speaks in the source.

    Returns:
        Who, with the verb.
    """
    found = []
    for verb in _verbs(summary):
        following = _next(summary, verb)
        if following in ("who", "which") and (summary.stems[verb], following) not in speech.pairs:
            found.append(f"{summary.words[verb]} {following}")
        if speech.speakers is None or _is_personal(summary, verb):
            continue
        subject = _subject(summary, verb, is_source=False)
        stems = {summary.stems[i] for i in subject}
        if stems and speech.speakers.isdisjoint(stems) and stems <= speech.late:
            words = " ".join(summary.words[i] for i in subject)
            found.append(f"{words} {summary.words[verb]}")
    return tuple(found)


def _verbs(reading: Reading) -> list[int]:
    """Places of verbs of speech, "found that" among them; "is said to" is none."""
    return [
        place
        for place, root in enumerate(reading.stems)
        if (root in _SPEECH and not (root == "say" and _next(reading, place) == "to"))
        or (root == "find" and _states(reading, place))
    ]


def _states(reading: Reading, place: int) -> bool:
    """Return whether "find" tells what was found out: "found that", "study finds", not "found"."""
    if _next(reading, place) == "that":
        return True
    before = reading.folded[place - 1] if place else "to"
    return reading.folded[place] in ("find", "finds") and before not in _BEFORE_VERBS


def _next(reading: Reading, place: int) -> str:
    return reading.folded[place + 1] if place + 1 < len(reading) else ""


def _is_personal(reading: Reading, verb: int) -> bool:
    is_before = verb > 0 and reading.folded[verb - 1] in _PERSONAL
    return is_before or reading.folded[verb + 1 : verb + 2] in (["he"], ["she"])


def _subject(reading: Reading, verb: int, *, is_source: bool) -> list[int]:
    """Places of content words that may be who speaks."""
    first = verb
    while first and verb - first < _LONGEST and reading.clause[first - 1] == reading.clause[verb]:
        first -= 1
    for place in range(verb - 1, first - 1, -1):
        if reading.folded[place] == "that" and place and reading.stems[place - 1] in _SPEECH:
            first = place + 1  # "said that the union warned"
            break
    before = list(range(first, verb))
    relative = next((i for i in before if reading.folded[i] in _RELATIVE), None)
    if relative is not None and relative + 1 < verb and relative > first:
        before = list(range(first, relative))
    content = [i for i in before if reading.is_content[i]]
    if not content:
        return _around(reading, verb) if is_source else []
    turn = next((i for i in before if reading.folded[i] in _TURNS and i > content[0]), None)
    if turn is None:
        return content
    head = [i for i in content if i < turn]
    is_kin = any(reading.stems[i] in _KIN for i in head)
    return head if is_kin or not is_source else content


def _around(reading: Reading, verb: int) -> list[int]:
    """Content words of the sentence before a verb that begins its clause, and some behind it."""
    sentence = reading.sentence[verb]
    first = max(0, verb - _LONGEST)
    return [
        place
        for place in range(first, min(len(reading), verb + 1 + _FEW))
        if reading.sentence[place] == sentence and reading.is_content[place] and place != verb
    ]
