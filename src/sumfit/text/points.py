"""What a short talk, complaint, review, incident or set of minutes comes to, read first.

Owns `main_first`, and how minutes, incidents and questions with answers are told. A small model
makes its summary of where a text begins, which in these is a greeting, a question or how it came
about. In other text the sentence that says most (`sumfit.text.salience`) is put first, where that
is plain, and the rest stays as it is. Talk (`sumfit.text.talk`), what somebody wants
(`sumfit.text.personal`), abstracts, forecasts and matches (`sumfit.text.leads`) have modules of
their own; long texts are the matter of `sumfit.text.passages`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sumfit.text.leading import Found, capital, ended, first, is_plain
from sumfit.text.leads import news_behind_opening
from sumfit.text.orders import order_of
from sumfit.text.passages import Passages, TextForm, sentences_of
from sumfit.text.personal import what_one_wants
from sumfit.text.salience import salience
from sumfit.text.talk import LABEL, NOTE, bare, heaviest, turns_of, what_talk_settles

__all__ = ["main_first"]

_INCIDENT = re.compile(
    r"\b(?:incident|outage|post-?mortem|status page|all times (?:are )?(?:in )?[A-Z]{2,4})\b|"
    r"^investigating [-–—]|\[resolved\]|\bstatus: resolved\b|^resolved[.:]",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(?:investigating|identified|monitoring|update|resolved|summary|impact|fix)"
    r"[ \t]*(?::|[-–—](?=\s))[ \t]*",
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
    r"\b(?:down|unavailable|outage|error rates?|expired|refused|fail(?:s|ed|ing|ures?)?|degraded|"
    r"offline|"
    r"unreachable|latency|slow|timed? ?outs?|unable to|could not|nobody could|no one could|cannot|"
    r"can['’]t|elevated)\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:resolved|back to (?:normal|\d)|restored|recovered|back (?:up|online)|(?:is|are) over|"
    r"(?:up|normal|on) again|rollback complete|rolled back|fully operational|"
    r"work(?:s|ing)? (?:again|normally))\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"incident (?:is )?(?:closed|over|resolved)\b", re.IGNORECASE)
_CAUSE = re.compile(r"\broot cause\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:at |by |around )?\d{1,2}:\d{2}(?::\d{2})?(?: ?(?:UTC|GMT|CET|CEST|[AaPp]\.?[Mm]\b)\.?)?"
    r"[ \t]*[,:–—-]?[ \t]+(?=\S)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"(?:on [^,.]{3,30}, )?(?:from|between) [^,.]*\d[^,.]* (?:to|and|until) [^,.]*\d[^,.]*, (?=\w)",
    re.IGNORECASE,
)
_LASTED = re.compile(r"\bfor (?:\w+ ){1,3}(?:minutes|hours|days)\b", re.IGNORECASE)
_MINUTES = re.compile(
    r"\b(?:minutes|meeting|stand-?up|standup|committee|retro(?:spective)?|sync|action items|"
    r"board|notes of|daily|association|club|assembly|working group|(?:parents|residents|tenants|"
    r"members)['’] \w+)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"^(?:[A-Z][\w ]{2,25}: )?(?:after [^,]{3,40},? )?(?:it was|we|members|the (?:committee|board|"
    r"council|members|"
    r"meeting))"
    r"(?: have| has)? (?:\w+ly )?(?:agreed|decided|resolved)(?: \w+ly)? to (?=\w)",
    re.IGNORECASE,
)
_DAILY = re.compile(r"^(?:daily|weekly|stand-?up)\b", re.IGNORECASE)
_SPEAKS = re.compile(r"[A-Z]\w{0,11}(?:: | [-–] )")
_DASHED = re.compile(r"^[A-Z]\w{0,11} [-–] ")
_BLOCKED = re.compile(
    r"\b(?:blocked|waiting for|can['’]?t|cannot|fail(?:s|ed)?|needs)\b", re.IGNORECASE
)
_ACTION = re.compile(r"action", re.IGNORECASE)
_FINE = re.compile(r"the .{1,30} (?:is|are) (?:fine|good|ok(?:ay)?|perfect|great)\b", re.IGNORECASE)
_ASSENTS = re.compile(
    r"(?:works for me|sounds good|confirmed|agreed|perfect|ok(?:ay)?|fine)\b", re.IGNORECASE
)
_LEAST_SAID = 2.0  # weight of what is settled in an answer
_LEAST_KEPT = 2.5  # and in another mail
_ATTENDANCE = re.compile(
    r"(?:present|attendees|attending|apologies|absent|participants|(?:date of )?next meeting|"
    r"in attendance|(?:the )?minutes of (?:the |our )?\S+ meeting)\b",
    re.IGNORECASE,
)
_MAIL_SHARE = 0.2  # of the words of a mail that are read at least
_MINUTES_SHARE = 0.2  # of the words of minutes that are read at least
_SURE = 3.0  # weight of what is decided
_VERSION = re.compile(
    r"(?:version |release )?\[?v?\d+(?:\.\d+)+\]?(?: ?[-–(] ?[^()]{4,20}\)?)?[.:]?", re.IGNORECASE
)
_SECTION = re.compile(
    r"(?:(?:what['’]?s )?new(?: features)?|features|highlights|description|summary|overview|"
    r"introduction|background|details|notes?|general|other|misc(?:ellaneous)?|type of change|"
    r"describe (?:the|any) [^.?:]{3,60}|is your \w+ request [^.?:]{3,60}|what happened|"
    r"(?:steps )?to reproduce|steps|environment|"
    r"(?:expected|actual) (?:behaviou?r|results?)|additional (?:context|information)|bug report|"
    r"added|changed|history|see also|references|external links|install(?:ation)?|usage|"
    r"getting started|"
    r"changelog|release notes|how (?:has|was) (?:this|it) (?:been )?tested|test(?:ing|s)|checklist|"
    r"what does this (?:pr|change) do|why|motivation|related issues)[.:?]",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?:(?:steps )?to reproduce|steps|environment|additional|see also|references|external links|"
    r"install|usage|getting|how (?:has|was)|checklist|type of change|related|test|why|motivation)",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(?:ticket|case|request|issue|incident)\b[^\n.!?]{0,30}|"
    r"[A-Z][\w/ -]{0,20}:[ \t]*\S[^\n]{0,70}",
    re.IGNORECASE,
)
_TICKET_FIELD = re.compile(
    r"(?:ticket|case|request|priority|severity|category|product|component|plan|order|assignee|"
    r"status|"
    r"reporter|affected|operating system|customer)\b",
    re.IGNORECASE,
)
_OVER_FIELD = re.compile(r"status[ \t]*:[ \t]*resolved[ \t.]*", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:subject|title|summary)[ \t]*:[ \t]*", re.IGNORECASE)
_THANKS = re.compile(
    r"(?:many thanks|thanks|thank you|sorry for)\b(?!.*\b(?:but|please|could|can)\b)(?: \S+){0,11}",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"\w{4,}|\d+")
_STEM = 5  # letters that tell a word
_LONGEST_HEADING = 8  # words
_FEWEST_QUESTIONS = 2
_YES_NO = re.compile(r"(?:yes|no|yep|nope|sure|of course|unfortunately|sometimes)\b", re.IGNORECASE)
_MOST_SENTENCES = 40
_FEWEST_RANKED = 3
_CLEAR = 0.03  # by which a sentence says more than the first one
_CLEARER = 0.08  # of an article, which mostly begins with what it says


def main_first(text: str, form: TextForm = "article", *, least: int = 0) -> Passages | None:
    """Put the sentences that a short text comes to before the others, and leave out small talk.

    Of talk and threads that is what is decided, agreed or will be done; of minutes the decisions;
    of an incident the outage, its end and cause; of a complaint the fault and what the writer
    wants; of a review what it praises or blames; of a study, a forecast and a match what came of
    it. Labels ("Decision:"), "ok, then", "let's" and hours of a log
    before these are left out, and of talk the questions that are answered.

    Args:
        text: The text, cleaned, with its line breaks; each turn of talk is a line.
        form: Talk, a thread, or anything else.
        least: Words that are read at least, if there are so many.

    Returns:
        The sentences to read; ``None`` where the text should be read as it is.
    """
    text, is_ticket = _without_fields(text)
    title = text.partition("\n")[0]
    if any(cue.search(title) for cue in (_DAILY, _MINUTES, _INCIDENT)) and _is_heading(title):
        text = "\n".join(map(ended, text.split("\n")))
    turns = turns_of(text) if form == "talk" else []
    sentences = [one for turn in turns for one in turn] if turns else sentences_of(text)
    if not (1 - is_ticket) < len(sentences) <= _MOST_SENTENCES:
        return None
    given = [] if is_ticket else sentences
    if form != "talk":
        sentences = _without_labels(sentences, text)
    if form == "thread":
        sentences = [one for one in sentences if not _THANKS.fullmatch(one)] or sentences
    found = _incident(sentences)
    if found is None and form == "talk":
        found = what_talk_settles(turns)
    elif found is None:
        found = (
            _faq(text)
            or _minutes(sentences, text)
            or what_one_wants(sentences, is_ticket=is_ticket)
        )
        if found is None and form == "thread":
            found = _settled(sentences)
        if found is None:
            found = news_behind_opening(sentences)
    if found is None and (salient := _salient_first(sentences, form)):
        return salient
    read = sentences
    if found is not None:
        read = found.filled(sum(len(one.split()) for one in sentences), least)
    if read == given:
        return None
    main = found.main if found else ""
    n_read = min(len(read), len(sentences))  # one may be parted in two
    return Passages(" ".join(map(ended, read)), n_read, len(sentences), main)


def _salient_first(sentences: Sequence[str], form: TextForm) -> Passages | None:
    """All of a text, but first the sentence that says most, if that is plain."""
    if len(sentences) < _FEWEST_RANKED:
        return None
    scores = salience(sentences)
    best = max(range(len(sentences)), key=scores.__getitem__)
    is_article = form == "article"
    if scores[best] - scores[0] < (_CLEARER if is_article else _CLEAR):
        return None
    if is_article and order_of(sentences[best]):  # what to do with it, no news of it
        return None
    order = [best, *(place for place in range(len(sentences)) if place != best)]
    text = " ".join(ended(sentences[place]) for place in order)
    return Passages(text, len(sentences), len(sentences))


def _without_fields(text: str) -> tuple[str, bool]:
    """A text without the fields of a ticket before it, and whether it has such; a subject stays."""
    lines = text.split("\n")
    n = next((i for i, line in enumerate(lines) if line.strip() and not _FIELD.fullmatch(line)), 0)
    if not any(map(_TICKET_FIELD.match, lines[:n])):
        return text, False
    is_over = any(map(_OVER_FIELD.fullmatch, lines[:n]))
    subjects = [line[found.end() :] for line in lines[:n] if (found := _SUBJECT.match(line))]
    titles = [f"{subject} resolved" if is_over else subject for subject in subjects]
    return "\n".join([*map(ended, titles), *lines[n:]]), True


def _without_labels(sentences: list[str], text: str) -> list[str]:
    """Sentences without section labels that fit any text, and without a title said again.

    Nor is read how to repeat a fault, or where it was seen.
    """
    kept: list[str] = []
    is_aside = False
    for one in sentences:
        if _SECTION.fullmatch(one):
            is_aside = _ASIDE.match(one) is not None
        elif not is_aside:
            kept.append(one)
    if len(kept) < len(sentences) and len(kept) > 1 and _VERSION.fullmatch(kept[0]):
        kept = kept[1:]
    if len(kept) > 1 and text.startswith(kept[0] + "\n") and _is_said_again(kept[0], kept[1]):
        kept = kept[1:]
    return kept or sentences


def _is_said_again(title: str, sentence: str) -> bool:
    words = [word[:_STEM] for word in _CONTENT.findall(title.lower())]
    again = {word[:_STEM] for word in _CONTENT.findall(sentence.lower())}
    if sentence.startswith(title.rstrip(".:") + " "):
        return True
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
    least = _LEAST_SAID if _ASSENTS.match(sentences[0]) else _LEAST_KEPT
    main = heaviest(["" if _FINE.match(one) else one for one in sentences], least=least)
    if main is None:
        return None
    rest = [one for place, one in enumerate(sentences) if place != main]
    said = bare(sentences[main])
    return Found([said], said, rest, _MAIL_SHARE)


def _minutes(sentences: Sequence[str], text: str) -> Found | None:
    """The decisions of minutes, and then the rest without the heading."""
    heading = sentences[0]
    is_line = text.startswith(heading + "\n")
    is_title = is_line or any(map(str.isdecimal, heading))
    is_title = is_title and _is_heading(heading) and _MINUTES.search(heading) is not None
    is_headed = is_title or (is_line and _ATTENDANCE.search(heading) is not None)
    labelled = [place for place, one in enumerate(sentences) if LABEL.match(one)]
    if not (is_headed or labelled):
        return None
    if is_headed:
        labelled = labelled or [i for i, one in enumerate(sentences) if NOTE.match(one)]
    is_daily = _DAILY.match(heading) is not None
    main = heaviest(
        [
            "" if (is_daily and _SPEAKS.match(one)) or _ATTENDANCE.search(one) else one
            for one in sentences
        ]
    )
    if main is not None and all(_ACTION.match(sentences[place]) for place in labelled):
        decided = [one for place, one in enumerate(sentences) if place not in labelled]
        agreed = heaviest(decided, least=_SURE)
        labelled = labelled if agreed is None else [sentences.index(decided[agreed])]
    if main is None and is_headed and is_daily:
        main = first(sentences, _BLOCKED.search)
    places = labelled or ([] if main is None else [main])
    if not places:
        said = [one for one in sentences[1:] if not _ATTENDANCE.search(one)]
        has_names = _ATTENDANCE.search(heading) is not None
        return Found(said) if is_headed and said and (is_daily or has_names) else None
    rest = [
        one
        for place, one in enumerate(sentences)
        if place not in places and not (place == 0 and is_headed) and not _ATTENDANCE.search(one)
    ]
    lead = [_DASHED.sub("", sentences[place], count=1) for place in places]
    lead = [capital(_DECIDED.sub("", bare(one), count=1)) for one in lead]
    return Found(lead, lead[0], rest, 0.0 if is_plain(lead[0]) else _MINUTES_SHARE)


def _incident(sentences: Sequence[str]) -> Found | None:
    """The outage, its end and its cause; then the rest of the log."""
    if not (any(map(_INCIDENT.search, sentences[:2])) or any(map(_CLOSED.match, sentences))):
        return None
    if title := _RESOLVED.fullmatch(sentences[0]):
        resolved = f"{capital(title.group(1).rstrip('.'))} resolved."
        return Found([resolved], resolved, sentences[1:])
    down = first(sentences, lambda one: bool(_DOWN.search(_NUMBERED.sub("", one))))
    over = first(sentences, lambda one: bool(_OVER.search(one)) and one != sentences[0], last=True)
    spans = first(sentences, lambda one: bool(_SPAN.match(one) or _LASTED.search(one)))
    if spans is not None and spans in (1, down):  # it says its end itself
        told = _unlogged(sentences[spans])
        return Found([told], told, sentences[spans + 1 :], 0.0)
    if down is None or over is None or over == down:
        return None
    cause = first(sentences, lambda one: bool(_CAUSE.search(one)))
    places = [place for place in dict.fromkeys((down, over, cause)) if place is not None]
    rest = [one for place, one in enumerate(sentences) if place not in places and place > down]
    lead = [_unlogged(sentences[place]) for place in places]
    return Found(lead, " ".join(lead[:2]), [_unlogged(one) for one in rest])


def _unlogged(sentence: str) -> str:
    """A sentence without the number of an incident and without hours."""
    for before in (_NUMBERED, _STATUS, _CLOCK):
        if found := before.match(sentence):
            sentence = sentence[found.end() :]
    return capital(sentence)


def _is_heading(sentence: str) -> bool:
    return len(sentence.split()) <= _LONGEST_HEADING
