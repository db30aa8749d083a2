"""Hypothesis strategies for texts: the awkward ones first.

The fragments were written for these tests. `texts` joins them with and without spaces, so that
marks land on strangers, families lose members and words of two scripts touch.
"""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["AWKWARD_FRAGMENTS", "UNTIDY_FRAGMENTS", "texts"]

AWKWARD_FRAGMENTS = (
    # Latin, plain and marked, composed and decomposed, with stacked marks
    "rates rise", "Don't", "it's", "o'clock", "Łódź", "naïve café", "cafe\u0301",
    "e\u0301\u0323\u0302",
    "Zal\u0335g\u0337o", "\u0301", "İstanbul", "ẞ", "ﬁnance", "Å", "\u212b", "\u2126",
    # numbers, symbols, quotes
    "1,234.50", "3.14", "½", "№ 5", "-40 %", "“curly”", "…", "em—dash", "a\u0338b",
    "$", "€", "~^[]{}|\\",
    # other scripts, right to left too
    "Привет, мир", "Ёлка", "Ελλάδα", "שלום", "مرحبا", "می\u200cخواهم", "क्षत्रिय",
    "தமிழ்", "ไทยรัฐ", "မြန်မာ",
    "日本語のニュース", "カタカナ", "ｶﾀｶﾅ", "㍿", "한국어", "\u1112\u1161\u11ab", "𠮷野家", "𝒳",
    # emoji: tones, families, flags, keycaps, selectors, halves of all of these
    "👍", "👍🏽", "👩\u200d👩\u200d👧\u200d👦", "👨🏾\u200d🚀", "🏳️\u200d🌈", "🇫🇷", "🇫🇷🇩🇪", "🇫",
    "❤", "❤\ufe0f", "1\ufe0f\u20e3",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "\u200d", "\ufe0f", "🏽", "☎", "©",
    # what looks like markup of ours
    "<unk>", "<pad>", "⟨bos⟩", "[MASK]", "Ġ", "##", "-lrb-",
)  # fmt: skip

UNTIDY_FRAGMENTS = (
    "\t", "\n", "\r\n", "\x00", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u1680", "\u2028", "\u2029",
    "\u202f", "\u3000", "\u200b", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\u2069", "   ",
)  # fmt: skip

_SURROGATES = ("\ud83d", "\ude00", "\ud83d\ude00", "\udfff\ud800")


def texts(
    *, max_fragments: int = 8, untidy: bool = False, surrogates: bool = False
) -> st.SearchStrategy[str]:
    """Texts that break careless code.

    Args:
        max_fragments: Most pieces a text is made of.
        untidy: Also control characters and every kind of white space.
        surrogates: Also lone surrogates, which no UTF-8 file can hold.

    Returns:
        A strategy of strings, the empty one included.
    """
    pool = AWKWARD_FRAGMENTS
    pool += UNTIDY_FRAGMENTS if untidy else ()
    pool += _SURROGATES if surrogates else ()
    categories: tuple[str, ...] = ("Cs", "Cc", "Cn", "Co")
    fragment = st.one_of(
        st.sampled_from(pool),
        st.text(st.characters(exclude_categories=categories), max_size=3),  # type: ignore[arg-type]
        st.text("abcdefghij ", max_size=8),
    )
    joined = st.tuples(fragment, st.sampled_from(["", " "])).map("".join)
    return st.lists(joined, max_size=max_fragments).map("".join)
