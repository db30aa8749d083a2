"""What people paste, as plain text: without markup, quoted mail, time stamps and boilerplate.

One module for each kind; `sumfit.cleaning.registry` applies them in order.
"""

from sumfit.cleaning.html import is_only_tags
from sumfit.cleaning.links import is_only_links
from sumfit.cleaning.registry import (
    INPUT_KINDS,
    MOST_CLEANED,
    Cleaned,
    check_cleanable,
    check_kind,
    clean,
)

__all__ = [
    "INPUT_KINDS",
    "MOST_CLEANED",
    "Cleaned",
    "check_cleanable",
    "check_kind",
    "clean",
    "is_only_links",
    "is_only_tags",
]
