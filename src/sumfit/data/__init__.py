"""sumfit.data."""
