"""What a complaint, a ticket or a review comes to.

Owns what counts as a fault, a wish and a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sumfit.text.leading import Found, capital, ended, first, is_plain

__all__ = ["what_one_wants"]

_WANTS = re.compile(
    r"\bplease (?!note|see|find|let me know|do not hesitate|don['’]t hesitate|be aware)|"
    r"\b(?:i|we)(?: would|['’]d) (?:like|appreciate)\b|\bwould like (?:you|my)\b|\b(?:i|"
    r"we) (?:expect|want|request|demand|"
    r"need|ask)\b|\b(?:could|can|would) (?:you|somebody|someone|anyone)\b",
    re.IGNORECASE,
)
_FAULTY = re.compile(
    r"\bno longer\b|\b(?:does|do|did|wo|ca|could|has|have|was|is)(?:n['’]t|n?not| not)\b(?! help)|"
    r"\bnever (?:arrived|came|received|got|turned)|"
    r"\b(?:broken?|broke|missing|fail(?:s|ed|ing)?|crash\w*|stopped|wrong(?:ly)?|damaged|"
    r"leak\w*|rejected|declined|refused|dies|died|killed|stuck|(?:been|are|is) out|nothing happens|"
    r"empty|dropp\w+|smok(?:e|ed|es|ing)|faulty|defective|cracked|torn|overcharged|twice|"
    r"received nothing|"
    r"(?:have|has|had)(?: had)? no|still (?:says|shows)|greyed out|invalid|expired|missed|(?:is|"
    r"are|has) gone|"
    r"without (?:stopping|notice|warning|asking)|since (?:last|then|yesterday)|"
    r"(?:was|were|been|got) cancelled|late|called (?:it )?off|errors?|lost|freez\w+|"
    r"(?:taken|charged|billed)\b.{0,60}\bagain)\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"\b(?:overall|all in all|in short|to sum up|bottom line)\b|\b(?:would|will|wo)(?:n['’]t| not| "
    r"never| definitely| happily| certainly| gladly| absolutely)? (?:not |never )?(?:buy|"
    r"recommend|use|hire|"
    r"come back|be back|go back|go again)\b|\b(?:would|wo)(?:n['’]t| not| never)? (?:return|book|"
    r"order|stay|visit)\b|\b(?:worth every|waste of|do not buy|don['’]t buy|highly recommend)\b",
    re.IGNORECASE,
)
_STARS = re.compile(
    r"\b(?:[1-5]|one|two|three|four|five)(?: out of (?:5|five)|/5| stars?)\b|\b\d{1,2}/10\b|[★⭐]",
    re.IGNORECASE,
)
_STARRED = re.compile(r"^(?:[★☆⭐]{1,5}|[1-5]/5)\s+")
_TURN = re.compile(
    r"(?:but|however|unfortunately|sadly|still|that said|overall|all in all)\b,?\s*", re.IGNORECASE
)
_MYSELF = re.compile(r"\b(?:I|I['’]\w+|my|me|My)\b")
_OURS = re.compile(r"\b(?:I|I['’]\w+|my|me|My|[Ww]e|[Ww]e['’]\w+|us|[Oo]ur)\b")
_PRESENTS = re.compile(
    r"\b(?:novels?|memoir|(?:first|second|third|new|latest|final) (?:season|album|film|book)|"
    r"series|debut|documentary|thriller|comedy)\b",
    re.IGNORECASE,
)
_READERS = re.compile(r"\b(?:I|I['’]\w+|you|you['’]\w+)\b")
_BACK = re.compile(
    r"\b(?:refund(?:ed)?|reimburse|return (?:the|my|our) \d|(?:money|euros?|pounds|dollars|"
    r"\d) back|replacement|compensation)\b",
    re.IGNORECASE,
)
_FOR_ME = re.compile(
    r"\bplease (?:send|give|refund|replace|repair|return|call|help) (?:me|us|my|our)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:said|told reporters|according to)\b|[\"“][^\"”]{30}",
    re.IGNORECASE,
)
_NO_FAULT = re.compile(
    r"\b(?:said|told reporters|according to)\b|^(?:if|sorry|unless)\b|\bif you\b|"
    r"\b(?:can(?:not|['’]?t)|won['’]t|will not) "
    r"(?:come|attend|join|make it|be (?:there|here|in))\b",
    re.IGNORECASE,
)
_PAPER = re.compile(
    r"\b(?:in this (?:paper|work|study)|[Ww]e (?:propose|present|show)|"
    r"[Rr]esults show\w*|[Oo]ur (?:approach|method|model|results|experiments))\b"
)
_PRAISES = re.compile(
    r"\b(?:lovely|gorgeous|beautiful(?:ly)?|great|excellent|fantastic|amazing|wonderful|brilliant|"
    r"superb|delicious|tasty|fresh|comfortable|friendly|helpful|patient|polite|spotless|clean|"
    r"perfect(?:ly)?|"
    r"best|works? (?:well|perfectly)|loves?|loved|kind(?:er|est)?|happ(?:y|ier)|fair|stunning|"
    r"sturdy|"
    r"well (?:made|built|padded|written|organised)|plentiful|smiling|easy to|(?:on|in) time|"
    r"within (?:an? \w+|minutes|hours)|worth|recommend|reliable|spacious|enjoyed|impressed|pleased|"
    r"survived|(?:really|very) good|good (?:value|quality))\b",
    re.IGNORECASE,
)
_BLAMES = re.compile(
    r"\b(?:leak\w*|broken?|break(?:s|ing)|stopped|slow|nois[ey]\w*|loud|dirty|filthy|tired|damp|"
    r"mould\w*|lukewarm|cold|thin|flimsy|wobbl\w+|let-?down|disappoint\w+|f[ae]lls? apart|"
    r"poor(?:ly)?|"
    r"wors[te]|terrible|awful|horrible|bland|stale|waste|repetitive|boring|rude|unhelpful|useless|"
    r"not as described|wrong|overpriced|dull|too (?:quick|slow|small|loud|thin|short|long)\w*|"
    r"hardly|"
    r"barely|late|never (?:answered|worked|came|arrived)|not (?:a single|worth|answered|"
    r"interesting)|"
    r"smell(?:s|ed)|fail(?:s|ed)|problems?|crack(?:s|ed)|snapped|rushed|scratch\w*|faulty|died|uncomfortable)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:avoid|save your money|(?:do not|don['’]t) (?:buy|bother)|(?:would|will|wo)(?: not|"
    r"n['’]t) "
    r"(?:buy|recommend|be back|come back|return|go back|go again|stay|order|book)|(?:one|two|1|"
    r"2)[ -]stars?|"
    r"[12]/5|better (?:places|ones|products|options)|waste of|refund|not (?:the right|worth|"
    r"recommended)|what a (?:shame|disappointment)|sent it back|returned it)\b|"
    r"★★☆|★☆☆",
    re.IGNORECASE,
)
_TRIED = re.compile(
    r"\b(?:(?:I|we|my \w+)(?:['’]ve| have| had)? )?(?:(?:just|recently|finally) )?(?:bought|used|"
    r"stayed|finished|visited|booked|ordered|tried|hired|watched|(?:moved|switched) (?:my|our)|"
    r"went (?:to|for|with|back)|stopped at|have had|had (?:dinner|lunch|this|these)|picked|chose|"
    r"ate|took (?:my|our|the|a)|got (?:me|us|this|these|my|our)|spent|wanted to (?:love|like))\b",
    re.IGNORECASE,
)
_LED_SHARE = 0.2  # of the words of a text that are read at least
_FEWEST_TOLD = 3  # sentences of a review without a verdict
_MOST_TOLD = 20
_LEAST_JUDGEMENT = 4  # words
_TICKET = re.compile(
    r"\b(?:ticket|case|request) ?(?:#|no\.? ?|number )?\d|\bpriority:", re.IGNORECASE
)
_REFERS_TO_THING = re.compile(r"^(?:\S+ ){0,3}(?:it|they|them)\b|^this\b", re.IGNORECASE)
_REFERS_BACK = re.compile(r"(?:\S+ ){0,3}(?:it|they|them|s?he|this|that)\b", re.IGNORECASE)
_SPEAKS = re.compile(r"[A-Z]\w{0,11}: ")
_CLAUSE = re.compile(r",? (?:and|but) ", re.IGNORECASE)


def what_one_wants(sentences: Sequence[str], *, is_ticket: bool = False) -> Found | None:
    """Find what a review or complaint comes to; nothing where others are quoted.

    Args:
        sentences: Sentences of the text.
        is_ticket: Fields such as "Priority: high" stood before them.

    Returns:
        What to read; ``None`` if it is neither.
    """
    n_own = sum(_MYSELF.search(one) is not None for one in sentences)
    n_ours = sum(_OURS.search(one) is not None for one in sentences)
    has_tried = any(map(_TRIED.match, sentences[:2])) and n_ours * 3 >= len(sentences)
    has_tried = has_tried or _is_of_work(sentences)
    if any(map(_REPORTED.search, sentences)) and n_own * 2 < len(sentences) and not has_tried:
        return None
    if any(map(_PAPER.search, sentences)):
        return None
    is_own = n_own * 3 >= len(sentences)
    if is_ticket:
        asked = [one for one in sentences if one.endswith("?")]
        told = [one for one in sentences if one not in asked]
        found = told or asked
        few = Found(found[:1], "", found[1:], _LED_SHARE)
        return _complaint(sentences, is_own=True) or few
    return _review(sentences, is_own=is_own) or _complaint(sentences, is_own=is_own)


def _review(sentences: Sequence[str], *, is_own: bool) -> Found | None:
    """What a review praises or blames, by its verdict; then the verdict and the rest."""
    sentences = [part for one in sentences for part in _two_sides(one)]
    judged = [one for one in sentences if _judgement(one)]
    fault = first(sentences, lambda one: _FAULTY.search(one) and not _TRIED.match(one))
    verdict = first(sentences, _VERDICT.search)
    has_stars = any(map(_STARS.search, sentences))
    sentences[0] = _STARRED.sub("", sentences[0]) or sentences[0]
    has_tried = any(map(_TRIED.match, sentences)) or _is_of_work(sentences)
    if verdict is None and not has_stars:
        if has_tried and not judged and fault is not None and _TRIED.match(sentences[0]):
            return Found([sentences[fault]], sentences[fault], sentences[1:], 0.0)
        if not has_tried or not judged or not _FEWEST_TOLD <= len(sentences) <= _MOST_TOLD:
            return None
    elif not (
        is_own
        or has_stars
        or has_tried
        or (verdict is not None and _MYSELF.search(sentences[verdict]))
    ):
        return None
    against = any(map(_AGAINST.search, sentences))
    if any(map(_WANTS.search, sentences)) and verdict is None and not against:
        return None
    n_blamed = sum(bool(_BLAMES.search(one)) - bool(_PRAISES.search(one)) for one in sentences)
    against = against or (verdict is None and not has_stars and n_blamed > 0)
    best = max(
        range(len(sentences)),
        key=lambda place: (_weight(sentences[place], against=against), -place),
    )
    if _weight(sentences[best], against=against) <= 0:
        if verdict is not None:
            return _led(sentences, (verdict,))
        rest = [one for one in sentences if not _TRIED.match(one)]
        return Found(rest[:1], "", rest[1:], _LED_SHARE) if rest else None
    lead, close = sentences[best], None if verdict is None else sentences[verdict]
    kept = [one for one in sentences if one in (lead, close) or not _TRIED.match(one)]
    found = _led(kept, (kept.index(lead), None if close is None else kept.index(close)))
    if found.lead[0] == found.main and is_plain(found.main):
        one = _first_side(found.main)
        return Found([one], one, [*found.lead[1:], *found.rest], 0.0)
    return found


def _first_side(sentence: str) -> str:
    """A sentence up to ", and", if that judges too: of two clauses a small model makes one."""
    one, more, _ = sentence.partition(", and ")
    return ended(one) if more and _judgement(one) and is_plain(one) else sentence


def _is_of_work(sentences: Sequence[str]) -> bool:
    """Whether a book, film or the like is presented first, and the reader is told at the end."""
    last = sentences[-max(2, len(sentences) // 3) :]
    return _PRESENTS.search(sentences[0]) is not None and any(
        _READERS.search(one) and _judgement(one) for one in last
    )


def _two_sides(sentence: str) -> list[str]:
    """The praise and the blame of a sentence that has both, parted at "but"."""
    one, but, other = sentence.partition(", but ")
    if but and _judgement(one) and _judgement(other):
        return [ended(one), capital(other)]
    return [sentence]


def _judgement(sentence: str) -> int:
    return len(_PRAISES.findall(sentence)) + len(_BLAMES.findall(sentence))


def _weight(sentence: str, *, against: bool) -> float:
    """How much a sentence says for the verdict."""
    weight = len((_BLAMES if against else _PRAISES).findall(sentence))
    weight -= len((_PRAISES if against else _BLAMES).findall(sentence))
    if _TURN.match(sentence):
        weight += 1 if against else -1
    if len(sentence.split()) < _LEAST_JUDGEMENT or _REFERS_TO_THING.match(sentence):
        weight -= 1
    return weight - 0.5 * bool(_TRIED.match(sentence))


def _complaint(sentences: Sequence[str], *, is_own: bool) -> Found | None:
    """The fault and the wish of a complaint; then the rest, without what is asked."""
    is_ticket = any(map(_TICKET.search, sentences[:3]))
    body = [one for one in sentences if not _TICKET.search(one)] if is_ticket else sentences
    fault = first(body, lambda one: _FAULTY.search(one) and not _NO_FAULT.search(one))
    want = first(body, lambda one: _WANTS.search(one) and body.index(one) != fault)
    is_asked = body[-1].endswith("?") and not body[0].endswith("?")
    if want is None and is_asked and not any(map(_SPEAKS.match, body)):
        want = len(body) - 1
    if fault is None and is_own and want is not None and _BACK.search(body[want]):
        others = [one for place, one in enumerate(body) if place != want]
        return Found([body[want]], body[want], others, 0.0)
    if fault is None or want is None:
        return None
    if not (is_own or is_ticket or _FOR_ME.search(body[want])):
        return None
    before, but, behind = body[fault].partition(" but ")
    if but and not _FAULTY.search(before) and not _REFERS_BACK.match(behind):
        body = [*body[:fault], behind, *body[fault + 1 :]]
    if body[want].endswith("?"):
        said = body[fault]
        body = [one for one in body if one is said or not one.endswith("?")]
        return _led(body, (body.index(said),))
    return _led(body, (fault, want))


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
    return Found(lead, main, rest, _LED_SHARE)


def _main_clause(sentence: str) -> str:
    """A sentence up to the first "and" or "but" that begins another clause."""
    found = _CLAUSE.split(sentence, maxsplit=1)[0].rstrip(" ,;")
    return ended(found)


def _turned(sentence: str) -> str:
    turn = _TURN.match(sentence)
    return sentence[turn.end() :] if turn else sentence
