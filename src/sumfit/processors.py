"""How many threads or processes a machine is asked to run at once.

Owns the number of processors that this process may use, and the bounds of every option that asks
for threads or processes.
"""

from __future__ import annotations

import os

from sumfit.errors import ConfigError

__all__ = ["checked_workers", "n_processors"]

_FEW = 64  # allowed anywhere: idle ones cost memory alone
_PER_PROCESSOR = 4


def n_processors() -> int:
    """Processors that this process may use.

    Returns:
        Their number, at least 1.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def checked_workers(n_workers: int | None, *, name: str = "n_workers", least: int = 0) -> int:
    """Resolve and bound a number of threads or processes.

    Args:
        n_workers: The number; one per processor if ``None``, or 0 where that is allowed.
        name: What the caller calls it, for messages.
        least: 0 or 1.

    Returns:
        The number, at least 1.

    Raises:
        ConfigError: If it is no whole number, below ``least``, or beyond what the machine could
            ever use.
    """
    if n_workers is None:
        return n_processors()
    if isinstance(n_workers, bool) or not isinstance(n_workers, int):
        raise ConfigError.of(name, n_workers, "must be a whole number")
    if n_workers < least:
        hint = "" if least else " (0 for one per processor)"
        raise ConfigError.of(name, n_workers, f"must be at least {least}{hint}")
    most = max(_FEW, _PER_PROCESSOR * n_processors())
    if n_workers > most:
        rule = f"must be at most {most} on a machine with {n_processors()} processors"
        raise ConfigError.of(name, n_workers, rule, "more only wait for each other")
    return n_workers or n_processors()
