"""Encoded lists in memory, and batches of them as padded arrays.

Owns the plan of an epoch. Does not own what is read of a list
(`sumfit.training.reranking.encoding`). All is a function of lists, settings, seed and epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from sumfit.data.flat import gather_rows
from sumfit.errors import ConfigError, IncompatibleModelError
from sumfit.models.reranker_config import RerankerShape
from sumfit.rerank.graph import DEFAULT_WEIGHT, mbr_places
from sumfit.training.loader import MicroBatch, Position
from sumfit.training.nbest.lists import ListMeta, Lists, read_lists, read_meta
from sumfit.training.reranking.encoding import encode_lists
from sumfit.training.reranking.recipe import BatchSection

__all__ = ["ListData", "ListStream", "check_kinds", "plan_batches"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_PAD_SOURCE, _PAD_CANDIDATE = 8, 4  # lengths are padded to multiples of these


class ListData:
    """Lists of several directories, cut to one network's sizes, in memory.

    Attributes:
        metas: Where the lists come from.
        n_candidates: ``(N,)`` candidates of each list, at most ``K``.
        source_lengths: ``(N,)`` ids of each source.
        widths: ``(N,)`` ids of the longest candidate of each list.
        landmarks: ``(N,)`` gain of the ``first`` candidate of the search, of the choice of
            minimum Bayes risk (``mbr``), and of the best (``oracle``), of each whole list.
    """

    metas: tuple[ListMeta, ...]
    n_candidates: IntArray
    source_lengths: IntArray
    widths: IntArray
    landmarks: dict[str, FloatArray]

    def __init__(
        self,
        directories: Sequence[str | Path],
        shape: RerankerShape,
        *,
        reader: str | Path,
        least: int = 1,
        most: int = 0,
        n_workers: int = 0,
    ) -> None:
        """Read the lists.

        Args:
            directories: Directories of lists, of one tokenizer.
            shape: The network.
            reader: The encoder's ``tokenizer.json``.
            least: Leave shorter lists out.
            most: Lists at most of each directory; all if 0.
            n_workers: Processes for encoding.

        Raises:
            IncompatibleModelError: If lists are of several tokenizers, or of several kinds.
            ConfigError: If no list is left.
        """
        self.shape = shape
        self.metas = tuple(read_meta(directory) for directory in directories)
        check_kinds(self.metas, directories)
        lists, ids, landmarks = [], [], []
        for directory in directories:
            files = encode_lists(directory, shape, reader=reader, n_workers=n_workers)
            taken = 0
            for part, file in zip(read_lists(directory)[1], files, strict=True):
                if most and taken >= most:
                    break
                landmarks.append(_landmarks(part, shape.order_weight or DEFAULT_WEIGHT))
                lists.append(part.given(most=shape.n_candidates, weight=shape.order_weight))
                with np.load(file, allow_pickle=False) as loaded:
                    ids.append({name: loaded[name] for name in loaded.files})
                taken += len(part)
        self._set(Lists.joined(lists), ids, least)
        self.landmarks = {
            name: np.concatenate([one[name] for one in landmarks])[self._places]
            for name in landmarks[0]
        }

    def _set(self, lists: Lists, ids: Sequence[dict[str, Any]], least: int) -> None:
        def joined(name: str) -> npt.NDArray[np.int32]:
            return np.concatenate([np.zeros(0, np.int32), *(one[name] for one in ids)])

        self._lists = lists
        self._features: npt.NDArray[np.float32] | None = None
        if self.shape.n_features:
            self._features = np.concatenate([one["features"] for one in ids])
        self._source_ids, self._candidate_ids = joined("source_ids"), joined("candidate_ids")
        source_lengths, lengths = joined("source_lengths"), joined("candidate_lengths")
        self._source_starts = _starts(source_lengths)
        self._candidate_starts = _starts(lengths)
        self._first = _starts(lists.n_candidates)
        self._lengths = np.minimum(lengths, self.shape.max_candidate)
        usable = np.flatnonzero(lists.n_candidates >= least)
        if not usable.size:
            raise ConfigError(f"no list has {least} candidates; make other n-best lists")
        self._places = usable
        self.n_candidates = lists.n_candidates.astype(np.int64)[usable]
        self.source_lengths = np.minimum(source_lengths, self.shape.max_source)[usable].astype(
            np.int64
        )
        self.widths = np.maximum.reduceat(self._lengths, self._first).astype(np.int64)[usable]

    def __len__(self) -> int:
        return len(self._places)

    def _candidates(self, numbers: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Places of the candidates of lists, ``(B, K)``, and which of them are there."""
        n_ranks = int(self.n_candidates[numbers].max())
        ranks = np.arange(n_ranks)
        there = ranks < self.n_candidates[numbers][:, None]
        first = self._first[self._places[numbers]][:, None]
        return np.where(there, first + ranks, first), there

    def per_candidate(self, name: str, numbers: IntArray) -> npt.NDArray[Any]:
        """Take a value of every candidate.

        Args:
            name: An array of `Lists`.
            numbers: ``(B,)`` lists.

        Returns:
            ``(B, K)``; zeros where a candidate is missing.
        """
        places, there = self._candidates(numbers)
        values: npt.NDArray[Any] = np.where(there, getattr(self._lists, name)[places], 0)
        return values

    def batch(self, numbers: IntArray) -> dict[str, torch.Tensor]:
        """Gather lists into padded tensors.

        Args:
            numbers: ``(B,)`` lists.

        Returns:
            ``source_ids (B, T)``, ``candidate_ids (B, K, U)``, ``gains (B, K)``,
            ``overlaps (B, K)``, ``scores (B, K)``, ``expected_f1 (B, K)``, ``mbr (B, K)``
            (score and weighted F1, below the best of the list), and ``features (B, K, F)`` if
            they are read.
        """
        places, there = self._candidates(numbers)
        pad = self.shape.pad_id
        lists = self._places[numbers]
        source = gather_rows(
            self._source_ids,
            self._source_starts[lists],
            self.source_lengths[numbers],
            multiple=_PAD_SOURCE,
            pad=pad,
        )
        lengths = np.where(there, self._lengths[places], 0)
        flat = gather_rows(
            self._candidate_ids,
            self._candidate_starts[places].ravel(),
            lengths.ravel(),
            multiple=_PAD_CANDIDATE,
            pad=pad,
        )
        values = {
            name: self.per_candidate(name, numbers)
            for name in ("gains", "overlaps", "scores", "expected_f1")
        }
        mbr = values["scores"] + self.shape.order_weight * values["expected_f1"]
        values["mbr"] = np.where(there, mbr - np.where(there, mbr, -np.inf).max(1)[:, None], 0)
        values["source_ids"] = source
        values["candidate_ids"] = flat.reshape(*there.shape, -1)
        if self._features is not None:
            values["features"] = np.where(there[..., None], self._features[places], np.float32(0))
        return {name: torch.from_numpy(value) for name, value in values.items()}


def check_kinds(metas: Sequence[ListMeta], directories: Sequence[str | Path]) -> None:
    """Raise unless one reranker can serve all lists.

    Args:
        metas: Where the lists come from.
        directories: Their directories, for the error.

    Raises:
        IncompatibleModelError: If lists are of several tokenizers, or of several kinds.
    """
    for directory, meta in zip(directories, metas, strict=True):
        if meta.tokenizer_sha256 != metas[0].tokenizer_sha256:
            raise IncompatibleModelError(
                f"{directory} holds lists of a model with another tokenizer than "
                f"{directories[0]}; train on lists of one tokenizer"
            )
        for name in ("n_best", "after_best", "mbr_temperature"):
            if getattr(meta, name) != getattr(metas[0], name):
                raise IncompatibleModelError(
                    f"{directory} holds lists with {name}={getattr(meta, name)}, "
                    f"{directories[0]} with {getattr(metas[0], name)}; train on lists of one kind, "
                    "which is the kind that summaries will be chosen from"
                )


def _landmarks(lists: Lists, weight: float) -> dict[str, FloatArray]:
    """Gains of each whole list that choices are compared with."""
    ends = np.cumsum(lists.n_candidates, dtype=np.int64)
    starts = ends - lists.n_candidates
    gains = lists.gains.astype(np.float64)
    of_mbr = [
        a + mbr_places(lists.scores[a:b], lists.expected_f1[a:b], weight=weight)[0]
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    return {
        "first": gains[starts],
        "mbr": gains[np.array(of_mbr, dtype=np.int64)],
        "oracle": np.maximum.reduceat(gains, starts) if starts.size else gains[:0],
    }


class ListStream:
    """Endless batches of one process, epoch after epoch."""

    def __init__(
        self,
        data: ListData,
        options: BatchSection,
        *,
        seed: int,
        rank: int,
        n_processes: int,
        accumulate: int,
    ) -> None:
        """Prepare.

        Args:
            data: The lists.
            options: Size of batches.
            seed: Seed of the run.
            rank: This process.
            n_processes: Number of processes.
            accumulate: Batches of each process that make a step.
        """
        self._data = data
        self._options = options
        self._seed = seed
        self._rank = rank
        self._n_processes = n_processes
        self._group = n_processes * accumulate

    @property
    def fingerprint(self) -> str:
        """Name of everything that the order of batches depends on."""
        data = self._data
        parts = [len(data), int(data.widths.sum()), self._options.tokens, self._options.max_lists]
        text = repr((parts, [meta.data_sha256 for meta in data.metas], self._seed))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def plan(self, epoch: int) -> list[IntArray]:
        """Cut an epoch into batches of lists of similar size, in random order.

        Args:
            epoch: Its number.

        Returns:
            The lists of each batch.
        """
        rng = np.random.default_rng((self._seed, epoch))
        batches = plan_batches(self._data, rng.permutation(len(self._data)), self._options)
        rng.shuffle(batches)
        return batches

    def n_batches(self) -> int:
        """Batches of an epoch."""
        return len(self.plan(0))

    def steps(self, start: Position, *, pin: bool = False) -> Iterator[MicroBatch]:
        """Yield this process's batches from a position on, without end.

        Args:
            start: Where to begin.
            pin: Put tensors into pinned memory.

        Yields:
            The batches.
        """
        epoch, step = start.epoch, start.batch // self._group
        while True:
            plan = self.plan(epoch)
            n_steps = -(-len(plan) // self._group)
            while step < n_steps:
                done = step + 1 == n_steps
                after = Position(epoch + 1) if done else Position(epoch, (step + 1) * self._group)
                places = range(step * self._group, (step + 1) * self._group)
                n_lists = sum(len(plan[place % len(plan)]) for place in places)
                for place in range(self._rank, self._group, self._n_processes):
                    numbers = plan[(step * self._group + place) % len(plan)]
                    tensors = self._data.batch(numbers)
                    if pin:
                        tensors = {name: value.pin_memory() for name, value in tensors.items()}
                    is_last = place + self._n_processes >= self._group
                    yield MicroBatch(tensors, numbers, place, is_last, n_lists, after)
                step += 1
            epoch, step = epoch + 1, 0


def plan_batches(data: ListData, numbers: IntArray, options: BatchSection) -> list[IntArray]:
    """Cut lists into batches of similar size.

    Args:
        data: The lists.
        numbers: Which, in any order.
        options: Size of batches.

    Returns:
        The lists of each batch.
    """
    width = -(-data.widths[numbers] // _PAD_CANDIDATE) * _PAD_CANDIDATE
    length = -(-data.source_lengths[numbers] // _PAD_SOURCE) * _PAD_SOURCE
    order = np.lexsort((length, width))
    numbers, width, length = numbers[order], width[order], length[order]
    ranks = data.n_candidates[numbers]
    batches, start = [], 0
    while start < len(numbers):
        ahead = slice(start, start + options.max_lists)
        cost = np.maximum.accumulate(length[ahead]) + np.maximum.accumulate(
            ranks[ahead]
        ) * np.maximum.accumulate(width[ahead])
        total = cost * np.arange(1, len(cost) + 1)
        count = max(1, int(np.searchsorted(total, options.tokens, side="right")))
        batches.append(numbers[start : start + count])
        start += count
    return batches


def _starts(lengths: npt.NDArray[Any]) -> IntArray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[:-1], dtype=np.int64)])[
        : len(lengths)
    ]
