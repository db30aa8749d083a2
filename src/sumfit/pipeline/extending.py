"""Further facts of a text, put behind a line that leaves much of a wide limit free.

Owns which sentences of a text may follow a line, in which order, and how they are joined. Does not
own the line (`sumfit.pipeline.search`), nor how likely it goes on so (`sumfit.runtime.scorer`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sumfit.length import LengthRequest, get_preset
from sumfit.pipeline.options import Options
from sumfit.rerank import AUTO
from sumfit.text import Tokenizer
from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.text.passages import sentences_of
from sumfit.text.surface import has_whole_pairs
from sumfit.truth.names import is_ordinary
from sumfit.truth.reading import content_stems

__all__ = ["Extender", "Likely", "may_extend"]

Likely = Callable[[str, Sequence[str]], Sequence[float]]
"""How likely a line goes on as each of some texts does that begin with it, in nats a piece."""

_WIDE = 100  # characters from which on one statement may be too little
_FULL = 0.8  # share of a limit from which on nothing is added
_MOST_ADDED = 6
_MOST_READ = 24  # sentences
_SAID = 0.4  # share of a sentence's content words that the text has already
_LEAST_WORDS = 3
_LEAST_KNOWN = 0.7  # share of the words in small letters that are English ones
_LEAST_LIKELY = -2.0  # nats a piece; readers would rather have no fact that is less likely
_LOOKED_AT = 4  # words at the beginning of a sentence, for what looks back
_JOIN = "; "
_ONE_STATEMENT = frozenset({"commit", "title"})  # styles of slots that hold no more
_END = re.compile(r"(?<!\b[A-Za-z]\.[A-Za-z])[.!…]+$")
_INNER_STOP = re.compile(r"[.!?…][\"'”’)\]]*\s+\S|\w:\s|\s[-–—]\s|[•|]")
_WORD = re.compile(r"[\w'’]+")
_LOOKS_BACK = frozenset(
    """
    it they he she this that these those his her their its him them then such both there so here
    now later earlier former latter first firstly second secondly third last lastly finally next
    one some few rest others other another none neither either each yesterday tomorrow again return
    hand that's it's he's she's they're there's
    """.split()
)
_LINKS = frozenset(
    """
    and but or nor however yet still also instead otherwise therefore thus hence because although
    though while meanwhile moreover furthermore besides nevertheless which who too
    """.split()
)
_SMALL_WORDS = FUNCTION_WORDS - frozenset("dr mr mrs ms prof sir st".split())
_SAYS_NOTHING = re.compile(
    r"(?:advertisement|sign up|subscribe|follow us|click|read more|share this|image|picture|"
    r"photo(?:graph)?s? (?:by|of)|this (?:article|story|page|text|letter)|we use cookies|cookies|"
    r"copyright|all rights|(?:table|figure|section|chapter) \d|have a (?:nice|good|great|lovely)|"
    r"my name is|i am writing|i hope|let me|let us|let's|dear|hi|hello|hey|thanks|thank you|"
    r"kind regards|best|we (?:regret|apologi[sz]e|thank|hope|welcome)|welcome|enjoy|see you|"
    r"looking forward|please (?:do not hesitate|note|find|see|feel)|for more|"
    r"more (?:information|details|on))\b",
    re.IGNORECASE,
)
_CONTESTED = re.compile(
    r"\b(?:den(?:y|ies|ied|ial)|alleg\w+|accus\w+|rumou?rs?|claim(?:s|ed|ing)?|invented|"
    r"not true|untrue|false|falsely|fake|hoax|prosecut\w+|disput\w+|supposedly|purported\w*|"
    r"so-called|the following|as follows|wrong to|myth)\b",
    re.IGNORECASE,
)


def may_extend(options: Options, length: LengthRequest, style: str) -> bool:
    """Return whether lines for a limit may be followed by further facts.

    Args:
        options: The caller's options.
        length: The length request.
        style: What the model was told to write.

    Returns:
        The verdict; how wide the limit is shows at the line alone.
    """
    return (
        options.fill != "single"
        and options.profile == "natural"
        and options.method == "seqmap"
        and options.rerank == AUTO
        and options.constraints
        and not options.banned
        and style not in _ONE_STATEMENT
        and not length.label
        and not (length.preset and get_preset(length.preset).is_heading)
    )


@dataclass(frozen=True, slots=True)
class Extender:
    """Extends the lines of one text, for one length request.

    Attributes:
        source: The text, as the model read it.
        length: The length request.
        tokenizer: For lengths in tokens.
        likely: What the model's scorer says of facts.
        is_supported: Whether the text says what a summary says.
        cased: Sets the capitals that were asked for.
    """

    source: str
    length: LengthRequest
    tokenizer: Tokenizer
    likely: Likely
    is_supported: Callable[[str], bool]
    cased: Callable[[str], str] = str

    def extended(self, line: str) -> tuple[str, tuple[str, ...]]:
        """Put behind a line which sentences may follow its own, the likeliest first.

        They stand as in the text. What begins with a link, looks back at a sentence that is not
        there, is quoted, says nothing or what is said already, is left out, and so are questions.
        Of a text in which something is denied or only claimed none follows, nor behind a question.

        Args:
            line: A summary without prefix and suffix.

        Returns:
            The whole, and the facts in it that follow the line; none where the limit is full or
            not wide.
        """
        if self._chars(self.length.limit, line) < _WIDE or self._is_full(line):
            return line, ()
        if line.endswith(("?", "!")) or _CONTESTED.search(self.source):
            return line, ()
        sentences = [_END.sub("", one).strip() for one in _unquoted(sentences_of(self.source))]
        own = _own_sentence(line, sentences)
        ranked = self._ranked(line, sentences, range(own + 1, len(sentences)))
        text, found = line, dict[int, str]()
        while not self._is_full(text) and len(found) < _MOST_ADDED:
            there = {own, *found}
            fits = (
                at
                for at in ranked
                if at not in there
                and _may_follow(sentences, at, there)
                and self._is_good(line, {**found, at: sentences[at]})
            )
            place = next(fits, None)
            if place is None:
                break
            found[place] = sentences[place]
            text = self._whole(line, found)
        return text, tuple(found[at] for at in sorted(found))

    def _ranked(self, line: str, sentences: Sequence[str], places: Sequence[int]) -> list[int]:
        """The places of sentences that may well follow, the likeliest first."""
        says = [at for at in places if _is_statement(sentences[at])]
        short = [at for at in says if self._fits(self._whole(line, {at: sentences[at]}))]
        short = short[:_MOST_READ]
        if not short:
            return []
        scores = self.likely(line, [_joined(line, sentences[at]) for at in short])
        scored = zip(scores, short, strict=True)
        return [at for _, at in sorted((-n, at) for n, at in scored if n >= _LEAST_LIKELY)]

    def _whole(self, line: str, found: Mapping[int, str]) -> str:
        return self.cased(_joined(line, *(found[at] for at in sorted(found))))

    def _is_good(self, line: str, found: Mapping[int, str]) -> bool:
        """Whether a line may be followed by facts, the last of which is new."""
        *others, fact = found.values()
        stems, known = content_stems(fact), content_stems(_joined(line, *others))
        whole = self._whole(line, found)
        is_new = len(stems & known) <= _SAID * len(stems)
        return is_new and self._fits(whole) and self.is_supported(whole)

    def _fits(self, text: str) -> bool:
        return self.length.accepts(text, tokenizer=self.tokenizer)

    def _measure(self, text: str) -> int:
        return self.length.measure(text, tokenizer=self.tokenizer)

    def _chars(self, units: int, text: str) -> float:
        """About how many characters so many units are."""
        return units * len(text) / max(1, self._measure(text))

    def _is_full(self, text: str) -> bool:
        return self._measure(text) >= _FULL * (self.length.limit - self.length.reserve)


def _own_sentence(line: str, sentences: Sequence[str]) -> int:
    """Place of the sentence that a line has most of."""
    known = content_stems(line)
    shared = [len(known & content_stems(sentence)) for sentence in sentences]
    return shared.index(max(shared)) if shared else 0


def _unquoted(sentences: Sequence[str]) -> list[str]:
    """The sentences; nothing in the place of those within a quotation of several."""
    found, is_open = [], False
    for sentence in sentences:
        marks = sum(sentence.count(mark) for mark in '"“”')
        found.append("" if is_open or marks % 2 else sentence)
        is_open ^= marks % 2 == 1
    return found


def _is_statement(sentence: str) -> bool:
    """Whether a sentence says something by itself, in English."""
    words = _WORD.findall(sentence)
    if len(words) < _LEAST_WORDS or not content_stems(sentence) or not has_whole_pairs(sentence):
        return False
    if sentence.startswith("(") or sentence.endswith(("?", ":")) or _SAYS_NOTHING.match(sentence):
        return False
    small = [word for word in words if word.isalpha() and word.islower()]
    n_known = sum(map(is_ordinary, small))
    return n_known >= _LEAST_KNOWN * len(small) and _INNER_STOP.search(sentence) is None


def _may_follow(sentences: Sequence[str], at: int, there: set[int]) -> bool:
    """Whether a sentence needs none which is not there."""
    words = _WORD.findall(sentences[at].casefold().replace("’", "'"))[:_LOOKED_AT]
    if not _LINKS.isdisjoint(words[:1]):
        return False
    return at - 1 in there or _LOOKS_BACK.isdisjoint(words)


def _joined(line: str, *added: str) -> str:
    return _JOIN.join([line, *map(_continued, added)])


def _continued(fact: str) -> str:
    """A fact as it stands behind a semicolon: a small letter, but for names and the like."""
    words = fact.split(maxsplit=2)
    word = words[0]
    is_plain = word == word.capitalize() and word.isalpha() and is_ordinary(word.casefold())
    is_small_word = word.casefold() in _SMALL_WORDS
    is_named = len(words) > 1 and words[1][:1].isupper() and not is_small_word
    if not is_plain or word == "I" or is_named or (len(word) == 1 and not is_small_word):
        return fact
    return fact[:1].lower() + fact[1:]
