"""Expected weights were checked against npm twitter-text 3.1.0 (parseTweet, extractUrls)."""

import pytest
from hypothesis import given

from sumfit.length import measure
from sumfit.length.tweet import find_links, weight_of_character
from tests.strategies import texts


def links(text: str) -> list[str]:
    return [text[start:end] for start, end in find_links(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see example.com and http://t.co/abc", ["example.com", "http://t.co/abc"]),
        ("U.S. x.cc a.co/b foo.bar. e.g.this end.Next", ["x.cc", "a.co/b", "foo.bar", "end.Next"]),
        ("https://a-b.net:8080/x(y)?q=1#top.", ["https://a-b.net:8080/x(y)?q=1#top"]),
        ("user@mail.com @me.com #a.com $usd.us", []),
        ("/path.com -x.com _foo.com", []),
        ("naïve.fr", ["naïve.fr"]),
        ("日本.jp jp.日本", []),
        ("日本語example.comは", ["example.com"]),
        ("https://例え.jp/", ["https://例え.jp/"]),
        ("foo..com 1.5 3.14", []),
        ("example.com, www.bbc.co.uk/news.", ["example.com", "www.bbc.co.uk/news"]),
        ("example.com- xn--p1ai.xn--p1ai", ["xn--p1ai.xn--p1ai"]),
        ("http://localhost http://no.suchtopleveldomain", []),
    ],
)
def test_links_are_found_as_the_service_finds_them(text: str, expected: list[str]) -> None:
    assert links(text) == expected


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("a" * 280, 280),
        ("日" * 140, 280),
        ("https://example.com/" + "x" * 300, 23),
        ("👍🏽👩\u200d👩\u200d👧\u200d👦🇫🇷", 6),
        ("© ™ ®", 6),
        ("©\ufe0f", 2),
        ("#\ufe0f\u20e3 9\u20e3", 5),
        ("“x” — …", 8),
    ],
)
def test_weights(text: str, weight: int) -> None:
    assert measure(text, "tweet") == weight


def test_characters_weigh_one_in_four_ranges() -> None:
    light = [0, 0x10FF, 0x2000, 0x200D, 0x2010, 0x201F, 0x2032, 0x2037]
    heavy = [0x1100, 0x1FFF, 0x200E, 0x200F, 0x2020, 0x2031, 0x2038, 0x1F600]
    assert {weight_of_character(chr(point)) for point in light} == {1}
    assert {weight_of_character(chr(point)) for point in heavy} == {2}


@given(texts(untidy=True))
def test_links_are_in_order_and_apart(text: str) -> None:
    position = 0
    for start, end in find_links(text):
        assert position <= start < end <= len(text)
        assert "." in text[start:end]
        position = end


def test_long_texts_take_no_long_time() -> None:
    assert measure("word. " * 20_000 + "/" * 10_000, "tweet") == 130_000
    assert measure("a." * 50_000, "tweet") == 100_000
