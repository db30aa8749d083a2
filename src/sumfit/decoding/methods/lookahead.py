"""Lookahead decoding: follow the best link and word together; no length control.

Owns one line on top of `methods.greedy.walk`; see there for what happens to the budget.
"""

from __future__ import annotations

from sumfit.dag import DAG
from sumfit.decoding.methods.greedy import walk
from sumfit.decoding.options import DecodeOptions
from sumfit.hypothesis import NBest

__all__ = ["lookahead"]


def lookahead(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Go to the vertex and word with the greatest product of link and word probability.

    DA-Transformer's lookahead decoding (Huang et al. 2022). Time O(S · (S + W)).

    Args:
        dag: The graph.
        options: Costs, ending and bonus; the budget is not obeyed.

    Returns:
        One hypothesis with its true cost, which may break the budget; never certified.

    Raises:
        InfeasibleBudgetError: If no path of the graph emits a word.
    """
    return walk(dag, options, method="lookahead", word_weight=1.0)
