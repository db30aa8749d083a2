"""What a chat, a call, an interview or another talk comes to.

Owns what settles something in talk, and what is only said to be kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sumfit.text.leading import Found, capital, filled
from sumfit.text.passages import sentences_of

__all__ = ["LABEL", "NOTE", "bare", "heaviest", "turns_of", "what_talk_settles"]

LABEL = re.compile(
    r"(?:key |main |final )?(?:decisions?|decided|resolved|agreed|agreement|outcome|verdict|"
    r"action items?|actions?)"
    r"[ \t]*(?::|[-–—](?=\s))[ \t]*",
    re.IGNORECASE,
)
NOTE = re.compile(r"(?:note|nb|important|bottom line|conclusion)[ \t]*:[ \t]*", re.IGNORECASE)
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
_DESK = re.compile(
    r"(?:thanks|thank you) for (?:contacting|calling|reaching|getting|writing)\b", re.I
)
_LOWER_START = re.compile(r"(?<=[a-z]{3}[.!?])\s+(?=[a-z])")
_PLEASANT = re.compile(
    r"(?:thanks|thank you|hi|hello|hey|morning|good (?:morning|afternoon|evening)|welcome|sorry|"
    r"i['’]?(?: a)?m (?:so |very )?sorry|perfect|great|ok(?:ay)?|sure|yes|yeah|no problem|cool|bye|"
    r"you['’]re welcome|will do|how (?:can|may) i help)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(r"\b(?:it|that|this|them|those|these)\b", re.IGNORECASE)
_THEN = re.compile(r",? then(?=[.!]*$)", re.IGNORECASE)
_LEAST_PLEASANT = 6  # words with which a sentence that begins kindly says something
_SURE = 3.0  # weight of a sentence that says that something is settled
_LEAST_MAIN = 4  # words of a main sentence, one less of a sure one
_SHORT_MAIN = 4  # words up to which it needs the question that it answers
_LEAST_SETTLED = 2.0  # weight of a sentence that settles something
_TALK_SHARE = 0.25  # of talk
_LATER = 0.4  # how much more the end of a talk counts than its beginning


def turns_of(text: str) -> list[list[str]]:
    """Part talk into turns and these into sentences, those with a small letter among them.

    Args:
        text: The talk, each turn a line.

    Returns:
        Sentences of each turn.
    """
    return [
        [part for one in sentences_of(turn) for part in _LOWER_START.split(one)]
        for turn in text.split("\n")
    ]


def what_talk_settles(turns: Sequence[Sequence[str]]) -> Found | None:
    """Put what is settled in a talk before the turns that say something.

    Args:
        turns: Sentences of each turn.

    Returns:
        What to read; ``None`` if nothing says anything.
    """
    sentences = [one for turn in turns for one in turn]
    main = heaviest(sentences)
    asked = _answered(turns)
    kept = [place for place, sentence in enumerate(sentences) if not _is_pleasant(sentence)]
    if main is None:
        rest = [sentences[place] for place in kept if place not in asked]
        return Found(rest) if rest else None
    said = sentences[main]
    topic = next((i for i in kept if i < main and _says_something(sentences[i])), None)
    others = [place for place in kept if place not in {main, topic} and place not in asked]
    others.sort(key=lambda place: _weight(sentences[place]) < _LEAST_SETTLED)
    lead = [bare(said)]
    if topic is not None and _REFERS.search(said):
        lead.insert(0, sentences[topic])
    elif topic is not None and (topic not in asked or len(said.split()) <= _SHORT_MAIN):
        lead.append(sentences[topic])
    rest = [sentences[place] for place in others]
    return Found(filled(lead, rest, sentences, _TALK_SHARE), bare(said))


def _answered(turns: Sequence[Sequence[str]]) -> set[int]:
    """Places of sentences that ask, those before them in a turn that ends in a question too."""
    asked: set[int] = set()
    place = 0
    for turn in turns:
        is_asking = bool(turn) and turn[-1].endswith("?") and heaviest(turn) is None
        asked |= {
            place + i for i, sentence in enumerate(turn) if is_asking or sentence.endswith("?")
        }
        place += len(turn)
    return asked


def heaviest(sentences: Sequence[str], *, least: float = _LEAST_SETTLED) -> int | None:
    """Find the sentence that most settles something; of equal ones rather a late one.

    Args:
        sentences: The sentences.
        least: Weight that it must have.

    Returns:
        Its place; ``None`` if none settles anything.
    """
    best, most = None, 0.0
    for place, sentence in enumerate(sentences):
        weight = _weight(sentence)
        n_words = len(bare(sentence).split()) + (weight >= _SURE)
        if weight < least or n_words < _LEAST_MAIN:
            continue
        weight += _LATER * place / len(sentences)
        if weight > most:
            best, most = place, weight
    return best


def _weight(sentence: str) -> float:
    if LABEL.match(sentence):
        return 3.0
    if sentence.endswith("?"):
        return 0.0
    return max((weight for cue, weight in _SETTLES if cue.search(sentence)), default=0.0)


def bare(sentence: str) -> str:
    """Take a label, assent and "let's" off the beginning of a sentence.

    Args:
        sentence: The sentence.

    Returns:
        The rest.
    """
    label = LABEL.match(sentence) or NOTE.match(sentence)
    found = sentence[label.end() :] if label else sentence
    while opener := _OPENS.match(found):
        found = found[opener.end() :]
    return capital(_THEN.sub("", found))


def _says_something(sentence: str) -> bool:
    return len(sentence.split()) >= _LEAST_PLEASANT


def _is_pleasant(sentence: str) -> bool:
    if len(sentence.split()) < _LEAST_PLEASANT and _PLEASANT.match(sentence):
        return True
    return _DESK.match(sentence) is not None
