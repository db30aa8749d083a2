"""sumfit.decoding."""
