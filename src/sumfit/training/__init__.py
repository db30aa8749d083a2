"""sumfit.training."""
