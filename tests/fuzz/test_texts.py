"""Fuzzing texts: units, cleaning, and bodies of requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from sumfit import measure
from sumfit.cleaning import INPUT_KINDS, clean
from sumfit.errors import SumfitError
from sumfit.length import UNITS
from tests.fuzz.fuzzing import allowing, damaged, damaged_text, fuzz

TEXTS = [
    "Engineers closed the old bridge on Tuesday, see https://example.org/a?b=c#d and more.",
    "caf\u00e9 e\u0301\u0323 \u65e5\u672c\u8a9e \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea 1\ufe0f\u20e3 \u200b\u200f\u0627",
    "3.5 t.co www.a.b.c xn--p1ai.xn--p1ai @name #tag user@example.org http://\u65e5\u672c.jp",
    "{[~]}|^\\ \u20ac @\u00a3$\u00a5 \n\r\t\x0c",
]  # fmt: skip
PAGES = [
    '<!doctype html><html><head><title>Bridge</title><style>p{}</style></head><body><h1 class="a">'
    "Old bridge</h1><p>It &amp; the &lt;road&gt; close&nbsp;on <b>Monday</b>.<!-- no --><script>"
    "x < 1</script></p><ul><li>one<li>two</ul></body></html>",
    "# Title\n\nA *word* and a [link](https://example.org 'x') and `code`.\n\n```py\nx = 1\n```\n"
    "- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "From: a@example.org\nSubject: Re: bridge\n\nIt closes.\n\nOn Monday, B wrote:\n> Why?\n>> Old."
    "\n-- \nAnn\n",
    "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ann>It closes.\n\nAnn (00:03): It is old.\n",
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n",
    "{{Infobox|a=b}}'''Bridge''' is a [[bridge|old bridge]].<ref>x</ref> == History ==\n",
    '---\ntitle: x\n---\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: x',
]


@pytest.mark.parametrize("unit", sorted(set(UNITS) - {"tokens"}))
def test_units(unit: str) -> None:
    def check(text: str) -> None:
        with allowing(SumfitError):
            length = measure(text, unit)
            assert isinstance(length, int)
            assert 0 <= length <= 23 * len(text) + 1

    fuzz(damaged_text(TEXTS), check)


@pytest.mark.parametrize("kind", INPUT_KINDS)
def test_cleaning(kind: Any) -> None:
    def check(text: str) -> None:
        with allowing(SumfitError):
            found = clean(text, kind)
            assert isinstance(found.text, str)
            assert all(isinstance(name, str) for name in found.removed)

    fuzz(damaged_text([*PAGES, *TEXTS]), check)


BODIES = [
    {"text": "A long text.", "max_chars": 60},
    {"texts": ["a", "b"], "max_length": 8, "unit": "words", "n_best": 2, "prefix": "News: "},
    {"text": "a", "preset": "tweet", "required": ["x"], "banned": ["y"], "fill": "prefer"},
    {"model": "sumfit", "messages": [{"role": "user", "content": "a"}], "max_tokens": 9},
]


def test_request_bodies() -> None:
    pytest.importorskip("fastapi", reason="the server is not installed")
    from pydantic import ValidationError

    from sumfit.serving.bodies import parse_body
    from sumfit.serving.chat_schemas import ChatRequest
    from sumfit.serving.errors import Problem
    from sumfit.serving.schemas import GraphRequest, SummarizeRequest

    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=5,
    )

    @st.composite
    def changed(draw: st.DrawFn) -> bytes:
        body = dict(draw(st.sampled_from(BODIES)))
        body[draw(st.sampled_from(sorted({key for one in BODIES for key in one})))] = draw(values)
        return json.dumps(body).encode()

    def check(data: bytes) -> None:
        value: Any = None
        with allowing(Problem, ValueError):
            value = parse_body(data, 1000)
        for kind in (SummarizeRequest, GraphRequest, ChatRequest):
            with allowing(ValidationError, Problem, SumfitError):
                kind.model_validate(value)

    fuzz(damaged([json.dumps(body).encode() for body in BODIES]) | changed(), check)
