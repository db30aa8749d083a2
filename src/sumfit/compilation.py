"""Who is told that the search is being compiled, which takes a minute in a new environment.

Owns the message and the listener. Does not compile anything (`sumfit.compiled`), and imports no
compiler, so that a program may ask to be told before any is loaded.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import TextIO

__all__ = ["MESSAGE", "announce_compilation", "begins", "n_compiled", "on_compilation"]

MESSAGE = "compiling the search for this machine, once (about a minute)"
"""What the listener is told."""

_LOG = logging.getLogger("sumfit")
_lock = threading.Lock()
_listener: Callable[[str], None] | None = None
_count = 0


def on_compilation(tell: Callable[[str], None]) -> None:
    """Have a function called when this process compiles something.

    Args:
        tell: Called once, in the thread that compiles first, with a line to show; never where
            everything comes from the cache. It takes the place of the one before.
    """
    global _listener
    with _lock:
        _listener = tell


def announce_compilation(*, stream: TextIO | None = None) -> None:
    """Say why the first run takes long, if it comes to that, unless ``SUMFIT_QUIET`` is set.

    Args:
        stream: Where to say it; stderr if not given.
    """
    if os.environ.get("SUMFIT_QUIET", "") in ("", "0"):
        out = stream or sys.stderr

        def show(line: str) -> None:
            out.write(f"{line}\n")
            out.flush()

        on_compilation(show)


def begins() -> None:
    """Note that one more function is being compiled, and tell whoever waits."""
    global _count, _listener
    with _lock:
        _count += 1
        is_first = _count == 1
        tell, _listener = _listener, None
    if is_first:
        _LOG.info(MESSAGE)
    if tell is not None:
        tell(MESSAGE)


def n_compiled() -> int:
    """Functions that this process has compiled so far.

    Returns:
        The number, 0 where all came from the cache.
    """
    return _count
