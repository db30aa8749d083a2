"""What the stages of a summary have to compute and move at least, counted from shapes.

Owns the counts of `benchmarks.roofline`, which says what counts and what does not.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
import onnxruntime

from sumfit.constraints.kernels.contexts import CLOSED, JOIN_ONLY, NO_JOIN
from sumfit.decoding.kernels.steps import list_entries
from sumfit.models.session import SLOWER_FUSIONS

KINDS = ("int8", "float32", "float64", "bytes")  # of work: operations, and bytes
Arrays = Mapping[str, np.ndarray]


def work(**amounts: float) -> np.ndarray:
    """Amounts by kind, ``(4,)``."""
    return np.array([amounts.get(kind, 0.0) for kind in KINDS])


def opened(network: str | bytes, profile: str = "") -> onnxruntime.InferenceSession:
    """A network on one thread; a profile is written where that says."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_profiling, options.profile_file_prefix = bool(profile), profile
    return onnxruntime.InferenceSession(
        network, options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER_FUSIONS
    )


def of_node(args: Mapping[str, Any]) -> np.ndarray | None:
    """Count one node of a network as it was run; ``None`` for what is no product."""
    inputs = [item for one in args["input_type_shape"] for item in one.items()]
    if args["op_name"] == "MultiHeadAttention":  # (B, S, D) and (B, T, D)
        return work(float32=4 * np.prod(inputs[0][1]) * inputs[1][1][1])
    if "MatMul" not in args["op_name"]:
        return None
    (shape,) = args["output_type_shape"][0].values()
    kind = "int8" if "int8" in inputs[0][0] else "float32"
    return work(**{kind: 2 * np.prod(shape) * inputs[0][1][-1]})


def of_network(
    file: Path, outputs: Sequence[str] | None, given: Arrays
) -> tuple[np.ndarray, Counter[str]]:
    """Count a network's work by the shapes it runs with, and microseconds by kind of node."""
    with tempfile.TemporaryDirectory() as folder:
        session = opened(str(file), str(Path(folder) / "profile"))
        made = [session.run(outputs, given) for _ in range(5)][-1]
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    runs = defaultdict(list)
    for event in events:
        if event["name"].endswith("_kernel_time"):
            runs[event["name"]].append(event)
    total = work(bytes=file.stat().st_size + sum(a.nbytes for a in (*given.values(), *made)))
    spent: Counter[str] = Counter()
    for node in runs.values():
        counted, args = of_node(node[0]["args"]), node[0]["args"]
        total += 0 if counted is None else counted
        spent["products" if counted is not None else args["op_name"]] += min(e["dur"] for e in node)
    return total, spent


@numba.njit
def _entries(prob: Any, steps: Any, share: float) -> Any:
    return list_entries(prob, steps, share)


def of_bounds(args: Sequence[Any], *_: int) -> np.ndarray:
    """Count `fill_bounds`: by layer, the links behind each entry and each vertex."""
    _, _, prob, share, steps, *_, table, scale = args
    n_sets, _, n_layers, n = table.shape
    run, start, vertex, value, _ = _entries(prob, steps, share)
    end = start[run[-1]]  # the lists have room for more
    sums = np.cumsum([0, *np.where(value[:end] > 0, 2 * vertex[:end], 0)])[start[run]]
    is_open = np.arange(n_sets)[:, None] & steps.blocked[steps.run[:-1]] == 0
    times = np.maximum(n_layers - steps.cost[steps.run[:-1]], 0) * is_open.sum(axis=0)
    n_rows = n_sets * n_layers * (np.unique(steps.context).size + 1)  # and words outside
    arrays = (*args[:3], args[5], table, scale)
    return work(float64=times @ np.diff(sums) + n_rows * n * (n - 1), bytes=_size(*arrays))


def of_search(args: Sequence[Any], begun: int, ended: int) -> np.ndarray:
    """Count `run`: a prefix spreads its mass, bounds each child, and twice seeks the best."""
    graph, nodes = args[1], args[2]
    n_words, n = graph.prob.shape
    rows = np.arange(begun, ended)
    total = rows.size * (n * (n - 1) + 6 * n + 2 * n_words)
    for steps, some in ((graph.first_steps, rows[rows == 0]), (graph.steps, rows[rows > 0])):
        rest, used, context = (a[some, None] for a in (nodes.rest, nodes.used_once, nodes.context))
        may_join = (context != NO_JOIN) & (context != CLOSED)
        allowed = np.where(steps.joins, may_join, context != JOIN_ONLY)
        allowed &= steps.cost[steps.run[:-1]] <= rest
        allowed &= used & steps.blocked[steps.run[:-1]] == 0
        total += 2 * n * (allowed * (np.diff(steps.run) + 1)).sum()
    made = (nodes.reach[rows], nodes.bounds[rows])
    return work(float64=total, bytes=_size(graph.prob, graph.link, graph.table, *made))


def of_path_map(args: Sequence[Any], *_: int) -> np.ndarray:
    """Count `path_map`: an addition and a comparison for each cost, by link and by word."""
    link, words, costs, _, _, _, high, _ = args
    n = link.shape[0] - 2
    n_links = np.isfinite(link[1:-1, 1:-1][np.triu_indices(n, 1)]).sum()
    n_words = (np.isfinite(words[1:-1]) * np.maximum(high + 1 - costs, 0)).sum()
    made = 16 * link.shape[0] * (high + 1)  # a score, from which vertex and by which word
    return work(float64=2 * (n_links * (high + 1) + n_words), bytes=_size(link, words) + made)


def of_sums(args: Sequence[Any], *_: int) -> np.ndarray:
    """Count `marginals` of one sequence: a multiplication and an addition for each link."""
    link, n_words = args[1], args[3].size
    last = link.shape[0] - 1
    pairs = (last - 1) + sum((last - k) * (last - k - 1) // 2 for k in range(1, n_words))
    operations = 2 * pairs + n_words * (last - 1) + 2 * last
    return work(float64=operations, bytes=_size(link) + 20 * n_words * (last + 1))


def _size(*arrays: np.ndarray) -> int:
    return sum(array.nbytes for array in arrays)
