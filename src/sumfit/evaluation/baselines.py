"""Baselines without training: the lead of the text, and a language model that is told the limit.

Owns how each makes a text fit. Every result says whether it had to be cut for that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sumfit.errors import InputError
from sumfit.evaluation.endpoint import Endpoint, Message
from sumfit.length import UnitLike, get_unit, measure
from sumfit.length.units.words import UNIT as WORDS
from sumfit.text.cuts import longest_head

__all__ = ["BaselineText", "LLMBaseline", "cut_at_words", "lead"]

_FRAMES = ("summary:", "headline:", "title:")
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("«", "»"))


@dataclass(frozen=True, slots=True)
class BaselineText:
    """One summary of a baseline.

    Attributes:
        text: The summary; empty if not even one word fits.
        truncated: It was cut to fit.
        n_calls: Questions asked for it.
    """

    text: str
    truncated: bool = False
    n_calls: int = 0


def lead(source: str, *, limit: int, unit: UnitLike = WORDS) -> BaselineText:
    """Take the first words of a text that fit.

    Args:
        source: The text.
        limit: Most the result may measure.
        unit: What the limit counts.

    Returns:
        The lead, cut between words; loose commas and dashes at its end are dropped.
    """
    return cut_at_words(source, limit=limit, unit=unit)


def cut_at_words(text: str, *, limit: int, unit: UnitLike = WORDS) -> BaselineText:
    """Cut a text after the last word that fits.

    Args:
        text: The text.
        limit: Most the result may measure.
        unit: What the limit counts.

    Returns:
        The text itself if it fits, else its longest run of first words that does.
    """
    unit = get_unit(unit)
    words = text.split()
    whole = " ".join(words)
    if measure(whole, unit) <= limit:
        return BaselineText(whole)
    kept = longest_head(words, lambda head: measure(head, unit) <= limit)
    return BaselineText(kept, truncated=True)


@dataclass(frozen=True, slots=True)
class LLMBaseline:
    """A language model that is told the limit, once or until it keeps it.

    Attributes:
        endpoint: The model.
        unit: What the limit counts.
        max_calls: Most questions a text: 1 asks once; more show the model what its last try
            measured and ask again.
        instruction: What to ask; ``{limit}``, ``{unit}`` and ``{source}`` are filled in.
        correction: What to say about a try that is too long; ``{length}`` is filled in as well.
    """

    endpoint: Endpoint
    unit: UnitLike = WORDS
    max_calls: int = 1
    instruction: str = field(
        default="Write a summary of the text below as one headline of at most {limit} {unit}. "
        "Answer with the headline alone.\n\nText: {source}"
    )
    correction: str = field(
        default="That has {length} {unit}, but at most {limit} are allowed. "
        "Answer with a shorter headline alone."
    )

    def __call__(self, source: str, limit: int) -> BaselineText:
        """Summarise one text.

        Args:
            source: The text.
            limit: Most the summary may measure.

        Returns:
            The model's answer without framing words and quotation marks; what is still too long
            is cut between words and marked.

        Raises:
            InputError: If ``max_calls`` is below 1.
            ServiceError: If the endpoint goes on failing.
        """
        if self.max_calls < 1:
            raise InputError(f"max_calls must be at least 1, was {self.max_calls}")
        unit = get_unit(self.unit)
        values = {"limit": limit, "unit": unit.name, "source": source}
        messages: list[Message] = [{"role": "user", "content": self.instruction.format(**values)}]
        text = ""
        for n_calls in range(1, self.max_calls + 1):
            answer = self.endpoint.ask(messages).text
            text = bare_answer(answer)
            length = measure(text, unit)
            if text and length <= limit:
                return BaselineText(text, n_calls=n_calls)
            correction = self.correction.format(length=length, **values)
            messages += [
                {"role": "assistant", "content": answer},
                {"role": "user", "content": correction},
            ]
        cut = cut_at_words(text, limit=limit, unit=unit)
        return BaselineText(cut.text, truncated=True, n_calls=self.max_calls)


def bare_answer(answer: str) -> str:
    """Take framing off a model's answer.

    Args:
        answer: What the model said.

    Returns:
        Its first paragraph on one line, without a label in front or quotation marks around it.
    """
    paragraphs = [part.strip() for part in answer.strip().split("\n\n") if part.strip()]
    text = " ".join(paragraphs[0].split()) if paragraphs else ""
    for frame in _FRAMES:
        if text.strip("*# ").lower().startswith(frame):
            text = text.strip("*# ")[len(frame) :].strip("* ")
    text = text.strip("*# ")
    for opening, closing in _QUOTES:
        if len(text) > 1 and text[0] == opening and text[-1] == closing:
            text = text[1:-1].strip()
    return text
