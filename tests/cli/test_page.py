"""The page about the command line is made from the commands and is current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_the_page_is_current() -> None:
    for extra in ("torch", "fastapi", "rouge_score", "httpx"):
        pytest.importorskip(extra, reason="needs every extra")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_cli_page.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
