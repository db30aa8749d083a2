"""Logs of commands on standard error.

Owns the set-up of logging in a process of the command line. Does not own what the lines of the
server look like (`sumfit.serving.logs`).
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO

from sumfit.errors import ConfigError

__all__ = ["LEVELS", "level_of", "log_to_stderr"]

LEVELS = ("debug", "info", "warning", "error")


class _StandardErrorHandler(logging.StreamHandler[TextIO]):
    """Writes to what standard error is at that moment, not to what it was at first.

    A program that calls commands may set standard error again and close the one before.
    """

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, value: TextIO) -> None:
        raise AttributeError("the stream is always sys.stderr; set that instead")


def level_of(name: str) -> int:
    """The number of a level.

    Args:
        name: One of `LEVELS`.

    Returns:
        What `logging` calls it by.

    Raises:
        ConfigError: If there is no such level.
    """
    if name not in LEVELS:
        raise ConfigError.of("log_level", name, f"must be one of {', '.join(LEVELS)}")
    number: int = getattr(logging, name.upper())
    return number


def log_to_stderr(level: int, *others: str, formatter: logging.Formatter | None = None) -> None:
    """Send the library's log to standard error, in place of wherever it went.

    Args:
        level: Least level shown.
        *others: Names of further loggers, to be treated alike.
        formatter: Makes the lines; the time and the message if not given.
    """
    handler = _StandardErrorHandler()
    handler.setFormatter(formatter or logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    for name in ("sumfit", *others):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.handlers[:] = [handler]
        logger.propagate = False
