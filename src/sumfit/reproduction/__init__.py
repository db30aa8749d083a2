"""The paper's tables made again, and runs of a model over data sets for tables and benchmarks.

`sumfit.cli.reproduce` is the command. Scores are `sumfit.evaluation`'s.
"""
