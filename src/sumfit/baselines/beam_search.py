"""Beam search over a network that predicts one word after the other, with its keys and values kept.

Owns `beam_search`. Does not own the network (`sumfit.models.autoregressive`), nor limits: what it
finds is as long as the model makes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sumfit.models.autoregressive import Autoregressive, DecoderCache, LengthInformed
from sumfit.models.config import BOS, EOS

__all__ = ["Found", "beam_search"]

_LEAST_DONE = 0.25  # share of the texts that must be done before the others are moved together


@dataclass(frozen=True, slots=True)
class Found:
    """One finished hypothesis.

    Attributes:
        words: Vocabulary ids, without start and end.
        log_prob: Natural log of the probability of the words and the end after them.
        score: ``log_prob / (n + 1) ** length_penalty`` for ``n`` words.
    """

    words: tuple[int, ...]
    log_prob: float
    score: float


@dataclass(slots=True)
class _Beam:
    """Hypotheses of the texts that are not done, ``B`` of them, on the device.

    ``texts`` holds the number of each row's text, ``history`` ``(B, K, t)`` words so far, both on
    the host; ``logp`` ``(B, K)``; ``n_left`` words left of the length, where the model is told.
    """

    texts: npt.NDArray[np.int64]
    history: npt.NDArray[np.int64]
    logp: Tensor
    last: Tensor
    n_left: Tensor | None
    cache: DecoderCache
    done: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.done = np.zeros(len(self.texts), dtype=bool)

    def drop_done(self) -> None:
        """Leave done texts out, once they are worth it."""
        if self.done.mean() < _LEAST_DONE:
            return
        kept = np.flatnonzero(~self.done)
        rows = torch.from_numpy(kept).to(self.logp.device)
        self.texts, self.history, self.done = self.texts[kept], self.history[kept], self.done[kept]
        self.logp, self.last = self.logp[rows], self.last[rows]
        self.n_left = None if self.n_left is None else self.n_left[rows]
        self.cache.keep_(rows)


@torch.inference_mode()
def beam_search(
    network: Autoregressive,
    source_ids: Tensor,
    *,
    beam_size: int = 5,
    length_penalty: float = 1.0,
    max_pieces: int | None = None,
    n_words: Tensor | None = None,
) -> list[list[Found]]:
    """Find good summaries of some texts; none depends on the other texts.

    Of the ``2 K`` best continuations of a text's ``K`` hypotheses, those among the first ``K`` that
    end are finished, and the first ``K`` that do not go on, as usual in translation. A text is done
    with ``K`` finished ones. With ``K`` as large as the number of all sequences this is exhaustive.
    Time O(B K (V D + layers * (D^2 + T D)) * steps).

    Args:
        network: In evaluation mode.
        source_ids: ``(B, T)`` int64 on the network's device, pad 0.
        beam_size: ``K``.
        length_penalty: Power of the length that log-probabilities are divided by; 0 for none.
        max_pieces: Most pieces of a summary, which ends there whatever the model says; as many as
            the network has positions for if not given.
        n_words: ``(B,)`` words asked for, for a network that is told.

    Returns:
        For each text its finished hypotheses, best score first; at least one.
    """
    most = network.config.max_vertices - 1
    max_pieces = most if max_pieces is None else min(max_pieces, most)
    finished: list[list[Found]] = [[] for _ in range(len(source_ids))]
    beam = _start(network, source_ids, beam_size, n_words)
    for n_pieces in range(max_pieces + 1):
        hidden = network.step(beam.last, beam.cache, beam.n_left)
        total = beam.logp[:, :, None] + network.word_logp(hidden)
        if n_pieces == max_pieces:
            _finish_all(beam, total[:, :, EOS], finished, length_penalty)
            break
        _advance(network, beam, total, finished, length_penalty)
        if beam.done.all():
            break
        beam.drop_done()
    for found in finished:
        found.sort(key=lambda one: (-one.score, one.words))
    return finished


def _start(
    network: Autoregressive, source_ids: Tensor, beam_size: int, n_words: Tensor | None
) -> _Beam:
    n_texts = len(source_ids)
    memory, source_mask = network.encode(source_ids)
    logp = torch.full((n_texts, beam_size), -torch.inf, device=source_ids.device)
    logp[:, 0] = 0.0  # all hypotheses are the same at first: one stands for them
    last = source_ids.new_full((n_texts, beam_size), BOS)
    return _Beam(
        texts=np.arange(n_texts),
        history=np.zeros((n_texts, beam_size, 0), dtype=np.int64),
        logp=logp,
        last=last,
        n_left=None if n_words is None else n_words[:, None].expand_as(last),
        cache=network.start(memory, source_mask, beam_size),
    )


def _advance(
    network: Autoregressive,
    beam: _Beam,
    total: Tensor,
    finished: list[list[Found]],
    length_penalty: float,
) -> None:
    """Take the best continuations: finish those that end, go on with the others."""
    n_rows, beam_size, vocab_size = total.shape
    best, flat = total.flatten(1).topk(min(2 * beam_size, beam_size * vocab_size), dim=1)
    parents, words = flat // vocab_size, flat % vocab_size
    is_end = words == EOS
    # The K best that go on, in their order; there are so many, as a hypothesis ends in one way.
    order = is_end.to(torch.uint8).argsort(dim=1, stable=True)[:, :beam_size]
    on_host = torch.stack([best.double(), parents.double(), words.double()]).cpu().numpy()
    ends, order_ = is_end.cpu().numpy(), order.cpu().numpy()
    scores, from_, said = on_host[0], on_host[1].astype(np.int64), on_host[2].astype(np.int64)
    for row, place in zip(*np.nonzero(ends[:, :beam_size] & ~beam.done[:, None]), strict=True):
        history = beam.history[row, from_[row, place]]
        _finish(finished[beam.texts[row]], history, scores[row, place], length_penalty)
    for row in range(n_rows):
        is_dead = not np.isfinite(scores[row][~ends[row]]).any()
        beam.done[row] |= is_dead or len(finished[beam.texts[row]]) >= beam_size
    parents, beam.last, beam.logp = (values.gather(1, order) for values in (parents, words, best))
    kept = np.take_along_axis(from_, order_, axis=1)
    history = np.take_along_axis(beam.history, kept[:, :, None], axis=1)
    said = np.take_along_axis(said, order_, axis=1)
    is_first = history.shape[2] == 0
    beam.history = np.concatenate([history, said[:, :, None]], axis=2)
    beam.cache.reorder_(parents)
    if beam.n_left is not None:
        assert isinstance(network, LengthInformed)
        cost = network.word_cost[1 if is_first else 0][beam.last]
        beam.n_left = beam.n_left.gather(1, parents) - cost


def _finish_all(
    beam: _Beam, end_logp: Tensor, finished: list[list[Found]], length_penalty: float
) -> None:
    """End every hypothesis that is left where no more words may follow."""
    scores = end_logp.double().cpu().numpy()
    for row, text in enumerate(beam.texts):
        if not beam.done[row]:
            for words, log_prob in zip(beam.history[row], scores[row], strict=True):
                _finish(finished[text], words, log_prob, length_penalty)


def _finish(
    finished: list[Found], words: npt.NDArray[np.int64], log_prob: float, length_penalty: float
) -> None:
    if np.isfinite(log_prob):
        score = float(log_prob) / (len(words) + 1) ** length_penalty
        finished.append(Found(tuple(map(int, words)), float(log_prob), score))
