"""The graph behind one summary, in a form that can be shown.

Owns `Inspection`. Does not own how it is drawn (`sumfit.cli`, `sumfit.serving`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sumfit.dag import DAG
from sumfit.hypothesis import Summary
from sumfit.notebook import Arc, Dot, graph, table
from sumfit.text import Tokenizer

__all__ = ["Inspection", "LinkView", "VertexView", "WordView"]

_SEEN = 0.05  # least reach of a vertex, and probability of a link, in a drawing


@dataclass(frozen=True, slots=True)
class WordView:
    """A word that a vertex may emit.

    Attributes:
        text: The piece; its leading space is kept.
        prob: Its probability at the vertex.
    """

    text: str
    prob: float


@dataclass(frozen=True, slots=True)
class VertexView:
    """One vertex; the first and the last emit nothing.

    Attributes:
        index: Its number.
        reach: Probability that a random path passes it.
        words: Its most probable words, best first.
        chosen: The word it emits on the summary's path, ``None`` if it is not on it.
    """

    index: int
    reach: float
    words: tuple[WordView, ...]
    chosen: str | None


@dataclass(frozen=True, slots=True)
class LinkView:
    """One link.

    Attributes:
        source: Where it starts.
        target: Where it ends.
        prob: Its probability.
        chosen: It lies on the summary's path.
    """

    source: int
    target: int
    prob: float
    chosen: bool


@dataclass(frozen=True, slots=True, repr=False)
class Inspection:
    """A summary with its graph.

    Attributes:
        summary: The summary.
        dag: The graph.
        path: Vertices of the most probable path that emits the summary, start and end left out;
            empty if the summary does not come from the model.
        read: The part of the text that the model read.
        n_source: ``T``, its pieces.
        pieces: Text of each candidate word, in the order of ``dag.word_ids``.
    """

    summary: Summary
    dag: DAG
    path: tuple[int, ...]
    read: str
    n_source: int
    pieces: tuple[str, ...]

    @classmethod
    def of(
        cls, summary: Summary, *, dag: DAG, read: str, n_source: int, tokenizer: Tokenizer
    ) -> Inspection:
        """Look up path and pieces.

        Args:
            summary: The summary.
            dag: Its graph.
            read: The text that the model read.
            n_source: Pieces of that text.
            tokenizer: For the pieces.

        Returns:
            The inspection.
        """
        from sumfit.decoding import best_path  # loads the compiled loops

        path = best_path(dag, summary.words) if summary.words else ()
        return cls(
            summary=summary,
            dag=dag,
            path=tuple(int(vertex) for vertex in path),
            read=read,
            n_source=n_source,
            pieces=tuple(tokenizer.pieces([int(word) for word in dag.word_ids])),
        )

    def __repr__(self) -> str:
        """The summary and the size of the graph, on one line."""
        size = f"{self.dag.n_vertices} vertices, {self.dag.n_candidates} candidate words"
        return f"Inspection({self.summary.text!r}, {size})"

    def _repr_html_(self) -> str:
        """The summary, the graph and the path that emits it; what a notebook shows."""
        return self.summary.html() + self.graph_html()

    def graph_html(self) -> str:
        """The graph and the path through it.

        Returns:
            HTML; nothing where the summary is on no path.
        """
        if not self.path:
            return ""
        views = self.vertices()
        rows = [
            (
                str(vertex),
                views[vertex].chosen or "",
                f"{views[vertex].reach:.2f}",
                ", ".join(f"{word.text.strip()} {word.prob:.2f}" for word in views[vertex].words),
            )
            for vertex in self.path
        ]
        title = f"The path through {self.dag.n_vertices} vertices"
        names = ("vertex", "says", "reach", "its best words")
        return self._drawing(views) + table(title, names, rows)

    def _drawing(self, views: list[VertexView]) -> str:
        """The graph as an image, without vertices that hardly any way passes."""
        last = self.dag.n_vertices - 1
        names = {0: "start", last: "end"}
        dots = [
            Dot(
                view.index,
                names.get(view.index) or view.chosen or view.words[0].text.strip(),
                view.index in names or view.chosen is not None,
            )
            for view in views
            if view.index in names or view.chosen is not None or view.reach >= _SEEN
        ]
        links = self.links(_SEEN)
        arcs = [Arc(link.source, link.target, link.prob, link.chosen) for link in links]
        return graph(dots, arcs)

    def vertices(self, n_words: int = 3) -> list[VertexView]:
        """Every vertex with its most probable words.

        Args:
            n_words: Words to list at each.

        Returns:
            The vertices in order.
        """
        reach = self._reach()
        column = {int(word): i for i, word in enumerate(self.dag.word_ids)}
        chosen = {
            vertex: self.pieces[column[word]]
            for vertex, word in zip(self.path, self.summary.words, strict=False)
        }
        last = self.dag.n_vertices - 1
        return [
            VertexView(
                index=vertex,
                reach=float(reach[vertex]),
                words=() if vertex in (0, last) else self._best_words(vertex, n_words),
                chosen=chosen.get(vertex),
            )
            for vertex in range(last + 1)
        ]

    def links(self, min_prob: float = 0.02) -> list[LinkView]:
        """The links that matter.

        Args:
            min_prob: Links below this probability are left out, unless they are on the path.

        Returns:
            Links by source and target.
        """
        stops = [0, *self.path, self.dag.n_vertices - 1] if self.path else []
        on_path = set(pairwise(stops))
        probs = np.exp(self.dag.link_logp)
        return [
            LinkView(int(i), int(j), float(probs[i, j]), (int(i), int(j)) in on_path)
            for i, j in np.argwhere(probs > 0)
            if probs[i, j] >= min_prob or (int(i), int(j)) in on_path
        ]

    def to_dict(self, *, n_words: int = 3, min_prob: float = 0.02) -> dict[str, Any]:
        """Everything in JSON types.

        Args:
            n_words: Words to list at each vertex.
            min_prob: Least probability of a link to be listed.

        Returns:
            ``summary``, ``path``, ``vertices``, ``links``, ``read``, ``n_source``.
        """
        return {
            "summary": {
                "text": self.summary.text,
                "length": self.summary.length,
                "unit": self.summary.unit,
                "limit": self.summary.limit,
                "log_prob": _finite(self.summary.log_prob),
                "score": _finite(self.summary.score),
                "optimal": self.summary.optimal,
                "gap": _finite(self.summary.gap),
                "complete": self.summary.complete,
            },
            "path": list(self.path),
            "vertices": [
                {
                    "index": view.index,
                    "reach": view.reach,
                    "words": [{"text": word.text, "prob": word.prob} for word in view.words],
                    "chosen": view.chosen,
                }
                for view in self.vertices(n_words)
            ],
            "links": [
                {
                    "source": view.source,
                    "target": view.target,
                    "prob": view.prob,
                    "chosen": view.chosen,
                }
                for view in self.links(min_prob)
            ],
            "read": self.read,
            "n_source": self.n_source,
        }

    def _reach(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        probs = np.exp(self.dag.link_logp.astype(np.float64))
        reach = np.zeros(self.dag.n_vertices)
        reach[0] = 1.0
        for vertex in range(1, self.dag.n_vertices):
            reach[vertex] = reach[:vertex] @ probs[:vertex, vertex]
        return reach

    def _best_words(self, vertex: int, n_words: int) -> tuple[WordView, ...]:
        row = self.dag.word_logp[vertex]
        best = np.argsort(-row, kind="stable")[:n_words]
        return tuple(WordView(self.pieces[int(i)], float(math.exp(row[i]))) for i in best)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
