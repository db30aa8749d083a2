"""Bounds on what a prefix can become, and on words that are no candidates."""
