"""Summaries that fit: a hard length limit in, a fluent summary and a proof of optimality out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sumfit._version import __version__

if TYPE_CHECKING:
    from sumfit.dag import DAG
    from sumfit.errors import SumfitError
    from sumfit.hypothesis import Hypothesis, NBest, Summary
    from sumfit.length import LengthBudget, measure
    from sumfit.pipeline import Options, Summarizer, pipeline, warm_up
    from sumfit.text import Tokenizer

__all__ = [
    "DAG",
    "Hypothesis",
    "LengthBudget",
    "NBest",
    "Options",
    "SumfitError",
    "Summarizer",
    "Summary",
    "Tokenizer",
    "__version__",
    "measure",
    "pipeline",
    "warm_up",
]

_HOMES = {
    "DAG": "sumfit.dag",
    "Hypothesis": "sumfit.hypothesis",
    "LengthBudget": "sumfit.length",
    "NBest": "sumfit.hypothesis",
    "Options": "sumfit.pipeline",
    "SumfitError": "sumfit.errors",
    "Summarizer": "sumfit.pipeline",
    "Summary": "sumfit.hypothesis",
    "Tokenizer": "sumfit.text",
    "load_ipython_extension": "sumfit.integrations.jupyter",  # for %load_ext sumfit
    "measure": "sumfit.length",
    "warm_up": "sumfit.pipeline",
}


def __getattr__(name: str) -> Any:
    if name == "pipeline":  # the package is its own callable
        return import_module("sumfit.pipeline")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
