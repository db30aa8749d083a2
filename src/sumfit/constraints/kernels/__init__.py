"""Compiled steps of the state machine, one module per job (numba; plain arrays in and out)."""
