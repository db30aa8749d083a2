"""Named limits with their sources.

Owns `PRESETS`. Where a service publishes no number, the preset says which practice it follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from sumfit.errors import UnknownUnitError

__all__ = ["PRESETS", "Preset", "get_preset"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A named limit.

    Attributes:
        name: What ``preset=`` takes.
        unit: Name of the unit.
        limit: Most the text may measure.
        description: What it is for.
        source: Where the number comes from.
    """

    name: str
    unit: str
    limit: int
    description: str
    source: str


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "seo-title",
            "chars",
            60,
            "title of a web page in search results",
            "Practice: search engines cut by pixels, at about 600 on a desktop, and publish no "
            "number of characters; 60 is the common advice, 63 fits where letters are narrow",
        ),
        Preset(
            "meta-description",
            "chars",
            155,
            "description of a web page in search results",
            "Practice: search engines cut by pixels, at about 155 to 160 characters on a desktop",
        ),
        Preset(
            "tweet",
            "tweet",
            280,
            "post on X (Twitter)",
            "twitter-text configuration v3: maxWeightedTweetLength 280",
        ),
        Preset(
            "sms",
            "sms",
            160,
            "one text message in the GSM 7-bit alphabet",
            "3GPP TS 23.038 and 23.040: a payload of 140 bytes is 160 septets",
        ),
        Preset(
            "push",
            "chars",
            178,
            "push notification, shown unexpanded",
            "Practice: the number commonly quoted for four lines on iOS; Apple publishes none",
        ),
        Preset(
            "git-subject",
            "chars",
            50,
            "subject line of a commit",
            "git-commit(1), Discussion: a single short line, no more than 50 characters",
        ),
        Preset(
            "git-subject-hard",
            "chars",
            72,
            "subject line of a commit, the most that tools show",
            "Practice: hosting sites cut subjects after 72 characters",
        ),
        Preset(
            "email-subject",
            "chars",
            60,
            "subject of an e-mail",
            "Practice: desktop clients show 50 to 70 characters; RFC 5322 section 2.1.1 asks for "
            "lines of at most 78 characters, field name included",
        ),
        Preset(
            "synopsis",
            "chars",
            79,
            "one-line synopsis of a package",
            "Debian Policy section 3.4.1 asks for under 80 characters; package checkers report "
            "only more than 80",
        ),
        Preset(
            "app-subtitle",
            "chars",
            30,
            "subtitle of an app in a store",
            "App Store Connect Help, app information: subtitle, 30 characters",
        ),
    )
}


def get_preset(name: str) -> Preset:
    """The preset of a name.

    Args:
        name: A name in `PRESETS`.

    Returns:
        The preset.

    Raises:
        UnknownUnitError: If there is no such preset.
    """
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        raise UnknownUnitError(f"preset {name!r} is not known; use one of {', '.join(PRESETS)}")
    return preset
