"""The strict parser is the standard one but for repeated keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.data.json_text import RepeatedKeyError, parse_json

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_has_no_key_twice_is_parsed_as_by_the_standard_parser(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert parse_json(text) == json.loads(text) == value
        if not any("\ud800" <= char <= "\udfff" for char in text):
            assert parse_json(text.encode()) == parse_json(b"\xef\xbb\xbf" + text.encode()) == value


@given(st.dictionaries(st.text(), VALUES, min_size=1, max_size=4), VALUES, st.data())
def test_a_key_twice_is_found_at_any_depth(
    fields: dict[str, Any], value: Any, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(fields)))
    body = json.dumps(fields)[:-1] + f", {json.dumps(key)}: {json.dumps(value)}}}"
    for text in (body, f"[1, {body}]", f'{{"outer": {{"inner": {body}}}}}'):
        with pytest.raises(RepeatedKeyError) as caught:
            parse_json(text)
        assert caught.value.key == key


def test_a_long_key_is_named_in_short() -> None:
    with pytest.raises(RepeatedKeyError) as caught:
        parse_json('{"KEY": 1, "KEY": 2}'.replace("KEY", "k" * 200))
    assert str(caught.value) == "key '" + "k" * 79 + "…' twice in one object; keep one of them"
