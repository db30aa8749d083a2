"""Logs of commands go to standard error, whatever that is at the moment."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from sumfit.cli.logs import LEVELS, level_of, log_to_stderr
from sumfit.errors import ConfigError
from sumfit.serving.logs import JsonFormatter


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """Leaves logging as it was."""
    touched = [logging.getLogger(name) for name in ("sumfit", "uvicorn")]
    before = [(one, one.handlers[:], one.level, one.propagate) for one in touched]
    yield
    for logger, handlers, level, propagates in before:
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagates


def test_a_later_standard_error_gets_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that was run within a program left its closed stream to all that came after."""
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", first)
    log_to_stderr(logging.INFO, "uvicorn", formatter=JsonFormatter())
    first.close()
    monkeypatch.setattr(sys, "stderr", second)
    logging.getLogger("sumfit.serving.access").info("request")
    logging.getLogger("uvicorn.error").info("started")
    logging.getLogger("uvicorn.error").debug("not shown")
    events = [json.loads(line)["event"] for line in second.getvalue().splitlines()]
    assert events == ["request", "started"]


def test_setting_up_again_takes_the_place_of_what_was(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(logging.INFO)
    log_to_stderr(logging.WARNING)
    logging.getLogger("sumfit").info("not shown")
    logging.getLogger("sumfit").warning("shown once")
    assert capsys.readouterr().err.count("shown") == 1


def test_levels_go_by_name() -> None:
    assert [level_of(name) for name in LEVELS] == [10, 20, 30, 40]
    message = "log_level must be one of debug, info, warning, error, was 'loud'"
    with pytest.raises(ConfigError, match=message):
        level_of("loud")
