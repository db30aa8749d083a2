"""Writing systems: counted by letters, kept from source to summary."""

from __future__ import annotations

import pytest

from sumfit.text.scripts import foreign_script, keeps_scripts, scripts_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("12 — 3!", {}),
        ("Zoë naïve", {"LATIN": 8}),
        ("Мост bridge", {"CYRILLIC": 4, "LATIN": 6}),
        ("東京のニュース", {"CJK": 7}),
        ("ｆｕｌｌ", {"LATIN": 4}),
        ("Ωμέγα", {"GREEK": 5}),
        ("다리", {"HANGUL": 2}),
    ],
)
def test_letters_are_counted_by_script(text: str, expected: dict[str, int]) -> None:
    assert dict(scripts_of(text)) == expected


@pytest.mark.parametrize(
    ("summary", "source", "kept"),
    [
        ("Bridge closes", "The bridge closes on Tuesday", True),
        ("â", "أعلنت البلدية أن الحديقة ستغلق", False),
        ("The review", "東京の中心部で地下鉄の信号が故障した", False),
        ("NHK", "NHKは東京の中心部で地下鉄の信号が故障し三つの路線が止まったと伝えた", False),
        ("NHK 東京", "NHKは東京の地下鉄が止まったと伝えた", True),
        ("東京の地下鉄", "東京の地下鉄が止まった", True),
        ("14,000 €", "Мост закроют", False),
        ("14,000 €", "14,000 € — 50 %", True),
        ("🎉", "🎉🎉 2024", True),
        ("Мост закрыт", "Bridge: Мост закроют до осени", True),
        ("Ω resistor", "A resistor of 5 ohm", False),
    ],
)
def test_a_summary_keeps_the_scripts_of_its_source(summary: str, source: str, kept: bool) -> None:
    assert keeps_scripts(summary, source) is kept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The bridge closes on Tuesday", None),
        ("", None),
        ("12 %", None),
        ("Coach Иван Петров spoke to the press on Monday", None),  # foreign words within
        ("Мост закроют до осени", ("Cyrillic", 1.0)),
        ("AB 東京の中心部", ("CJK", 0.75)),
        ("Zoë naïve", None),
    ],
)
def test_a_text_mainly_of_another_script_is_named(
    text: str, expected: tuple[str, float] | None
) -> None:
    assert foreign_script(text, ["Latin"]) == expected
