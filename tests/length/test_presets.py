import pytest

from sumfit.errors import UnknownUnitError
from sumfit.length import PRESETS, UNITS, get_preset


def test_presets_have_the_limits_their_sources_name() -> None:
    assert {name: (p.unit, p.limit) for name, p in PRESETS.items()} == {
        "seo-title": ("chars", 60),
        "meta-description": ("chars", 155),
        "tweet": ("tweet", 280),
        "mastodon": ("mastodon", 500),
        "bluesky": ("graphemes", 300),
        "threads": ("chars", 500),
        "linkedin-post": ("chars", 3000),
        "linkedin-fold": ("chars", 210),
        "youtube-title": ("chars", 100),
        "og-title": ("chars", 60),
        "og-description": ("chars", 110),
        "google-ads-headline": ("cells", 30),
        "google-ads-description": ("cells", 90),
        "slack-header": ("chars", 150),
        "slack-section": ("chars", 3000),
        "sms": ("sms", 160),
        "push": ("chars", 178),
        "git-subject": ("chars", 50),
        "git-subject-hard": ("chars", 72),
        "email-subject": ("chars", 60),
        "synopsis": ("chars", 79),
        "app-subtitle": ("chars", 30),
        "app-promotional-text": ("chars", 170),
        "play-title": ("chars", 30),
        "play-short-description": ("chars", 80),
        "rss-title": ("chars", 100),
        "rss-description": ("chars", 500),
        "pr-title": ("chars", 72),
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
    assert str(caught.value).startswith(
        f"preset {name!r} is not known; use one of {', '.join(PRESETS)}"
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("tweeet", "tweet"),
        ("SEO-Title", "seo-title"),
        ("git_subject", "git-subject"),
        ("synop", "synopsis"),
    ],
)
def test_a_misspelt_preset_names_the_nearest(given: str, meant: str) -> None:
    with pytest.raises(UnknownUnitError, match=f"; did you mean '{meant}'\\?$"):
        get_preset(given)
    with pytest.raises(UnknownUnitError, match=r"rss-description$"):
        get_preset("nothing of the kind")
