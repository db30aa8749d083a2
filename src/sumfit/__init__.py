"""Summaries that fit: a hard length limit in, a fluent summary and a proof of optimality out."""

from sumfit._version import __version__
from sumfit.dag import DAG
from sumfit.hypothesis import Hypothesis, NBest, Summary
from sumfit.length import LengthBudget

__all__ = ["DAG", "Hypothesis", "LengthBudget", "NBest", "Summary", "__version__"]
