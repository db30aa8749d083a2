"""The magic in a real shell of IPython."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sumfit import Summarizer
from sumfit.integrations.jupyter import read_line
from tests.tiny_model import TEXTS

pytest.importorskip("IPython", reason="IPython is not installed")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One shell, as a process has one, with the extension loaded."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        shell.run_cell("%load_ext sumfit")
        assert "sumfit" in shell.magics_manager.magics["cell"]
        yield shell
        InteractiveShell.clear_instance()


def test_a_cell_is_a_text(shell: Any, tiny_model: Path, fit: Summarizer) -> None:
    done = shell.run_cell(f"%%sumfit --max-chars 40 --model '{tiny_model}'\n{TEXTS[0]}\n")
    assert done.result.text == fit(TEXTS[0], max_chars=40).text
    done = shell.run_cell(f"x = %sumfit --max-words=4 --model '{tiny_model}' texts")
    assert not done.success  # there is no such variable
    shell.push({"texts": list(TEXTS)})
    assert shell.run_cell(f"x = %sumfit --max-words=4 --model '{tiny_model}' texts").success
    found = [summary.text for summary in shell.user_ns["x"]]
    assert found == [fit(text, max_words=4).text for text in TEXTS]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%sumfit --model {model}\nA text.", "limit"),
        ("%%sumfit --model {model} --max-char 40\nA text.", "did you mean 'max_chars'"),
        ("%%sumfit --model {model} --max-chars many\nA text.", "max_chars"),
        ("%%sumfit --model {model} --max-chars\nA text.", "--max-chars needs a value"),
        ("%%sumfit --model {model} text --max-chars 40\nA text.", "the line holds options alone"),
        ("%sumfit --model {model} --max-chars 40", "name one variable that holds a text"),
        ("%sumfit --model {model} --max-chars 40 nothing", "there is no variable 'nothing'"),
        ("%sumfit --max-chars '40", "No closing quotation"),
        ("%%sumfit --model /nowhere --max-chars 40\nA text.", "/nowhere"),
    ],
)
def test_wrong_calls_are_told_in_a_line(
    shell: Any, tiny_model: Path, capsys: pytest.CaptureFixture[str], cell: str, said: str
) -> None:
    done = shell.run_cell(cell.replace("{model}", f"'{tiny_model}'"))
    assert type(done.error_in_exec).__name__ == "UsageError"
    assert said in str(done.error_in_exec)
    assert "Traceback" not in capsys.readouterr().err


def test_reading_a_line() -> None:
    line = "--max-chars 40 --faithful --no-clean --prefix 'A b: ' --no-repeat-ngram 3 --banned [] t"
    assert read_line(line) == (
        {
            "max_chars": 40,
            "faithful": True,
            "clean": False,
            "prefix": "A b: ",
            "no_repeat_ngram": 3,
            "banned": [],
        },
        ["t"],
    )
