"""What a short talk, complaint, review, incident or set of minutes comes to, read first.

Owns `main_first`. A small model makes its summary of where a text begins, which in these is a
greeting, a question or how it came about. Other text, news and papers above all, stays as it is.
Long texts are the matter of `sumfit.text.passages`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sumfit.text.leading import Found, capital, ended, filled, first
from sumfit.text.passages import Passages, TextForm, sentences_of
from sumfit.text.personal import what_one_wants
from sumfit.text.talk import LABEL, NOTE, bare, heaviest, turns_of, what_talk_settles

__all__ = ["main_first"]

_INCIDENT = re.compile(
    r"\b(?:incident|outage|post-?mortem|status page|all times (?:are )?(?:in )?[A-Z]{2,4})\b|"
    r"\[resolved\]|\bstatus: resolved\b|^resolved[.:]",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:\[[A-Za-z ]{4,20}\]\s*)?(?:(?:incident|outage|inc)\b[ \t]*(?:report\b)?[ \t]*"
    r"#?[\w-]*\d[\w-]*|incident|incident report)[ \t]*(?::|[-–—](?=\s))[ \t]*",
    re.IGNORECASE,
)
_RESOLVED = re.compile(
    r"\W*(?:status: )?resolved\b[\]:. –—-]*((?!.*\b(?:is|are|was|were|has|have|had|some)\b)"
    r"\w\S*(?: \S+){1,8}?)[.]?",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:down|unavailable|outage|error rates?|expired|refused|fail(?:s|ed|ing)?|degraded|offline|"
    r"unreachable|latency|slow|timed? ?outs?|unable to|could not|cannot|can['’]t|elevated)\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:resolved|back to (?:normal|\d)|restored|recovered|back (?:up|online)|(?:is|are) over|"
    r"(?:up|normal) again|rollback complete|rolled back|fully operational|"
    r"work(?:s|ing)? (?:again|normally))\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"\broot cause\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:at |by |around )?\d{1,2}:\d{2}(?::\d{2})?(?: ?(?:UTC|GMT|CET|CEST|[AaPp]\.?[Mm]\b)\.?)?"
    r"[ \t]*[,:–—-]?[ \t]+(?=\S)",
    re.IGNORECASE,
)
_MINUTES = re.compile(
    r"\b(?:minutes|meeting|stand-?up|standup|committee|retro(?:spective)?|sync|action items|"
    r"board)\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[.:]?", re.IGNORECASE)
_SECTION = re.compile(
    r"(?:(?:what['’]?s )?new(?: features)?|features|highlights|description|summary|overview|"
    r"introduction|background|details|notes?|general|other|misc(?:ellaneous)?|type of change)[.:]",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"\w{4,}|\d+")
_STEM = 5  # letters that tell a word
_LONGEST_HEADING = 8  # words
_FEWEST_QUESTIONS = 2
_YES_NO = re.compile(r"(?:yes|no|yep|nope|sure|of course|unfortunately|sometimes)\b", re.IGNORECASE)
_MOST_SENTENCES = 40


def main_first(text: str, form: TextForm = "article") -> Passages | None:
    """Put the sentences that a short text comes to before the others, and leave out small talk.

    Of talk and threads that is what is decided, agreed or will be done; of minutes the decisions;
    of an incident the outage, its end and cause; of a complaint the fault and what the writer
    wants; of a review its verdict. Labels ("Decision:"), "ok, then", "let's" and hours of a log
    before these are left out, and of talk the questions that are answered.

    Args:
        text: The text, cleaned, with its line breaks; each turn of talk is a line.
        form: Talk, a thread, or anything else.

    Returns:
        The sentences to read; ``None`` where the text should be read as it is.
    """
    turns = turns_of(text) if form == "talk" else []
    sentences = [one for turn in turns for one in turn] if turns else sentences_of(text)
    if not 1 < len(sentences) <= _MOST_SENTENCES:
        return None
    given = sentences
    if form != "talk":
        sentences = _without_labels(sentences, text)
    found = _incident(sentences)
    if found is None and form == "talk":
        found = what_talk_settles(turns)
    elif found is None:
        found = _faq(text) or _minutes(sentences) or what_one_wants(sentences)
        if found is None and form == "thread":
            found = _settled(sentences)
    read = found.sentences if found else sentences
    if read == given:
        return None
    main = found.main if found else ""
    return Passages(" ".join(map(ended, read)), len(read), len(given), main)


def _without_labels(sentences: list[str], text: str) -> list[str]:
    """Sentences without section labels that fit any text, and without a title said again."""
    kept = [one for one in sentences if not _SECTION.fullmatch(one)]
    if len(kept) < len(sentences) and len(kept) > 1 and _VERSION.fullmatch(kept[0]):
        kept = kept[1:]
    if len(kept) > 1 and text.startswith(kept[0] + "\n") and _is_said_again(kept[0], kept[1]):
        kept = kept[1:]
    return kept if len(kept) > 1 else sentences


def _is_said_again(title: str, sentence: str) -> bool:
    words = [word[:_STEM] for word in _CONTENT.findall(title.lower())]
    again = {word[:_STEM] for word in _CONTENT.findall(sentence.lower())}
    return _is_heading(title) and len(words) > 1 and again.issuperset(words)


def _faq(text: str) -> Found | None:
    """The answers of a list of questions, each with its answer on the lines below."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and lines[1].endswith("?") and _is_heading(lines[0]):
        lines = lines[not lines[0].endswith("?") :]
    asks = [line.endswith("?") for line in lines]
    answers = [sentences_of(line) for line, asks_it in zip(lines, asks, strict=True) if not asks_it]
    are_pairs = sum(a and not b for a, b in pairwise(asks)) == sum(asks) >= _FEWEST_QUESTIONS
    needs_question = any(_YES_NO.match(one) for answer in answers for one in answer[:1])
    if not asks[0] or not are_pairs or needs_question:
        return None
    return Found([one for answer in answers for one in answer])


def _settled(sentences: Sequence[str]) -> Found | None:
    """What is settled in a mail, and then the rest."""
    main = heaviest(sentences, least=2.5)
    if main is None:
        return None
    rest = [one for place, one in enumerate(sentences) if place != main]
    said = bare(sentences[main])
    return Found(filled([said], rest, sentences), said)


def _minutes(sentences: Sequence[str]) -> Found | None:
    """The decisions of minutes, and then the rest without the heading."""
    is_headed = _is_heading(sentences[0]) and _MINUTES.search(sentences[0]) is not None
    labelled = [place for place, one in enumerate(sentences) if LABEL.match(one)]
    if not (is_headed or labelled):
        return None
    if is_headed:
        labelled = labelled or [i for i, one in enumerate(sentences) if NOTE.match(one)]
    main = heaviest(sentences)
    places = labelled or ([] if main is None else [main])
    if not places:
        return None
    rest = [
        one
        for place, one in enumerate(sentences)
        if place not in places and not (place == 0 and is_headed)
    ]
    lead = [bare(sentences[place]) for place in places]
    return Found(filled(lead, rest, sentences), lead[0])


def _incident(sentences: Sequence[str]) -> Found | None:
    """The outage, its end and its cause; then the rest of the log."""
    if not any(map(_INCIDENT.search, sentences[:2])):
        return None
    if title := _RESOLVED.fullmatch(sentences[0]):
        resolved = f"{capital(title.group(1).rstrip('.'))} resolved."
        return Found(filled([resolved], sentences[1:], sentences), resolved)
    down = first(sentences, lambda one: bool(_DOWN.search(_NUMBERED.sub("", one))))
    over = first(sentences, lambda one: bool(_OVER.search(one)) and one != sentences[0], last=True)
    if down is None or over is None or over == down:
        return None
    cause = first(sentences, lambda one: bool(_CAUSE.search(one)))
    places = [place for place in dict.fromkeys((down, over, cause)) if place is not None]
    rest = [one for place, one in enumerate(sentences) if place not in places and place > down]
    lead = [sentences[place] for place in places]
    read = [_unlogged(one) for one in filled(lead, rest, sentences)]
    return Found(read, " ".join(read[:2]))


def _unlogged(sentence: str) -> str:
    """A sentence without the number of an incident and without hours."""
    for before in (_NUMBERED, _CLOCK):
        if found := before.match(sentence):
            sentence = sentence[found.end() :]
    return capital(sentence)


def _is_heading(sentence: str) -> bool:
    return len(sentence.split()) <= _LONGEST_HEADING
