"""Commit subjects begin with an order."""

import pytest

from sumfit.text.orders import order_of


@pytest.mark.parametrize(
    ("subject", "verb"),
    [
        ("Fix a leak", "fix"),
        ("net: ipv4: Drop stale routes", "drop"),
        ("[cache] Don’t keep errors", "don't"),
        ("Crash when the file is empty", ""),
        ("Users could open it twice", ""),
        ("Adds a flag", ""),
        ("", ""),
    ],
)
def test_the_verb_of_a_subject(subject: str, verb: str) -> None:
    assert order_of(subject) == verb
