"""sumfit.runtime."""
