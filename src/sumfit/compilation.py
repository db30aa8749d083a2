"""Who is told that the search is being compiled, which takes a minute in a new environment.

Owns the message and the listener. Does not compile anything (`sumfit.compiled`), and imports no
compiler, so that a program may ask to be told before any is loaded.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["MESSAGE", "announce_compilation", "begins", "n_compiled", "on_compilation"]

MESSAGE = "compiling the search for this machine, once (about a minute)"
"""What the listener is told."""

_LOG = logging.getLogger("sumfit")
_EVERY_S = 10.0  # between two lines while it goes on
_lock = threading.Lock()
_listener: Callable[[str], None] | None = None
_count = 0
_n_before = 0  # what was compiled before the listener was there
_begun_at = 0.0
_told_at: float | None = None  # when the listener heard something last


def on_compilation(tell: Callable[[str], None]) -> None:
    """Have a function called when this process compiles something.

    Args:
        tell: Called with a line to show, in the thread that compiles: at once, and while it goes
            on about every ten seconds; never where everything comes from the cache. It takes the
            place of the one before.
    """
    global _listener, _told_at
    with _lock:
        _listener, _told_at = tell, None


def announce_compilation(*, stream: TextIO | None = None) -> None:
    """Say why the first run takes long, if it comes to that, unless ``SUMFIT_QUIET`` is set.

    Args:
        stream: Where to say it; what is stderr by then if not given. Where it is closed or gone,
            nothing is said.
    """
    if os.environ.get("SUMFIT_QUIET", "") in ("", "0"):

        def show(line: str) -> None:
            out = stream or sys.stderr
            with contextlib.suppress(AttributeError, OSError, ValueError):
                out.write(f"{line}\n")
                out.flush()

        on_compilation(show)


def begins() -> None:
    """Note that one more function is being compiled, and tell whoever waits."""
    global _count, _told_at, _begun_at, _n_before
    now = time.monotonic()
    with _lock:
        line = ""
        if _told_at is None:
            line, _told_at, _begun_at, _n_before = MESSAGE, now, now, _count
        elif now >= _told_at + _EVERY_S:
            line = f"compiling: {_count - _n_before} functions in {now - _begun_at:.0f} s so far"
            _told_at = now
        _count += 1
        is_new = _count == 1 or (line and line != MESSAGE)
        tell = _listener
    if is_new:
        _LOG.info(line)
    if line and tell is not None:
        tell(line)


def n_compiled() -> int:
    """Functions that this process has compiled so far.

    Returns:
        The number, 0 where all came from the cache.
    """
    return _count
