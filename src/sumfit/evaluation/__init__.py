"""sumfit.evaluation."""
