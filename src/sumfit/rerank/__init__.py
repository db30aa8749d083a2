"""Rerankers: choose among the candidates of an n-best list.

`sumfit.rerank.registry` has their names. A reranker never changes a candidate, so every length
promise of the search still holds for what it chooses.
"""

from sumfit.rerank.adapters import AnyReranker, GraphReranker, Reranker
from sumfit.rerank.chooser import Chooser
from sumfit.rerank.graph import GraphMBRReranker
from sumfit.rerank.registry import AUTO, RERANKERS, get_reranker

__all__ = [
    "AUTO",
    "RERANKERS",
    "AnyReranker",
    "Chooser",
    "GraphMBRReranker",
    "GraphReranker",
    "Reranker",
    "get_reranker",
]
