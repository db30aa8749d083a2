"""Names of units and presets as types, for type checkers and editors.

The parts between the marks are written by ``scripts/make_keywords.py`` from the registries.
"""

from typing import Literal

__all__ = ["PresetName", "UnitName"]

# made
UnitName = Literal[
    "words", "tokens", "chars", "graphemes", "bytes", "cells", "utf16", "tweet", "mastodon", "sms"
]
# end
"""Names of `sumfit.length.UNITS`."""

# made
PresetName = Literal[
    "seo-title",
    "meta-description",
    "tweet",
    "mastodon",
    "bluesky",
    "threads",
    "linkedin-post",
    "linkedin-fold",
    "youtube-title",
    "og-title",
    "og-description",
    "google-ads-headline",
    "google-ads-description",
    "slack-header",
    "slack-section",
    "sms",
    "push",
    "git-subject",
    "git-subject-hard",
    "pr-title",
    "email-subject",
    "synopsis",
    "app-subtitle",
    "app-promotional-text",
    "play-title",
    "play-short-description",
    "rss-title",
    "rss-description",
]
# end
"""Names of `sumfit.length.PRESETS`."""
