"""Whether a text ends as a sentence or headline should.

Owns the one rule for "complete" that the search constraints, the pipeline and the evaluation
share. A text property: nothing here knows how the text was made.
"""

from __future__ import annotations

import re

__all__ = [
    "CLITICS",
    "DANGLING_WORDS",
    "ELISIONS",
    "NEVER_LAST_WORDS",
    "TOLD_BY_NEIGHBOUR",
    "ends_completely",
]

# What English joins to a word with an apostrophe.
CLITICS = ("s", "t", "d", "m", "ll", "re", "ve")

# Words that need something after them. Particles that close many headlines ("shuts down",
# "gives up", "moves on") and pronouns are left out on purpose.
DANGLING_WORDS: frozenset[str] = frozenset(
    """
    a an the my your its their our every
    and or but nor plus if because although though unless whether while whereas
    of to for from with at by in on into onto upon about against among amid amidst as between
    despite during except including near per than toward towards under until versus via vs
    without within who whom whose which
    am is are was were be been being has have had having does did will would shall should can
    could may might must
    mr mrs ms dr prof sen rep gov
    """.split()
)

# Of these, the ones that no punctuation mark can rescue: "What is it for?" is complete,
# "He bought the." is not.
NEVER_LAST_WORDS = frozenset(
    "a an the my your its their our every and or but nor of mr mrs ms dr prof sen rep gov".split()
)

# Of these, the ones that are something else after some words: "in May", "at 9 am", "Disney Plus".
TOLD_BY_NEIGHBOUR = frozenset(("am", "may", "plus"))
_BEFORE_A_MONTH = frozenset(
    """
    in on by of since until till from to for and or through before after during around between late
    early mid last next this every
    """.split()
)

_OPEN_AT_END = re.compile(r"(?:[,;:\-–—&/+(\[{“«‹„‘$£€@]|\.\.\.|…)$")
_EMPTY_PAIR = re.compile(r"\(\)|\[\]|\{\}")  # of code: "simplify main()"
_CLOSERS = "\"'”’»›)]}"
_TERMINAL = ".!?。！？؟।"
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"))
ELISIONS = re.compile(
    r"'(?:\d0s|\d\d\b|em\b|til\b|tis\b|twas\b|cause\b|n'|round\b|bout\b"
    r"|(?:[sdmt]|re|ve|ll)(?=\s|$))",  # tokenised text writes "china 's"
    re.IGNORECASE,
)
_SINGLE_OPEN = re.compile(r"(?:^|(?<=[\s(\[“\"]))'(?=[^\W_])")
_SINGLE_CLOSE = re.compile(r"(?<=[^\s(\[])'(?![^\W_])")


def ends_completely(text: str) -> bool:
    """Tell whether a text ends completely: nothing is missing after its last word.

    False if the text is empty; ends on a comma, colon, dash, opening mark or ellipsis; ends on a
    word that needs another one (`DANGLING_WORDS`, unless a question or full stop shows that it
    was meant, or the word before it that it is a month, an hour or a name); or leaves a bracket or
    quotation mark open.

    Args:
        text: The text.

    Returns:
        The verdict.
    """
    stripped = _EMPTY_PAIR.sub("", text.strip())
    if not stripped or _has_open_pair(stripped):
        return False
    core = stripped.rstrip(_CLOSERS).rstrip() if stripped[-1] in _CLOSERS else stripped
    if not core or _OPEN_AT_END.search(core):
        return False
    ended = core[-1] in _TERMINAL
    words = core.rstrip(_TERMINAL).split()
    if not words:
        return False
    last = words[-1].lstrip("\"'“‘«(").lower()
    if words[-1] in ("'s", "’s"):
        return False
    if last not in DANGLING_WORDS or _is_told_apart(words):
        return True
    return ended and last not in NEVER_LAST_WORDS


def _is_told_apart(words: list[str]) -> bool:
    """Tell whether the word before the last one makes a month, an hour or a name of it."""
    if len(words) < 2:
        return False
    before, last = words[-2], words[-1]
    if last.lower() == "am":
        return before[:1].isdigit()
    if last == "May":
        return before[:1].isdigit() or before.lower() in _BEFORE_A_MONTH
    return last == "Plus" and before[:1].isupper()


def _has_open_pair(text: str) -> bool:
    for opening, closing in _BRACKETS:
        if text.count(opening) > text.count(closing):
            return True
    if text.count('"') % 2:
        return True
    if text.count("‘") > text.count("’"):
        return True
    plain = ELISIONS.sub("", text)
    return len(_SINGLE_OPEN.findall(plain)) > len(_SINGLE_CLOSE.findall(plain))
