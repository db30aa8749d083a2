"""The same job on a Ray cluster: Ray Data reads, an actor pool summarises, parts come back.

Owns the dataset of pending chunks and the actors. Each read task reads its own share of the
input, so the input must lie where every node can read it under the same path; models are loaded
once per actor. Parts, order and resuming are those of every job.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sumfit.errors import MissingExtraError, ServiceError
from sumfit.jobs.spec import Chunk, JobSpec, read_chunks
from sumfit.jobs.worker import summarize_chunk
from sumfit.pipeline import Summarizer

__all__ = ["SummarizeChunks", "run_ray"]

_CHUNKS_PER_TASK = 16  # at least
_MOST_TASKS = 256  # each reads the input from its beginning


class SummarizeChunks:
    """Actor: holds one model and summarises batches of chunks."""

    def __init__(self, model: str | None, options: Mapping[str, Any], n_gpus: float) -> None:
        """Load the model, once per actor.

        Args:
            model: Model directory, ``None`` for the embedded model.
            options: Keyword arguments of the summarizer.
            n_gpus: GPUs of the actor; above 0 the torch backend is used.
        """
        self._options = dict(options)
        self._summarizer = Summarizer.from_pretrained(
            model, backend="torch" if n_gpus > 0 else "onnx", n_workers=1
        )

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Summarise a batch.

        Args:
            batch: Columns ``index`` and ``payload``, one chunk a row.

        Returns:
            Columns ``index`` and ``results``, as JSON.
        """
        answers = []
        for payload in batch["payload"]:
            records = json.loads(str(payload))
            results = summarize_chunk(self._summarizer, records, self._options)
            answers.append(json.dumps(results))
        return {"index": [int(index) for index in batch["index"]], "results": answers}


def run_ray(
    spec: JobSpec, pending: Iterable[Chunk], save: Callable[[int, list[dict[str, Any]]], None]
) -> None:
    """Summarise chunks on the Ray cluster that this process is connected to, or a local one.

    Args:
        spec: The job.
        pending: What is left to do; here only its numbers are taken.
        save: Called with each chunk's index and results, in any order.

    Raises:
        MissingExtraError: If Ray is not installed.
        ServiceError: If Ray gives up; finished parts are kept.
    """
    try:
        import ray
        import ray.data
        import ray.exceptions
    except ModuleNotFoundError as error:
        raise MissingExtraError("ray", "ray") from error
    todo = [chunk.index for chunk in pending]
    if not todo:
        return
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.read_datasource(_source(ray, spec, todo)).map_batches(
        SummarizeChunks,
        fn_constructor_args=(spec.model, dict(spec.options), spec.n_gpus),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=spec.n_processes),
        num_cpus=1,
        num_gpus=spec.n_gpus or None,
    )
    try:
        for row in rows.iter_rows():
            save(int(row["index"]), json.loads(row["results"]))
    except ray.exceptions.RayError as error:
        cause = str(error).strip().splitlines()
        raise ServiceError(f"Ray stopped the job: {cause[-1] if cause else error}") from error


def _source(ray: Any, spec: JobSpec, todo: list[int]) -> Any:
    """A Ray data source with one read task per share of the pending chunks."""
    from ray.data.block import BlockMetadata
    from ray.data.datasource import Datasource, ReadTask

    shares = _shares(todo)

    class PendingChunks(Datasource):  # type: ignore[misc,unused-ignore]
        """The chunks of a job that no run has finished."""

        def get_read_tasks(self, parallelism: int, *args: Any, **keywords: Any) -> list[Any]:
            """One task per share; Ray decides how many run at once."""
            return [
                ReadTask(
                    partial(_read_share, spec, share),
                    BlockMetadata(
                        num_rows=len(share), size_bytes=None, input_files=None, exec_stats=None
                    ),
                )
                for share in shares
            ]

        def estimate_inmemory_data_size(self) -> int | None:
            """Not known before reading."""
            return None

    return PendingChunks()  # type: ignore[no-untyped-call,unused-ignore]


def _shares(todo: list[int]) -> list[list[int]]:
    """Pending chunks by read task, so few that reading does not grow with the input's square."""
    size = max(_CHUNKS_PER_TASK, -(-len(todo) // _MOST_TASKS))
    return [todo[at : at + size] for at in range(0, len(todo), size)]


def _read_share(spec: JobSpec, share: list[int]) -> Iterator[Any]:
    import pyarrow as pa

    wanted = set(share)
    for chunk in read_chunks(spec):
        if chunk.index in wanted:
            payload = json.dumps(chunk.records)
            yield pa.table({"index": [chunk.index], "payload": [payload]})
        if chunk.index >= share[-1]:
            return
