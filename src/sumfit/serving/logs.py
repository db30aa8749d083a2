"""Log lines of the server: one JSON object each, never a client's text.

Owns the formatter. Does not own where the lines go (`sumfit.cli.logs`).
"""

from __future__ import annotations

import json
import logging
import time
from typing import Any

__all__ = ["JsonFormatter"]


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
