import unicodedata

import pytest
from hypothesis import given

from sumfit.length import measure, sms_info
from tests.strategies import texts


@pytest.mark.parametrize(
    ("text", "encoding", "units", "segments", "septets"),
    [
        ("a" * 160, "GSM-7", 160, 1, 160),
        ("a" * 161, "GSM-7", 161, 2, 161),
        ("a" * 306, "GSM-7", 306, 2, 306),
        ("a" * 307, "GSM-7", 307, 3, 307),
        ("€" * 80, "GSM-7", 160, 1, 160),
        ("a" * 152 + "€" + "a" * 152, "GSM-7", 306, 3, 306),
        ("ж" * 70, "UCS-2", 70, 1, 160),
        ("ж" * 71, "UCS-2", 71, 2, 163),
        ("😀" * 35, "UCS-2", 70, 1, 160),
        ("ж" * 66 + "😀" + "ж" * 66, "UCS-2", 134, 3, 307),
        ("ç", "UCS-2", 1, 1, 3),
        ("Ç@£$¥èéùìòØøÅåΔ_", "GSM-7", 16, 1, 16),
        ("\f^{}\\[~]|€", "GSM-7", 20, 1, 20),
    ],
)
def test_septets_and_segments_at_the_edges(
    text: str, encoding: str, units: int, segments: int, septets: int
) -> None:
    info = sms_info(text)
    assert (info.encoding, info.units, info.segments) == (encoding, units, segments)
    assert measure(text, "sms") == septets


@given(texts(untidy=True, max_fragments=40))
def test_a_text_of_160_septets_is_one_message(text: str) -> None:
    assert (measure(text, "sms") <= 160) == (
        sms_info(unicodedata.normalize("NFC", text)).segments == 1
    )
