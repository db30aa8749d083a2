"""sumfit.serving."""
