"""sumfit.text."""
