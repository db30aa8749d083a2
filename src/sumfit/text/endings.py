"""Whether a text ends as a sentence or headline should.

Owns the one rule for "complete" that the search constraints, the pipeline and the evaluation
share. A text property: nothing here knows how the text was made.
"""

from __future__ import annotations

import re

__all__ = ["CLITICS", "DANGLING_WORDS", "ELISIONS", "NEVER_LAST_WORDS", "ends_completely"]

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
    was meant); or leaves a bracket or quotation mark open.

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
    if last not in DANGLING_WORDS:
        return True
    return ended and last not in NEVER_LAST_WORDS


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
