"""JSON bodies: what is read means what `json` says, and what is refused costs little."""

from __future__ import annotations

import contextlib
import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.serving.bodies import parse_body
from sumfit.serving.errors import Problem

_LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8") | st.sampled_from('\\"[]{},'), max_size=20)
)
_VALUE = st.recursive(
    _LEAF,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


def problem_of(body: bytes, max_values: int = 1000) -> Problem:
    with pytest.raises(Problem) as caught:
        parse_body(body, max_values)
    return caught.value


@given(value=_VALUE, is_ascii=st.booleans())
def test_what_is_read_is_what_json_reads(value: Any, is_ascii: bool) -> None:
    body = json.dumps(value, ensure_ascii=is_ascii).encode()
    if _depth(value) > 16:
        assert problem_of(body).type == "nested_too_deep"
    else:
        assert parse_body(body, 1000) == value


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value
    is_leaf = not isinstance(value, list | dict)
    return 0 if is_leaf else 1 + max(map(_depth, inner), default=0)


@given(text=st.text(st.sampled_from('\\"[{]},a'), max_size=40), depth=st.integers(1, 40))
def test_depth_is_counted_outside_strings_alone(text: str, depth: int) -> None:
    body = b"[" * depth + json.dumps(text).encode() + b"]" * depth
    if depth <= 16:
        for _ in range(depth):
            body = body[1:-1]
        assert json.loads(body) == text
        parse_body(b"[" * depth + body + b"]" * depth, 1000)
    else:
        problem = problem_of(body)
        assert (problem.status, problem.type) == (422, "nested_too_deep")


@given(body=st.binary(max_size=60) | st.text('"\\[]{},:1e+N', max_size=60).map(str.encode))
def test_anything_is_read_or_refused_with_a_reason(body: bytes) -> None:
    try:
        expected = json.loads(body.decode("utf-8-sig"))
    except ValueError:
        with pytest.raises((Problem, ValueError)):
            parse_body(body, 1000)
        return
    with contextlib.suppress(Problem):
        assert parse_body(body, 1000) == expected


@pytest.mark.parametrize(
    ("body", "status", "kind", "message"),
    [
        (b'{"ratio": NaN}', 400, "malformed_json", "NaN is no JSON"),
        (b'{"metadata": {"x": [-Infinity]}}', 400, "malformed_json", "-Infinity is no JSON"),
        (b'{"ratio": 1e400}', 422, "number_out_of_range", "the number 1e400 is too large"),
        (b'{"seed": -' + b"9" * 5000 + b"}", 422, "number_out_of_range", "the number -99999999"),
        (b'{"ratio": 0.' + b"0" * 5000 + b"1}", 422, "number_out_of_range", "more than 32"),
        (b"[" + b"1," * 1000 + b"1]", 422, "too_many_values", "more than 1000 values"),
        (b'{"a": {"b": 1, "b": 1}}', 422, "repeated_field", "the field 'b' is there twice"),
    ],
)
def test_what_json_or_the_server_does_not_have_is_refused_by_type(
    body: bytes, status: int, kind: str, message: str
) -> None:
    problem = problem_of(body)
    assert (problem.status, problem.type) == (status, kind)
    assert message in problem.message
    assert len(problem.message) < 300


@pytest.mark.parametrize(
    "piece",
    [b"[", b"{", b"[],", b'{"a":', b'"', b'"\\"', b"\\", b'\\"', b"9", b'"a":1,', b'"",', b"\xff"],
)
def test_a_bomb_of_any_shape_is_refused_for_little_time_and_memory(piece: bytes) -> None:
    body = b'{"texts": [' + piece * (4_000_000 // len(piece))
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises((Problem, ValueError)):
        parse_body(body, 100_000)
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 2
    assert peak < 15 * len(body)
