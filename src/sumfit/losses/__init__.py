"""sumfit.losses."""
