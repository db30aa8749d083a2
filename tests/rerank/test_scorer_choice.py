"""What the default choice adds to the scorer's own score for what a text comes to."""

from dataclasses import replace

from sumfit.rerank.chooser import TextRead
from sumfit.rerank.scorer import _missed_share

TEXT = TextRead(None, None, "The key goes to Marek. It rained.")  # type: ignore[arg-type]


def test_a_candidate_loses_by_the_words_of_the_main_sentence_that_it_lacks() -> None:
    known = replace(TEXT, main="Give both keys to Marek in May.")
    assert known.main_words == {"giv", "both", "key", "marek", "may"} - {"both", "may"}
    assert _missed_share("Give key to Marek", known) == 0
    assert _missed_share("It rained on Marek", known) == 2 / 3
    assert _missed_share("It rained", known) == 1


def test_nothing_is_missed_where_it_is_open_what_a_text_comes_to() -> None:
    assert _missed_share("It rained", TEXT) == 0
