"""Whether a summary says only what its source says, judged on words, without a model."""

from sumfit.truth.support import CHECKS, Support, joints_of, rank_by_support, support

__all__ = ["CHECKS", "Support", "joints_of", "rank_by_support", "support"]
