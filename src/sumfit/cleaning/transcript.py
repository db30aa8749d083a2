"""Transcripts, subtitles, chats and logs without time stamps, speaker labels and stage directions.

Owns what counts as a speaker label. A list of fields ("Place: Leeds", "Date: 4 May") is none. What
counts as a timetable is the matter of `sumfit.cleaning.plans`.
"""

from __future__ import annotations

import re
from collections import Counter

from sumfit.cleaning.blocks import has_words, joined
from sumfit.cleaning.openers import without_small_talk
from sumfit.cleaning.plans import is_plan

__all__ = ["clean_transcript"]

_CLOCK = (
    r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
    r"(?:[ \t]?(?:[AaPp]\.?[Mm]\b\.?|(?:UTC|GMT|CES?T)\b))?"
)
_DATE = r"(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})"
# Blanks are counted: of several runs of them side by side, each split would be tried.
_STAMP = re.compile(
    rf"[ \t]{{0,40}}(?:\*\*)?[\[(]?(?:{_DATE}[T, \t]+)?{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"
    rf"(?:[ \t]{{0,8}}[-–][ \t]{{0,8}}{_CLOCK})?"
    r"[\])]?(?:\*\*)?[ \t]{0,8}(?:[-–—|:][ \t]{1,8})?"
)
_LEVEL = re.compile(
    r"\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|TRACE)\]?[ \t]{0,8}[:-]?[ \t]{1,8}"
)
_CUE = re.compile(r"[ \t]*(?:\d{2}:)?\d{2}:\d{2}[.,]\d{3}[ \t]+-->[ \t]+.*")
_NUMBER = re.compile(r"[ \t]*\d{1,6}[ \t\r]*")
_VTT = re.compile(r"\ufeff?WEBVTT\b.*")
_VOICE = re.compile(r"<v(?:\.[\w.]+)?[ \t]+([^<>\n]{1,60})>")
_LABEL = re.compile(
    r"[ \t]{0,40}(?:\*{1,3}|_{1,2}|<)?("
    r"[A-Z][\w.'’&-]*(?:[ \t]{1,8}(?:[A-Z(][\w.'’)&-]*|\d{1,3}|de|van|von|da|of|"
    r"the)){0,4})[ \t]{0,8}(?:\*{1,3}|__)?[ \t]{0,8}(?:[\[(][^\[\]()\n]{1,30}[\])])?[ \t]{0,8}"
    rf"(?::(?:\*{{1,3}}|_{{1,2}})?|>)[ \t]{{1,8}}(?:[\[(]{_CLOCK}[\])][ \t]{{0,8}})?(?=\S)"
)
_HANDLE = re.compile(r"[ \t]{0,40}<?([a-z][\w.-]{1,20})[:>][ \t]{1,8}(?=\S)")  # "dana: morning!"
_EMPHASIS = re.compile(r"\*{1,3}|_{1,2}")
_BULLET = r"[ \t]{0,8}(?:[-*•–]|\d{1,3}[.)])[ \t]{1,4}(?=[\[(]?"
_FIRST_TIME = re.compile(r"(?m)^\W{0,4}0?0:00(?::00)?\b")
_FIRST_CHAPTER = re.compile(rf"(?m)^{_BULLET}0?0:00\b)")
_LISTED_CHAPTER = re.compile(rf"(?m)^{_BULLET}\d{{1,2}}:\d\d\b)")
_LABEL_ALONE = re.compile(
    r"[ \t]{0,40}(?:\*\*)?[A-Z][\w.'’-]*(?:[ \t]{1,8}[A-Z][\w.'’-]*){0,3}(?:\*\*)?"
    rf"[ \t]{{0,8}}:?[ \t]{{0,8}}[\[(]?{_CLOCK}[\])]?:?[ \t\r]*"
)
_FIELDS = frozenset(
    """
    info debug fatal critical trace
    address agenda answer author background benefits budget cast category caution city client
    code company conclusion contact cost country date day deadline description details director
    doors duration email entry error example expected fax fee fixes format free from genre hint
    hours how id important ingredients instructions introduction issue language length level
    link links location materials methods model name news note notes objective objectives output
    password phone place platform please policy prep price problem program project purpose
    question reason reference references related release reminder requirements result results
    role runtime salary see server solution source speaker starring status steps subject summary
    tel telephone time times tip title to topic type update url usage venue version warning
    website what when where who why year actual environment severity priority quantity colour
    color size material brand weight dimensions
    """.split()
)
_ROLES = re.compile(
    r"(?:host|guest|interviewer|interviewee|speaker|moderator|narrator|agent|customer|caller|operator|"
    r"doctor|patient|teacher|student|man|woman|chair|chairman|chairwoman|user|assistant|q|a|b|"
    r"presenter|reporter|judge|counsel|witness|player|coach)(?:[ \t]*[A-Z\d]{1,3})?",
    re.IGNORECASE,
)
_DIRECTION = re.compile(
    r"[\[(](?:music|applause|laughter|laughs?|inaudible|crosstalk|silence|pause|cheering|noise|"
    r"chuckles?|sighs?|intro music|background noise|unclear|coughs?)[^\[\]()\n]{0,30}[\])]|"
    r"♪[^♪\n]*♪?",
    re.IGNORECASE,
)
_NOTICE = re.compile(  # of a messenger, in the place of what somebody says
    r"[<(]?(?:media|image|video|audio|sticker|gif|document|contact card) omitted[>)]?|"
    r"(?:this message was|you) deleted(?: this message)?\.?|missed (?:voice|video) call\b.{0,20}|"
    r"messages (?:and calls |to this (?:chat|group) and calls )?are (?:now )?"
    r"(?:secured with )?end-to-end encrypt.{0,200}|waiting for this message\b.{0,40}|"
    r"(?:.{1,40} )?(?:joined using (?:this group's|a) (?:group )?(?:invite )?link|joined the group|"
    r"created (?:this )?group .{0,60}|left(?: the group)?|"
    r"changed (?:this group's|the (?:group|subject|group description|group's)) ?.{0,100}|"
    r"changed their phone number.{0,60}|turned (?:on|off) disappearing messages.{0,100})",
    re.IGNORECASE,
)
_BY_THE_WAY = re.compile(  # of a video: lines that say nothing of what is in it
    r"(?:intro(?:duction)?|outro|(?:end )?credits|end(?:ing)? screen|(?:our |my )?sponsors?|"
    r"ad(?: break)?|"
    r"(?:thanks|thank you|shout-?out) to (?:our|my|the|today['’]s|this)\b.{0,20}\bsponsors?\b"
    r".{0,60}|"
    r"(?:a )?(?:quick )?(?:word|message) from (?:our|my|the|today['’]s) sponsors?\b.{0,60}|"
    r"sponsor(?:ed)?(?: (?:message|segment|spot|read|by))\b.{0,60}|"
    r"(?:video )?(?:chapters|time[ -]?stamps|time[ -]?codes))[.:!]?",
    re.IGNORECASE,
)
_FIRST_FILLER = re.compile(  # none that may be a word of a name or of another language
    r"(?m)(?:^|(?<=[.!?…] ))(?:[Uu]h?m+|[Uu]h+|[Ee]rm+)(?:,|\.{1,3}|…) +(\w)"
)
_FILLER = re.compile(
    r", (?:uh?m+|uh+|erm+),(?= \w)|,? uhm?(?:,|\.\.\.|…)?(?= [a-z\d])|"
    r",? (?:um+|erm+)(?:\.\.\.|…)(?= \w)"
)
_ENGLISH = re.compile(  # in German and Portuguese "um" is a word
    r"\b(?:the|and|you|yes|for|of|with|that|it|we|is|i)\b", re.IGNORECASE
)
_LEAST_SHARE = 0.4  # of the lines
_FEWEST_WORDS = 3  # behind a label, on the average
_NAMED = 2


def clean_transcript(text: str, *, sure: bool = False) -> str:
    """Take what is said out of a transcript; other text stays as it is.

    Time stamps at the start of lines, speaker labels, cue numbers, directions such as
    ``[applause]``, a messenger's own notices ("<Media omitted>"), chapters such as "Intro" and the
    fillers "uh" and "um" are left out, and the small talk at the beginning; every line or turn is
    a sentence of its own. Turns within one line ("A: Hello. B: Hi.") stay, and the times of a
    timetable or an agenda.

    Args:
        text: The text.
        sure: It is a transcript, so one label is enough.

    Returns:
        The text; unchanged if it is no transcript or nothing would be left.
    """
    is_listed = _FIRST_CHAPTER.search(text)  # else the times of a list are those of a day
    lines = (_LISTED_CHAPTER.sub("", text) if is_listed else text).split("\n")
    if len(lines) < 2 and not sure:
        return text
    has_cues = any(_CUE.match(line) for line in lines[:2000])
    full = [line for line in lines if line.strip()]
    if not sure and is_plan(full):
        return text
    n_stamped = sum(bool(_STAMP.match(line) or _LABEL_ALONE.fullmatch(line)) for line in full)
    is_stamped = has_cues or (n_stamped > 1 and n_stamped >= _LEAST_SHARE * len(full) / 2)
    unstamped = [_STAMP.sub("", line, count=1) for line in full] if is_stamped else full
    labels = _labels(unstamped, is_stamped=is_stamped, sure=sure)
    labels |= _handles(unstamped, 1 if labels else _NAMED, is_stamped=is_stamped)
    if not (is_stamped or labels):
        return text
    blocks = _turns(lines, labels, is_stamped=is_stamped, has_cues=has_cues)
    if is_stamped and _FIRST_TIME.search(text):
        blocks = [block for block in blocks if not _BY_THE_WAY.fullmatch(block)] or blocks
    found = without_small_talk(_without_fillers(joined(blocks)))
    return found if has_words(found) else text


def _turns(
    lines: list[str], labels: frozenset[str], *, is_stamped: bool, has_cues: bool
) -> list[str]:
    """What is said, a turn or stamped line each."""
    blocks: list[str] = []
    is_new = True
    for line in lines:
        if has_cues and (_CUE.match(line) or _NUMBER.fullmatch(line) or _VTT.fullmatch(line)):
            is_new = False
            continue
        if is_stamped and _LABEL_ALONE.fullmatch(line):
            is_new = True
            continue
        said = _STAMP.sub("", line, count=1) if is_stamped else line
        said = _LEVEL.sub("", said, count=1) if len(said) < len(line) else said
        said = _VOICE.sub("", said)
        label = _LABEL.match(said) or _HANDLE.match(said)
        has_label = label is not None and label.group(1) in labels
        if label is not None and has_label:
            mark = _left_open(label.group())
            said = said[label.end() :]
            said = said.replace(mark, "", 1) if mark else said
        said = _DIRECTION.sub("", said).strip().lstrip("\u200e")
        if not said or (is_stamped and _NOTICE.fullmatch(said)):
            is_new = is_new or not has_cues
            continue
        starts = has_label or (is_stamped and not has_cues and len(said) < len(line.strip()))
        if blocks and not is_new and not starts:
            blocks[-1] += " " + said
        else:
            blocks.append(said)
        is_new = False
    return blocks


def _left_open(label: str) -> str:
    """The mark of emphasis that begins with a label and ends behind it ("**Q: Why?**")."""
    mark = _EMPHASIS.match(label.strip())
    if mark is None:
        return ""
    return mark.group() if label.count(mark.group()) == 1 else ""


def _without_fillers(text: str) -> str:
    """What is said without "uh", "um" and "erm" between commas or before a mark."""
    if not _ENGLISH.search(text):
        return text
    return _FILLER.sub("", _FIRST_FILLER.sub(lambda found: found[1].upper(), text))


def _handles(lines: list[str], fewest: int, *, is_stamped: bool) -> frozenset[str]:
    """The names in small letters before what is said in a chat, in which somebody asks something.

    A log has its programs there, and no names with a capital beside them.
    """
    found = [handle for handle in map(_HANDLE.match, lines) if handle]
    counts = Counter(handle.group(1) for handle in found)
    is_chat = fewest == 1 or any(handle.string.rstrip().endswith("?") for handle in found)
    if not (is_stamped or max(counts.values(), default=0) > 1):
        return frozenset()
    if not is_chat or len(counts) < fewest or len(found) < _LEAST_SHARE * len(lines):
        return frozenset()
    return frozenset(counts) - _FIELDS


def _labels(lines: list[str], *, is_stamped: bool, sure: bool) -> frozenset[str]:
    """The names that stand before what is said."""
    found = [label for label in map(_LABEL.match, lines) if label]
    counts = Counter(label.group(1) for label in found)
    usable = {name for name in counts if name.split()[0].lower().rstrip("s") not in _FIELDS}
    usable = {name for name in usable if name.lower() not in _FIELDS}
    usable |= {name for name in counts if _ROLES.fullmatch(name) and len(counts) > 1}
    n_lines = sum(counts[name] for name in usable)
    if not n_lines or (sure and usable):
        return frozenset(usable)
    n_words = sum(
        len(label.string[label.end() :].split()) for label in found if label.group(1) in usable
    )
    if n_lines < _LEAST_SHARE * len(lines):
        return frozenset()
    if n_words < _FEWEST_WORDS * n_lines and not (is_stamped or {"Q", "A"} <= usable):
        return frozenset()
    is_repeated = any(counts[name] > 1 for name in usable) and (len(usable) > 1 or usable == {"Q"})
    are_names = len(usable) >= _NAMED and all(
        _ROLES.fullmatch(name) or (len(name.split()) > 1 and not name.isupper()) for name in usable
    )
    return frozenset(usable) if is_stamped or is_repeated or are_names else frozenset()
