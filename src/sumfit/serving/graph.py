"""The graph of one text as JSON: what the page draws.

Owns which words and links are worth sending. Does not own how the graph was predicted or
searched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sumfit.pipeline.inspection import Inspection
from sumfit.serving.engine import reply_of

__all__ = ["graph_reply"]


def graph_reply(
    inspection: Inspection, *, words_per_vertex: int, min_link_prob: float
) -> dict[str, Any]:
    """Choose what to show of a graph.

    Args:
        inspection: Graph, summary and path.
        words_per_vertex: Words listed at each vertex.
        min_link_prob: Links below are left out, apart from the chosen ones.

    Returns:
        The fields of `GraphReply`.
    """
    dag = inspection.dag
    chosen_prob = {
        vertex: float(np.exp(dag.word_logp[vertex, np.searchsorted(dag.word_ids, word)]))
        for vertex, word in zip(inspection.path, inspection.summary.words, strict=False)
    }
    return {
        "vertices": [
            {
                "index": vertex.index,
                "reach": _rounded(vertex.reach),
                "words": [{"text": w.text, "prob": _rounded(w.prob)} for w in vertex.words],
                "chosen": vertex.chosen,
                "chosen_prob": _rounded(chosen_prob.get(vertex.index)),
            }
            for vertex in inspection.vertices(words_per_vertex)
        ],
        "links": [
            {
                "source": link.source,
                "target": link.target,
                "prob": _rounded(link.prob),
                "chosen": link.chosen,
            }
            for link in inspection.links(min_link_prob)
        ],
        "path": list(inspection.path),
        "summary": reply_of(inspection.summary),
    }


def _rounded(prob: float | None) -> float | None:
    return None if prob is None else round(prob, 6)
