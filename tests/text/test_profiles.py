import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import ConfigError
from sumfit.text import get_profile, normalize
from sumfit.text.profiles import _ABBREVIATION, _STOP, _split_stops
from tests.strategies import texts

GIGAWORD = get_profile("gigaword")
DATA = Path(__file__).parents[3] / "shared" / "data" / "gigaword" / "valid.jsonl.xz"


@pytest.mark.parametrize(
    ("natural", "expected"),
    [
        (
            "Don't worry, it's \"fine\" (he said). The U.S. spent $1,234.50 in 2024.",
            "do n't worry , it 's `` fine '' -lrb- he said -rrb- . "
            "the u.s. spent $ #,###.## in #### .",
        ),
        ("“It works.” She agreed.", "`` it works . '' she agreed ."),
        ('She said "it works." He left.', "she said `` it works . '' he left ."),
        ("The workers’ union won’t yield", "the workers ' union wo n't yield"),
        ("Mr. Smith cannot agree; no way!", "mr. smith can not agree ; no way !"),
        ("Shares up 5%—or 6?", "shares up # % -- or # ?"),
        ("AT&T and/or H&M", "at&amp;t and\\/or h&amp;m"),
        ("2019–20 season: wait...", "####-## season : wait ..."),
        ("[sic] {x}", "-lsb- sic -rsb- -lcb- x -rcb-"),
        ("Rock ‘stars’ meet", "rock ` stars ' meet"),
        ("Naïve café in São Paulo", "naïve café in são paulo"),
        ("Coup d'etat, O'Neal's '90s", "coup d'etat , o'neal 's ` ##s"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_gigaword_profile_tokenises_like_the_corpus(natural: str, expected: str) -> None:
    assert GIGAWORD.apply_source(natural) == expected
    assert GIGAWORD.apply_source(expected) == expected


def slowly_split(text: str) -> str:
    """Full stops split one at a time, each by looking at all that follows it."""
    split, done = "", 0
    for stop in _STOP.finditer(text):
        is_last = not text[stop.end() :].strip("\"'”’)]} ")
        is_split = is_last or not _ABBREVIATION.search(text[: stop.start()][-12:])
        split += text[done : stop.start()] + (" . " if is_split else ".")
        done = stop.end()
    return split + text[done:]


@given(st.text("aSU. \n)]}'’”\"`"), st.sampled_from(["", "Mr. Smith ", "the U.S. "]))
def test_full_stops_are_split_as_one_at_a_time(text: str, before: str) -> None:
    assert _split_stops(before + text) == slowly_split(before + text)


class Counted(str):
    """A text that counts how many characters of it are looked at in parts and by stripping."""

    n_looked_at = 0

    def __getitem__(self, place: Any) -> str:
        part = super().__getitem__(place)
        self.n_looked_at += len(part)
        return part

    def rstrip(self, characters: str | None = None, /) -> str:
        self.n_looked_at += len(self)
        return super().rstrip(characters)


@pytest.mark.parametrize("part", ["a. B", "a.' B", "a. ' ", "Mr. B"])
def test_splitting_full_stops_looks_at_each_part_of_a_text_a_few_times(part: str) -> None:
    """Each full stop looked at all that follows it."""
    text = Counted(part * 2000)
    _split_stops(text)
    assert len(text) <= text.n_looked_at <= 5 * len(text)


@given(texts(untidy=True, surrogates=True))
def test_gigaword_form_has_lower_case_no_digits_and_single_spaces(text: str) -> None:
    result = GIGAWORD.apply_source(text)
    assert result == " ".join(result.split())
    assert result == result.lower()
    assert not any(character.isdecimal() for character in result)
    assert not set('"()[]{}“”') & set(result)


def test_unknown_token_stays_in_sources_and_leaves_summaries() -> None:
    text = "laura bush <unk> rice to attend <unk>"
    assert GIGAWORD.apply_source(text) == text
    assert GIGAWORD.apply_summary(text) == "laura bush rice to attend"
    assert GIGAWORD.apply_summary("<unk>") == ""


def test_the_mark_of_the_test_part_is_the_corpus_own() -> None:
    assert (
        GIGAWORD.apply_source("nec and UNK corp. of UNK said")
        == "nec and <unk> corp. of <unk> said"
    )
    assert GIGAWORD.apply_source("the unk and UNKs met") == "the unk and unks met"


def test_natural_profile_takes_the_unknown_token_for_text() -> None:
    natural = get_profile("natural")
    assert natural.apply_summary("an <unk> here") == "an <unk> here"


@given(texts(untidy=True, surrogates=True))
def test_natural_profile_is_normalisation(text: str) -> None:
    natural = get_profile("natural")
    assert natural.apply_source(text) == natural.apply_summary(text) == normalize(text)


def test_unknown_profile_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"^profile 'duc' is not known; use one of natural, gigaword$"
    ):
        get_profile("duc")


@pytest.mark.skipif(not DATA.exists(), reason="the corpus itself is not part of the repository")
def test_corpus_is_left_as_it_is() -> None:
    with lzma.open(DATA, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    changed = [row for row in rows if GIGAWORD.apply_source(row["source"]) != row["source"]]
    assert len(rows) == 985
    assert changed == []
