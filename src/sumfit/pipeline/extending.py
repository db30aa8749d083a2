"""Further facts of a text, put behind a line that leaves much of a wide limit free.

Owns which sentences of a text may follow a line, in which order, and how they are joined. Does not
own the line (`sumfit.pipeline.search`), nor how likely it goes on so (`sumfit.runtime.scorer`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sumfit.length import LengthRequest
from sumfit.pipeline.options import Options
from sumfit.rerank import AUTO
from sumfit.text import Tokenizer
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
_LEAST_LIKELY = -2.0  # nats a piece; readers would rather have no fact that is less likely
_JOIN = "; "
_ONE_STATEMENT = frozenset({"commit", "title"})  # styles of slots that hold no more
_END = re.compile(r"[.!…]+$")
_WORD = re.compile(r"[\w'’]+")
_SPEAKER = re.compile(r"\w[\w .'’-]{0,30}:\s")
_LOOKS_BACK = frozenset(
    "it they he she this that these those his her their its then such both there so".split()
)
_LINKS = frozenset(
    """
    and but or nor however yet still also instead otherwise therefore thus hence because although
    though while meanwhile moreover furthermore besides nevertheless which who
    """.split()
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
    """

    source: str
    length: LengthRequest
    tokenizer: Tokenizer
    likely: Likely
    is_supported: Callable[[str], bool]

    def extended(self, line: str) -> tuple[str, tuple[str, ...]]:
        """Put behind a line what may follow it: whole sentences, the likeliest first.

        They stand as in the text, from the one behind the line's own on. What begins with a link,
        looks back at a sentence that is not there, or is said already, is left out, and so are
        questions.

        Args:
            line: A summary without prefix and suffix.

        Returns:
            The whole, and the facts in it that follow the line; none where the limit is full or
            not wide.
        """
        if self._chars(self.length.limit, line) < _WIDE or self._is_full(line):
            return line, ()
        sentences = [_END.sub("", one).strip() for one in sentences_of(self.source)]
        own = _own_sentence(line, sentences)
        order = [*range(own + 1, len(sentences)), *range(own)]
        ranked = self._ranked(line, sentences, order)
        text, found = line, dict[int, str]()
        while not self._is_full(text) and len(found) < _MOST_ADDED:
            there = {own, *found}
            fits = (
                at
                for at in ranked
                if at not in there
                and _may_follow(sentences, at, there)
                and self._is_good(text, sentences[at])
            )
            place = next(fits, None)
            if place is None:
                break
            found[place] = sentences[place]
            text = _joined(line, *_in_order(found, order))
        return text, _in_order(found, order)

    def _ranked(self, line: str, sentences: Sequence[str], order: Sequence[int]) -> list[int]:
        """The places of sentences that may well follow, the likeliest first."""
        short = [at for at in order if self._fits(_joined(line, sentences[at]))][:_MOST_READ]
        if not short:
            return []
        scores = self.likely(line, [_joined(line, sentences[at]) for at in short])
        scored = zip(scores, short, strict=True)
        likely = [(-score, order.index(at), at) for score, at in scored if score >= _LEAST_LIKELY]
        return [at for _, _, at in sorted(likely)]

    def _is_good(self, text: str, fact: str) -> bool:
        stems = content_stems(fact)
        if len(_WORD.findall(fact)) < _LEAST_WORDS or not stems or not has_whole_pairs(fact):
            return False
        if len(stems & content_stems(text)) > _SAID * len(stems):
            return False
        whole = _joined(text, fact)
        return self._fits(whole) and self.is_supported(whole)

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


def _may_follow(sentences: Sequence[str], at: int, there: set[int]) -> bool:
    """Whether a sentence is a statement that needs none which is not there."""
    sentence = sentences[at]
    words = _WORD.findall(sentence.casefold())
    if not words or sentence.startswith("(") or sentence.endswith(("?", ":")):
        return False
    if words[0] in _LINKS or _SPEAKER.match(sentence):
        return False
    return words[0] not in _LOOKS_BACK or at - 1 in there


def _in_order(found: Mapping[int, str], order: Sequence[int]) -> tuple[str, ...]:
    return tuple(found[at] for at in order if at in found)


def _joined(line: str, *added: str) -> str:
    return _JOIN.join([line, *map(_continued, added)])


def _continued(fact: str) -> str:
    """A fact as it stands behind a semicolon: a small letter, but for names and the like."""
    found = _WORD.match(fact)
    word = found[0] if found else ""
    is_plain = word == word.capitalize() and is_ordinary(word.casefold())
    if not is_plain or word == "I" or word.startswith(("I'", "I’")):
        return fact
    return fact[:1].lower() + fact[1:]
