"""sumfit.cli."""
