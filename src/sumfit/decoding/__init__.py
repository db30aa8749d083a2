"""Decoders: from a graph and a budget to an n-best list of word sequences.

Owns the one entry `decode` and the registry of methods. A decoder sees a `DAG` and integer
costs, never a network or a unit. Each method is one module with one function
``method(dag, *, options: DecodeOptions) -> NBest``; it is imported when first asked for, so that
torch and the compiled kernels load only where they are used.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any, cast

import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.options import DecodeOptions, Decoder
from sumfit.errors import ConfigError, MissingExtraError
from sumfit.hypothesis import Hypothesis, NBest
from sumfit.length import LengthBudget

__all__ = [
    "CONSTRAINED_METHODS",
    "METHODS",
    "UNBUDGETED_METHODS",
    "DecodeOptions",
    "best_path",
    "decode",
    "decode_all_lengths",
    "get_decoder",
    "marginal_log_prob",
]

METHODS: dict[str, str] = {
    # method name -> "module:function" below `methods`; sorted by name
    "diverse": "sampling:diverse",
    "greedy": "greedy:greedy",
    "lookahead": "lookahead:lookahead",
    "pathmap": "pathmap:path_map",
    "pathmap-released": "pathmap:path_map_released",
    "sample": "sampling:sample",
    "seqmap": "seqmap:seqmap",
    "seqmap-beam": "beam:seqmap_beam",
    "seqmap-table": "table:seqmap_table",
}
"""Every decoding method and the function that implements it."""

UNBUDGETED_METHODS = frozenset({"greedy", "lookahead"})
"""Methods that do not look at the budget: compare ``Hypothesis.cost`` with it."""

CONSTRAINED_METHODS = frozenset({"pathmap", "seqmap", "seqmap-beam"})
"""Methods that keep constraints; the others refuse them."""

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


def get_decoder(method: str) -> Decoder:
    """Look up the function of a decoding method.

    Args:
        method: A name in `METHODS`.

    Returns:
        The function ``(dag, *, options) -> NBest``.

    Raises:
        ConfigError: If there is no such method.
    """
    if not isinstance(method, str) or method not in METHODS:
        known = ", ".join(sorted(METHODS))
        raise ConfigError(f"method must be one of {known}, was {method!r}")
    return _load_decoder(METHODS[method])


@lru_cache(maxsize=64)
def _load_decoder(target: str) -> Decoder:
    module, function = target.split(":")
    return cast(Decoder, getattr(importlib.import_module(f"{__name__}.methods.{module}"), function))


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
    """
    decoder = get_decoder(method)
    try:
        settings = DecodeOptions(unit_cost=unit_cost, budget=budget, **options)  # type: ignore[arg-type]
    except TypeError as error:
        raise ConfigError(f"decode has no such option: {error}") from error
    settings.check_against(dag)
    return decoder(dag, options=settings)


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
