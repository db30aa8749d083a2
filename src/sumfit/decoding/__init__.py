"""Decoders: from a graph and a budget to an n-best list of word sequences.

Owns the one entry `decode`; the methods are listed in `sumfit.decoding.registry`. A decoder sees
a `DAG` and integer costs, never a network or a unit.
"""

from __future__ import annotations

import importlib
from typing import Any, cast

import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.registry import METHODS, Method, MethodName, get_decoder, get_method
from sumfit.errors import ConfigError, MissingExtraError
from sumfit.hypothesis import Hypothesis, NBest
from sumfit.length import LengthBudget

__all__ = [
    "METHODS",
    "UNBUDGETED_METHODS",
    "DecodeOptions",
    "Method",
    "MethodName",
    "best_path",
    "decode",
    "decode_all_lengths",
    "get_decoder",
    "get_method",
    "marginal_log_prob",
]

UNBUDGETED_METHODS = frozenset(name for name, row in METHODS.items() if not row.keeps_limit)
"""Methods that do not look at the budget: compare ``Hypothesis.cost`` with it."""

_LAZY = {
    "best_path": "sumfit.decoding.marginal",
    "marginal_log_prob": "sumfit.decoding.marginal",
    "marginal_log_probs": "sumfit.decoding.marginal",
    "ctc_decode": "sumfit.decoding.methods.ctc",
    "decode_batch": "sumfit.decoding.device.batch",
    "Constraints": "sumfit.constraints.compile",
    "CompiledConstraints": "sumfit.constraints.compiled",
    "Lexicon": "sumfit.constraints.lexicon",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_LAZY[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train") from error


def decode(
    dag: DAG,
    *,
    unit_cost: npt.ArrayLike,
    budget: LengthBudget,
    method: str = "seqmap",
    **options: Any,
) -> NBest:
    """Find the best word sequences of a graph whose total cost lies in the budget.

    Args:
        dag: The graph.
        unit_cost: ``(V,)`` whole numbers, cost of each vocabulary id in the budget's unit.
        budget: Interval of allowed total costs.
        method: A name in `METHODS`.
        **options: The other options of `DecodeOptions`, with its defaults.

    Returns:
        At most ``n_best`` different hypotheses, best score first, at least one.

    Raises:
        ConfigError: If the method or an option is unknown or out of range.
        ConstraintError: If there are constraints, and the method cannot keep them.
    """
    get_method(method)
    try:
        settings = DecodeOptions(unit_cost=unit_cost, budget=budget, **options)  # type: ignore[arg-type]
    except TypeError as error:
        raise ConfigError(f"decode has no such option: {error}") from error
    settings.check_against(dag)
    return get_decoder(method, settings)(dag, options=settings)


def decode_all_lengths(
    dag: DAG, *, unit_cost: npt.ArrayLike, budget: LengthBudget, **options: Any
) -> dict[int, Hypothesis]:
    """Find the best sequence for every limit up to the budget's, from one table of bounds.

    Args:
        dag: The graph.
        unit_cost: ``(V,)`` whole numbers, cost of each vocabulary id in the budget's unit.
        budget: ``LengthBudget(max=C)``: every limit 0..C as "at most";
            ``LengthBudget(min=0, max=C)`` is the same.
        **options: The other options of `DecodeOptions`, with its defaults.

    Returns:
        The best hypothesis by limit, ascending; limits that no sequence meets are left out, and
        those above all that the graph can spend, for which the last one stands.

    Raises:
        ConfigError: If an option is unknown or out of range.
    """
    try:
        settings = DecodeOptions(unit_cost=unit_cost, budget=budget, **options)  # type: ignore[arg-type]
    except TypeError as error:
        raise ConfigError(f"decode_all_lengths has no such option: {error}") from error
    settings.check_against(dag)
    module = importlib.import_module(f"{__name__}.methods.seqmap")
    return cast("dict[int, Hypothesis]", module.all_lengths(dag, options=settings))
