"""Graphs for a notebook, predicted again only where one is asked for.

Owns how long that is possible. Does not own what is drawn (`sumfit.pipeline.inspection`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sumfit.dag import DAG
from sumfit.errors import SumfitError
from sumfit.hypothesis import Summary
from sumfit.pipeline.engine import Engine
from sumfit.pipeline.inspection import Inspection
from sumfit.pipeline.job import Job
from sumfit.pipeline.options import Options
from sumfit.pipeline.source import Source

__all__ = ["Pictures", "inspection_of"]

_KEPT = 8  # texts; a notebook shows a summary right after it is made


class Pictures:
    """Keeps what the newest summaries were made of, so that their graphs can be drawn.

    A summary refers to it weakly: once it is gone, or newer ones have come, the graph is left out.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: deque[_Picture] = deque(maxlen=_KEPT)

    def add(self, summary: Summary, text: str, length: Mapping[str, Any], options: Options) -> None:
        """Let a notebook draw the graph of a summary.

        Args:
            summary: The summary; nothing happens if the model did not write it.
            text: Its text.
            length: Its length keywords.
            options: Its options.
        """
        if summary.error is None and summary.origin == "model":
            picture = _Picture(self._engine, text, length, options)
            self._kept.append(picture)
            summary.show_with(picture)


class _Picture:
    """The graph of one summary."""

    def __init__(
        self, engine: Engine, text: str, length: Mapping[str, Any], options: Options
    ) -> None:
        self._engine = engine
        self._job = Job(text, [length])
        self._options = options

    def html(self, summary: Summary) -> str:
        """Draw the graph, without the limits of time that the summary had.

        Args:
            summary: The summary.

        Returns:
            HTML; nothing where a unit of the caller's fails by now.
        """
        options = replace(self._options, time_limit_s=None, is_cancelled=None)
        try:
            requests = self._engine.preparer.requests(self._job, options)
            [(request, _)] = self._engine.finish(requests, options)
            source = request.text.source
            if source is None or request.predicted is None:
                return ""
            dag = request.predicted.search.dag
        except SumfitError:
            return ""
        return inspection_of(summary, dag, source, self._engine).graph_html()


def inspection_of(summary: Summary, dag: DAG, source: Source, engine: Engine) -> Inspection:
    """Put a summary and its graph together.

    Args:
        summary: The summary.
        dag: Its graph.
        source: Its text.
        engine: What made it.

    Returns:
        The inspection.
    """
    return Inspection.of(
        summary,
        dag=dag,
        read=source.read,
        tokenizer=engine.model.tokenizer,
        n_source=len(source.ids),
    )
