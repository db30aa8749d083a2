"""The transformer keeps scikit-learn's conventions, with or without scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sumfit import Summarizer
from sumfit.errors import ConfigError, ConflictingBudgetError, EmptyInputError, InputError
from sumfit.serving import SummaryTransformer
from tests.tiny_model import TEXTS


def test_a_column_becomes_summaries_of_the_same_shape(
    tiny_model: Path, server_summarizer: Summarizer
) -> None:
    transformer = SummaryTransformer(model=str(tiny_model), max_chars=40).fit()
    expected = [server_summarizer(text, max_chars=40).text for text in TEXTS]
    assert transformer.transform(list(TEXTS)).tolist() == expected
    column = np.array(TEXTS, dtype=object)[:, None]
    assert transformer.transform(column).shape == (len(TEXTS), 1)
    assert transformer.get_feature_names_out(["body"]).tolist() == ["body_summary"]


def test_parameters_are_as_given_and_can_be_set() -> None:
    transformer = SummaryTransformer(max_words=8)
    assert transformer.get_params()["max_words"] == 8
    assert transformer.set_params(max_words=None, preset="tweet").get_params()["preset"] == "tweet"
    with pytest.raises(ConfigError, match="unknown parameter 'max_word'"):
        transformer.set_params(max_word=3)


def test_wrong_parameters_and_inputs(tiny_model: Path) -> None:
    model = str(tiny_model)
    with pytest.raises(ConflictingBudgetError, match="two length specifications"):
        SummaryTransformer(model=model, max_words=3, max_chars=9).fit()
    with pytest.raises(ConfigError, match="on_error must be 'raise' or 'empty', was 'x'"):
        SummaryTransformer(model=model, max_words=3, on_error="x").fit()
    with pytest.raises(InputError, match=r"one column of texts is needed, the shape was \(1, 2\)"):
        SummaryTransformer(model=model, max_words=3).transform([["a", "b"]])
    with pytest.raises(EmptyInputError):
        SummaryTransformer(model=model, max_words=3).transform(["  "])
    lenient = SummaryTransformer(model=model, max_words=3, on_error="empty")
    assert lenient.transform(["  ", TEXTS[0]]).tolist()[0] == ""


def test_scikit_learn_itself_takes_it(tiny_model: Path, server_summarizer: Summarizer) -> None:
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    compose = pytest.importorskip("sklearn.compose")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"id": range(len(TEXTS)), "body": TEXTS})
    transformer = base.clone(SummaryTransformer(model=str(tiny_model), max_words=4))
    columns = compose.ColumnTransformer([("title", transformer, ["body"])], remainder="drop")
    found = columns.fit_transform(frame)
    expected = [[server_summarizer(text, max_words=4).text] for text in TEXTS]
    assert found.tolist() == expected
