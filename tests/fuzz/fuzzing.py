"""Fuzz targets: a check is run on good inputs that were damaged at random.

In the ordinary run each target gets a few hundred inputs, always the same ones. With
``SUMFIT_FUZZ_MINUTES=10`` each runs that long, on new inputs, and stops at its first finding, which
hypothesis makes small and prints::

    SUMFIT_FUZZ_MINUTES=10 nice python -m pytest -n 0 tests/fuzz -k jsonl

Every finding becomes a test of its own in ``test_findings.py``.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

__all__ = ["allowing", "damaged", "damaged_text", "fuzz"]

_N_SHORT = 200
_N_LONG = 2000
_SLOW_S = 2.0  # seconds of CPU that no input of a few kilobytes may take
_BYTES = (
    b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b'"',
    b"'", b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b";", b"=", b"#",
    b"NaN", b"1e999", b"-0", b"9" * 400, b"null", b"true", b"[[", b"]]", b'"""', b"..", b"/",
    b"<", b">", b"&", b"<!--", b"-->", b"&#x110000;", b"<script>", b"]]>", b"\x1b[2J",
)  # fmt: skip


class allowing:
    """A block that may end with an error of these kinds, with a message that names its file."""

    def __init__(self, *kinds: type[Exception], naming: object = "") -> None:
        self._kinds = kinds
        self._name = str(naming)

    def __enter__(self) -> None:
        """Nothing to do before."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        """Let other errors through."""
        if not isinstance(error, self._kinds):
            return False
        assert str(error)
        assert self._name in str(error)
        return True


@st.composite
def damaged(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """One of the inputs with up to eight edits, or bytes of no meaning."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=200))
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 8))):
        first = draw(st.integers(0, len(data)))
        last = min(len(data), first + draw(st.sampled_from([0, 1, 2, 7, 40, 300])))
        kind = draw(st.sampled_from(["replace", "insert", "cut", "repeat", "splice", "end"]))
        token = draw(st.sampled_from(_BYTES) | st.binary(min_size=1, max_size=3))
        if kind == "replace":
            data = data[:first] + token + data[last:]
        elif kind == "insert":
            data = data[:first] + token * draw(st.sampled_from([1, 2, 50])) + data[first:]
        elif kind == "cut":
            data = data[:first] + data[last:]
        elif kind == "repeat":
            data = data[:last] + data[first:last] * draw(st.sampled_from([1, 3, 40])) + data[last:]
        elif kind == "splice":
            data = data[:first] + draw(st.sampled_from(seeds))[first:]
        else:
            data = data[:first]
    return data[:20_000]


def damaged_text(seeds: Sequence[str]) -> st.SearchStrategy[str]:
    """As `damaged`, for text; lone halves of surrogate pairs among it."""
    packed = [text.encode("utf-8", "surrogatepass") for text in seeds]
    decoded = damaged(packed).map(lambda data: data.decode("utf-8", "replace"))
    any_text = st.text(st.characters(), max_size=100) | st.text(
        st.characters(categories=("Cs", "Mn", "Cf", "So", "Zs")), max_size=30
    )
    return decoded | any_text | st.tuples(decoded, any_text).map("".join)


def fuzz(inputs: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Run a check on many inputs, short and always alike, or for the minutes asked for.

    Args:
        inputs: What to draw.
        check: Fails, by any exception that it does not expect, on a finding.
    """
    minutes = float(os.environ.get("SUMFIT_FUZZ_MINUTES", "0"))
    if not minutes:
        _round(inputs, check, n_examples=_N_SHORT)
        return
    end = time.monotonic() + 60 * minutes
    number = time.time_ns()
    while time.monotonic() < end:
        number += 1
        _round(inputs, check, n_examples=_N_LONG, number=number, end=end)


def _round(
    inputs: st.SearchStrategy[Any],
    check: Callable[[Any], None],
    *,
    n_examples: int,
    number: int | None = None,
    end: float = math.inf,
) -> None:
    def one(value: Any) -> None:
        if time.monotonic() > end:
            return
        begin = time.process_time()
        check(value)
        took = time.process_time() - begin
        assert took < _SLOW_S, f"{took:.1f} s for {len(value)} characters"

    run = settings(
        max_examples=n_examples,
        derandomize=number is None,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )(given(inputs)(one))
    (run if number is None else seed(number)(run))()
