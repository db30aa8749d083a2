"""Which sentence of a short text holds its point, as the model's encoder reads them.

Owns the numbers of a sentence beside its encoding, and the two layers over both that score it
(``scripts/make_salience.py`` fits them to texts whose sentences readers have marked). News begins
with its point; a chat, a mail, minutes or a review comes to it later, and an abstract after its
background. Does not own the encoder (`sumfit.runtime`), nor what follows from the scores
(`sumfit.rerank.points`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.errors import ModelFormatError
from sumfit.text.normalise import normalize
from sumfit.text.passages import TextForm
from sumfit.text.tokenizer import Tokenizer
from sumfit.unpacking import read_arrays

__all__ = [
    "N_FEATURES",
    "SALIENCE_FILE",
    "Salience",
    "mean_state",
    "sentence_features",
    "sentence_inputs",
    "sentence_spans",
]

SALIENCE_FILE = "salience.npz"
"""Where in its directory a model has the layers that score sentences."""

N_FEATURES = 16
"""Numbers of a sentence beside its encoding."""

FloatArray = npt.NDArray[np.float32]
Span = tuple[int, int]

_ARRAYS = ("inner", "bias", "outer", "kind")
_SHORT = 4  # words
_LONG = 40  # words
_TINY = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Salience:
    """Two layers that score the sentences of a text.

    Attributes:
        inner: ``(16 + D, H)`` weights from a sentence's numbers and its encoding.
        inner_bias: ``(H,)``.
        outer: ``(H,)`` weights of the score.
        kind: ``(D + 1,)`` weights, and the bias, of what tells a commit message or an abstract.
    """

    inner: FloatArray
    inner_bias: FloatArray
    outer: FloatArray
    kind: FloatArray

    @classmethod
    def load(cls, file: str | os.PathLike[str], width: int, most: int) -> Salience:
        """Read the layers of a model.

        Args:
            file: Where they lie.
            width: ``D`` of the model.
            most: Bytes that the file may unpack to.

        Returns:
            The layers.

        Raises:
            ModelFormatError: If the file is damaged, or of another model.
        """
        try:
            packed = read_arrays(file, _ARRAYS, most)
        except (OSError, ValueError) as error:
            raise ModelFormatError(f"{file} is damaged ({error}); copy the model again") from error
        parts = [packed[name].astype(np.float32) for name in _ARRAYS]
        hidden = parts[1].shape[0] if parts[1].ndim == 1 else 0
        expected = [(N_FEATURES + width, hidden), (hidden,), (hidden,), (width + 1,)]
        found = [part.shape for part in parts]
        if found != expected or not all(np.isfinite(part).all() for part in parts):
            raise ModelFormatError(
                f"{file} holds arrays of {found}, a model of width {width} needs {expected} of "
                "finite numbers; copy the model again"
            )
        return cls(*parts)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the layers, as float16.

        Args:
            file: Where to.
        """
        parts = zip(_ARRAYS, (self.inner, self.inner_bias, self.outer, self.kind), strict=True)
        halves: dict[str, Any] = {name: part.astype(np.float16) for name, part in parts}
        with Path(file).open("wb") as stream:
            np.savez_compressed(stream, **halves)

    def scores(
        self, memory: FloatArray, spans: Sequence[Span], sentences: Sequence[str], form: TextForm
    ) -> FloatArray:
        """Score the sentences of one text.

        Args:
            memory: ``(T, D)``, the text as the encoder reads it.
            spans: Begin and end of each sentence in it; beyond ``T`` for what was cut off.
            sentences: The sentences, in order.
            form: Talk, a thread, or anything else.

        Returns:
            The log-probability of each to be the one that holds the point, nats. What was cut off
            has none.
        """
        scores = self.logits(sentence_inputs(memory, spans, sentences, form))
        scores[[begin >= len(memory) for begin, _ in spans]] = -np.inf
        scores -= scores.max()
        result: FloatArray = scores - np.log(np.exp(scores).sum())
        return result

    def knows_kind(self, mean: FloatArray) -> bool:
        """Tell whether a text is a commit message or an abstract.

        The model has learned from so many of these, whose titles are seldom of one sentence, that
        it reads them best as they are.

        Args:
            mean: ``(D,)``, the text's `mean_state`.

        Returns:
            The verdict.
        """
        return bool(mean @ self.kind[:-1] + self.kind[-1] > 0.0)

    def logits(self, inputs: FloatArray) -> FloatArray:
        """Apply both layers.

        Args:
            inputs: ``(S, 16 + D)``, see `sentence_inputs`.

        Returns:
            ``(S,)`` scores, nats up to a constant.
        """
        hidden = np.maximum(inputs @ self.inner + self.inner_bias, 0.0)
        result: FloatArray = hidden @ self.outer
        return result


def sentence_spans(
    sentences: Sequence[str], tokenizer: Tokenizer, ids: Sequence[int], n_before: int
) -> list[Span] | None:
    """Find the sentences of a text in what the encoder reads.

    Args:
        sentences: The sentences, in order.
        tokenizer: The model's tokenizer.
        ids: Vocabulary ids of the text, from its beginning.
        n_before: Ids that the encoder reads before those of the text.

    Returns:
        Begin and end of each; ``None`` where the text is encoded in another way.
    """
    found: list[int] = []
    spans: list[Span] = []
    for sentence in sentences:
        begin = len(found)
        found += tokenizer.encode(" " * (begin > 0) + normalize(sentence))
        spans.append((n_before + begin, n_before + len(found)))
    return spans if found[: len(ids)] == list(ids) else None


def sentence_inputs(
    memory: FloatArray, spans: Sequence[Span], sentences: Sequence[str], form: TextForm
) -> FloatArray:
    """Put together what is known of each sentence.

    Args:
        memory: ``(T, D)``, the text as the encoder reads it.
        spans: Begin and end of each sentence in it.
        sentences: The sentences, in order.
        form: Talk, a thread, or anything else.

    Returns:
        ``(S, 16 + D)``: the numbers of `sentence_features`, and the mean of the sentence's states,
        normalised to mean 0 and variance 1.
    """
    width = memory.shape[1]
    means = np.zeros((len(spans), width), dtype=np.float32)
    for place, (begin, end) in enumerate(spans):
        if begin < min(end, len(memory)):
            means[place] = mean_state(memory[begin:end])
    return np.concatenate([sentence_features(sentences, form), means], axis=1)


def mean_state(memory: FloatArray) -> FloatArray:
    """Average states, and normalise that to mean 0 and variance 1.

    Args:
        memory: ``(T, D)``, at least one state.

    Returns:
        ``(D,)``.
    """
    mean = memory.mean(axis=0)
    mean -= mean.mean()
    result: FloatArray = mean / np.sqrt(mean.var() + _TINY)
    return result


def sentence_features(sentences: Sequence[str], form: TextForm = "article") -> FloatArray:
    """Return the numbers of each sentence that its encoding does not say.

    Args:
        sentences: The sentences of one text, in order.
        form: Talk, a thread, or anything else.

    Returns:
        ``(S, 16)``: place, length, marks, and the form of the text.
    """
    n, last = len(sentences), len(sentences) - 1
    is_talk, is_thread = form == "talk", form == "thread"
    found = []
    for place, sentence in enumerate(sentences):
        n_words = len(sentence.split())
        length = min(n_words, _LONG) / 10
        features: Mapping[str, float] = {
            "first": place == 0,
            "second": place == 1,
            "last": place == last,
            "last but one": place == last - 1,
            "place": place / max(1, last),
            "length": length,
            "length squared": length**2 / 4,
            "short": n_words < _SHORT,
            "asks": sentence.endswith("?"),
            "calls": sentence.endswith("!"),
            "behind a question": place > 0 and sentences[place - 1].endswith("?"),
            "digit": any(map(str.isdigit, sentence)),
            "sentences": n / 10,
            "talk": is_talk,
            "thread": is_thread,
            "first of talk": is_talk and place == 0,
        }
        found.append(list(features.values()))
    return np.asarray(found, dtype=np.float32).reshape(n, N_FEATURES)
