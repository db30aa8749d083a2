"""Fuzzing the time that reading takes: a part of a few marks and words, repeated for pages.

Most regular expressions that take the square of a text's length do so on runs of something that
nearly matches. A square shows at 40,000 characters: what is linear takes a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import strategies as st

from sumfit.cleaning import INPUT_KINDS, clean, is_only_links, is_only_tags
from sumfit.length import measure
from sumfit.text import ends_completely, get_profile, normalize
from sumfit.text.capitalization import Capitalization, Capitalizer
from sumfit.text.language import language_of
from sumfit.text.passages import TextForm, select
from sumfit.text.scripts import foreign_script
from sumfit.text.split import split_words
from sumfit.text.surface import Surface, has_whole_pairs, junctions
from sumfit.truth import support
from sumfit.truth.names import is_ordinary
from tests.fuzz.fuzzing import fuzz
from tests.strategies import AWKWARD_FRAGMENTS, UNTIDY_FRAGMENTS

_N_CHARS = 40_000
_LEAD = "The council said on Monday that the old bridge will close for six weeks."
_MARKS = [*".-_/()[]{}'\"`’<>&*|~^=\\#@:;,?!$%+", " ", "  ", "\t", "\n", "\n\n", "?!", "“", "”"]
_WORDS = [
    "a", "A", "aA1", "A-", "é", "é-", "日", "The ", "A B ", "U.S. ", "Mr. ", "said ", "not ", "3.5",
    "1,", "million ", "$5", "am ", "I ", "http://", "www.", "com", "user@", "`x` ", ":smile:",
]  # fmt: skip
_MARKUP = [
    "<a ", "</p>", "<p>", "<li>", "href=", "&#", "amp;", "<!--", "-->", "<script>", "</script>",
    "**", "```", "[a](", "> ", ">> ", "- ", "# ", "---\n", "+++ ", "@@ -1 +1 @@\n", "+a\n", "-b\n",
    "diff --git a/x b/x\n", 'File "a", line 1\n', "  at x.y(z:1)\n", "From: ", "Subject: ",
    "On Monday, A wrote:\n", "-- \n", "00:01 ", "A: ", "WEBVTT\n", "[[", "]]", "{{", "}}", "'''",
    "<ref>", "Traceback (most recent call last):\n",
]  # fmt: skip

READERS: dict[str, Callable[[str], object]] = {
    "normalize": normalize,
    "gigaword": get_profile("gigaword").apply_source,
    "ends": ends_completely,
    "language": language_of,
    "links": is_only_links,
    "tags": is_only_tags,
    "script": lambda text: foreign_script(text, ["Latin"]),
    "split": lambda text: (split_words(text), split_words(text, splitter="ascii")),
    "joints": lambda text: list(junctions(text)),
    "pairs": has_whole_pairs,
    "surface of source": lambda text: Surface(text).fault("Old bridge-like 's x_y a@b to close?"),
    "surface of summary": lambda text: Surface(_LEAD).fault(text),
    "truth of source": lambda text: support(text, _LEAD),
    "truth of summary": lambda text: support(_LEAD, text),
}
READERS |= {f"clean {kind}": lambda text, kind=kind: clean(text, kind) for kind in INPUT_KINDS}  # type: ignore[misc]
READERS |= {
    f"measure {unit}": lambda text, unit=unit: measure(text, unit)  # type: ignore[misc]
    for unit in ("tweet", "mastodon", "graphemes", "cells")
}
READERS |= {
    f"select {form}": lambda text, form=form: select(text, len, most=800, form=form)  # type: ignore[misc]
    for form in get_args(TextForm)
}
READERS |= {
    f"capitals {case}": lambda text, case=case: Capitalizer(text, case, is_ordinary)(text[:9999])  # type: ignore[misc]
    for case in get_args(Capitalization)
}

parts = st.lists(
    st.sampled_from([*_MARKS, *_WORDS, *_MARKUP, *AWKWARD_FRAGMENTS, *UNTIDY_FRAGMENTS]), max_size=4
).map("".join)


GROUPS = ("clean", "measure", "select", "capitals")


@pytest.mark.parametrize("group", [*GROUPS, ""])
def test_time(group: str) -> None:
    others = tuple(name for name in GROUPS if name != group)
    names = [name for name in READERS if name.startswith(group) and not name.startswith(others)]
    inputs = st.tuples(st.sampled_from(names), parts, parts.filter(bool), parts)

    def check(drawn: tuple[str, str, str, str]) -> None:
        name, before, unit, after = drawn
        READERS[name](before + unit * (_N_CHARS // len(unit)) + after)

    fuzz(inputs, check)
