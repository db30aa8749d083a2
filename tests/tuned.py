"""Other constants of exact search, for one test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sumfit.decoding import tuning

__all__ = ["tune"]


def tune(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Change some constants until the test ends.

    Args:
        monkeypatch: Of the test.
        **changes: Fields of `SearchTuning`.
    """
    monkeypatch.setattr(tuning, "SEARCH", replace(tuning.SEARCH, **changes))
