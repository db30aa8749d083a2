"""Feed batches to the training loop from a thread that runs ahead.

Owns the order of batches over processes and steps, and the move from numpy arrays to tensors on
the device. Does not own how batches are planned (`sumfit.data.batching`).
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sumfit.config import to_mapping
from sumfit.data.batching import (
    Batch,
    BatchOptions,
    EpochPlan,
    build_batch,
    merge_plans,
    plan_epoch,
    usable_items,
)
from sumfit.data.candidates import Candidates
from sumfit.data.controls import ControlDraw
from sumfit.data.corpus import PackedCorpus
from sumfit.data.denoising import DenoiseOptions
from sumfit.data.folds import Fold, folds_of_corpus

__all__ = ["BatchStream", "MicroBatch", "Position", "Prefetcher", "Stream", "to_tensors"]

_LEAST_FOR_DENOISING = 8  # pieces; shorter texts have too little context to rebuild from


@dataclass(frozen=True, slots=True)
class Position:
    """Place in the stream of batches.

    Attributes:
        epoch: Epoch, from 0.
        batch: Batches of the epoch that all processes together have taken.
    """

    epoch: int = 0
    batch: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class MicroBatch:
    """One batch of one process, its tensors not yet on the device.

    Attributes:
        tensors: Arguments of the objective, in pinned memory if a GPU will take them.
        items: ``(B,)`` places in the corpus, for messages.
        place: Number of the batch in its step, over all processes; seeds its randomness.
        is_last: Whether it is this process's last batch of the step.
        n_step_targets: Target pieces of the whole step, over all processes.
        after: Position once the step is done.
    """

    tensors: dict[str, Tensor]
    items: npt.NDArray[np.int64]
    place: int
    is_last: bool
    n_step_targets: int
    after: Position


def to_tensors(batch: Batch, *, pin: bool) -> dict[str, Tensor]:
    """Turn a batch into the arguments of `sumfit.losses.objective`.

    Args:
        batch: The batch.
        pin: Put them into pinned memory.

    Returns:
        ``source_ids (B, T)``, ``target_ids (B, U)``, ``n_vertices (B,)`` int64,
        ``vertex_mask (B, S)`` bool; with candidates those of `sumfit.losses.risk` as well.
    """
    tensors = {
        "source_ids": torch.from_numpy(batch.source_ids),
        "target_ids": torch.from_numpy(batch.target_ids),
        "n_vertices": torch.from_numpy(batch.n_vertices),
        "vertex_mask": torch.from_numpy(batch.vertex_mask),
    }
    if batch.candidates is not None:
        tensors |= {
            "candidate_ids": torch.from_numpy(batch.candidates.ids),
            "candidate_pieces": torch.from_numpy(batch.candidates.n_pieces),
            "bonuses": torch.from_numpy(batch.candidates.bonuses),
            "gains": torch.from_numpy(batch.candidates.gains),
        }
    return {name: value.pin_memory() for name, value in tensors.items()} if pin else tensors


class BatchStream:
    """Endless batches of one process, epoch after epoch."""

    def __init__(
        self,
        corpus: PackedCorpus,
        options: BatchOptions,
        *,
        seed: int,
        rank: int = 0,
        n_processes: int = 1,
        accumulate: int = 1,
        profiles: tuple[str, ...] = (),
        max_pairs: int = 0,
        left_out: Fold | None = None,
        piece_bytes: Sequence[bytes] = (),
        denoising: DenoiseOptions | None = None,
        denoise_share: float = 0.0,
        candidates: Candidates | None = None,
        controls: ControlDraw | None = None,
    ) -> None:
        """Choose the usable pairs.

        Args:
            corpus: Training split.
            options: Size and padding of batches.
            seed: Seed of the run.
            rank: This process.
            n_processes: Number of processes.
            accumulate: Batches of each process that make a step.
            profiles: Text profiles to keep; all if empty.
            max_pairs: Pairs to keep, drawn evenly by the seed; a smaller number takes a part of
                what a larger one takes. All if 0.
            left_out: Fold of the pairs not to take.
            piece_bytes: Bytes of each piece of the tokenizer, to find that fold.
            denoising: How sources are corrupted in denoising batches.
            denoise_share: Share of the epochs' batches that denoise.
            candidates: If given, only pairs with candidates are taken, and these come along.
            controls: If given, control pieces are put before the sources.
        """
        self._corpus = corpus
        self._options = options
        self._seed = seed
        self._rank = rank
        self._group = n_processes * accumulate
        self._n_processes = n_processes
        self._denoising = denoising if denoise_share > 0 else None
        self._denoise_share = denoise_share
        self._profiles = profiles
        self._left_out = left_out
        self._candidates = candidates
        self._controls = controls
        self.items, self.dropped = usable_items(corpus, options, profiles=profiles)
        if left_out is not None:
            folds = folds_of_corpus(corpus, piece_bytes, left_out.n_folds)[self.items]
            self._keep(folds != left_out.index, f"of fold {left_out} (leave_out)")
        if candidates is not None:
            self._keep(np.isin(self.items, candidates.items), "without an n-best list (lists)")
        self._is_drawn = 0 < max_pairs < len(self.items)
        if self._is_drawn:
            drawn = np.random.default_rng((seed, 3)).permutation(self.items)[:max_pairs]
            self.dropped["not drawn (max_pairs)"] = len(self.items) - max_pairs
            self.items = np.sort(drawn)
        set_weights = np.array([entry.weight for entry in corpus.meta.sets], dtype=np.float64)
        self._weights = set_weights[corpus.set_ids[self.items]]
        self._plans: dict[int, EpochPlan] = {}

    @property
    def fingerprint(self) -> str:
        """Name of everything that the order of batches depends on."""
        parts = {
            "pairs": len(self._corpus),
            "pieces": int(self._corpus.source_offsets[-1]),
            "sets": to_mapping(self._corpus.meta.sets),
            "batches": to_mapping(self._options),
            "profiles": self._profiles,
            "denoise": [self._denoise_share, to_mapping(self._denoising)],
            "seed": self._seed,
        }
        if self._is_drawn:
            parts["drawn"] = hashlib.sha256(self.items.tobytes()).hexdigest()
        if self._left_out is not None:
            parts["left_out"] = str(self._left_out)
        if self._controls is not None:
            parts["controls"] = to_mapping(self._controls.options)
        if self._candidates is not None:
            parts["lists"] = hashlib.sha256(self._candidates.items.tobytes()).hexdigest()
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def plan(self, epoch: int) -> EpochPlan:
        """Plan an epoch, once.

        Args:
            epoch: Its number.

        Returns:
            The plan.
        """
        if epoch not in self._plans:
            self._plans = {epoch: self._make_plan(epoch)}
        return self._plans[epoch]

    def steps(self, start: Position, *, pin: bool = False) -> Iterator[MicroBatch]:
        """Yield this process's batches from a position on, without end.

        Args:
            start: Where to begin; a position inside a step begins that step.
            pin: Put tensors into pinned memory.

        Yields:
            The batches.
        """
        epoch, step = start.epoch, start.batch // self._group
        while True:
            plan = self.plan(epoch)
            n_steps = plan.n_steps(self._group)
            while step < n_steps:
                n_targets = plan.step_targets(step, self._group)
                done = step + 1 == n_steps
                after = Position(epoch + 1) if done else Position(epoch, (step + 1) * self._group)
                for place in range(self._rank, self._group, self._n_processes):
                    batch = self.build(epoch, plan, step * self._group + place)
                    is_last = place + self._n_processes >= self._group
                    tensors = to_tensors(batch, pin=pin)
                    yield MicroBatch(tensors, batch.items, place, is_last, n_targets, after)
                step += 1
            epoch, step = epoch + 1, 0

    def build(self, epoch: int, plan: EpochPlan, index: int) -> Batch:
        """Gather one batch of an epoch.

        Args:
            epoch: Number of the epoch.
            plan: Its plan.
            index: Place of the batch; beyond the last one it wraps round.

        Returns:
            The batch.
        """
        index %= len(plan)
        denoising = self._denoising if plan.is_denoising[index] else None
        rng = np.random.default_rng((self._seed, epoch, 2, index))
        items = plan.batch_items(index)
        return build_batch(
            self._corpus,
            items,
            self._options,
            denoising=denoising,
            rng=rng,
            candidates=self._candidates,
            controls=self._controls,
        )

    def _keep(self, is_kept: npt.NDArray[np.bool_], reason: str) -> None:
        """Leave pairs out and count them."""
        self.dropped[reason] = int((~is_kept).sum())
        self.items = self.items[is_kept]

    def _make_plan(self, epoch: int) -> EpochPlan:
        def plan(weights: npt.NDArray[np.float64], denoising: DenoiseOptions | None) -> EpochPlan:
            return plan_epoch(
                self._corpus,
                self._options,
                items=self.items,
                weights=weights,
                seed=self._seed,
                epoch=epoch,
                denoising=denoising,
            )

        share = self._denoise_share
        if self._denoising is None:
            return plan(self._weights, None)
        long_enough = self._corpus.source_lengths[self.items] >= _LEAST_FOR_DENOISING
        weights = self._weights * long_enough
        if share >= 1:
            return plan(weights, self._denoising)
        second = plan(weights * (share / (1 - share)), self._denoising)
        return merge_plans(plan(self._weights, None), second, seed=self._seed, epoch=epoch)


class Stream(Protocol):
    """Whatever yields batches without end."""

    def steps(self, start: Position, *, pin: bool = False) -> Iterator[MicroBatch]:
        """Yield this process's batches from a position on."""
        ...


class Prefetcher:
    """Runs a stream of batches in a thread, a few batches ahead; a context manager."""

    def __init__(
        self, stream: Stream, start: Position, *, device: torch.device, ahead: int = 8
    ) -> None:
        """Start the thread.

        Args:
            stream: Where batches come from.
            start: Where to begin.
            device: Device that will take the batches; pinned memory belongs to it.
            ahead: Batches to hold ready.
        """
        self._stream = stream
        self._start = start
        self._device = device
        self._queue: queue.Queue[MicroBatch | BaseException] = queue.Queue(ahead)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="batches", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[MicroBatch]:
        """Yield batches without end; an error of the thread is raised here."""
        while True:
            got = self._queue.get()
            if isinstance(got, BaseException):
                raise got
            yield got

    def __enter__(self) -> Prefetcher:
        """Use as a context manager that stops the thread at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread and wait for it."""
        self._stop.set()
        while self._thread.is_alive():
            try:
                self._queue.get(timeout=0.05)
            except queue.Empty:
                continue

    def _run(self) -> None:
        try:
            if self._device.type == "cuda":
                torch.cuda.set_device(self._device)  # a new thread would pin for GPU 0
            pin = self._device.type == "cuda"
            for micro in self._stream.steps(self._start, pin=pin):
                while not self._stop.is_set():
                    try:
                        self._queue.put(micro, timeout=0.2)
                        break
                    except queue.Full:
                        continue
                if self._stop.is_set():
                    return
        except BaseException as error:  # handed to the loop, which raises it
            self._queue.put(error)
