"""Lengths that Mastodon documents: a link is 23, a mention leaves its server out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.length import measure
from tests.strategies import texts

LINKS = ("https://example.com", "http://example.org/a/very/long/path?of=words#here" * 2)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("plain words", 11),
        ("👩\u200d👩\u200d👧\u200d👦 né", 4),
        ("read https://example.com/a now", 5 + 23 + 4),
        ("HTTP://EXAMPLE.COM", 23),
        ("example.com", 11),  # without a scheme it is a word
        ("http://localhost", 16),
        ("@ann@example.social hello", 10),
        ("@ann hello", 10),
        ("(@a.b_c@ex-ample.social)", 8),
        ("mail me@example.com", 19),
        ("@ann@", 5),
        ("https://example.com @ann@example.social https://example.com", 23 + 6 + 23),
        ("", 0),
    ],
)
def test_lengths(text: str, length: int) -> None:
    assert measure(text, "mastodon") == length


@given(
    st.lists(
        st.one_of(
            st.sampled_from(LINKS).map(lambda link: (link, 23)),
            st.sampled_from(["ann", "b_2", "c.d"]).map(
                lambda name: (f"@{name}@server.example", 1 + len(name))
            ),
            st.text("abcé日", min_size=1, max_size=9).map(lambda word: (word, len(word))),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_parts_between_spaces_add_up(parts: list[tuple[str, int]]) -> None:
    text = " ".join(part for part, _ in parts)
    assert measure(text, "mastodon") == sum(length for _, length in parts) + len(parts) - 1


@given(texts(untidy=True))
def test_without_links_and_mentions_it_counts_graphemes(text: str) -> None:
    plain = text.replace("@", "").replace("://", "")
    assert measure(plain, "mastodon") == measure(plain, "graphemes")
