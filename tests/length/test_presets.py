import pytest

from sumfit.errors import UnknownUnitError
from sumfit.length import PRESETS, UNITS, get_preset


def test_presets_have_the_limits_their_sources_name() -> None:
    assert {name: (p.unit, p.limit) for name, p in PRESETS.items()} == {
        "seo-title": ("chars", 60),
        "meta-description": ("chars", 155),
        "tweet": ("tweet", 280),
        "sms": ("sms", 160),
        "push": ("chars", 178),
        "git-subject": ("chars", 50),
        "git-subject-hard": ("chars", 72),
        "email-subject": ("chars", 60),
        "synopsis": ("chars", 79),
        "app-subtitle": ("chars", 30),
    }


def test_every_preset_says_what_it_is_for_and_where_it_comes_from() -> None:
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert preset.unit in UNITS
        assert preset.description
        assert preset.source


@pytest.mark.parametrize("name", ["toot", None, ["sms"]])
def test_unknown_presets_are_named_with_the_known_ones(name: object) -> None:
    with pytest.raises(UnknownUnitError) as caught:
        get_preset(name)  # type: ignore[arg-type]
    assert str(caught.value) == f"preset {name!r} is not known; use one of {', '.join(PRESETS)}"
