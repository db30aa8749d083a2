"""What a complaint, a ticket or a review comes to.

Owns what counts as a fault, a wish and a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sumfit.text.leading import Found, capital, ended, filled, first

__all__ = ["what_one_wants"]

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
_TICKET = re.compile(
    r"\b(?:ticket|case|request) ?(?:#|no\.? ?|number )?\d|\bpriority:", re.IGNORECASE
)
_REFERS_TO_THING = re.compile(r"^(?:\S+ ){0,3}(?:it|they|them)\b", re.IGNORECASE)
_CLAUSE = re.compile(r",? (?:and|but) ", re.IGNORECASE)


def what_one_wants(sentences: Sequence[str]) -> Found | None:
    """Find what a review or complaint comes to; nothing where others are quoted.

    Args:
        sentences: Sentences of the text.

    Returns:
        What to read; ``None`` if it is neither.
    """
    n_own = sum(_MYSELF.search(one) is not None for one in sentences)
    if any(map(_REPORTED.search, sentences)) and n_own * 2 < len(sentences):
        return None
    is_own = n_own * 3 >= len(sentences)
    return _review(sentences, is_own=is_own) or _complaint(sentences, is_own=is_own)


def _review(sentences: Sequence[str], *, is_own: bool) -> Found | None:
    """The verdict of a review and what follows "but"; then the rest."""
    verdict = first(sentences, lambda one: bool(_VERDICT.search(one)))
    if verdict is None:
        return None
    if not (is_own or _MYSELF.search(sentences[verdict]) or any(map(_STARS.search, sentences))):
        return None
    turn = first(sentences, lambda one: bool(_TURN.match(one)))
    return _led(sentences, (verdict, turn))


def _complaint(sentences: Sequence[str], *, is_own: bool) -> Found | None:
    """The fault and the wish of a complaint; then the rest, without what is asked."""
    is_ticket = any(map(_TICKET.search, sentences[:3]))
    if not (is_own or is_ticket):
        return None
    body = [one for one in sentences if not _TICKET.search(one)] if is_ticket else sentences
    fault = first(body, lambda one: bool(_FAULTY.search(one)))
    want = first(body, lambda one: bool(_WANTS.search(one)))
    if fault is None or want is None:
        return None
    if body[want].endswith("?"):
        said = body[fault]
        body = [one for one in body if one is said or not one.endswith("?")]
        return _led(body, (body.index(said),))
    before, but, _ = body[fault].partition(", but ")
    is_late = bool(but) and not _FAULTY.search(before)
    return _led(body, (want, fault) if is_late else (fault, want))


def _led(sentences: Sequence[str], places: Sequence[int | None]) -> Found:
    """Some sentences, that which the first one refers to before them, and then the rest."""
    first = [place for place in dict.fromkeys(places) if place is not None]
    rest = [one for place, one in enumerate(sentences) if place not in first]
    lead = [capital(_turned(sentences[place])) for place in first]
    main = lead[0]
    before = first[0] - 1
    if before >= 0 and before not in first and _REFERS_TO_THING.search(sentences[first[0]]):
        lead = [_main_clause(sentences[before]), *lead]
        rest.remove(sentences[before])
    return Found(filled(lead, rest, sentences), main)


def _main_clause(sentence: str) -> str:
    """A sentence up to the first "and" or "but" that begins another clause."""
    found = _CLAUSE.split(sentence, maxsplit=1)[0].rstrip(" ,;")
    return ended(found)


def _turned(sentence: str) -> str:
    turn = _TURN.match(sentence)
    return sentence[turn.end() :] if turn else sentence
