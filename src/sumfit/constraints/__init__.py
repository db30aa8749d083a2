"""Constraints on an output, kept inside the search: from switches and a text to a state machine.

`compile` has the switches (`Constraints`), `compiled` what decoders step through. Nothing here sees
a graph.
"""
