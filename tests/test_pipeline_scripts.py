"""Texts in a writing system that the model was not trained on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sumfit import Summarizer, measure
from sumfit.errors import InputError, ModelFormatError, UnsupportedScriptError

CHINESE = "市议会周一投票决定关闭河上的旧石桥进行维修，直到秋季结束，官员们表示交通将绕行新桥。"
RUSSIAN = "Мост через реку закроют на ремонт до конца осени, сообщили в понедельник власти."


@pytest.fixture(scope="module")
def latin(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Summarizer:
    directory = tmp_path_factory.mktemp("models") / "latin"
    shutil.copytree(tiny_model, directory)
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    text = json.dumps(config | {"scripts": ["Latin"]})
    (directory / "config.json").write_text(text, encoding="utf-8")
    return Summarizer.from_pretrained(directory)


def test_the_error_names_script_share_and_remedy(latin: Summarizer) -> None:
    with pytest.raises(UnsupportedScriptError) as caught:
        latin(CHINESE, max_chars=20)
    assert isinstance(caught.value, InputError)
    assert str(caught.value) == (
        "model 'tiny-copy' reads Latin, but 100% of this text's letters are CJK or of other "
        "scripts; use a model trained on it, or ask for on_infeasible='cut'"
    )


def test_others_of_the_batch_come_through(latin: Summarizer, texts: tuple[str, ...]) -> None:
    first, second, third = latin([texts[0], RUSSIAN, texts[1]], max_chars=40)
    assert first.error is None
    assert third.error is None
    assert isinstance(second.error, UnsupportedScriptError)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        (RUSSIAN, 25, "Мост через реку закроют…"),
        (CHINESE, 11, "市议会周一投票决定关…"),
        (CHINESE, 28, "市议会周一投票决定关闭河上的旧石桥进行维修，直到秋季结…"),
    ],
)
def test_a_cut_on_request(latin: Summarizer, text: str, limit: int, expected: str) -> None:
    summary = latin(text, max_chars=limit, on_infeasible="cut")
    assert summary.text == expected
    assert summary.origin == "cut"
    assert measure(summary.text, "chars") <= limit


def test_a_short_text_is_returned_whatever_its_script(latin: Summarizer) -> None:
    summary = latin("Мост закрыт", max_chars=20)
    assert (summary.text, summary.origin) == ("Мост закрыт", "source")


def test_foreign_words_do_no_harm(latin: Summarizer, texts: tuple[str, ...]) -> None:
    assert latin(texts[0] + " (Мост)", max_chars=40).error is None


def test_a_model_that_names_no_scripts_reads_any(fit: Summarizer) -> None:
    summary = fit(RUSSIAN, max_chars=20, on_error="return", max_expansions=50)
    assert not isinstance(summary.error, UnsupportedScriptError)


def test_scripts_must_be_a_list(tiny_model: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_model, tmp_path / "model")
    file = tmp_path / "model" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(config | {"scripts": "Latin"}), encoding="utf-8")
    with pytest.raises(ModelFormatError, match="'scripts' is 'Latin', must be a list"):
        Summarizer.from_pretrained(tmp_path / "model")
