"""One process that searches graphs for n-best lists and measures the candidates.

Owns everything after the network for one text. Imports neither torch nor onnxruntime unless it has
to predict graphs itself: many of these processes run beside one that has a GPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.constraints.lexicon import Lexicon
from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.errors import SumfitError
from sumfit.hypothesis import Candidate
from sumfit.length import LengthRequest, measure, resolve_budget
from sumfit.pipeline.bonus import length_bonus
from sumfit.pipeline.constraints_for_text import ConstraintCompiler
from sumfit.pipeline.listing import Lister
from sumfit.pipeline.options import Options
from sumfit.pipeline.ranking import Ranking
from sumfit.pipeline.results import case_of
from sumfit.pipeline.search import GraphSearch, source_length
from sumfit.rerank.chooser import ListPlan, TextRead
from sumfit.rerank.graph import GraphMBRReranker
from sumfit.rerank.mbr import pairwise_gains
from sumfit.runtime.directory import ModelDirectory
from sumfit.runtime.graph import Backend, GraphRequest, fold
from sumfit.text.split import split_words
from sumfit.text.surface import Surface
from sumfit.training.nbest.lists import Lists
from sumfit.training.nbest.spec import NbestSpec

__all__ = [
    "Found",
    "Item",
    "Outputs",
    "Worker",
    "graph_request",
    "request_of",
    "search_in_worker",
    "start_worker",
]


class Item(NamedTuple):
    """One text.

    Attributes:
        place: Its place in the data.
        source_ids: Its pieces.
        text: The text itself, in its profile's form.
        references: Reference summaries.
        limit: Length limit.
    """

    place: int
    source_ids: tuple[int, ...]
    text: str
    references: tuple[str, ...]
    limit: int


class Outputs(NamedTuple):
    """What the network says of several texts, padded; see `sumfit.runtime.graph.fold`.

    Attributes:
        n_vertices: ``(B,)`` vertices of each.
        top_ids: ``(B, S, M)`` int32.
        cand_logp: ``(B, S, S * M)`` float32.
        other_logp: ``(B, S)`` float32.
        link_logp: ``(B, S, S)`` float32.
    """

    n_vertices: list[int]
    top_ids: npt.NDArray[np.int32]
    cand_logp: npt.NDArray[np.float32]
    other_logp: npt.NDArray[np.float32]
    link_logp: npt.NDArray[np.float32]

    def graph(self, row: int, vocab_size: int) -> DAG:
        """Fold the graph of one text.

        Args:
            row: Its place.
            vocab_size: ``V``.

        Returns:
            The graph.
        """
        size, kept = self.n_vertices[row], self.top_ids.shape[2]
        return fold(
            top_ids=self.top_ids[row, :size].astype(np.int64),
            cand_logp=self.cand_logp[row, :size, : size * kept],
            other_logp=np.ascontiguousarray(self.other_logp[row, :size]),
            link_logp=np.ascontiguousarray(self.link_logp[row, :size, :size]),
            vocab_size=vocab_size,
        )


@dataclass(frozen=True, slots=True)
class Found:
    """Lists of several texts.

    Attributes:
        lists: The lists.
        failures: Texts without a list, by the kind of error.
    """

    lists: Lists
    failures: Counter[str]


def request_of(spec: NbestSpec, limit: int) -> LengthRequest:
    """Turn a limit into a length request.

    Args:
        spec: Says what is counted.
        limit: The limit.

    Returns:
        The request.
    """
    keyword = f"{'exact' if spec.is_exact else 'max'}_{spec.unit}"
    keywords: dict[str, Any] = {keyword: limit}
    return resolve_budget(**keywords)


class _Lister(GraphMBRReranker):
    """The expected F1 of each candidate, for a list as long as it is wanted."""

    @property
    def plan(self) -> ListPlan:
        return ListPlan(self.n_candidates, self.n_candidates, self.after_best)


class Worker:
    """Searches and measures, text by text."""

    def __init__(self, spec: NbestSpec) -> None:
        """Open the model and prepare its tables.

        Args:
            spec: Model and search.
        """
        self.spec = spec
        self.model = ModelDirectory.open(spec.model)
        if spec.lexicon:
            self.model.lexicon = Lexicon.load(spec.lexicon)
        self.options = Options(
            method=spec.method,
            beam_size=spec.beam_size,
            words_per_vertex=spec.words_per_vertex,
            constraints=spec.constraints,
            max_expansions=spec.max_expansions,
        )
        self.ending = spec.ending or self.model.config.ending
        wanted = Options(bonus=0.0 if spec.bonus is None and spec.is_exact else spec.bonus)
        self.bonus = length_bonus(wanted, self.model.config, spec.unit)
        # Without a weight the list keeps the order of the search.
        self._lister = _Lister.of(
            self.model.tokenizer,
            weight=0.0,
            n_candidates=spec.n_best,
            after_best=spec.after_best or None,
        )
        self._constraints = ConstraintCompiler(self.model)
        self._backend: Backend | None = None

    def work(self, items: Sequence[Item], outputs: Outputs | None) -> Found:
        """Make lists of texts.

        Args:
            items: The texts.
            outputs: What the network says of them; predicted here, with onnxruntime, if ``None``.

        Returns:
            The lists, those that have none counted.
        """
        rows: list[dict[str, Any]] = []
        failures: Counter[str] = Counter()
        vocab_size = self.model.tokenizer.vocab_size
        for number, item in enumerate(items):
            try:
                dag = outputs.graph(number, vocab_size) if outputs else self._predict(item)
                rows.append(self._row(item, self._candidates(item, dag)))
            except SumfitError as error:
                failures[type(error).__name__] += 1
        return Found(_packed(rows), failures)

    def _candidates(self, item: Item, dag: DAG) -> list[Candidate]:
        request = request_of(self.spec, item.limit)
        search = GraphSearch(
            dag=dag,
            options=self.options,
            ending=self.ending,
            constraints=self._constraints.compile(self.options, item.text),
            tokenizer=self.model.tokenizer,
            source=item.text,
            case=case_of(item.text, self.options),
            surface=Surface(item.text),
        )
        longest = source_length(item.text, request, self.model.tokenizer)
        lister, deadline = self._lister, Deadline()
        text = TextRead(dag, self.model.tokenizer, item.text)
        ranking = Ranking(lister, text, deadline)
        return Lister(
            search, request, longest, self.bonus, lister.n_candidates, deadline, ranking
        ).candidates()

    def _row(self, item: Item, candidates: Sequence[Candidate]) -> dict[str, Any]:
        words = [split_words(candidate.text) for candidate in candidates]
        references = [split_words(text) for text in item.references]
        n = len(words)
        gains = pairwise_gains([*words, *references])[:n, n:].max(axis=1)
        return {
            "item": item,
            "pieces": [candidate.hypothesis.words for candidate in candidates],
            "log_probs": [candidate.hypothesis.log_prob for candidate in candidates],
            "scores": [candidate.hypothesis.score for candidate in candidates],
            "gains": gains,
            "overlaps": [max(_overlap(w, reference) for reference in references) for w in words],
            "ranks": [candidate.rank for candidate in candidates],
            "expected_f1": [candidate.expected_f1 for candidate in candidates],
        }

    def _predict(self, item: Item) -> DAG:
        if self._backend is None:
            from sumfit.runtime.onnx import OnnxBackend

            self._backend = OnnxBackend(self.model)
        return self._backend.graphs([graph_request(self.model, self.spec, item)])[0]


def graph_request(model: ModelDirectory, spec: NbestSpec, item: Item) -> GraphRequest:
    """Choose the size of a text's graph, as a summarizer does.

    Args:
        model: The model.
        spec: What the limit counts.
        item: The text.

    Returns:
        What to ask of a backend.
    """
    unit = spec.unit
    n_pieces = unit.pieces_in(item.limit)
    limit = item.limit if unit.counts_words else min(item.limit, measure(item.text, unit))
    ids = (*model.control_ids(unit=unit, limit=limit), *item.source_ids)
    n_source = len(ids)
    least = min(n_pieces, 2 * n_source) + 2
    n_vertices = model.config.architecture.n_vertices(n_source, at_least=least)
    return GraphRequest(ids, n_vertices)


def _overlap(words: Sequence[str], reference: Sequence[str]) -> int:
    return (Counter(words) & Counter(reference)).total()


def _packed(rows: Sequence[dict[str, Any]]) -> Lists:
    if not rows:
        return Lists.empty()
    items: list[Item] = [row["item"] for row in rows]
    pieces = [ids for row in rows for ids in row["pieces"]]

    def flat(name: str, dtype: Any) -> Any:
        return np.concatenate([np.asarray(row[name], dtype=dtype) for row in rows])

    return Lists(
        items=np.array([item.place for item in items], dtype=np.int64),
        limits=np.array([item.limit for item in items], dtype=np.int32),
        n_candidates=np.array([len(row["pieces"]) for row in rows], dtype=np.int16),
        source_lengths=np.array([len(item.source_ids) for item in items], dtype=np.int32),
        source_ids=np.concatenate([np.array(item.source_ids, dtype=np.int32) for item in items]),
        candidate_lengths=np.array([len(ids) for ids in pieces], dtype=np.int32),
        candidate_ids=np.concatenate([np.array(ids, dtype=np.int32) for ids in pieces]),
        log_probs=flat("log_probs", np.float32),
        scores=flat("scores", np.float32),
        gains=flat("gains", np.float32),
        overlaps=flat("overlaps", np.int16),
        ranks=flat("ranks", np.int16),
        expected_f1=flat("expected_f1", np.float32),
    )


_worker: Worker | None = None


def start_worker(spec: NbestSpec) -> None:
    """Set a worker process up.

    Args:
        spec: Model and search.
    """
    global _worker  # one worker a process; a pool's initializer has no other place for it
    _worker = Worker(spec)


def search_in_worker(task: tuple[list[Item], Outputs | None]) -> Found:
    """Do one task in a worker process.

    Args:
        task: Texts and what the network says of them.

    Returns:
        Their lists.
    """
    assert _worker is not None, "start_worker runs first"
    return _worker.work(*task)
