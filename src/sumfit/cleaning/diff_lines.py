"""What lines of a patch say in English: comments, names of tests, messages, values that change.

Owns the reading of single lines, and what their code looks like in a sentence. Does not own files
and hunks (`sumfit.cleaning.diff`).
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import NamedTuple

from sumfit.cleaning.blocks import has_words
from sumfit.text.orders import order_of

__all__ = ["Told", "is_told_last", "tell_run"]

_COMMENT = re.compile(
    r"(?://+\s*|#\s+|--\s+|/\*+\s*|\*\s+|;+\s+|<!--\s*|\"\"\"\s*|'''\s*)(.+?)\s*(?:\*/|-->|\"\"\"|''')?"
)
_NO_PROSE = re.compile(
    r"[(){}=<>|\\$]|\w_\w|;$|\b(?:noqa|eslint|pylint|nolint|type:|SPDX|Copyright|TODO|FIXME|include|"
    r"define|ifdef|ifndef|pragma|endif)\b"
)
_PROSE_WORD = re.compile(r"(?<![^\s\"'(])[A-Za-z][a-z']*(?![^\s\"'.,:;!?)])")
_FEWEST_WORDS = 3
_TEST = re.compile(
    r"(?:async )?(?:test|it|specify|scenario|should)(?:\.\w+)?[ (]+([\"'`])(.{3,120}?)\1|"
    r"(?:async )?(?:def|fn|fun|void|public void|function) +test_?(\w{3,120}?)\s*\(|"
    r"func +Test_?(\w{3,120}?)\s*\(",
    re.IGNORECASE,
)
_MESSAGE = re.compile(
    r"\b(?:raise|throw|panic|error|errorf|exception|fail|die|bail)\b.*?([\"'])(.+?)\1", re.I
)
_PLACEHOLDER = re.compile(r"[#$]?\{[^{}]*\}|%[-\w.]*[a-z]\b")
_SETTING = re.compile(
    r"(?P<head>(?:(?:const|let|var|val|final|static|private|public|export|int|long|float|"
    r"double) +)*"
    r"[\"']?(?P<name>[\w@][\w.@/-]*)[\"']?(?: *: *[A-Za-z][\w\[\]]*(?= *=))?)"
    r" *(?P<mark>:=|===?|=>|~=|>=|=|:| (?=v?\d+\.\d)) *(?P<value>.+)"
)
_DIRECTIVE = re.compile(r"(?P<head>(?P<name>[A-Za-z][\w.-]*))(?P<mark> )(?P<value>\S+)")
_CONFIGURES = re.compile(
    r"\.(?:conf|cnf|cfg|config|ini|properties|ya?ml|toml|env|tfvars)$|(?:^|/)[\w.-]*(?:config|rc)$",
    re.IGNORECASE,
)
_HAS_DIRECTIVES = re.compile(r"\.(?:conf|cnf|cfg)$|(?:^|/)[\w.-]*(?:config|rc)$", re.IGNORECASE)
_LABELS = re.compile(r"port$|listen|id$|year", re.IGNORECASE)  # numbers that count nothing
_WORD = re.compile(r"[\w./:@+*-]{1,60}")
_NUMBER = re.compile(r"(-?\d[\d_]*(?:\.\d+)?) ?([a-zA-Z%]{0,3})")
_VERSION = re.compile(r"[~^]?v?(\d+\.\d+[\w.+-]*)")
_NAMES_A_VERSION = re.compile(r"(?<![A-Za-z])(?:version|VERSION)|Version")  # not "conversion"
_ADDRESS = re.compile(r"\d+(?:\.\d+){3}")
_GO_TIME = re.compile(r"(\d+) ?\* ?time\.(Millisecond|Second|Minute|Hour)")
_UNITS = {"Millisecond": "ms", "Second": "s", "Minute": "min", "Hour": "h"}
_NAMED = re.compile(r"[\"'][^\"'`]{1,40}[\"']|true|false|null|nil|none", re.IGNORECASE)
_CONDITION = re.compile(r"if \(?([^():]{1,60})\)?:?")
_LOOSE_ENDS = " \t,;{"
_EMPTY = frozenset("end fi done esac else begin do try pass then endif return break".split())
_TEST_FILE = re.compile(r"(?:^|[/_.-])(?:tests?|specs?|__tests__)(?:[/_.-]|$)|Tests?\.\w+$")
_DOCUMENT = re.compile(r"\.(?:md|markdown|rst|txt|adoc|html?|csv|tsv)$", re.IGNORECASE)


def is_told_last(path: str) -> bool:
    """Say whether a file is a test, which tells less of a change than what it tests.

    Args:
        path: Its path.

    Returns:
        The verdict.
    """
    return _TEST_FILE.search(path) is not None


class Told(NamedTuple):
    """What lines of one place say, each without a stop.

    Attributes:
        values: Values that change: "raise timeout from 30 to 60".
        said: English that the new lines say, each a sentence.
        done: What else is done, each part of a sentence.
    """

    values: list[str]
    said: list[str]
    done: list[str]


class _Setting(NamedTuple):
    """A line that sets something."""

    number: int
    name: str
    mark: str
    value: str
    is_bare: bool


def tell_run(path: str, removed: list[str], added: list[str], *, is_cut: bool = False) -> Told:
    """Tell lines that were removed and added in one place.

    Args:
        path: The file.
        removed: Lines without their mark.
        added: Lines that stand in their place.
        is_cut: Whether there are more lines than are given.

    Returns:
        What they say; of lines of code nothing if a comment or the name of a test says it.
    """
    if _DOCUMENT.search(path):
        return Told([], [], _code(removed, added))
    bare = ({line.rstrip(_LOOSE_ENDS) for line in lines} for lines in (removed, added))
    same = set.intersection(*bare)  # moved, or with another indent or mark at the end
    old, new = (
        [line for line in lines if line.rstrip(_LOOSE_ENDS) not in same]
        for lines in (removed, added)
    )
    said = [prose for line in new if (prose := _comment(line))]
    old, new = ([line for line in lines if not _comment(line)] for lines in (old, new))
    values = []
    for one, two in _pairs(path, removed, added, is_cut=is_cut):
        change = _change(path, one, two)
        if change and removed[one.number] in old and added[two.number] in new:
            old.remove(removed[one.number])
            new.remove(added[two.number])
            values.append(change)
    values = list(dict.fromkeys(values))
    if tests := [f"test that {name}" for line in new if (name := _test(line))]:
        return Told(values, said, tests)
    if any(order_of(prose) for prose in said) and not old:
        return Told(values, said, [])
    messages = [message for line in new if (message := _message(line))]
    return Told(values, said + messages, _code(old, new))


def _comment(line: str) -> str:
    found = _COMMENT.fullmatch(line)
    return _prose(found[1]) if found else ""


def _prose(text: str) -> str:
    """Return a text with a capital and no stop if it is English of a few words, else nothing."""
    words = text.split()
    if len(words) < _FEWEST_WORDS or _NO_PROSE.search(text):
        return ""
    if len(_PROSE_WORD.findall(text)) * 4 < len(words) * 3:
        return ""
    return text[0].upper() + text[1:].rstrip(" .,;")


def _test(line: str) -> str:
    """What a test is called, as words."""
    found = _TEST.match(line)
    if found is None:
        return ""
    name = found[2] or re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", found[3] or found[4]).lower()
    name = name.strip(" .")
    return name if len(name.split()) >= _FEWEST_WORDS else ""


def _message(line: str) -> str:
    found = _MESSAGE.search(line)
    if found is None:
        return ""
    return _prose(" ".join(_PLACEHOLDER.sub("", found[2]).split()))


def _pairs(
    path: str, removed: list[str], added: list[str], *, is_cut: bool
) -> list[tuple[_Setting, _Setting]]:
    """What sets the same thing before and after, in the order of the lines added.

    A thing that is set several times is paired in its order, if it is set as often as before and
    none of its lines has moved.
    """
    before, after = _settings(path, removed), _settings(path, added)
    pairs: list[tuple[_Setting, _Setting]] = []
    for head, new in after.items():
        old = before.get(head, [])
        is_clear = len(old) == len(new) == 1 or not (is_cut or _have_moved(old, new))
        if is_clear and len(old) == len(new):
            pairs += zip(old, new, strict=True)
    return sorted(pairs, key=lambda pair: pair[1].number)


def _have_moved(old: list[_Setting], new: list[_Setting]) -> bool:
    same = {setting.value for setting in old} & {setting.value for setting in new}
    return any(
        one.value != two.value and same & {one.value, two.value}
        for one, two in zip(old, new, strict=False)
    )


def _settings(path: str, lines: list[str]) -> dict[str, list[_Setting]]:
    """What the lines set, by what stands before the mark."""
    settings: dict[str, list[_Setting]] = {}
    for number, line in enumerate(lines):
        if found := _setting(path, line):
            setting = _Setting(
                number, found["name"], found["mark"], found["value"], found.re is _DIRECTIVE
            )
            settings.setdefault(found["head"], []).append(setting)
    return settings


def _setting(path: str, line: str) -> re.Match[str] | None:
    """The name and the value that a line sets; without a mark between them in some files only."""
    line = line.rstrip(_LOOSE_ENDS)
    found = _SETTING.fullmatch(line)
    if found is None and _HAS_DIRECTIVES.search(path):
        found = _DIRECTIVE.fullmatch(line)
    return found


def _change(path: str, before: _Setting, after: _Setting) -> str:
    """Tell how a value changes; ``""`` for what is no plain value, such as a word of code."""
    name = after.name
    shown = name if name.isalpha() else f"`{name}`"
    old, new = (_GO_TIME.sub(_in_units, setting.value) for setting in (before, after))
    if before.mark != after.mark or old.strip("\"'") == new.strip("\"'"):
        return ""
    was, now = (_VERSION.fullmatch(value.strip("\"'")) for value in (old, new))
    if (
        was
        and now
        and (was[1].count(".") > 1 or not _NUMBER.fullmatch(old) or _NAMES_A_VERSION.search(name))
    ):
        if was[1] == now[1]:
            return ""
        is_address = _ADDRESS.fullmatch(was[1]) or _ADDRESS.fullmatch(now[1])
        return f"{'change' if is_address else 'update'} {shown} from {was[1]} to {now[1]}"
    first, second = _NUMBER.fullmatch(old), _NUMBER.fullmatch(new)
    if first and second:
        is_label = after.is_bare or _LABELS.search(name)
        verb = "change" if is_label else _verb(first, second)
        return f"{verb} {shown} from {old} to {new}"
    is_word = _CONFIGURES.search(path) is not None
    if _is_value(old, is_word=is_word) and _is_value(new, is_word=is_word):
        return f"change {shown} from {old} to {new}"
    return ""


def _verb(first: re.Match[str], second: re.Match[str]) -> str:
    """Say whether a number is raised or lowered, or only changed where that is not sure."""
    one, two = (float(found[1].replace("_", "")) for found in (first, second))
    is_like = first[2] == second[2] or not (one and two)
    is_more = two > one
    if one == two or not is_like or is_more != (_parts(second[1]) > _parts(first[1])):
        return "change"
    return "raise" if is_more else "lower"


def _parts(number: str) -> list[int]:
    """A number read as a version, where 3.10 is above 3.9."""
    return [int(part) for part in number.replace("_", "").split(".")]


def _is_value(text: str, *, is_word: bool) -> bool:
    forms = (_NUMBER, _NAMED, _WORD) if is_word else (_NUMBER, _NAMED)
    return any(form.fullmatch(text) for form in forms)


def _in_units(found: re.Match[str]) -> str:
    return f"{found[1]} {_UNITS[found[2]]}"


def _code(old: list[str], new: list[str]) -> list[str]:
    """Tell lines of code, without the marks at their ends."""
    told = []
    pairs = zip_longest(*([_shown(line) for line in lines] for lines in (old, new)), fillvalue="")
    case = ""
    for one, two in pairs:
        condition = _CONDITION.fullmatch(two)
        if one and two:
            told.append(f"use `{two}` instead of `{one}`")  # cut behind it, it is still true
        elif case and two and not condition:
            told[-1] = f"add `{two}` if `{case}`"
        elif one or two:
            told.append(f"remove `{one}`" if one else f"add `{two}`")
        case = condition[1] if condition and not one else ""
    return told


def _shown(line: str) -> str:
    line = line.rstrip(_LOOSE_ENDS)
    return line if has_words(line) and line.lower() not in _EMPTY else ""
