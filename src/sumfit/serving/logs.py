"""Log lines of the server: one JSON object each, on standard error, never a client's text.

Owns the formatter and the logging set-up of a server process.
"""

from __future__ import annotations

import json
import logging
import logging.config
import time
from typing import Any

from sumfit.errors import ConfigError

__all__ = ["JsonFormatter", "set_up_logging"]

_LEVELS = ("debug", "info", "warning", "error")


class JsonFormatter(logging.Formatter):
    """One JSON object a line, ASCII alone, so that no log line can drive a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record.

        Args:
            record: The record; ``fields`` of its extra become keys.

        Returns:
            The line, without its end.
        """
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        entry: dict[str, Any] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        entry.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[0] is not None:
            entry["exception"] = record.exc_info[0].__name__
        return json.dumps(entry)


def set_up_logging(level: str = "info") -> None:
    """Send this process's log to standard error as JSON lines.

    Args:
        level: Least level that is written.

    Raises:
        ConfigError: If there is no such level.
    """
    if level not in _LEVELS:
        raise ConfigError(f"log_level must be one of {', '.join(_LEVELS)}, was {level!r}")
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"json": {"()": JsonFormatter}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
            "loggers": {
                name: {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
                for name in ("sumfit", "uvicorn")
            },
        }
    )
