"""What a short talk, complaint, review, incident or set of minutes comes to, read first.

Owns `main_first`. A small model makes its summary of where a text begins, which in these is a
greeting, a question or how it came about. Other text, news and papers above all, stays as it is.
Long texts are the matter of `sumfit.text.passages`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sumfit.text.passages import Passages, TextForm, sentences_of

__all__ = ["main_first"]

_LABEL = re.compile(
    r"(?:key |main |final )?(?:decisions?|decided|resolved|agreed|agreement|outcome|verdict|"
    r"action items?|actions?)"
    r"[ \t]*(?::|[-–—](?=\s))[ \t]*",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?:note|nb|important|bottom line|conclusion)[ \t]*:[ \t]*", re.IGNORECASE)
_OPENS = re.compile(
    r"(?:(?:ok(?:ay)?|right|cool|great|perfect|fine|alright|all right|sure|yes|yeah|yep|good|nice|"
    r"sounds good|done|well|so|and|then|in that case|got it|makes sense|deal|agreed|works for me)"
    r"\b[,.!]*\s+|let['’]?s (?=\w))",
    re.IGNORECASE,
)
_SETTLES: tuple[tuple[re.Pattern[str], float], ...] = (
    (
        re.compile(
            r"\b(?:decided (?:to|on|that|against)|decision (?:is|was)|we agreed|"
            r"agreed (?:to|on|that|with)|motion (?:is |was )?(?:carried|carries)|voted|approved|"
            r"resolved (?:to|that)|"
            r"(?:go|going|went) (?:with|for|ahead)|call(?:ed)? off|"
            r"let['’]?s (?!see|wait|start|begin|give|move on|come back|talk|look|hope|face|say)"
            r"\w+)\b",
            re.IGNORECASE,
        ),
        3.0,
    ),
    (
        re.compile(
            r"^(?:ok(?:ay)?|right|cool|great|perfect|fine|alright|all right|done|deal|"
            r"sounds good)\b(?!.*\bplease\b)[,.!]* (?:\S+ ){2,}|\bthen[.!]*$|"
            r"^.{1,30}\b(?:is|are|works|sounds) (?:fine|good|ok(?:ay)?|perfect|great)[.!]*$",
            re.IGNORECASE,
        ),
        2.5,
    ),
    (
        re.compile(
            r"^please (?!note|see|find|let me|wait|hold|text|tell)\w+|\bworks for (?:me|us)\b|"
            r"\b(?:(?:we|i|they|he|she|it|you)['’]ll|will(?: be)?|(?:am|is|are|['’]m|['’]re) going "
            r"to|moves? (?:from|to)|moved (?:from|to)) (?!do\b|see\b|think\b)\w+",
            re.IGNORECASE,
        ),
        2.0,
    ),
)
_WANTS = re.compile(
    r"\bplease (?!note|see|find|let me know|do not hesitate|don['’]t hesitate|be aware)|"
    r"\b(?:i|we)(?: would|['’]d) (?:like|appreciate)\b|\b(?:i|we) (?:expect|want|request|demand|"
    r"need|ask)\b|\b(?:could|can|would) (?:you|somebody|someone|anyone)\b",
    re.IGNORECASE,
)
_FAULTY = re.compile(
    r"\bno longer\b|\b(?:does|do|did|wo|ca|could|has|have|was|is)(?:n['’]t|n?not| not)\b|\bnever "
    r"(?:arrived|came|received|got|turned)|\b(?:broken?|broke|missing|fail(?:s|ed|ing)?|crash\w*|"
    r"stopped|wrong(?:ly)?|damaged|leak\w*|smok(?:e|ed|es|ing)|faulty|defective|cracked|torn|"
    r"overcharged|twice|received nothing|(?:was|were|been|got) cancelled|late|"
    r"called (?:it )?off|errors?|lost|freez\w+|"
    r"(?:taken|charged|billed)\b.{0,60}\bagain)\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"\b(?:overall|all in all|in short|to sum up|bottom line)\b|\b(?:would|will|wo)(?:n['’]t| not| "
    r"never| definitely| happily| certainly| gladly| absolutely)? (?:not |never )?(?:buy|recommend|"
    r"come back|be back|go back|go again)\b|\b(?:would|wo)(?:n['’]t| not| never)? (?:return|book|"
    r"order|stay|visit)\b|\b(?:worth every|waste of|do not buy|don['’]t buy|highly recommend)\b",
    re.IGNORECASE,
)
_STARS = re.compile(
    r"\b(?:[1-5]|one|two|three|four|five)(?: out of (?:5|five)|/5| stars?)\b|\b\d{1,2}/10\b",
    re.IGNORECASE,
)
_TURN = re.compile(r"(?:but|however|unfortunately|sadly)\b,?\s*", re.IGNORECASE)
_MYSELF = re.compile(r"\b(?:I|I['’]\w+|my|me|My)\b")
_REPORTED = re.compile(r"\b(?:said|told reporters|according to)\b|[\"“][^\"”]{30}", re.IGNORECASE)
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
_DESK = re.compile(
    r"(?:thanks|thank you) for (?:contacting|calling|reaching|getting|writing)\b", re.I
)
_LOWER_START = re.compile(r"(?<=[a-z]{3}[.!?])\s+(?=[a-z])")
_TICKET = re.compile(
    r"\b(?:ticket|case|request) ?(?:#|no\.? ?|number )?\d|\bpriority:", re.IGNORECASE
)
_PLEASANT = re.compile(
    r"(?:thanks|thank you|hi|hello|hey|morning|good (?:morning|afternoon|evening)|welcome|sorry|"
    r"i['’]?(?: a)?m (?:so |very )?sorry|perfect|great|ok(?:ay)?|sure|yes|yeah|no problem|cool|bye|"
    r"you['’]re welcome|will do|how (?:can|may) i help)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(r"\b(?:it|that|this|them|those|these)\b", re.IGNORECASE)
_REFERS_TO_THING = re.compile(r"^(?:\S+ ){0,3}(?:it|they|them)\b", re.IGNORECASE)
_CLAUSE = re.compile(r",? (?:and|but) ", re.IGNORECASE)
_THEN = re.compile(r",? then(?=[.!]*$)", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[.:]?", re.IGNORECASE)
_SECTION = re.compile(
    r"(?:(?:what['’]?s )?new(?: features)?|features|highlights|description|summary|overview|"
    r"introduction|background|details|notes?|general|other|misc(?:ellaneous)?|type of change)[.:]",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"\w{4,}|\d+")
_STEM = 5  # letters that tell a word
_LONGEST_HEADING = 8  # words
_LEAST_PLEASANT = 6  # words with which a sentence that begins kindly says something
_FEWEST_QUESTIONS = 2
_YES_NO = re.compile(r"(?:yes|no|yep|nope|sure|of course|unfortunately|sometimes)\b", re.IGNORECASE)
_SURE = 3.0  # weight of a sentence that says that something is settled
_LEAST_MAIN = 4  # words of a main sentence, one less of a sure one
_SHORT_MAIN = 4  # words up to which it needs the question that it answers
_LEAST_SETTLED = 2.0  # weight of a sentence that settles something
_SHARE = 0.5  # of the words of a text that are read at least
_TALK_SHARE = 0.25  # of talk
_LATER = 0.4  # how much more the end of a talk counts than its beginning
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
    turns = [_said(line) for line in text.split("\n")] if form == "talk" else []
    sentences = [one for turn in turns for one in turn] if turns else sentences_of(text)
    if not 1 < len(sentences) <= _MOST_SENTENCES:
        return None
    given = sentences
    if form != "talk":
        sentences = _without_labels(sentences, text)
    found = _incident(sentences)
    if found is None and form == "talk":
        found = _talk(turns)
    elif found is None:
        found = _faq(text) or _minutes(sentences) or _personal(sentences)
        if found is None and form == "thread":
            found = _settled(sentences)
    read = found.sentences if found else sentences
    if read == given:
        return None
    main = found.main if found else ""
    return Passages(" ".join(map(_ended, read)), len(read), len(given), main)


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


@dataclass(frozen=True, slots=True)
class _Found:
    """Sentences to read, and what of them a summary should draw on."""

    sentences: list[str]
    main: str = ""


def _said(turn: str) -> list[str]:
    """Sentences of a turn, those that begin with a small letter among them."""
    return [part for one in sentences_of(turn) for part in _LOWER_START.split(one)]


def _talk(turns: Sequence[Sequence[str]]) -> _Found | None:
    """What is settled in a talk, and then the turns that say something."""
    sentences = [one for turn in turns for one in turn]
    main = _heaviest(sentences)
    asked = _answered(turns)
    kept = [place for place, sentence in enumerate(sentences) if not _is_pleasant(sentence)]
    if main is None:
        rest = [sentences[place] for place in kept if place not in asked]
        return _Found(rest) if rest else None
    said = sentences[main]
    topic = next((i for i in kept if i < main and _says_something(sentences[i])), None)
    others = [place for place in kept if place not in {main, topic} and place not in asked]
    others.sort(key=lambda place: _weight(sentences[place]) < _LEAST_SETTLED)
    lead = [_bare(said)]
    if topic is not None and _REFERS.search(said):
        lead.insert(0, sentences[topic])
    elif topic is not None and (topic not in asked or len(said.split()) <= _SHORT_MAIN):
        lead.append(sentences[topic])
    rest = [sentences[place] for place in others]
    return _Found(_filled(lead, rest, sentences, _TALK_SHARE), _bare(said))


def _filled(
    lead: Sequence[str], rest: Sequence[str], sentences: Sequence[str], share: float = _SHARE
) -> list[str]:
    """The first sentences and so many of the rest that a share of all words is there."""
    found = list(lead)
    least = share * sum(len(one.split()) for one in sentences)
    n_words = sum(len(one.split()) for one in found)
    for one in rest:
        if n_words >= least:
            break
        found.append(one)
        n_words += len(one.split())
    return found


def _answered(turns: Sequence[Sequence[str]]) -> set[int]:
    """Places of sentences that ask, those before them in a turn that ends in a question too."""
    asked: set[int] = set()
    place = 0
    for turn in turns:
        is_asking = bool(turn) and turn[-1].endswith("?") and _heaviest(turn) is None
        asked |= {
            place + i for i, sentence in enumerate(turn) if is_asking or sentence.endswith("?")
        }
        place += len(turn)
    return asked


def _faq(text: str) -> _Found | None:
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
    return _Found([one for answer in answers for one in answer])


def _settled(sentences: Sequence[str]) -> _Found | None:
    """What is settled in a mail, and then the rest."""
    main = _heaviest(sentences, least=2.5)
    if main is None:
        return None
    rest = [one for place, one in enumerate(sentences) if place != main]
    said = _bare(sentences[main])
    return _Found(_filled([said], rest, sentences), said)


def _minutes(sentences: Sequence[str]) -> _Found | None:
    """The decisions of minutes, and then the rest without the heading."""
    is_headed = _is_heading(sentences[0]) and _MINUTES.search(sentences[0]) is not None
    labelled = [place for place, one in enumerate(sentences) if _LABEL.match(one)]
    if not (is_headed or labelled):
        return None
    if is_headed:
        labelled = labelled or [i for i, one in enumerate(sentences) if _NOTE.match(one)]
    main = _heaviest(sentences)
    places = labelled or ([] if main is None else [main])
    if not places:
        return None
    rest = [
        one
        for place, one in enumerate(sentences)
        if place not in places and not (place == 0 and is_headed)
    ]
    lead = [_bare(sentences[place]) for place in places]
    return _Found(_filled(lead, rest, sentences), lead[0])


def _incident(sentences: Sequence[str]) -> _Found | None:
    """The outage, its end and its cause; then the rest of the log."""
    if not any(map(_INCIDENT.search, sentences[:2])):
        return None
    if title := _RESOLVED.fullmatch(sentences[0]):
        resolved = f"{_capital(title.group(1).rstrip('.'))} resolved."
        return _Found(_filled([resolved], sentences[1:], sentences), resolved)
    down = _first(sentences, lambda one: bool(_DOWN.search(_NUMBERED.sub("", one))))
    over = _first(sentences, lambda one: bool(_OVER.search(one)) and one != sentences[0], last=True)
    if down is None or over is None or over == down:
        return None
    cause = _first(sentences, lambda one: bool(_CAUSE.search(one)))
    places = [place for place in dict.fromkeys((down, over, cause)) if place is not None]
    rest = [one for place, one in enumerate(sentences) if place not in places and place > down]
    lead = [sentences[place] for place in places]
    read = [_unlogged(one) for one in _filled(lead, rest, sentences)]
    return _Found(read, " ".join(read[:2]))


def _personal(sentences: Sequence[str]) -> _Found | None:
    """What a review or complaint comes to; nothing where others are quoted."""
    n_own = sum(_MYSELF.search(one) is not None for one in sentences)
    if any(map(_REPORTED.search, sentences)) and n_own * 2 < len(sentences):
        return None
    is_own = n_own * 3 >= len(sentences)
    return _review(sentences, is_own=is_own) or _complaint(sentences, is_own=is_own)


def _review(sentences: Sequence[str], *, is_own: bool) -> _Found | None:
    """The verdict of a review and what follows "but"; then the rest."""
    verdict = _first(sentences, lambda one: bool(_VERDICT.search(one)))
    if verdict is None:
        return None
    if not (is_own or _MYSELF.search(sentences[verdict]) or any(map(_STARS.search, sentences))):
        return None
    turn = _first(sentences, lambda one: bool(_TURN.match(one)))
    return _led(sentences, (verdict, turn))


def _complaint(sentences: Sequence[str], *, is_own: bool) -> _Found | None:
    """The fault and the wish of a complaint; then the rest, without what is asked."""
    is_ticket = any(map(_TICKET.search, sentences[:3]))
    if not (is_own or is_ticket):
        return None
    body = [one for one in sentences if not _TICKET.search(one)] if is_ticket else sentences
    fault = _first(body, lambda one: bool(_FAULTY.search(one)))
    want = _first(body, lambda one: bool(_WANTS.search(one)))
    if fault is None or want is None:
        return None
    if body[want].endswith("?"):
        said = body[fault]
        body = [one for one in body if one is said or not one.endswith("?")]
        return _led(body, (body.index(said),))
    before, but, _ = body[fault].partition(", but ")
    is_late = bool(but) and not _FAULTY.search(before)
    return _led(body, (want, fault) if is_late else (fault, want))


def _led(sentences: Sequence[str], places: Sequence[int | None]) -> _Found:
    """Some sentences, that which the first one refers to before them, and then the rest."""
    first = [place for place in dict.fromkeys(places) if place is not None]
    rest = [one for place, one in enumerate(sentences) if place not in first]
    lead = [_capital(_turned(sentences[place])) for place in first]
    main = lead[0]
    before = first[0] - 1
    if before >= 0 and before not in first and _REFERS_TO_THING.search(sentences[first[0]]):
        lead = [_main_clause(sentences[before]), *lead]
        rest.remove(sentences[before])
    return _Found(_filled(lead, rest, sentences), main)


def _main_clause(sentence: str) -> str:
    """A sentence up to the first "and" or "but" that begins another clause."""
    found = _CLAUSE.split(sentence, maxsplit=1)[0].rstrip(" ,;")
    return _ended(found)


def _turned(sentence: str) -> str:
    turn = _TURN.match(sentence)
    return sentence[turn.end() :] if turn else sentence


def _heaviest(sentences: Sequence[str], *, least: float = _LEAST_SETTLED) -> int | None:
    """The place of the sentence that most settles something; of equal ones rather a late one."""
    best, most = None, 0.0
    for place, sentence in enumerate(sentences):
        weight = _weight(sentence)
        n_words = len(_bare(sentence).split()) + (weight >= _SURE)
        if weight < least or n_words < _LEAST_MAIN:
            continue
        weight += _LATER * place / len(sentences)
        if weight > most:
            best, most = place, weight
    return best


def _weight(sentence: str) -> float:
    if _LABEL.match(sentence):
        return 3.0
    if sentence.endswith("?"):
        return 0.0
    return max((weight for cue, weight in _SETTLES if cue.search(sentence)), default=0.0)


def _bare(sentence: str) -> str:
    """A sentence without a label, assent and "let's" before it."""
    label = _LABEL.match(sentence) or _NOTE.match(sentence)
    found = sentence[label.end() :] if label else sentence
    while opener := _OPENS.match(found):
        found = found[opener.end() :]
    return _capital(_THEN.sub("", found))


def _unlogged(sentence: str) -> str:
    """A sentence without the number of an incident and without hours."""
    for before in (_NUMBERED, _CLOCK):
        if found := before.match(sentence):
            sentence = sentence[found.end() :]
    return _capital(sentence)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ended(sentence: str) -> str:
    return sentence if sentence[-1:] in '.!?…"”’)' else sentence + "."


def _is_heading(sentence: str) -> bool:
    return len(sentence.split()) <= _LONGEST_HEADING


def _says_something(sentence: str) -> bool:
    return len(sentence.split()) >= _LEAST_PLEASANT


def _is_pleasant(sentence: str) -> bool:
    if len(sentence.split()) < _LEAST_PLEASANT and _PLEASANT.match(sentence):
        return True
    return _DESK.match(sentence) is not None


def _first(
    sentences: Sequence[str], holds: Callable[[str], bool], *, last: bool = False
) -> int | None:
    """The place of the first sentence of which something holds, or of the last."""
    places = range(len(sentences))
    order = reversed(places) if last else places
    return next((place for place in order if holds(sentences[place])), None)
