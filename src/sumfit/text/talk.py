"""What a chat, a call, an interview or another talk comes to.

Owns what settles something in talk, and what is only said to be kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sumfit.text.leading import Found, capital, is_plain
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
    r"(?:(?:(?:good|great) (?:idea|point)|ok(?:ay)?|right|cool|great|perfect|fine|alright|"
    r"all right|sure|yes|yeah|yep|good|nice|"
    r"sounds good|done|well|so|and|then|in that case|got it|"
    r"makes sense|deal|agreed|works for me|"
    r"no problem|no worries|sorry|ah|oh|hmm?|ugh|i['’]d say|i (?:think|guess))"
    r"\b[,.!]*\s+|let['’]?s (?=\w))",
    re.IGNORECASE,
)
_SETTLES: tuple[tuple[re.Pattern[str], float], ...] = (
    (
        re.compile(
            r"\b(?:decided (?:not )?(?:to|on|that|against)|decision (?:is|was)|we agreed|"
            r"agreed (?:\w+ly )?(?:to|on|that|with)|motion (?:is |was )?(?:carried|carries)|voted|"
            r"approved|"
            r"resolved (?:to|that)|"
            r"(?:go|going|went) (?:with|for|ahead)|call(?:ed)? off|"
            r"(?:let['’]s|(?<!\w )lets|then lets) (?!see|wait|start|begin|give|move on|come back|"
            r"talk|look|hope|face|say)"
            r"\w+)\b",
            re.IGNORECASE,
        ),
        3.0,
    ),
    (
        re.compile(
            r"^(?:ok(?:ay)?|right|cool|great|perfect|fine|alright|all right|done|deal|"
            r"sounds good)\b(?!.*\bplease\b)[,.!]* (?:\S+ ){2,}|(?<!til )(?<!till )\bthen[.!]*$|"
            r"\b(?:(?:we|i)['’]d|would) like to (?:take|accept|order|book|buy|cancel)\b|"
            r"\b(?:have|has|had|need) to (?:cancel|postpone|move|withdraw|decline|turn down)\b|"
            r"\b(?:we|i)(?:['’]ll)?\b.{0,120}\binstead\b|"
            r"^.{1,30}\b(?:is|are|works|sounds) (?:fine|good|ok(?:ay)?|perfect|great)[.!]*$",
            re.IGNORECASE,
        ),
        2.5,
    ),
    (
        re.compile(
            r"\b(?:i|we)(?:['’]ve| have) (?:just |already |now )?(?:booked|ordered|sent|cancelled|"
            r"changed|moved|refunded|arranged|transferred|issued|locked|extended|credited)\b|"
            r"\b(?:i|we)(?:['’]m| am|['’]re| are) (?:now |just )?(?!going|staying|looking|waiting|"
            r"having|"
            r"trying|"
            r"getting|thinking|talking|working|using|writing|wondering|doing|coming|"
            r"meeting)\w+ing\b",
            re.IGNORECASE,
        ),
        2.2,
    ),
    (
        re.compile(
            r"^so it['’]s \w+ \w+|"
            r"^so (?:we|i|they) (?!can\b|could\b|should\b|do\b|are\b|is\b)\w+ \w+|"
            r"^then (?!what|why|how|who|i\b|is\b|are\b)\w+ \w+ \w+|^(?:moved|booked|sent|ordered|"
            r"cancelled|"
            r"changed|fixed|switched|reserved|rescheduled) (?!by\b)\w+ \w+|"
            r"\b(?:comes?|arrives?|opens?|starts?|leaves?|closes?|(?:is|"
            r"are) back)\b.{0,20}\b(?:(?:mon|"
            r"tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|\d{1,2}[:.]\d\d)\b|"
            r"^(?:make|take|bring|use|send|move|meet|keep|leave|book|put|push|shift|switch) "
            r"(?:it|the|a|an|my|your|his|her|our|me|them|that|this|at|in|by|to|\d)\b",
            re.IGNORECASE,
        ),
        2.0,
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
    r"(?:thanks|thank you) for (?:contacting|calling|reaching|getting|writing)\b|"
    r".{0,30}\byou(?:['’]re| are) through to\b|let me (?:just |quickly )?(?:check|look|see)\b|"
    r".{0,40}\b(?:speaking|my name is \w+)[.!]*$|(?:may|can|could) i have (?:your|the)\b|"
    r"what can i do for you\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"^(?:\w+,? ){0,2}?(?:i|we) (?:can|could)\b|\b(?:what|how) about\b|\bshall (?:i|we)\b|"
    r"\bcould we\b|"
    r"\bi(?:['’]d| would) (?:take|say|suggest|propose)\b|\bi (?:propose|suggest|could)\b|"
    r"\bwhy don['’]t we\b",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"(?:oh )?(?:ok(?:ay)?|perfect|great|good|fine|yes|yeah|sure|sounds|agreed|deal|cool|works|"
    r"please do|do that|lovely|nice|really|that['’]d be|that would be|amazing|then yes)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:(?:what|where|who|why|how|which|when)(?: time)? (?:is|are|do|does|did|can|will|was|were)|"
    r"(?:is|are|do|does|did|can|could|will|would|should|has|have|was) (?:it|he|she|they|you|we|i|"
    r"there|"
    r"any\w*|someone)|any(?:one|body))\b.*[^.!]$|.*\?$",
    re.IGNORECASE,
)
_I = re.compile(r"\b(?:i|i['’]\w+|my|me)\b", re.IGNORECASE)
_LOWER_START = re.compile(r"(?<=[a-z]{3}[.!?])\s+(?=[a-z])")
_PLEASANT = re.compile(
    r"(?:thanks|thank you|hi|hello|hey|morning|good (?:morning|afternoon|evening)|welcome|sorry|"
    r"i['’]?(?: a)?m (?:so |very )?sorry|perfect|great|ok(?:ay)?|sure|yes|yeah|no problem|cool|bye|"
    r"you['’]re welcome|will do|how (?:can|may) i help)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(r"\b(?:it|that|this|them|those|these|(?:un)?till? then)\b", re.IGNORECASE)
_REFERS_BACK = re.compile(r"(?:\S+ ){0,3}(?:it|that|this|them|those|these)\b", re.IGNORECASE)
_ONE = re.compile(r"\b(?:an? \w+|another) one\b", re.IGNORECASE)
_WORD = re.compile(r"\w{4,}|\d+")
_FEWEST_TURNS = 4  # of an interview
_BUT = re.compile(r"but\b", re.IGNORECASE)
_IS_THAT = re.compile(r"(?:it|that|this|they)\b", re.IGNORECASE)
_THEN = re.compile(r"(?<!til)(?<!till),? then(?=[.!]*$|,)", re.IGNORECASE)
_LEAST_PLEASANT = 6  # words with which a sentence that begins kindly says something
_SURE = 3.0  # weight of a sentence that says that something is settled
_LEAST_MAIN = 4  # words of a main sentence, one less of a sure one
_SHORT_MAIN = 4  # words up to which it needs the question that it answers
_LEAST_SETTLED = 2.0  # weight of a sentence that settles something
_TALK_SHARE = 0.2  # of talk
_REFERRING = 0.45  # less weight of what needs something before it
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
    offer = _agreed_offer(turns)
    main = heaviest(sentences)
    if offer is not None and (main is None or _is_besides(sentences, main, offer)):
        main = offer
    asked = _answered(turns)
    if is_interview := _is_interview(turns):
        told = [one for one in sentences if _I.search(one) and not one.endswith("?")]
        main = sentences.index(max(told, key=_told_weight)) if told else main
    kept = [place for place, sentence in enumerate(sentences) if not _is_pleasant(sentence)]
    if main is None:
        rest = [sentences[place] for place in kept if place not in asked]
        return Found(rest) if rest else None
    said = sentences[main]
    is_referring = _REFERS_BACK.match(bare(said)) is not None
    topic = next(
        (i for i in kept if i < main and _says_something(sentences[i], or_asks=is_referring)),
        None,
    )
    if is_referring and offer is not None and offer < main:
        topic = offer
    others = [place for place in kept if place not in {main, topic} and place not in asked]
    others.sort(key=lambda place: _weight(sentences[place]) < _LEAST_SETTLED)
    lead = [_stated(bare(said))]
    if topic is not None and is_referring:
        lead.insert(0, sentences[topic])
    elif topic is not None and _ONE.search(said) and not sentences[topic].endswith("?"):
        return Found([sentences[topic]], "", lead, 0.0)  # of one of what is not said
    elif topic is not None and len(said.split()) <= _SHORT_MAIN:
        if not (_I.search(said) and _I.search(sentences[topic])):  # of two people
            lead.append(sentences[topic])
    rest = [bare(sentences[place]) for place in others]
    is_enough = is_interview or is_plain(lead[0])
    return Found(lead, bare(said), rest, 0.0 if is_enough else _TALK_SHARE)


def _stated(offer: str) -> str:
    """An offer in the order of a statement ("I can drive?") without the mark of a question."""
    return offer.rstrip("?") if _I.match(offer) else offer


def _is_besides(sentences: Sequence[str], main: int, offer: int) -> bool:
    """Whether what settles a talk weakly is said of another thing than the agreed offer."""
    agreed = set(_WORD.findall(sentences[offer].lower()))
    is_of_it = agreed.intersection(_WORD.findall(sentences[main].lower()))
    is_weak = _weight(sentences[main]) <= _LEAST_SETTLED
    return is_weak and offer < main and not is_of_it and not _REFERS.search(sentences[main])


def _is_interview(turns: Sequence[Sequence[str]]) -> bool:
    """Whether every other turn, from the first one on, ends with a question."""
    asks = [turn[-1].endswith("?") for turn in turns if turn]
    return len(asks) >= _FEWEST_TURNS and all(
        is_asking == (place % 2 == 0) for place, is_asking in enumerate(asks)
    )


def _told_weight(sentence: str) -> tuple[float, int]:
    """What somebody who is asked will do counts most, and then what is told at length."""
    will = _weight(sentence) if _I.search(sentence) else 0.0
    return will, len(sentence.split())


def _agreed_offer(turns: Sequence[Sequence[str]]) -> int | None:
    """The place of the last offer or proposal to which the next one to speak says yes."""
    found, end = None, 0
    for turn, answer in pairwise([turn for turn in turns if turn]):
        offers = [end + i for i, one in enumerate(turn) if _OFFERS.search(one)]
        end += len(turn)
        if offers and _ASSENT.match(answer[0]):
            found = offers[-1]
    return found


def _answered(turns: Sequence[Sequence[str]]) -> set[int]:
    """Places of sentences that ask, those before them in a turn that ends in a question too."""
    asked: set[int] = set()
    place = 0
    for turn in turns:
        is_asking = bool(turn) and _ASKS.match(turn[-1]) is not None and heaviest(turn) is None
        asked |= {
            place + i for i, sentence in enumerate(turn) if is_asking or _ASKS.match(sentence)
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
        weight -= _REFERRING * (weight < _SURE and _REFERS.search(sentence) is not None)
        if weight > most:
            best, most = place, weight
    return best


def _weight(sentence: str) -> float:
    if LABEL.match(sentence):
        return 3.0
    if sentence.endswith("?") or _BUT.match(sentence):
        return 0.0
    weight = max((weight for cue, weight in _SETTLES if cue.search(sentence)), default=0.0)
    is_about_it = weight < _SURE and _IS_THAT.match(bare(sentence)) and _OPENS.match(sentence)
    return 0.0 if is_about_it else weight


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


def _says_something(sentence: str, *, or_asks: bool = False) -> bool:
    asks = or_asks and sentence.endswith("?")
    return len(sentence.split()) >= (_LEAST_MAIN if asks else _LEAST_PLEASANT)


def _is_pleasant(sentence: str) -> bool:
    if len(sentence.split()) < _LEAST_PLEASANT and _PLEASANT.match(sentence):
        return True
    return _DESK.match(sentence) is not None
