"""What the surface of a finished text may look like: joined words, pairs of marks, whole clusters.

Owns `Surface`, the last look at a summary before it is returned, and `junctions`, what a
text joins without a space. The search keeps most of the same rules piece by piece
(`sumfit.decoding.kernels`); what it cannot see is seen here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import regex

from sumfit.length.units.graphemes import clusters
from sumfit.text.endings import CLITICS, ELISIONS
from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.text.scripts import UNSPACED

__all__ = ["CONTRACTIONS", "FILLERS", "Surface", "fillers_of", "has_whole_pairs", "junctions"]

_HYPHENS = "-‐‑‒–−"  # of compounds and ranges; a dash joins nothing
_APOSTROPHES = "'’"

_PERSONS = "i you he she it we they who that there".split()
CONTRACTIONS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        tuple(
            "isn aren wasn weren don doesn didn hasn haven hadn won wouldn can couldn shouldn "
            "mustn needn mightn ain shan daren oughtn".split()
        ),
        ("t",),
    ),
    (("i",), ("m",)),
    (("you", "we", "they", "who", "what", "there"), ("re",)),
    (("i", "you", "we", "they", "who", "would", "could", "should", "might", "must"), ("ve",)),
    ((*_PERSONS, "this", "what"), ("ll",)),
    ((*_PERSONS, "how", "what"), ("d",)),
    (
        tuple(
            "it he she that what who there here let where how when why this one ones everyone "
            "someone anyone nobody everybody somebody anybody everything something anything "
            "nothing other another either neither each else".split()
        ),
        ("s",),
    ),
)
"""Words of English, and the clitics that they take. A noun takes ``'s`` too."""

FILLERS: frozenset[str] = frozenset(
    """
    review reviews recipe recipes improvement improvements update updates news report reports tip
    tips guide guides overview roundup recap preview info information detail details feature
    features change changes edition version versions photo photos picture pictures video videos
    story stories analysis opinion commentary explainer faq podcast newsletter tutorial
    description summary list lists item items example examples quiz trailer gallery
    """.split()
)
"""Nouns that writers put behind a text to say what kind of text it is."""

_LETTER = rf"(?:(?![{UNSPACED}])[\p{{L}}\p{{M}}])"
_CLITIC = rf"[{_APOSTROPHES}](?:{'|'.join(CLITICS)})(?![\p{{L}}\p{{M}}\p{{N}}])"
_ATOM = regex.compile(
    rf"(?P<clitic>{_CLITIC})|(?P<apart>[{UNSPACED}]\p{{M}}*)"
    r"|(?P<mark>[^\s\p{L}\p{M}\p{N}]\p{M}*)"
    rf"|(?P<word>{_LETTER}+(?:[\u200c\u200d]+{_LETTER}+)*|\p{{N}}[\p{{N}}\p{{M}}]*)",
    regex.IGNORECASE,
)
# The same where characters without a piece are spelled in bytes, which the search takes as letters.
_BYTES_ATOM = regex.compile(
    rf"(?P<clitic>{_CLITIC})|(?P<apart>(?!))|(?P<mark>[\x21-\x2f\x3a-\x40\[-`{{-\x7f])"
    r"|(?P<word>[^\s\x00-\x40\[-`{-\x7f]+|\p{N}+)",
    regex.IGNORECASE,
)
_TOKENISED = regex.compile(r"(?<=\S) [,.](?:\s|$)")
_OUTER = ',.;:!?()"'  # marks around a word


def junctions(text: str) -> Iterator[tuple[str, str, str]]:
    """List what a text joins without a space.

    A hyphen stands for every hyphen, an apostrophe for both.

    Args:
        text: The text.

    Yields:
        A word or number, the marks behind it, and the word or number behind these; empty where the
        marks are a clitic ("isn", "'t", ""). A clitic that stands alone has no word before it; in
        tokenised text ("the bank 's plan ,") every one may.
    """
    if _TOKENISED.search(text):
        for clitic in CLITICS:
            yield from (("", apostrophe + clitic, "") for apostrophe in _APOSTROPHES)
    for token in filter(_may_join, text.split()):
        yield from _joined(_ATOM, token)
        if not token.isascii():
            yield from _joined(_BYTES_ATOM, token)


def _may_join(token: str) -> bool:
    """Return whether a token may be more than one word; quickly false for most."""
    return not token.strip(_OUTER).isalpha() or token[0] in _APOSTROPHES


def _joined(pattern: regex.Pattern[str], token: str) -> Iterator[tuple[str, str, str]]:
    left, marks = "", ""
    for atom in pattern.finditer(token):
        kind, written = atom.lastgroup, atom[0]
        if kind == "apart":
            left, marks = "", ""
        elif kind == "mark":
            marks += written
        elif kind == "clitic":
            if not left and not marks:
                yield "", written, ""
            elif left:
                for apostrophe in _APOSTROPHES:
                    yield left, marks + apostrophe + written[1:], ""
                    yield left, marks + apostrophe, written[1:]  # spelled in two pieces
            marks += written
        else:
            if left:
                for same in _written_alike(marks):
                    yield left, same, written
            left, marks = written, ""


def _written_alike(marks: str) -> tuple[str, ...]:
    for group in (_HYPHENS, _APOSTROPHES):
        if len(marks) == 1 and marks in group:
            return tuple(group)
    return (marks,)


_IDENTIFIER = regex.compile(r"[\p{L}\p{M}\p{N}_]+")
_PART = regex.compile(r"[^\s()<>\[\]{},;\"“”`]+")
_IS_NAME = regex.compile(r"[^@]@|:[\p{L}_:/]")  # addresses, URLs, names of emoji, std::vector
_FLAG = regex.compile(r"(?:--?|[#@])\p{L}[\p{L}\p{M}\p{N}_-]*")
_OWNED = regex.compile(rf"(?:[{_APOSTROPHES}]s?|[.:!?/…])+$")
_PICTURE = regex.compile(
    r"\p{Extended_Pictographic}|\p{RI}|\p{Emoji_Modifier}|^ ?[\p{M}\u200c\u200d]"
)
_ASKS = regex.compile(r"[?？؟][\"'”’»)\]]*$")
_SENTENCE = regex.compile(r"[^.!?？؟。]*[.!?？؟。]*")
_CONTENT = regex.compile(r"\p{L}{4,}|[\p{Lo}\p{N}]+")
_TWICE = regex.compile(r"[,;:\-] [,;:.!?]|([\-#*_=~|/+&<>@`]) \1")
_ELIDED = regex.compile(ELISIONS.pattern.replace("'", "['’]"), regex.IGNORECASE)
_WORDS = regex.compile(r"[\p{L}\p{M}]+")
_LABEL_ALONE = regex.compile(r"(?:^|\s)[^\s:]*:[\"'”’»)\]}]*$")
_LABELS = regex.compile(r"(?:[^\s:]+: )+")  # one word each
_PART_OF_LABEL = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LONGEST = 200  # characters of a flag or tag
_STEM = 5  # first letters that words of one stem share
_MOST_READ = 200_000
_PAIRS = dict(zip("([{“«„‹「『（【", ")]}”»“›」』）】", strict=True))
_CLOSING = frozenset(_PAIRS.values()) - {"“"}


class Surface:
    """Looks at finished texts about one source."""

    def __init__(self, source: str, *, vouched: tuple[str, ...] = ()) -> None:
        """Store the source.

        Args:
            source: The text that is summarised.
            vouched: Further phrases that a summary may hold as they are.
        """
        self._source = " ".join((source[:_MOST_READ], *vouched))

    @cached_property
    def _fillers(self) -> frozenset[str]:
        return fillers_of(self._source)

    def fault(self, text: str, *, whole_words: bool = True, tidy: bool = True) -> str | None:
        """Say what is wrong with the surface of a text.

        Args:
            text: The text, NFC.
            whole_words: Look at joined words.
            tidy: Look at marks.

        Returns:
            What is wrong in a few words; ``None`` if nothing is.
        """
        if not text.isascii() and self._has_broken_cluster(text):
            return "a character is cut in two"
        if whole_words and any(map(self._is_glued, text.split())):
            return "words are joined that the text does not join"
        if whole_words and any(map(self._is_respelled, _codes(text))):
            return "a name of code is written in other letters than in the text"
        if not tidy:
            return None
        if not has_whole_pairs(text):
            return "a quotation mark, bracket or backtick stands alone"
        if _TWICE.search(text):
            return "marks stand in a row"
        if _LABEL_ALONE.search(text):
            return "a label stands alone"
        words = _WORDS.findall(text)
        if len(words) > 1 and words[-1].casefold() in self._fillers:
            return "it ends with a word that only fills the room"
        if _ASKS.search(text) and not self._is_asked(text):
            return "it asks what the text does not ask"
        return None

    def _is_glued(self, token: str) -> bool:
        if token[0].isalpha() and not _may_join(token):
            return False
        names = set(_exact_names(token))
        if names and not names <= self._exact:
            return True
        return any(self._is_foreign(joint) for joint in _joined(_ATOM, token))

    def has_labels(self, text: str) -> bool:
        """Say whether the source has every word of the labels that a text begins with.

        Args:
            text: The text, such as ``"net: fix a leak"``.

        Returns:
            The verdict; true where there is no label.
        """
        found = _LABELS.match(text)
        if found is None:
            return True
        parts = _PART_OF_LABEL.findall(found[0].casefold())
        return all(part in self._folded_words for part in parts)

    def _is_respelled(self, code: str) -> bool:
        """Return whether the source has a name of code, but never in these capitals."""
        forms = self._codes.get(code.casefold())
        return forms is not None and code not in forms

    def _is_foreign(self, joint: tuple[str, str, str]) -> bool:
        left, marks, right = (part.casefold() for part in joint)
        if (left, marks, right) in self._joints:
            return False
        if right and marks[:1] in _APOSTROPHES and right in CLITICS:
            return False  # judged as a clitic
        if right:
            is_number = left[0].isdecimal() and right[0].isdecimal()
            return not (is_number and marks in (".", ",", ":"))
        clitic = marks[1:]
        if marks[:1] not in _APOSTROPHES or clitic not in CLITICS:
            return True
        if clitic == "s" and left[:1].isalpha() and left not in FUNCTION_WORDS:
            return False
        return not any(left in words and clitic in clitics for words, clitics in CONTRACTIONS)

    def _is_asked(self, text: str) -> bool:
        """Return whether a question of the source is about what the text is about."""
        words = _stems(text)
        return any(
            2 * len(words & _stems(sentence)) >= len(words)
            for sentence in _SENTENCE.findall(self._source)
            if _ASKS.search(sentence)
        )

    def _has_broken_cluster(self, text: str) -> bool:
        return any(
            cluster not in self._clusters for cluster in clusters(text) if _PICTURE.search(cluster)
        )

    @cached_property
    def _clusters(self) -> frozenset[str]:
        return frozenset(clusters(self._source))

    @cached_property
    def _exact(self) -> frozenset[str]:
        return frozenset(_exact_names(self._source))

    @cached_property
    def _folded_words(self) -> frozenset[str]:
        return frozenset(_PART_OF_LABEL.findall(self._source.casefold()))

    @cached_property
    def _codes(self) -> dict[str, set[str]]:
        forms: dict[str, set[str]] = {}
        for code in _codes(self._source):
            forms.setdefault(code.casefold(), set()).add(code)
        return forms

    @cached_property
    def _joints(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(junctions(self._source.casefold()))


def _codes(text: str) -> Iterator[str]:
    """Yield the words that are names of code: with an underscore, or letters beside digits."""
    for word in _IDENTIFIER.findall(text):
        if not word.isalpha() and not word.isdecimal() and any(map(str.isalpha, word)):
            yield word


def fillers_of(source: str) -> frozenset[str]:
    """List the words of `FILLERS` for which a text gives no reason.

    Args:
        source: The text.

    Returns:
        Those whose first five letters are nowhere in it.
    """
    folded = source.casefold()
    return frozenset(word for word in FILLERS if word[:_STEM] not in folded)


def has_whole_pairs(text: str) -> bool:
    """Tell whether quotation marks, brackets and backticks come in pairs of one kind.

    An apostrophe of a contraction, a plural's possessive or a shortened year ("’78") is no mark.

    Args:
        text: The text.

    Returns:
        The verdict.
    """
    if text.isalnum():
        return True
    expected: list[str] = []
    plain = _ELIDED.sub("", text.replace("``", "“").replace("''", "”"))
    for at, mark in enumerate(plain):
        before, after = plain[at - 1 : at] if at else "", plain[at + 1 : at + 2]
        if mark in "'’" and (before.isalnum() and after.isalnum()):
            continue
        if mark == "'" and not before.strip() and not after.strip():  # tokenised text
            if expected and expected[-1] == "`":
                expected.pop()
            continue
        if expected and mark == expected[-1]:
            if mark not in "'’" or (before.strip() and not after.isalnum()):
                expected.pop()
                continue
        if mark in _PAIRS:
            expected.append(_PAIRS[mark])
        elif mark in '"`':
            expected.append(mark)
        elif mark == "‘":
            expected.append("’")
        elif mark == "'" and not before.strip(' ([“"') and after.strip(" )]”,.:;"):
            expected.append("'")
        elif mark in "'’":
            if not before.isalnum():
                return False
        elif mark in _CLOSING:
            return False
    return not expected


def _exact_names(text: str) -> Iterator[str]:
    """List the names of which a part says nothing: identifiers, addresses, URLs, flags, tags."""
    for token in text.casefold().split():
        names = _FLAG.findall(token[:_LONGEST])[:1] if token[0] in "-#@" else []
        if "_" in token:
            names += [name for name in _IDENTIFIER.findall(token) if "_" in name]
        if "@" in token or ":" in token:
            names += [part for part in _PART.findall(token) if _IS_NAME.search(part)]
        for name in names:
            yield _OWNED.sub("", name)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _CONTENT.findall(text.casefold()))
