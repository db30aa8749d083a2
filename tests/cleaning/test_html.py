"""HTML and character references."""

import pytest

from sumfit.cleaning import clean


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            '<p>The <b>old ferry</b> stops on Friday for <a href="https://example.org">two '
            "weeks</a>.",
            "The old ferry stops on Friday for two weeks.",
        ),
        (
            "<p>Launch is <del>ready</del> put off until both <strong>tests</strong> pass.</p>",
            "Launch is put off until both tests pass.",
        ),
        ("<ul><li>Oslo</li><li>Rome</li></ul>", "Oslo.\nRome"),
        ("<h1>Market</h1><p>It opens at 9.</p>", "Market.\nIt opens at 9."),
        ("The shop moves.<br>It opens in May.<br />", "The shop moves.\nIt opens in May."),
        ('<a title="a > b" href=x>Prices rise</a> in June', "Prices rise in June"),
        ("<P CLASS='x'>Prices <EM>rise</EM></P>", "Prices rise"),
        ("<p>one<script>if (a < b) { say('<p>no</p>') }</script></p><p>two</p>", "one.\ntwo"),
        ("<style>p { color: red }</style><p>Rain fell.</p>", "Rain fell."),
        ("<!-- a note --><p>Rain fell.</p>", "Rain fell."),
        (
            "<!DOCTYPE html><html><head><title>T</title></head><body>Rain fell.</body></html>",
            "Rain fell.",
        ),
        ("<html><head><title>Rain fell</title></head><body></body></html>", "Rain fell"),
        ("<nav><a href=/>Home</a></nav><p>Rain fell.</p><footer>2026</footer>", "Rain fell."),
        ("<div>Menu</div><main><p>Rain fell.</p></main><div>Links</div>", "Rain fell."),
        ("<div><a href=/>Home</a></div><p>Rain fell.</p>", "Rain fell."),
        (
            "<table><tr><td>D2</td><td>LED</td></tr><tr><td>D3</td><td>key</td></tr></table>",
            "D2, LED.\nD3, key",
        ),
        ("<p>Growth<sup>[1]</sup> slowed.[edit]</p>", "Growth slowed."),
        ("<p>Prices rise in June <a hr", "Prices rise in June"),
        (
            "<p>AT&amp;T &lt;b&gt; caf&eacute; &#8217;tis &#x2014; &nbsp;x</p>",
            "AT&T <b> café ’tis —  x",
        ),
        ("<b>" * 100 + "Rain falls", "Rain falls"),
        ("<i>Rain <i>falls. <i>It is <i>wet.", "Rain falls. It is wet."),
        ("<p>Use `<div>` in <b>every</b> page.</p>", "Use `<div>` in every page."),
    ],
)
def test_the_text_of_a_page_is_what_is_read(page: str, text: str) -> None:
    assert clean(page).text == text
    assert "html" in clean(page).removed


@pytest.mark.parametrize(
    "text",
    [
        "2 < 3 and 4 > 3",
        "I <3 this town",
        "Call Task<List<string>> from F#",
        "std::map<int, std::vector<p>> m; foo<b>(c); x<a>y",
        "How do I centre a <div> in CSS?",
        "The <br> tag breaks a line",
        "Press <b> to go back, <i> for more, <b> twice to stop, <b> and <b> to begin",
        "cp <b><b> needs two names",
        "if a<b and c>d then stop",
        "Send it to Ann <ann@example.org> and Bo <bo@example.org>",
        "AT&T and R&D; Q&A",
        "f(x) = x & 1",
    ],
)
def test_what_only_looks_like_a_tag_stays(text: str) -> None:
    assert clean(text).text is text


def test_references_written_twice_come_out_as_characters() -> None:
    assert clean("Smith &amp;amp; Sons, Tom &amp;#39;s").text == "Smith & Sons, Tom 's"
    assert clean("Prices &up; rose").text == "Prices &up; rose"


def test_a_kind_that_is_given_needs_less_evidence() -> None:
    assert clean("Rain <b>fell").text == "Rain <b>fell"
    assert clean("Rain <b>fell", "html").text == "Rain fell"
    assert clean("<b>Rain</b> fell", "plain").text == "<b>Rain</b> fell"
