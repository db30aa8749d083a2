"""Control pieces as training draws them."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.data.controls import ControlDraw, ControlOptions
from sumfit.errors import ConfigError
from sumfit.runtime import default_model_path
from sumfit.text import Tokenizer
from sumfit.text.controls import LENGTHS, Controls

TOKENIZER = Tokenizer.from_file(default_model_path() / "tokenizer.json")
CONTROLS = Controls.of_tokenizer(TOKENIZER)
TARGETS = ["Bridge to close for repairs", "Bridge to close for six weeks of repairs in the spring"]


def _drawn(options: ControlOptions, n_items: int = 400) -> tuple[np.ndarray, np.ndarray]:
    source = np.array([[7, 8, 9, 0], [5, 6, 0, 0]] * (n_items // 2), dtype=np.int64)
    rows = [TOKENIZER.encode(text) for text in TARGETS]
    targets = np.zeros((n_items, max(map(len, rows))), dtype=np.int64)
    for item in range(n_items):
        targets[item, : len(rows[item % 2])] = rows[item % 2]
    draw = ControlDraw(options, TOKENIZER, ["news", ""])
    set_ids = (np.arange(n_items) % 2).astype(np.uint16)
    return draw.before(source, targets, set_ids, np.random.default_rng(1)), source


def test_sources_follow_their_control_pieces_and_pads_stay_at_the_end() -> None:
    drawn, source = _drawn(ControlOptions(style_share=1.0, length_share=1.0))
    news = CONTROLS.styles["news"]
    assert (drawn[::2, 0] == news).all()
    assert (drawn[::2, 2:5] == source[::2, :3]).all()
    assert np.isin(drawn[1::2, 0], CONTROLS.lengths).all()  # a set without a style is told none
    assert (drawn[1::2, 1:3] == source[1::2, :2]).all()
    assert (drawn[1::2, 3:] == 0).all()


def test_a_limit_is_never_below_the_summary_and_never_far_above() -> None:
    drawn, _ = _drawn(ControlOptions(style_share=0.0, length_share=1.0, room=1.3))
    for item in range(2):
        n_chars = len(TARGETS[item])
        low, high = np.searchsorted(LENGTHS, [n_chars, 1.3 * n_chars])
        allowed = CONTROLS.lengths[low : high + 1]
        assert set(drawn[item::2, 0]) == set(allowed)


def test_shares_are_kept_on_average() -> None:
    drawn, _ = _drawn(ControlOptions(style_share=0.25, length_share=0.0), 2000)
    told = (drawn[::2, 0] == CONTROLS.styles["news"]).mean()
    assert 0.2 < told < 0.3


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="style_share must be between 0 and 1, was 2"):
        ControlOptions(style_share=2)
    with pytest.raises(ConfigError, match=r"room must be at least 1, was 0.5"):
        ControlOptions(room=0.5)
