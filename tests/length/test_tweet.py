"""Expected weights were checked against npm twitter-text 3.1.0 (parseTweet, extractUrls)."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit.length import measure
from sumfit.length.units.tweet import _Domains, find_links, weight_of_character
from tests.strategies import texts

NAME = r"[^\s!'#%&()*+,\\\-./:;<=>?@\[\]\^_{|}~$\x00-\x1f\x7f-\x9f\u202a-\u202e\ufffe\ufeff\uffff]"
DOMAIN = regex.compile(  # the definition, which takes the square of a run's length to search for
    r"(?:[^A-Za-z0-9@＠$#＃\u202a-\u202e\ufffe\ufeff\uffff]|^)(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?://)?"
    rf"(?P<host>(?:{NAME}(?:{NAME}|[-_])*\.)*{NAME}(?:{NAME}|-)*\.{NAME}(?:{NAME}|-)*)",
)
TRICKY = st.lists(
    st.sampled_from(
        [*".-_/@#$ ", "a", "B", "1", "é", "日", "＠", "\u202a", "..", "http://", "HTTPS://", "://",
         "http", "com", "x.com", "日本.com", "İ", "co.uk", "xn--p1ai", ":80", "🇫", "🇷"]
    ),
    max_size=16,
).map("".join)  # fmt: skip


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


def domains(text: str) -> list[tuple[int | None, int, int]]:
    found: list[tuple[int | None, int, int]] = []
    position = 0
    for run in regex.finditer(rf"(?:{NAME}|[-_.])+", text):
        reader = _Domains(text, *run.span())
        while (domain := reader.next(position)) is not None:
            found.append(domain)
            position = domain[2]
    return found


@settings(max_examples=500)
@given(st.one_of(TRICKY, texts(untidy=True)))
def test_domains_are_those_of_the_definition(text: str) -> None:
    expected, position = [], 0
    while match := DOMAIN.search(text, position):
        scheme = match.start("scheme") if match["scheme"] else None
        expected.append((scheme, *match.span("host")))
        position = match.end()
    assert domains(text) == expected


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
    assert measure("é" * 50_000 + ".", "tweet") == 50_001
    assert measure("x." + "日" * 50_000 + ".com", "tweet") == 100_006
    assert measure("日._" * 20_000 + "x.com", "tweet") == 80_005
