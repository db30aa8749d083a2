"""Make n-best lists: one process predicts graphs, many search them.

Owns the flow from texts to parts on disk, and reuse: parts that are there are not made again, and a
directory made from another model, other data or other settings is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sumfit.errors import ConfigError, IncompatibleModelError
from sumfit.processors import checked_workers
from sumfit.training.nbest.lists import FORMAT, ListMeta, Lists, part_path, read_meta, write_meta
from sumfit.training.nbest.spec import NbestSpec, was_trained_on
from sumfit.training.nbest.texts import Texts
from sumfit.training.nbest.worker import (
    Found,
    Item,
    Outputs,
    Worker,
    graph_request,
    search_in_worker,
    start_worker,
)
from sumfit.training.start import start_directory
from sumfit.workers import Workers

if TYPE_CHECKING:
    from sumfit.training.nbest.predict import Predictor

__all__ = ["MakeReport", "make_lists"]

logger = logging.getLogger(__name__)
_MOST_SCORES = 1 << 27  # B * S * V of one call of the network: half a gigabyte of float32
_MOST_TEXTS = 256  # of one call
_TASK = 16  # texts that a worker takes at once
_AHEAD = 3  # tasks of each worker that may wait


class MakeReport(NamedTuple):
    """What was made.

    Attributes:
        meta: Where the lists come from.
        n_made: Lists made by this call.
        n_kept: Parts that were there already.
        failures: Texts without a list, by the kind of error.
        seconds: Time of this call.
    """

    meta: ListMeta
    n_made: int
    n_kept: int
    failures: Counter[str]
    seconds: float


def make_lists(
    spec: NbestSpec,
    *,
    device: str = "",
    n_workers: int = 0,
    shard: tuple[int, int] = (0, 1),
    on_progress: Callable[[int, int, float], None] | None = None,
) -> MakeReport:
    """Make the lists of a spec, or what is missing of them.

    Args:
        spec: What is wanted.
        device: Torch device of the network, if the model has weights for torch.
        n_workers: Worker processes; 0 for one per core, 1 to stay in this process.
        shard: Make only every n-th part: ``(i, n)``.
        on_progress: Called with lists done, lists wanted and seconds left.

    Returns:
        What was made.

    Raises:
        ConfigError: If the model was trained on the texts and the spec does not allow that, or
            nothing is left to make lists of, or there are far more workers than processors.
        IncompatibleModelError: If the directory holds lists of another kind.
    """
    started = time.monotonic()
    n_workers = checked_workers(n_workers)
    seen = was_trained_on(spec)
    if seen and not spec.allow_seen:
        raise ConfigError(
            f"{spec.model} was trained on these texts, and its lists of them are too good to "
            "learn from; use a model trained with data.leave_out and its fold, or other texts, or "
            "set allow_seen=true"
        )
    spec = replace(spec, model=str(start_directory(spec.model)))
    worker = Worker(spec)  # also compiles the search, which the other processes then find
    texts = Texts(spec, worker.model)
    output = Path(spec.lists)
    meta = _meta(spec, worker, texts, seen=seen)
    _claim(output, meta)
    if not (output / "tokenizer.json").exists():
        worker.model.tokenizer.save(output / "tokenizer.json")
    mine = range(shard[0], meta.n_parts, shard[1])
    todo = [number for number in mine if not part_path(output, number).exists()]
    failures: Counter[str] = Counter()
    n_made = 0
    if todo:
        maker = _Maker(spec, worker, texts, device, n_workers)
        n_wanted, done = sum(len(maker.numbers(part)) for part in todo), 0
        with contextlib.closing(maker.parts(todo)) as parts:
            for part, found in zip(todo, parts, strict=True):
                found.lists.save(part_path(output, part))
                failures += found.failures
                n_made += len(found.lists)
                done += len(maker.numbers(part))
                if on_progress:
                    rate = done / (time.monotonic() - started)
                    on_progress(done, n_wanted, (n_wanted - done) / rate)
    return MakeReport(meta, n_made, len(mine) - len(todo), failures, time.monotonic() - started)


def _meta(spec: NbestSpec, worker: Worker, texts: Texts, *, seen: bool) -> ListMeta:
    return ListMeta(
        format=FORMAT,
        model=worker.model.config.name,
        model_sha256=_fingerprint(Path(spec.model)),
        tokenizer_sha256=worker.model.tokenizer.fingerprint,
        data_sha256=texts.fingerprint,
        data=texts.about,
        settings=json.dumps(spec.settings(), sort_keys=True),
        n_items=len(texts.places),
        n_parts=-(-len(texts.places) // spec.part_size),
        profiles=texts.profiles,
        seen_in_training=seen,
        mbr_temperature=spec.mbr_temperature,
        n_best=spec.n_best,
        after_best=spec.after_best,
    )


class _Maker:
    """Texts through the network and the workers, part by part."""

    def __init__(
        self, spec: NbestSpec, worker: Worker, texts: Texts, device: str, n_workers: int
    ) -> None:
        self._spec = spec
        self._worker = worker
        self._texts = texts
        self._n_workers = n_workers
        self._predictor: Predictor | None = None
        # An exported model runs on every core by itself, unless a GPU is asked for.
        if (Path(spec.model) / "model.safetensors").is_file() or device.startswith("cuda"):
            from sumfit.training.nbest.predict import Predictor

            self._predictor = Predictor(
                spec.model, device=device, words_per_vertex=spec.words_per_vertex
            )

    def numbers(self, part: int) -> range:
        """Which texts a part holds."""
        size = self._spec.part_size
        return range(part * size, min((part + 1) * size, len(self._texts.places)))

    def parts(self, todo: list[int]) -> Generator[Found, None, None]:
        """Make parts, in order."""
        if self._n_workers == 1:
            for part in todo:
                yield _joined([self._worker.work(*task) for task in self._tasks(part)])
            return
        n_tasks = [-(-len(self.numbers(part)) // _TASK) for part in todo]
        # One text in this process first: workers find the compiled search on disk.
        self._worker.work(*next(self._tasks(todo[0], first=1)))
        with (
            _single_threaded(),
            Workers(self._n_workers, start_worker, (self._spec,)) as workers,
        ):
            tasks = itertools.chain.from_iterable(map(self._tasks, todo))
            results = workers.map(search_in_worker, tasks, n_ahead=_AHEAD)
            for n in n_tasks:
                yield _joined(list(itertools.islice(results, n)))

    def _tasks(
        self, part: int, *, first: int | None = None
    ) -> Iterator[tuple[list[Item], Outputs | None]]:
        """Texts of a part with what the network says of them, of similar size together."""
        items = self._texts.items(self.numbers(part)[:first])
        model = self._worker.model
        wanted = {item.place: graph_request(model, self._spec, item) for item in items}
        items.sort(key=lambda item: (wanted[item.place].n_vertices, len(item.source_ids)))
        batch = 0
        for start in range(0, len(items), _TASK):
            if self._predictor is None:
                yield items[start : start + _TASK], None
                continue
            if start >= batch:
                # The largest of a batch comes last; a whole number of tasks keeps parts even.
                largest = wanted[items[-1].place].n_vertices
                most = _MOST_SCORES // (model.tokenizer.vocab_size * largest)
                count = max(_TASK, min(_MOST_TEXTS, most) // _TASK * _TASK)
                held = items[start : start + count]
                outputs = self._predictor.outputs([wanted[item.place] for item in held])
                first_of_batch, batch = start, start + count
            offset = start - first_of_batch
            yield items[start : start + _TASK], _rows(outputs, offset, offset + _TASK)


def _rows(outputs: Outputs, start: int, end: int) -> Outputs:
    """Some rows, cut to the largest graph among them."""
    sizes = outputs.n_vertices[start:end]
    size, kept = max(sizes), outputs.top_ids.shape[2]
    return Outputs(
        sizes,
        outputs.top_ids[start:end, :size],
        outputs.cand_logp[start:end, :size, : size * kept],
        outputs.other_logp[start:end, :size],
        outputs.link_logp[start:end, :size, :size],
    )


def _joined(found: list[Found]) -> Found:
    failures: Counter[str] = Counter()
    for one in found:
        failures += one.failures
    return Found(Lists.joined([one.lists for one in found]), failures)


def _claim(output: Path, meta: ListMeta) -> None:
    """Make the directory, or check that it is of the same kind."""
    if (output / "meta.json").exists():
        there = read_meta(output)
        for name in ("model_sha256", "data_sha256", "settings", "tokenizer_sha256"):
            if getattr(there, name) != getattr(meta, name):
                raise IncompatibleModelError(
                    f"{output} holds lists made from another {_WHAT[name]} "
                    f"({there.model}: {there.data}); name another directory or remove it"
                )
        return
    output.mkdir(parents=True, exist_ok=True)
    write_meta(output, meta)


_WHAT = {
    "model_sha256": "model",
    "data_sha256": "data set",
    "settings": "kind of search",
    "tokenizer_sha256": "tokenizer",
}


def _fingerprint(model: Path) -> str:
    """SHA-256 of the file of the network's weights."""
    for name in ("model.safetensors", "model.onnx", "model.fp32.onnx"):
        if (model / name).is_file():
            digest = hashlib.sha256()
            with (model / name).open("rb") as file:
                while block := file.read(1 << 22):
                    digest.update(block)
            return digest.hexdigest()
    raise ConfigError(f"{model} holds no weights; give a checkpoint or a model directory")


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Make new processes use one thread each: there is one for every core already."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    old = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
