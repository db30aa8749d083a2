"""Compiled inner loops of the decoders, one module per job (numba; plain arrays in and out)."""
