"""``sumfit "text"``: what is printed, where, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sumfit import Summarizer, __version__
from sumfit.cli import main
from sumfit.cli.app import run
from tests.cli.conftest import Sumfit

NO_LIMIT = (
    "error: no length limit was given; give --max-chars, --max-words or --preset, for example: "
)


def test_the_summary_and_nothing_else(
    sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...]
) -> None:
    result = sumfit(texts[0], "--max-chars", "40")
    assert result == (0, fit(texts[0], max_chars=40).text + "\n", "")


def test_options_may_come_first(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    assert sumfit("--max-chars", "40", texts[0]) == sumfit(texts[0], "--max-chars=40")
    assert sumfit("text", texts[0], "--max-chars", "40") == sumfit(texts[0], "--max-chars", "40")
    assert sumfit("--max-chars", "40", "--", texts[0]) == sumfit(texts[0], "--max-chars", "40")


def test_standard_input(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    expected = sumfit(texts[0], "--max-chars", "40")
    half = len(texts[0]) // 2
    broken = (texts[0][:half].rstrip() + "\n" + texts[0][half:]).replace("\n", " \n ")
    for arguments in (["--max-chars", "40"], ["-", "--max-chars", "40"]):
        assert sumfit(*arguments, stdin=texts[0].encode()) == expected
    assert sumfit("--max-chars", "200", stdin=broken.encode()).code == 0


@pytest.mark.parametrize(
    ("flags", "keywords"),
    [
        (["--max-words", "6"], {"max_words": 6}),
        (["--max-tokens", "6"], {"max_tokens": 6}),
        (["--max-bytes", "40"], {"max_bytes": 40}),
        (["--max-graphemes", "40"], {"max_graphemes": 40}),
        (["--max-cells", "40"], {"max_cells": 40}),
        (["--max-length", "40", "--unit", "utf16"], {"max_length": 40, "unit": "utf16"}),
        (["--exact-words", "5"], {"exact_words": 5}),
        (["--exact-chars", "31"], {"exact_chars": 31}),
        (["--min-chars", "44", "--max-chars", "50"], {"min_chars": 44, "max_chars": 50}),
        (["--ratio", "0.5"], {"ratio": 0.5}),
        (["--preset", "app-subtitle"], {"preset": "app-subtitle"}),
        (["--max-chars", "40", "--reserve", "12"], {"max_chars": 40, "reserve": 12}),
        (["--max-chars", "40", "--prefix", "x: "], {"max_chars": 40, "prefix": "x: "}),
        (["--max-chars", "40", "--suffix", " !"], {"max_chars": 40, "suffix": " !"}),
        (["--max-chars", "40", "--bonus", "2"], {"max_chars": 40, "bonus": 2.0}),
        (["--max-chars", "70", "--fill", "prefer"], {"max_chars": 70, "fill": "prefer"}),
        (["--max-chars", "40", "--method", "pathmap"], {"max_chars": 40, "method": "pathmap"}),
        (["--max-chars", "40", "--rerank", "mbr"], {"max_chars": 40, "rerank": "mbr"}),
        (["--max-chars", "40", "--rerank", "none"], {"max_chars": 40, "rerank": None}),
        (["--max-chars", "40", "--style", "news"], {"max_chars": 40, "style": "news"}),
        (["--max-chars", "40", "--ending", "any"], {"max_chars": 40, "ending": "any"}),
        (["--max-chars", "40", "--no-constraints"], {"max_chars": 40, "constraints": False}),
        (["--max-chars", "40", "--dangling-end"], {"max_chars": 40, "dangling_end": True}),
        (["--max-chars", "40", "--ban", "old"], {"max_chars": 40, "banned": ["old"]}),
        (["--max-chars", "40", "--require", "cracks"], {"max_chars": 40, "required": ["cracks"]}),
        (["--max-words", "6", "--profile", "gigaword"], {"max_words": 6, "profile": "gigaword"}),
        (["--max-chars", "500", "--no-keep-short"], {"max_chars": 500, "keep_short": False}),
        (
            ["--max-chars", "40", "--capitalization", "title"],
            {"max_chars": 40, "capitalization": "title"},
        ),
    ],
)
def test_every_flag_is_its_keyword(
    sumfit: Sumfit,
    fit: Summarizer,
    texts: tuple[str, ...],
    flags: list[str],
    keywords: dict[str, object],
) -> None:
    result = sumfit(texts[0], *flags)
    assert result.code == 0, result.err
    assert result.out == fit(texts[0], **keywords).text + "\n"


def test_several_limits(sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...]) -> None:
    result = sumfit(texts[0], "--max-chars", "20,40,60")
    expected = [one.text for one in fit(texts[0], max_chars=[20, 40, 60])]
    assert result.out.splitlines() == expected


def test_candidates(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    lines = sumfit(texts[0], "--max-chars", "40", "--n-best", "4").out.splitlines()
    assert len(lines) == len(set(lines)) == 4


def test_json(sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...]) -> None:
    result = sumfit(texts[0], "--max-chars", "40", "--format", "json", "--n-best", "2")
    record = json.loads(result.out)
    expected = fit(texts[0], max_chars=40, n_best=2)
    assert record["text"] == expected.text
    assert record["log_prob"] == expected.log_prob
    assert record["alternatives"][0]["text"] == expected.alternatives[0].text
    for name in ("chosen_by", "choice_score", "unfinished"):
        assert record[name] == getattr(expected, name)
    assert list(record)[:5] == ["text", "length", "unit", "limit", "min_length"]
    short = json.loads(sumfit("Short text.", "--max-chars", "40", "--format", "json").out)
    assert (short["origin"], short["log_prob"], short["gap"]) == ("source", None, None)


def test_notes_go_to_stderr(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    cut = sumfit(texts[0], "--max-chars", "24", "--on-infeasible", "cut", "--require", "zebra")
    assert cut.code == 0
    assert cut.out == "Engineers closed the…\n"
    assert cut.err == "note: no summary fits, so this is a cut of the source\n"
    long = sumfit(" ".join(texts), "--max-chars", "40")
    assert long.err == (
        "note: the model read the 5 most important sentences of 6 (--long lead reads from the "
        "beginning)\n"
    )
    lead = sumfit(" ".join(texts), "--max-chars", "40", "--long", "lead")
    assert lead.err == "note: the text is longer than the model reads; its end was not seen\n"
    page = sumfit(f"<p>{texts[0]}</p>", "--max-chars", "40")
    assert page.err == "note: cleaned of html (--no-clean leaves all in)\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["a text"],
            2,
            "error: no length limit was given; give --max-chars, --max-words or --preset, for "
            'example: sumfit "a text" --max-chars 60\n',
        ),
        (["--", "it's"], 2, "error: no length limit was given; give --max-chars, --max-words or"),
        (["x" * 61], 2, f'{NO_LIMIT}sumfit "A long text ..." --max-chars 60\n'),
        (["a\nb"], 2, f'{NO_LIMIT}sumfit "A long text ..." --max-chars 60\n'),
        (["a text", "--unit", "words"], 2, "error: no length limit was given; give one, for exam"),
        (
            ["a text", "--max-chars", "many"],
            2,
            "error: --max-chars must be a whole number (or several with commas between), "
            "was 'many'\n",
        ),
        (["a text", "--max-chars", "-1"], 2, "error: --max-chars must be 0 or more, was -1\n"),
        (
            ["a text", "--max-chars", "60", "--max-words", "8"],
            2,
            "error: --max-words 8 and --max-chars 60 are two length specifications; give one of "
            "them\n",
        ),
        (
            ["a text", "--max-length", "60", "--unit", "inches"],
            2,
            "error: unit 'inches' is not known; use one of words, tokens, chars, graphemes, "
            "bytes, cells, utf16, tweet, mastodon, sms, or a function\n",
        ),
        (["  ", "--max-chars", "60"], 1, "error: the text is empty: nothing in it but white"),
        (["a longer text", "--max-chars", "0"], 1, "error: no summary of this text measures at"),
        (["a text", "--ratio", "half"], 2, "error: --ratio must be a share such as 0.25 (or"),
        (["a text", "--max-chars", "9", "--format", "xml"], 2, "error: --format must be text or"),
        (
            ["a text", "--max-chars", "9", "--capitalization", "up"],
            2,
            "error: --capitalization must be one of 'sentence', 'title', 'source', was 'up'\n",
        ),
        (["a text", "--max-chars", "9", "--model", "/no"], 1, "error: there is no model direct"),
        (["a text", "--max-chars", "9", "--backend", "x"], 2, "error: --backend must be 'onnx'"),
        (["summarise", "x.txt"], 2, "error: there is no command 'summarise'; did you mean 'sum"),
    ],
)
def test_errors_are_one_line_on_stderr(
    sumfit: Sumfit, arguments: list[str], code: int, message: str
) -> None:
    result = sumfit(*arguments)
    assert result.code == code
    assert result.out == ""
    assert result.err.startswith(message)
    assert result.err.count("\n") == 1


def test_an_unknown_option_is_a_usage_error(sumfit: Sumfit) -> None:
    result = sumfit("a text", "--max-char", "60")
    assert result.code == 2
    assert result.err == "error: there is no option --max-char; did you mean --max-chars?\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["text", "--zzz"], "there is no option --zzz; see sumfit text --help"),
        (["inspect", "a b", "--words", "0"], "--words: .*; see sumfit inspect --help"),
        (["inspect", "a b", "--words", "two"], "--words: .*; see sumfit inspect --help"),
        (["text", "--max-chars"], "--max-chars needs a value; see sumfit text --help"),
        (["judge"], "OURS is missing; see sumfit judge --help"),
        (["text", "a", "b"], "got unexpected extra argument.* see sumfit text --help"),
    ],
)
def test_all_usage_errors_have_one_style(
    sumfit: Sumfit, arguments: list[str], message: str
) -> None:
    result = sumfit(*arguments)
    assert (result.code, result.out) == (2, "")
    assert re.match(f"error: {message}", result.err, re.IGNORECASE)
    assert result.err.count("\n") == 1


def test_nothing_at_all_is_answered_by_short_help(
    sumfit: Sumfit, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = sumfit()
    assert (alone.code, alone.err) == (0, "")
    for arguments in ([], ["text"], ["--n-best", "3"]):
        piped = sumfit(*arguments, stdin=b"\n")
        assert (piped.code, piped.out, piped.err) == (2, "", alone.out)
    assert 8 <= len(alone.out.splitlines()) <= 12
    assert max(map(len, alone.out.splitlines())) < 80
    assert "sumfit --help" in alone.out
    monkeypatch.setattr("sys.stdin", None)
    assert run([]) == 0


def test_every_example_of_the_short_help_runs(
    sumfit: Sumfit, texts: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    article = tmp_path / "article.txt"
    article.write_text(texts[0], encoding="utf-8")
    (tmp_path / "news.jsonl").write_text(json.dumps({"body": texts[0]}) + "\n", encoding="utf-8")
    examples = [line.strip() for line in sumfit().out.splitlines() if line.startswith("  sumfit")]
    assert len(examples) == 3
    for example in examples:
        line, _, name = example.partition(" < ")
        stdin = (tmp_path / name).read_bytes() if name else None
        done = sumfit(*shlex.split(line)[1:], stdin=stdin)
        assert (done.code, done.err) == (0, ""), example
        assert done.out.strip()


def test_a_text_without_a_limit_is_answered_by_a_line_that_works(
    sumfit: Sumfit, texts: tuple[str, ...]
) -> None:
    for text in ("hello", "serve", "It's $5", 'a "b" c', "-n 'a' b"):
        said = sumfit("--", text).err.removeprefix(NO_LIMIT)
        copied = sumfit(*shlex.split(said)[1:])
        assert (copied.code, copied.out) == (0, f"{text}\n"), text
    piped = sumfit(stdin=texts[0].encode())
    assert piped.err == f"{NO_LIMIT}sumfit --max-chars 60 < article.txt\n"


def test_candidates_of_several_limits_say_which(
    sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...]
) -> None:
    lines = sumfit(texts[0], "--max-chars", "30,45", "--n-best", "2").out.splitlines()
    found = [fit(texts[0], max_chars=limit, n_best=2) for limit in (30, 45)]
    expected = [(one.limit, other) for one in found for other in (one, *one.alternatives)]
    assert lines == [f"{limit}\t{one.text}" for limit, one in expected]


def test_a_limit_that_cannot_be_met_loses_no_other(
    sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...]
) -> None:
    good = fit(texts[0], max_chars=40).text
    result = sumfit(texts[0], "--max-chars", "0,40")
    assert (result.code, result.out) == (1, f"\n{good}\n")
    assert result.err == (
        "error: no summary of this text measures at most 0 chars; change the limit, loosen the "
        "constraints, or ask for --on-infeasible 'cut'\n"
    )
    result = sumfit(texts[0], "--max-chars", "40,-3", "--format", "json")
    first, second = (json.loads(line) for line in result.out.splitlines())
    assert (result.code, first["text"]) == (2, good)
    assert second["error"]["type"] == "BudgetError"
    assert result.err == "error: --max-chars must be 0 or more, was -3\n"
    zero = json.loads(
        sumfit(texts[0], "--max-chars", "0,40", "--format", "json").out.split("\n")[0]
    )
    assert (zero["limit"], zero["unit"]) == (0, "chars")
    assert sumfit(" ", "--max-chars", "20,40").err.count("the text is empty") == 1


def test_a_file_name_is_not_a_text(sumfit: Sumfit, tmp_path: Path) -> None:
    file = tmp_path / "article.txt"
    file.write_text("some text", encoding="utf-8")
    result = sumfit(str(file), "--max-chars", "60")
    assert result.code == 2
    assert result.err == (
        f"error: {file} is a file; to summarise it as one text run: sumfit [OPTIONS] < {file}; "
        f"to summarise each of its lines or records run: sumfit summarize {file} [OPTIONS]\n"
    )


def test_no_text_at_a_terminal(sumfit: Sumfit) -> None:
    result = sumfit("--max-chars", "60")
    assert (result.code, result.out) == (2, "")
    assert result.err == 'error: give a text, as in: sumfit "A long text ..." --max-chars 63\n'


def test_standard_input_that_is_not_utf8(sumfit: Sumfit) -> None:
    result = sumfit("--max-chars", "60", stdin=b"good line\nbad \xe9 line\n")
    assert result.code == 1
    assert result.err == (
        "error: standard input is not UTF-8 (line 2, byte 14: 0xe9); convert it to UTF-8\n"
    )


@pytest.mark.parametrize("command", [[], ["text"], ["inspect"]])
def test_an_argument_that_is_not_utf8(sumfit: Sumfit, command: list[str]) -> None:
    data = "The café closed on Tuesday.\nIt is no ".encode() + b"caf\xe9 any more."
    text = data.decode("utf-8", "surrogateescape")  # as Python hands arguments over
    result = sumfit(*command, text, "--max-chars", "20")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "error: the text is not UTF-8 (line 2, byte 41: 0xe9); convert it to UTF-8\n"
    )


@pytest.mark.parametrize("flag", ["--ban", "--require"])
def test_a_phrase_that_is_not_utf8(sumfit: Sumfit, flag: str) -> None:
    phrase = b"caf\xe9".decode("utf-8", "surrogateescape")
    result = sumfit("The café closed.", "--max-chars", "20", flag, phrase)
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        f"error: {flag} caf\\udce9 is not UTF-8 (line 1, byte 3: 0xe9); convert it to UTF-8\n"
    )


def test_halves_of_characters_are_no_bytes(sumfit: Sumfit) -> None:
    result = sumfit("The harbour \ud83d\udc80 wall fell on Tuesday \ud800.", "--max-chars", "40")
    assert result.code == 0
    assert 0 < len(result.out.strip()) <= 40


def test_a_traceback_only_on_request(sumfit: Sumfit, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("bell \x07 and \x1b[2J")

    monkeypatch.setattr("sumfit.cli.options.ModelFlags.load", broken)
    result = sumfit("a text", "--max-chars", "60")
    assert result.code == 1
    assert result.err == (
        "internal error: RuntimeError: bell \\x07 and \\x1b[2J\n"
        "run the same command with --debug for details, and please report them\n"
    )
    with pytest.raises(RuntimeError):
        sumfit("a text", "--max-chars", "60", "--debug")
    monkeypatch.setenv("SUMFIT_DEBUG", "1")
    with pytest.raises(RuntimeError):
        sumfit("a text", "--max-chars", "60")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            "torch.nn",
            "error: torch is not installed; run: pip install 'sumfit[train]' (in a clone ",
        ),
        ("tokenizers", "error: tokenizers is not installed; run: pip install 'sumfit[train]' ("),
        ("fastapi", "error: fastapi is not installed; run: pip install 'sumfit[serve]' (in a "),
        ("nothing", "internal error: ModuleNotFoundError: No module named 'nothing'\n"),
    ],
)
def test_a_missing_extra_is_named_wherever_it_is_missed(
    sumfit: Sumfit, monkeypatch: pytest.MonkeyPatch, module: str, message: str
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("sumfit.cli.options.ModelFlags.load", missing)
    result = sumfit("a text", "--max-chars", "60")
    assert result.code == 1
    assert result.err.startswith(message)


def test_an_interrupt_is_quiet(sumfit: Sumfit, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sumfit.cli.options.ModelFlags.load", interrupted)
    result = sumfit("a text", "--max-chars", "60")
    assert result.code == 130
    assert result.out == ""
    assert "Traceback" not in result.err


def test_version(sumfit: Sumfit) -> None:
    assert sumfit("--version") == (0, f"sumfit {__version__}\n", "")


def test_help_lists_every_command_and_examples(sumfit: Sumfit) -> None:
    from sumfit.cli.commands import COMMANDS

    for arguments in (["--help"], ["-h"]):
        result = sumfit(*arguments)
        assert result.code == 0
        for name in ("text", "summarize", "inspect"):
            assert re.search(rf"^\W+{name} ", result.out, re.MULTILINE)
        assert 'sumfit "A long text ..." --max-chars 63' in result.out
    assert all(command.summary.endswith(".") for command in COMMANDS.values())


@pytest.mark.parametrize("command", ["text", "summarize", "inspect", "presets", "units", "model"])
def test_every_command_has_help(sumfit: Sumfit, command: str) -> None:
    result = sumfit(command, "--help")
    assert result.code == 0
    assert f" Usage: sumfit {command} " in result.out


def test_presets_units_and_model(sumfit: Sumfit) -> None:
    presets = sumfit("presets").out
    assert any(line.split()[:3] == ["seo-title", "60", "chars"] for line in presets.splitlines())
    assert json.loads(sumfit("presets", "--json").out)["push"]["limit"] == 178
    assert "graphemes  user-perceived characters, UAX #29" in sumfit("units").out
    assert "cells" in json.loads(sumfit("units", "--json").out)
    facts = sumfit("model").out
    assert "model      tiny-copy (onnx-fp32)" in facts
    assert '  method               "seqmap"' in facts
    assert json.loads(sumfit("model", "--json").out)["name"] == "tiny-copy"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sumfit summ", {"summarize"}),
        ("sumfit summarize --limit", {"--limit-field"}),
        ("sumfit some-text --max-c", {"--max-chars", "--max-cells"}),
        ("sumfit some-text --style s", {"subject", "synopsis"}),
        ("sumfit some-text --preset git", {"git-subject", "git-subject-hard"}),
        ("sumfit summarize f --unit gra", {"graphemes"}),
        ("sumfit --pre", {"--preset", "--prefix", "--precision"}),
        ("sumfit --preset git", {"git-subject", "git-subject-hard"}),
        ("sumfit --max-chars 60 --style s", {"subject", "synopsis"}),
        ("sumfit --ver", {"--version"}),
        ("sumfit --install-c", {"--install-completion"}),
        ("sumfit in", {"inspect"}),
    ],
)
def test_shell_completion(line: str, expected: set[str]) -> None:
    environment = {
        **os.environ,
        "_SUMFIT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from sumfit.cli import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert set(done.stdout.split()) == expected


def test_a_file_without_permission_is_no_internal_error(
    sumfit: Sumfit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "notes.txt")

    monkeypatch.setattr("sumfit.cli.options.ModelFlags.load", fail)
    result = sumfit("a text", "--max-chars", "60")
    assert result == (
        1,
        "",
        "error: reading or writing failed: Permission denied: notes.txt; get the permission, or "
        "give another path\n",
    )


def test_an_interrupt_while_loading_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(argv: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sumfit.cli.app.main", interrupt)
    with pytest.raises(SystemExit) as leave:
        main([])
    assert leave.value.code == 130
