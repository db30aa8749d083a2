"""Named limits with their sources.

Owns `PRESETS`. Where a service publishes no number, the preset says which practice it follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from sumfit.errors import Keyword, UnknownUnitError
from sumfit.spelling import did_you_mean

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
        style: Style that suits the slot, as ``style=`` takes it; empty where any may.
        is_heading: The slot is for a title or header, which makes one statement.
    """

    name: str
    unit: str
    limit: int
    description: str
    source: str
    style: str = ""
    is_heading: bool = False


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
            "mastodon",
            "mastodon",
            500,
            "post on Mastodon",
            "Mastodon documentation, Posting to your profile: 500 characters by default, where a "
            "link counts 23 and a mention without its server; a server may allow more",
        ),
        Preset(
            "bluesky",
            "graphemes",
            300,
            "post on Bluesky",
            "AT Protocol lexicon app.bsky.feed.post: maxGraphemes 300 (and maxLength 3000 bytes)",
        ),
        Preset(
            "threads",
            "chars",
            500,
            "post on Threads",
            "Threads API documentation: the text of a post is limited to 500 characters",
        ),
        Preset(
            "linkedin-post",
            "chars",
            3000,
            "post on LinkedIn",
            "LinkedIn Help, characters in a post: 3,000",
        ),
        Preset(
            "linkedin-fold",
            "chars",
            210,
            "what LinkedIn shows of a post before it is opened",
            "Practice: about three lines, commonly given as 210 characters; none is published",
        ),
        Preset(
            "youtube-title",
            "chars",
            100,
            "title of a video on YouTube",
            "YouTube Data API, videos: snippet.title has a maximum length of 100 characters",
            is_heading=True,
        ),
        Preset(
            "og-title",
            "chars",
            60,
            "title of a link preview (og:title)",
            "Practice: the Open Graph protocol sets no limit; previews cut after about 60",
        ),
        Preset(
            "og-description",
            "chars",
            110,
            "description of a link preview (og:description)",
            "Practice: the Open Graph protocol asks for one or two sentences; previews cut after "
            "about 110 characters",
        ),
        Preset(
            "google-ads-headline",
            "cells",
            30,
            "headline of a responsive search ad",
            "Google Ads Help, about responsive search ads: 30 characters; those of double width "
            "count 2",
        ),
        Preset(
            "google-ads-description",
            "cells",
            90,
            "description of a responsive search ad",
            "Google Ads Help, about responsive search ads: 90 characters; those of double width "
            "count 2",
        ),
        Preset(
            "slack-header",
            "chars",
            150,
            "header block of a message in Slack",
            "Slack API, Block Kit reference, header block: text of at most 150 characters",
            is_heading=True,
        ),
        Preset(
            "slack-section",
            "chars",
            3000,
            "section block of a message in Slack",
            "Slack API, Block Kit reference, section block: text of at most 3000 characters",
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
            style="commit",
        ),
        Preset(
            "git-subject-hard",
            "chars",
            72,
            "subject line of a commit, the most that tools show",
            "Practice: hosting sites cut subjects after 72 characters",
            style="commit",
        ),
        Preset(
            "pr-title",
            "chars",
            72,
            "title of a pull or merge request",
            "Practice: it becomes the subject of the commit when the request is squashed; hosting "
            "sites cut subjects after 72 characters and accept titles of about 255",
            style="commit",
        ),
        Preset(
            "email-subject",
            "chars",
            60,
            "subject of an e-mail",
            "Practice: desktop clients show 50 to 70 characters; RFC 5322 section 2.1.1 asks for "
            "lines of at most 78 characters, field name included",
            style="subject",
        ),
        Preset(
            "synopsis",
            "chars",
            79,
            "one-line synopsis of a package",
            "Debian Policy section 3.4.1 asks for under 80 characters; package checkers report "
            "only more than 80",
            style="synopsis",
        ),
        Preset(
            "app-subtitle",
            "chars",
            30,
            "subtitle of an app in a store",
            "App Store Connect Help, app information: subtitle, 30 characters",
        ),
        Preset(
            "app-promotional-text",
            "chars",
            170,
            "promotional text of an app in the App Store",
            "App Store Connect Help, version information: promotional text, 170 characters",
        ),
        Preset(
            "play-title",
            "chars",
            30,
            "name of an app in Google Play",
            "Play Console Help, set up your app: app name, 30 characters",
        ),
        Preset(
            "play-short-description",
            "chars",
            80,
            "short description of an app in Google Play",
            "Play Console Help, set up your app: short description, 80 characters",
        ),
        Preset(
            "rss-title",
            "chars",
            100,
            "title of an item in a feed",
            "RSS 0.91, item: title of at most 100 characters; RSS 2.0 and Atom set no limit",
            is_heading=True,
        ),
        Preset(
            "rss-description",
            "chars",
            500,
            "description of an item in a feed",
            "RSS 0.91, item: description of at most 500 characters; RSS 2.0 and Atom set no limit",
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
        raise UnknownUnitError(
            Keyword("preset", f" {name!r}", name),
            f" is not known; use one of {', '.join(PRESETS)}{did_you_mean(name, PRESETS)}",
        )
    return preset
