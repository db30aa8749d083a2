"""What somebody may have meant by a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]

_FEWEST = 3  # letters of a beginning that says which name is meant


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Words to put behind an error about a name.

    Args:
        name: What was given.
        known: The names that there are.

    Returns:
        ``"; did you mean 'x'?"``, empty where nothing is near.
    """
    given, names = str(name)[:100].lower(), list(known)
    near = difflib.get_close_matches(given, names, n=1)
    if not near and len(given) >= _FEWEST:
        near = [one for one in names if one.startswith(given)]
    return f"; did you mean {near[0]!r}?" if near else ""
