"""Control pieces: which there are, and that no text can hold one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import ConfigError
from sumfit.runtime import default_model_path
from sumfit.text import Tokenizer
from sumfit.text.controls import LENGTHS, STYLES, Controls

TOKENIZER = Tokenizer.from_file(default_model_path() / "tokenizer.json")
CONTROLS = Controls.of_tokenizer(TOKENIZER)


def test_every_style_and_length_has_a_piece_of_its_own() -> None:
    ids = [*CONTROLS.styles.values(), *CONTROLS.lengths]
    assert len(set(ids)) == len(STYLES) + len(LENGTHS) + 1
    assert tuple(CONTROLS.styles) == STYLES


@given(st.text(max_size=60))
def test_no_text_holds_a_control_piece(text: str) -> None:
    ids = {*CONTROLS.styles.values(), *CONTROLS.lengths}
    assert ids.isdisjoint(TOKENIZER.encode(text))


@pytest.mark.parametrize(
    ("n_chars", "place"), [(1, 0), (24, 0), (25, 1), (60, 3), (62, 3), (63, 4), (110, 5), (111, 6)]
)
def test_a_length_belongs_to_the_class_that_it_fits(n_chars: int, place: int) -> None:
    assert CONTROLS.ids(n_chars=n_chars) == (CONTROLS.lengths[place],)


def test_style_stands_before_length_and_either_may_be_absent() -> None:
    assert CONTROLS.ids() == ()
    assert CONTROLS.ids(style="news", n_chars=60) == (
        CONTROLS.styles["news"],
        CONTROLS.lengths[3],
    )


def test_an_unknown_style_is_an_error_that_names_the_others() -> None:
    with pytest.raises(ConfigError, match=r"style must be one of news, commit, .* was 'poem'"):
        CONTROLS.ids(style="poem")
