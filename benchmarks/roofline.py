"""How far each stage of a default summary is from what one core can do.

    python benchmarks/roofline.py [--texts FILE] [--n 12] [--repeats 5] [--max-chars 60]
                                  [--model DIR] [--json FILE]

needs ``sumfit[train]`` (onnx). Ceilings are measured between the texts of the same run, and the
best counts: bytes of a large copy, read and written, and operations of large matrix products in
onnxruntime. Stages are timed within real summaries by the clock of their thread, which stands
still while other work has the core; a batch is the same text eight times.

Operations are what is multiplied, added and compared, counted from shapes: of a network its matrix
products (2 m k n for (m, k) times (k, n)) and attention, not its softmax, norms, rounding to int8
and choice of words; of a search the sums and maxima over vertices, not the rules of text, the heap
and exponentials. Least bytes are all arrays in and out once, and of a network its file, which is
nearly all weights. Shares are the least time for either over the time measured.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import sumfit
from benchmarks import roofline_counts as counts
from benchmarks.processes import Busy
from benchmarks.roofline_counts import KINDS, Arrays, opened, work
from benchmarks.throughput import SYSTEMS, load_texts
from sumfit.decoding import marginal
from sumfit.decoding.bounds import tables
from sumfit.decoding.kernels import pathmap
from sumfit.decoding.search import best_first
from sumfit.evaluation.table import Cell, Table, render

RATES = ("MOP", "MB", "GOP/s", "GB/s", "operations %", "bytes %")
COLUMNS = ("stage", "ms", "half of them", *RATES, "of the summary %")
_BATCH = 8


def timed(call: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    """Seconds of a call by the clock of this thread, and what it returns."""
    begun = time.thread_time()
    made = call(*args)
    return time.thread_time() - begun, made


def product(kind: str, rows: int, inner: int, columns: int) -> tuple[bytes, Arrays]:
    """A network that is one matrix product, and what goes in."""
    is_int8 = kind == "int8"  # as the model's own
    left, right, out = ("uint8", "int8", "int32") if is_int8 else (kind, kind, kind)
    begin, end = (
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(of)), shape)
        for name, of, shape in (("x", left, [rows, inner]), ("y", out, [rows, columns]))
    )
    weights = numpy_helper.from_array(np.ones((inner, columns), right), "weights")
    node = helper.make_node("MatMulInteger" if is_int8 else "MatMul", ["x", "weights"], ["y"])
    graph = helper.make_graph([node], "product", [begin], [end], [weights])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return made.SerializeToString(), {"x": np.ones((rows, inner), left)}


class Ceilings:
    """What the core can do, measured again and again."""

    def __init__(self, size: int = 1024, copied: int = 64 << 20) -> None:
        """Make the matrices, and what is copied: twice what the largest caches hold."""
        self._calls: list[tuple[float, Callable[[], Any]]] = []
        for kind in KINDS[:3]:
            network, given = product(kind, 256, size, size)
            self._calls.append((512.0 * size**2, partial(opened(network).run, None, given)))
        copy = partial(np.copyto, np.ones(copied // 8), np.ones(copied // 8))
        self._calls.append((2.0 * copied, copy))
        self.rates: list[list[float]] = []

    def measure(self) -> None:
        """Measure each once more."""
        self.rates.append([amount / timed(call)[0] for amount, call in self._calls])

    def __str__(self) -> str:
        """Say the best and the median of each."""
        best, usual = (f(self.rates, axis=0) / 1e9 for f in (np.max, np.median))
        shown = zip(KINDS, best, usual, strict=True)
        rates = ", ".join(f"{kind} {high:.0f} ({mid:.0f})" for kind, high, mid in shown)
        return f"ceilings of one core, best (median), in 10^9 a second: {rates}"


class Kernel(NamedTuple):
    """A compiled loop where it is called, how its work is counted, and prefixes so far."""

    stage: str
    module: Any
    name: str
    count: Callable[..., np.ndarray]
    n_made: Callable[[Sequence[Any]], int] = lambda _: 0


KERNELS = (
    Kernel("table of bounds", tables, "fill_bounds", counts.of_bounds),
    Kernel("best-first search", best_first, "run", counts.of_search, lambda args: args[3].tally[0]),
    Kernel("PathMAP", pathmap, "path_map", counts.of_path_map),
    Kernel("sums over paths", marginal, "marginals", counts.of_sums),
)
BATCH = f"network, batch {_BATCH}"
ORDER = ("network", BATCH, "scorer", *(one.stage for one in KERNELS))
STAGES = {
    "default": ("network", "scorer", "table of bounds", "best-first search"),
    'method="pathmap"': ("PathMAP", "sums over paths"),
}


class Run:
    """Times the stages of summaries; work is counted after each summary, to disturb none."""

    def __init__(self, model: str | None, limit: int) -> None:
        """Load the model."""
        self._fit, self._limit = sumfit.Summarizer.from_pretrained(model, n_workers=1), limit
        backend, file = self._fit.backend, self._fit.model.graph_file(None)
        self._networks = {"network": (backend, backend._session, file)}
        if (scorer := backend.scorer) is not None:
            file = self._fit.model.scorer_file(file)
            self._networks["scorer"] = (scorer, scorer._session, file)
        self._calls: list[tuple[str, float, Callable[[], np.ndarray]]] = []
        self._counted: dict[str, tuple[np.ndarray, Counter[str]]] = {}
        self.samples: dict[str, list[tuple[float, np.ndarray, float]]] = defaultdict(list)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """While this lasts, calls of networks and compiled loops are noted."""
        with contextlib.ExitStack() as stack:
            for stage, (owner, session, _) in self._networks.items():
                ear: Any = argparse.Namespace(run=partial(self._ran, stage, session))
                stack.enter_context(mock.patch.object(owner, "_session", ear))
            for one in KERNELS:
                ear = partial(self._looped, one, getattr(one.module, one.name))
                stack.enter_context(mock.patch.object(one.module, one.name, ear))
            yield

    def _ran(self, stage: str, session: Any, outputs: Sequence[str], given: Arrays) -> Any:
        taken, made = timed(session.run, outputs, given)
        self._calls.append((stage, taken, partial(self._count, stage, outputs, given)))
        return made

    def _looped(self, kernel: Kernel, loop: Callable[..., Any], *args: Any) -> Any:
        begun = int(kernel.n_made(args))
        taken, made = timed(loop, *args)
        count = partial(kernel.count, args, begun, int(kernel.n_made(args)))
        self._calls.append((kernel.stage, taken, count))
        return made

    def _count(self, stage: str, outputs: Sequence[str], given: Arrays) -> np.ndarray:
        key = f"{stage}: {[array.shape for array in given.values()]}"
        if key not in self._counted:
            file = self._networks[stage.split(",")[0]][2]
            self._counted[key] = counts.of_network(file, outputs, given)
        return self._counted[key][0]

    def text(self, text: str) -> None:
        """Summarise by default and by PathMAP, and run the network on a batch."""
        for system, stages in STAGES.items():
            self._calls.clear()
            options = {"max_chars": self._limit, "on_error": "return", **SYSTEMS[system]}
            everything, one = timed(lambda given: self._fit(text, **given), options)
            if one.error is not None or one.origin != "model":
                return
            sums: dict[str, tuple[float, np.ndarray]] = {}
            for stage, taken, count in self._calls:
                before, counted = sums.get(stage, (0.0, work()))
                sums[stage] = before + taken, counted + count()
            for stage in filter(sums.__contains__, stages):
                self.samples[stage].append((*sums[stage], sums[stage][0] / everything))
        _, outputs, given = self._calls[0][2].args  # of the network
        many = {
            name: array.repeat(_BATCH if array.ndim > 1 else 1, axis=0)  # ids of rows have no batch
            for name, array in given.items()
        }
        taken, _ = timed(self._networks["network"][1].run, outputs, many)
        self.samples[BATCH].append((taken, self._count(BATCH, outputs, many), math.nan))

    def spent(self, stage: str) -> str:
        """Say what kinds of nodes a network's time goes to."""
        mine = [each for key, (_, each) in self._counted.items() if key.startswith(f"{stage}:")]
        total = sum(mine, Counter[str]())
        parts = (f"{kind} {n / total.total():.0%}" for kind, n in total.most_common(5))
        return f"{stage}: {', '.join(parts)} of its time"


def row(
    stage: str, samples: Sequence[tuple[float, np.ndarray, float]], best: np.ndarray
) -> tuple[Cell, ...]:
    """One row of the table: medians, and quartiles of the time."""
    seconds = np.array([[taken] for taken, *_ in samples])
    amounts = np.array([[sum(each[:3]), each[3]] for _, each, _ in samples])
    floors = np.array([each / best for _, each, _ in samples])
    least = np.stack([floors[:, :3].sum(axis=1), floors[:, 3]], axis=1)
    low, middle, high = np.percentile(1000 * seconds, (25, 50, 75))
    columns = [amounts / 1e6, amounts / seconds / 1e9, 100 * least / seconds]
    medians = np.median(np.hstack(columns), axis=0).tolist()
    share = 100 * statistics.median(share for *_, share in samples)
    return (stage, float(middle), f"{low:.2f} to {high:.2f}", *medians, share)


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--texts", default=None, help="file of texts; the examples if not given")
    parser.add_argument("--n", type=int, default=12, help="texts")
    parser.add_argument("--repeats", type=int, default=5, help="summaries of each, after a first")
    parser.add_argument("--max-chars", type=int, default=60)
    parser.add_argument("--model", default=None, help="model directory")
    parser.add_argument("--json", type=Path, default=None, help="file for the table as JSON")
    options = parser.parse_args(argv)
    texts = load_texts(options.texts, options.n)
    run, ceilings, busy = Run(options.model, options.max_chars), Ceilings(), Busy()
    with run.listening():
        for turn in range(1 + options.repeats):
            for text in texts:
                ceilings.measure()
                run.text(text)
            if not turn:  # compiled and warm from here on
                run.samples.clear()
                ceilings.rates.clear()
    if not run.samples:
        raise SystemExit("no text has a summary by the model; give longer texts or a smaller limit")
    best = np.max(ceilings.rates, axis=0)
    rows = tuple(row(name, run.samples[name], best) for name in ORDER if name in run.samples)
    about = f"{len(texts)} texts, {options.repeats} times, at most {options.max_chars} characters"
    spent = [run.spent(name) for name in ("network", "scorer") if name in run.samples]
    notes = (f"{about}; {busy.line()}", str(ceilings), *spent)
    table = Table("Distance from the ceilings of one core", COLUMNS, rows, notes)
    print(render([table]))
    if options.json:
        options.json.write_text(render([table], "json") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
