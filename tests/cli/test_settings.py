"""A file of settings: where it is found, what wins, and what a mistake in it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sumfit import Summarizer
from tests.cli.conftest import Sumfit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders deep, so that files above are found."""
    here = tmp_path / "project" / "part"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    return here


def write(folder: Path, text: str, name: str = "sumfit.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_options_of_a_file_above_hold(
    sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...], folder: Path
) -> None:
    write(folder.parent, 'max-words = 6\nban = ["old"]\nconstraints = true\nn-best = 2\n')
    found = fit(texts[0], max_words=6, banned=["old"], n_best=2)
    expected = [found.text, *(one.text for one in found.alternatives)]
    assert sumfit(texts[0]).out.splitlines() == expected
    one = sumfit(texts[0], "--n-best", "1").out
    assert one == f"{found.text}\n"


def test_pyproject_has_a_table_for_it(
    sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...], folder: Path
) -> None:
    write(folder, "[tool.other]\nx = 1\n", "pyproject.toml")  # not ours: looked for further up
    write(folder.parent, "[tool.sumfit]\nmax_chars = 40\n", "pyproject.toml")
    assert sumfit(texts[0]).out == fit(texts[0], max_chars=40).text + "\n"
    write(folder.parent, "max-words = 4\n")
    assert sumfit(texts[0]).out == fit(texts[0], max_words=4).text + "\n"


def test_a_table_of_a_command_is_for_it_alone_and_wins(
    sumfit: Sumfit, texts: tuple[str, ...], folder: Path
) -> None:
    write(folder, 'max-words = 5\n[summarize]\nmax-words = 6\nformat = "jsonl"\n')
    (folder / "in.txt").write_text(texts[0] + "\n", encoding="utf-8")
    record = json.loads(sumfit("summarize", "in.txt").out)
    assert record["limit"] == 6
    assert len(sumfit(texts[0]).out.split()) <= 5


@pytest.mark.parametrize(
    "flags", [["--max-words", "4"], ["--exact-words", "4"], ["--preset", "push"], ["--ratio", "1"]]
)
def test_a_limit_of_the_command_line_replaces_the_files(
    sumfit: Sumfit, texts: tuple[str, ...], folder: Path, flags: list[str]
) -> None:
    free = sumfit(texts[0], *flags)
    assert free.code == 0, free.err
    for setting in ("max-chars = 60", "max-length = 20\nunit = 'bytes'", 'preset = "sms"'):
        write(folder, setting)
        if flags[0] == "--ratio" and "unit" in setting:
            assert sumfit(texts[0], "--ratio", "1", "--unit", "words") == sumfit(
                texts[0], "--ratio", "1", "--unit", "words", "--config", "none"
            )
            continue
        assert sumfit(texts[0], *flags) == free


def test_several_limits_are_a_list(
    sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...], folder: Path
) -> None:
    write(folder, "max-chars = [20, 40]")
    expected = [one.text for one in fit(texts[0], max_chars=[20, 40])]
    assert sumfit(texts[0]).out.splitlines() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max-char = 60", "max-char: there is no such option; did you mean max-chars?"),
        ("[tool]\nx = 1", "tool: there is no such option; "),
        ("[inspect]\nkeep = ['a']", "[inspect] keep: there is no such option; "),
        ("max-chars = 60\nmax_chars = 50", "max_chars: is there as max-chars too; keep one"),
        ("faithful = 1", "faithful: must be true or false, was 1"),
        ("max-chars = true", "max-chars: must not be true or false, was true"),
        ("style = ['a']", "style: must be a number or a string, was ['a']"),
        ("ban = [1]", "ban: must be a list of strings, was [1]"),
        ("output = 'x'", "output: can be given on the command line alone; leave it out"),
        ("max-chars = ", "are not TOML: "),
        ("x" * 1_000_001, "have over 1000000 bytes"),
    ],
)
def test_a_mistake_names_file_and_key(
    sumfit: Sumfit, texts: tuple[str, ...], folder: Path, text: str, message: str
) -> None:
    file = write(folder, text)
    result = sumfit(texts[0], "--max-words", "5")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert str(file) in result.err
    assert sumfit(texts[0], "--max-words", "5", "--config", "none").code == 0
    assert sumfit("text", "--help").code == 0


@pytest.mark.parametrize(
    ("setting", "flag"), [("style = 'poem'", "--style"), ("n-best = 'many'", "--n-best")]
)
def test_a_wrong_value_says_that_the_file_has_it(
    sumfit: Sumfit, texts: tuple[str, ...], folder: Path, setting: str, flag: str
) -> None:
    file = write(folder, setting)
    result = sumfit(texts[0], "--max-words", "5")
    assert result.code == 2
    assert result.err.startswith(f"error: {flag}")
    assert f"(set in {file})" in result.err
    own = sumfit(texts[0], "--max-words", "5", "--style", "verse")
    assert flag == "--n-best" or "set in" not in own.err


def test_show_config_names_the_file_that_is_passed_over(
    sumfit: Sumfit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sumfit.toml").write_text("max-chars = 40\n")
    shared = tmp_path / "pyproject.toml"
    for content, is_named in (
        ("[tool.sumfit]\nmax-chars = 50\n", True),
        ("[tool.sumfit\n", True),  # broken, and not read either
        ("[tool.other]\n", False),
        ("# sumfit\n", False),
    ):
        shared.write_text(content)
        result = sumfit("--show-config")
        line = f"not read  {shared}  (sumfit.toml beside it wins)\n"
        assert (result.code, line in result.out) == (0, is_named), content
        assert "max-chars  40  (sumfit.toml)\n" in result.out


def test_show_config_says_which_source_won(
    sumfit: Sumfit, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(folder, "max-chars = 60\nn-best = 3\nstyle = 'news'\n")
    result = sumfit("--show-config", "--max-words", "8", "--n-best", "2")
    assert (result.code, result.err) == (0, "")
    assert [line for line in result.out.splitlines() if not line.startswith("model")] == [
        f"settings  {file}",
        f"max-chars  not used: the command line has a limit ({file})",
        "max-words  8  (command line)",
        "n-best  2  (command line; sumfit.toml: 3)",
        "style  news  (sumfit.toml)",
    ]
    assert "  (environment)" in result.out  # of SUMFIT_MODEL
    assert sumfit("--show-config", "--config", "none").out.startswith("settings  no file\n")


def test_a_file_may_be_named(
    sumfit: Sumfit,
    texts: tuple[str, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(folder, "max-words = 3")
    other = write(folder, "max-words = 5", "other.toml")
    named = sumfit(texts[0], "--config", str(other))
    assert named == sumfit(texts[0], "--max-words", "5")
    monkeypatch.setenv("SUMFIT_CONFIG", str(other))
    assert sumfit(texts[0]) == named
    missing = sumfit(texts[0], "--config", "nowhere.toml")
    assert missing.code == 2
    assert missing.err == (
        "error: --config nowhere.toml is no file; give one, or none to use no file\n"
    )


def test_directories_are_relative_to_the_file(
    sumfit: Sumfit,
    tiny_model: Path,
    texts: tuple[str, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = sumfit(texts[0], "--max-words", "5")
    (folder.parent / "models").symlink_to(tiny_model)
    write(folder.parent, 'model = "models"\nmax-words = 5\n')
    call = sumfit("--show-config").out  # SUMFIT_MODEL wins
    assert f"(environment; sumfit.toml: {folder.parent / 'models'})" in call
    monkeypatch.delenv("SUMFIT_MODEL")
    assert sumfit(texts[0]) == expected
