"""Fields of a summary that the server sends as they are and the client reads back.

Owns the list, so that both sides agree; imports nothing, so that a client stays light.
"""

__all__ = ["PLAIN_FIELDS"]

PLAIN_FIELDS = (
    "text",
    "length",
    "unit",
    "limit",
    "min_length",
    "optimal",
    "complete",
    "source_truncated",
    "language",
    "method",
    "origin",
    "rank",
    "chosen_by",
    "unfinished",
    "faithful",
)
