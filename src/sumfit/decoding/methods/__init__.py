"""Decoding methods, one module each; `sumfit.decoding.METHODS` is their registry."""
