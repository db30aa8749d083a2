"""Capital letters of a summary: sentence case, title case, or as they come.

Owns `Capitalizer` and the rules of both cases. Names, acronyms and code words keep their letters in
either. A text may come out longer than it was ("ß" becomes "Ss"), so it is measured afterwards.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Literal, get_args

import regex

__all__ = ["CAPITALIZATIONS", "SMALL_WORDS", "Capitalization", "Capitalizer"]

Capitalization = Literal["sentence", "title", "source"]
CAPITALIZATIONS: tuple[str, ...] = get_args(Capitalization)

SMALL_WORDS = frozenset("a an and as at but by for if in nor of on or per the to via vs".split())
"""Words that title case leaves in lower case, but for the first and the last one."""

_OPENERS = "\"'“‘«‹„‚([{¿¡"
_CLOSERS = "\"'”’»›)]},;:.!?…"
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")
_CLITIC = regex.compile(r"['’](?:s|t|d|m|ll|re|ve)$")
_CODE = regex.compile(r"[^\p{L}\p{M}'’\-‐‑]|(?<=[\p{L}\p{M}])\p{Lu}")
_LABEL = regex.compile(r"([^\s:]{1,80})(?:\([^)]{0,80}\))?!?: \S")
_TYPES = frozenset(  # of commits
    "feat fix docs doc style refactor perf test tests build ci chore revert net mm".split()
)
_JOINED = regex.compile(  # words and numbers that belong to a first word: "mid-1990s", "and/or"
    r"(\p{Ll}[\p{Ll}\p{M}]+)(?:[-‐‑](?:\d[\d/]{0,8}s?|\p{Lu}{2,8}s?)"
    r"|[/–—](\p{Ll}[\p{Ll}\p{M}]+)|\(\p{Ll}{1,3}\))(?:['’]s)?"
)
_PLAIN = regex.compile(r"\p{Lu}[\p{Ll}\p{M}]+")  # a word whose capital may be there by its place
_QUOTED_CODE = regex.compile(r"`(?=([^`\s]+)`)")
_BEGINS = regex.compile(r"(?<=\S)([.!?] )(\p{Ll}[\p{L}\p{M}]*)")
_TITLE = regex.compile(r"\b(?:mr|mrs|ms|dr|prof)\b(?=\.? \p{Lu})")
_ACRONYM = regex.compile(r"\(([A-Z]{2,8})s?\)")
_LONGEST_NAME = 120  # characters before an acronym in which the name in full stands
_MARKS = ".!?…:-–—|•*"  # behind which something begins
_OPENS = regex.compile(r"[\p{Pi}\"'(\[]")  # the same, and what stands before it may too
_OPENING = regex.compile(r"[\p{Pi}\p{Ps}\"']")
_MOST_READ = 50_000  # characters of a source in which its words show their case
_MOST_SET = 10_000  # characters of a text that gets capitals; a longer one is no summary
_NEAR = 8  # characters before a word that show whether a sentence begins with it
_LEAST_WORDS = 3  # behind the first, from which on capitals everywhere are title case
_CONTINUES = ",;-'’"


class Capitalizer:
    """Sets the capitals of the summaries of one text."""

    def __init__(
        self,
        source: str,
        case: str | None = None,
        is_ordinary: Callable[[str], bool] | None = None,
        *,
        keeps_labels: bool = False,
    ) -> None:
        """Store the text.

        Args:
            source: The text that is summarised; how it writes a word decides what is a name.
            case: ``"sentence"``; ``"title"``; ``"source"`` for no change; ``"lower"`` for none;
                ``None`` for sentence case, unless the text itself begins in lower case.
            is_ordinary: Says of a word in lower case that it is no name, where the text has it
                at the beginning of a sentence alone; such words keep their capital if not given,
                and labels ("note: ...") their small letter.
            keeps_labels: Labels keep it in any case.
        """
        self._source = source[:_MOST_READ]
        self._case = case
        self._is_ordinary = is_ordinary or (lambda word: False)
        self._keeps_labels = keeps_labels

    def __call__(self, text: str, *, prefix: str = "", keeps: bool = False) -> str:
        """Set the capitals of one summary.

        Args:
            text: The summary, NFC.
            prefix: What stands before it. Where that breaks off within a sentence, so that the
                summary goes on with it, sentence case gives no capital; and by itself (``None``)
                not behind a label in lower case ("fix: ") either.
            keeps: Change nothing, unless a case was asked for.

        Returns:
            The summary, NFC. A text of more than 10,000 characters keeps its capitals, unless it
            gets none.
        """
        if self._case == "source" or not text:
            return text
        if self._case == "lower":
            made = text.lower()
        elif len(text) > _MOST_SET:
            return text
        elif self._case == "title":
            made = self._title(text)
        elif self._case is None and (keeps or self._begins_low or _is_low_label(prefix)):
            return text
        else:
            begins = not _goes_on(prefix) and not self._is_label(text, keeps=keeps)
            made = self._sentence(text, begins=begins)
        return made if made.isascii() else unicodedata.normalize("NFC", made)

    def _sentence(self, text: str, *, begins: bool) -> str:
        is_title = _is_title_case(text)
        made: list[str] = []
        for at, token in _tokens(text):
            is_low = token == token.lower()
            if at and not is_low and not self._is_code(token) and not _begins_at(text, at):
                token = _WORD.sub(lambda word: self._lowered(word[0], is_title=is_title), token)
            made.append(token)
        first = next((at for at, token in enumerate(made) if _says(token)), None)
        if begins and first is not None:
            if not self._is_code(made[first]) or self._is_joined(made[first]):
                made[first] = _capitalized(made[first])
        shown: str = _BEGINS.sub(self._begun, "".join(made))
        return self._whole_names(_TITLE.sub(lambda title: title[0].title(), shown))

    def _begun(self, word: regex.Match[str]) -> str:
        """A word behind a full stop, with the capital that it has there in the source."""
        form = _capitalized(word[2])
        begun: str = word[1] + form if word[1] + form in self._source else word[0]
        return begun

    def _whole_names(self, text: str) -> str:
        """A name of several words has the capitals of the source in all of them or in none."""
        words = list(_WORD.finditer(text))
        letters = list(text)
        for one, two in itertools.pairwise(words):
            if text[one.end() : two.start()] not in (" ", "-"):
                continue
            if letters[one.start()].isupper() and two[0].islower():
                form = self._pairs.get((one[0].lower(), two[0]))
                if form and len(form) == len(two[0]):
                    letters[two.start() : two.end()] = form
        for one, two in reversed(list(itertools.pairwise(words))):
            is_beside = text[one.end() : two.start()] in (" ", "-")
            if is_beside and one[0].islower() and letters[two.start()].isupper():
                form = self._firsts.get((one[0], two[0].lower()))
                if form and len(form) == len(one[0]):
                    letters[one.start() : one.end()] = form
        return "".join(letters)

    def _lowered(self, word: str, *, is_title: bool) -> str:
        """A word in lower case, if its capital is there only because of its place."""
        plain = _bare(word)
        if not _PLAIN.fullmatch(plain) or plain in self._names:
            return word
        is_known = plain in self._words  # at the beginning of a sentence: it may be a name
        if plain.lower() in self._lower or (is_title and not is_known):
            return word.lower()
        if is_known and self._is_ordinary(plain.lower()):
            return word.lower()
        return word.lower() if plain.lower() in SMALL_WORDS else word

    def _title(self, text: str) -> str:
        made: list[str] = []
        is_first = True
        for at, token in _tokens(text):
            if token.strip() and not self._is_code(token):
                is_edge = is_first or at + len(token) == len(text) or _begins_at(text, at)
                token = self._title_token(token, is_edge=is_edge)
            is_first = is_first and not _says(token)
            made.append(token)
        return "".join(made)

    def _title_token(self, token: str, *, is_edge: bool) -> str:
        """One token of a title; every part of a compound counts as a word ("State-of-the-Art")."""
        if _CLITIC.fullmatch(token):
            return token
        parts = regex.split(r"([-‐‑])", token)
        made = []
        for place, part in enumerate(parts):
            core = part.strip(_OPENERS + _CLOSERS)
            is_small = core.lower() in SMALL_WORDS and core not in self._names
            if is_small and (place > 0 or (len(parts) == 1 and not is_edge)):
                made.append(part.lower())
            else:
                made.append(_capitalized(part))
        return "".join(made)

    def _is_code(self, token: str) -> bool:
        """Return whether a token is an identifier, an acronym, a number or the like."""
        core = token.strip(_OPENERS + _CLOSERS)
        if "`" in token or (token[:1] == "-" and len(token) > 1):
            return True
        if token[len(core) :].startswith("()") or token.endswith("()"):
            return True
        return bool(core) and bool(_CODE.search(core) or core in self._quoted)

    def _is_joined(self, token: str) -> bool:
        """Return whether a token is no code, but an ordinary word with something joined to it."""
        core = token.strip(_OPENERS + _CLOSERS)
        joined = _JOINED.fullmatch(core) or _JOINED.fullmatch(core + ")")
        if joined is None or "`" in token or core in self._quoted:
            return False
        return all(map(self._is_ordinary, filter(None, joined.groups())))

    def _is_label(self, text: str, *, keeps: bool) -> bool:
        """Return whether a text begins with a label that stays small, as those of commits do."""
        label = _LABEL.match(text)
        if label is None:
            return False
        word = label[1]
        if keeps or self._keeps_labels or word in _TYPES or not self._is_ordinary(word):
            return True
        return word.islower() and f"{word}:" in self._source

    @property
    def _begins_low(self) -> bool:
        first = regex.search(r"\p{L}", self._source)
        is_code = self._source.lstrip().startswith("`")  # a name that a sentence begins with
        return first is not None and first[0].islower() and not is_code

    @cached_property
    def _quoted(self) -> frozenset[str]:
        """What the source has between two backticks."""
        return frozenset(_QUOTED_CODE.findall(self._source))

    @cached_property
    def _lower(self) -> frozenset[str]:
        """Words that the source has in lower case."""
        return frozenset(word for word in self._words if word.islower())

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_bare(word) for word in _WORD.findall(self._source))

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], str]:
        """For two neighbours that the source always has with capitals, the second as it is there.

        A pair at the beginning of a sentence does not count: the first may be no part of a name.
        """
        forms: dict[tuple[str, str], set[str]] = {}
        words = list(_WORD.finditer(self._source))
        for one, two in itertools.pairwise(words):
            if self._source[one.end() : two.start()] in (" ", "-"):
                key = one[0].lower(), two[0].lower()
                is_name = one[0][0].isupper() and one[0] in self._names and two[0][0].isupper()
                forms.setdefault(key, set()).add(two[0] if is_name else "")
        return {key: found.pop() for key, found in forms.items() if len(found) == 1 and all(found)}

    @cached_property
    def _firsts(self) -> dict[tuple[str, str], str]:
        """For two neighbours that the source always has with capitals, the first as it is there.

        At the beginning of a sentence they count if an acronym in brackets is made of the name.
        """
        forms: dict[tuple[str, str], set[str]] = {}
        spelled = self._spelled_out
        words = list(_WORD.finditer(self._source))
        for one, two in itertools.pairwise(words):
            if self._source[one.end() : two.start()] in (" ", "-"):
                key = one[0].lower(), two[0].lower()
                is_name = one[0] in self._names or key in spelled
                is_name = is_name and one[0][0].isupper() and two[0][0].isupper()
                forms.setdefault(key, set()).add(one[0] if is_name else "")
        return {key: found.pop() for key, found in forms.items() if len(found) == 1 and all(found)}

    @cached_property
    def _spelled_out(self) -> frozenset[tuple[str, str]]:
        """Neighbours within names behind which their initials stand: "Emotion Recognition (ER)"."""
        found: set[tuple[str, str]] = set()
        for acronym in _ACRONYM.finditer(self._source):
            n = len(acronym[1])
            before = self._source[max(0, acronym.start() - _LONGEST_NAME) : acronym.start()]
            words = [word[0].lower() for word in _WORD.finditer(before)][-n:]
            if "".join(word[0] for word in words) == acronym[1].lower():
                found.update(itertools.pairwise(words))
        return frozenset(found)

    @cached_property
    def _names(self) -> frozenset[str]:
        """Words that the source has with a capital where nothing begins."""
        found = set()
        for word in _WORD.finditer(self._source):
            if word[0][0].isupper():
                at = word.start()
                if not _begins_at(self._source, at, least=max(0, at - _NEAR)):
                    found.add(_bare(word[0]))
        return frozenset(found)


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Words and the spaces between them, and where each begins."""
    at = 0
    for token in regex.split(r"( +)", text):
        yield at, token
        at += len(token)


def _begins_at(text: str, at: int, *, least: int = 0) -> bool:
    """Return whether something begins at a place: a text, a sentence, a part of one, a quotation.

    No more of the text is looked at than from ``least`` on.
    """
    while at > least and _OPENING.match(text, at - 1):
        if _OPENS.match(text, at - 1):
            return True
        at -= 1
    place = at
    while at > least and text[at - 1].isspace():
        at -= 1
    if at == least:
        return at == 0
    if at == place and text[at - 1] == "-":  # within a compound: "Vision-Language-Action"
        return not (at - 1 == least > 0 or text[at - 2 : at - 1].isalnum())
    return text[at - 1] in _MARKS or _OPENS.match(text, at - 1) is not None


def _bare(word: str) -> str:
    """A word without the clitic behind it."""
    return word if word.isalpha() else _CLITIC.sub("", word)


def _capitalized(token: str) -> str:
    """A token whose first letter is a capital, behind opening marks; digits stay first."""
    core = token.lstrip(_OPENERS)
    if not core or not core[0].isalpha():
        return token
    return token[: len(token) - len(core)] + core[0].title() + core[1:]


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))


def _is_title_case(text: str) -> bool:
    words = [word for word in _WORD.findall(text)[1:] if word.lower() not in SMALL_WORDS]
    return len(words) >= _LEAST_WORDS and all(word[0].isupper() for word in words)


def _goes_on(prefix: str) -> bool:
    """Return whether a prefix breaks off within a sentence."""
    end = prefix.rstrip()[-1:]
    return end.isalnum() or (bool(end) and end in _CONTINUES)


def _is_low_label(prefix: str) -> bool:
    label = prefix.strip()
    return label.endswith(":") and label == label.lower() and any(map(str.isalpha, label))
