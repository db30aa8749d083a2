"""sumfit.models."""
