"""The evaluation of a system, and its command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sumfit.cli.evaluate import evaluate as evaluate_command
from sumfit.errors import ConfigError, DataFormatError, InputError
from sumfit.evaluation.files import ReferenceItem, SummaryItem
from sumfit.evaluation.report import EvaluationOptions, evaluate, evaluation_tables
from sumfit.evaluation.rouge import rouge

APP = typer.Typer()
APP.command()(evaluate_command)

SUMMARIES = ["storm cuts power", "rates rise to", ""]
REFERENCES = ["storm cuts the power", "central bank raises rates", "nothing new"]
SOURCES = ["A storm cut the power.", "The bank raised rates.", "There was nothing new."]


def items(*, limit: int | None = None, unit: str | None = None) -> list[SummaryItem]:
    return [SummaryItem(text, f"out:{i}", limit, unit) for i, text in enumerate(SUMMARIES, 1)]


def gold() -> list[ReferenceItem]:
    rows = zip(REFERENCES, SOURCES, strict=True)
    return [ReferenceItem((text,), f"ref:{i}", source) for i, (text, source) in enumerate(rows, 1)]


def test_scores_are_those_of_the_modules() -> None:
    result = evaluate(items(), gold())
    assert result.rouge.scores == rouge(SUMMARIES, REFERENCES).scores
    assert result.fidelity.n_empty == 1
    assert result.fidelity.complete == pytest.approx(1 / 3)


def measured(limit: int, unit: str, options: EvaluationOptions | None = None) -> dict[str, float]:
    return dict(evaluate(items(limit=limit, unit=unit), gold(), options).fidelity)


def test_limits_come_from_the_records_or_the_options() -> None:
    assert measured(3, "words")["violations"] == 0
    assert measured(12, "chars")["violations"] == pytest.approx(2 / 3)
    asked = EvaluationOptions(unit="chars", limit=14)
    assert measured(3, "words", asked)["violations"] == pytest.approx(1 / 3)
    assert "violations" not in measured(3, "words", EvaluationOptions(unit="chars"))


def test_novelty_needs_sources() -> None:
    options = EvaluationOptions(with_novelty=True)
    assert evaluate(items(), gold(), options).novelty is not None
    bare = [ReferenceItem(item.texts, item.place) for item in gold()]
    with pytest.raises(InputError, match="novelty needs the source of every item"):
        evaluate(items(), bare, options)


def test_tables_show_scores_counts_and_signature() -> None:
    overlap, faith = evaluation_tables("mine", evaluate(items(), gold()))
    assert [row[0] for row in overlap.rows] == ["R-1", "R-2", "R-L", "R-Sum"]
    assert overlap.columns[2:] == ("low, 95 %", "high, 95 %")
    assert overlap.notes[0].startswith("signature: metric:rouge-f1|scorer:rouge-score-")
    assert overlap.notes[1] == "1 of 3 summaries have no word and score 0"
    assert ("complete endings, %", pytest.approx(100 / 3)) in faith.rows


def files(tmp_path: Path) -> tuple[str, str]:
    out, ref = tmp_path / "out.txt", tmp_path / "ref.jsonl"
    out.write_text("\n".join(SUMMARIES) + "\n", encoding="utf-8")
    records = [
        {"source": source, "summary": text}
        for source, text in zip(SOURCES, REFERENCES, strict=True)
    ]
    ref.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(out), str(ref)


def test_the_command_prints_tables_on_stdout(tmp_path: Path) -> None:
    out, ref = files(tmp_path)
    result = CliRunner().invoke(APP, [out, "--references", ref, "--format", "json"])
    assert result.exit_code == 0, result.output
    tables = json.loads(result.stdout)
    expected = rouge(SUMMARIES, REFERENCES).scores["R-1"].value
    assert tables[0]["rows"][0]["score"] == pytest.approx(expected, abs=1e-3)


def test_the_command_compares_with_another_system(tmp_path: Path) -> None:
    out, ref = files(tmp_path)
    other = tmp_path / "other.txt"
    other.write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    result = CliRunner().invoke(APP, [out, "-r", ref, "--against", str(other), "--samples", "200"])
    assert result.exit_code == 0, result.output
    assert "out.txt against other.txt, paired bootstrap" in result.stdout
    assert "boot:200-0.95-12345" in result.stdout


def test_the_command_reads_standard_input(tmp_path: Path) -> None:
    _, ref = files(tmp_path)
    result = CliRunner().invoke(APP, ["-", "-r", ref], input="\n".join(SUMMARIES) + "\n")
    assert result.exit_code == 0, result.output
    assert "Overlap: stdin" in result.stdout


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--duc"], "metric:rouge-recall"),
        (["--duc"], "cut:75-bytes"),
        (["--duc"], "refs:1-mean"),
        (["--duc", "--multi", "jackknife"], "refs:1-jackknife"),
        (["--no-stem"], "stem:no"),
        (["--tokenizer", "unicode"], "tok:unicode"),
        (["--rouge-l", "summary"], "L:summary"),
        (["--multi", "mean"], "refs:1-mean"),
        (["--max-bytes", "50"], "cut:50-bytes"),
        (["--measure", "precision"], "metric:rouge-precision"),
        (["--budget-rule", "8 words"], "budget:8 words"),
        (["--seed", "7"], "boot:1000-0.95-7"),
        (["--limit", "3"], "limit broken, %"),
        (["--novelty"], "words not in the source, %"),
        (["--format", "markdown"], "| R-Sum |"),
    ],
)
def test_every_option_changes_the_output(tmp_path: Path, options: list[str], part: str) -> None:
    out, ref = files(tmp_path)
    plain = CliRunner().invoke(APP, [out, "-r", ref])
    result = CliRunner().invoke(APP, [out, "-r", ref, *options])
    assert result.exit_code == 0, result.output
    assert part in result.stdout
    assert part not in plain.stdout


def test_a_lexicon_adds_the_rate_of_unknown_words(tmp_path: Path) -> None:
    out, ref = files(tmp_path)
    words = tmp_path / "words.txt"
    words.write_text("storm\ncuts\n", encoding="utf-8")
    result = CliRunner().invoke(APP, [out, "-r", ref, "--lexicon", str(words)])
    assert "a word in neither source nor lexicon, %" in result.stdout


def test_scores_of_each_item_go_to_a_file(tmp_path: Path) -> None:
    out, ref = files(tmp_path)
    scores = tmp_path / "items.jsonl"
    result = CliRunner().invoke(APP, [out, "-r", ref, "--items", str(scores)])
    assert result.exit_code == 0, result.output
    records = [json.loads(line) for line in scores.read_text(encoding="utf-8").splitlines()]
    assert [record["summary"] for record in records] == SUMMARIES
    expected = rouge(SUMMARIES, REFERENCES).items[:, 0]
    assert [record["R-1"] for record in records] == pytest.approx(expected, abs=1e-3)
    assert records[0]["references"] == [REFERENCES[0]]


def test_a_file_of_any_name_is_read_in_the_format_given(tmp_path: Path) -> None:
    out, ref = files(tmp_path)
    bare = Path(out).rename(tmp_path / "system-output")
    unknown = CliRunner().invoke(APP, [str(bare), "-r", ref])
    assert isinstance(unknown.exception, ConfigError)
    result = CliRunner().invoke(APP, [str(bare), "-r", ref, "--input-format", "lines"])
    assert result.exit_code == 0, result.output
    assert "Overlap: system-output" in result.stdout


def test_counts_that_differ_end_the_command(tmp_path: Path) -> None:
    out, ref = files(tmp_path)
    Path(out).write_text("one\n", encoding="utf-8")
    result = CliRunner().invoke(APP, [out, "-r", ref])
    assert isinstance(result.exception, DataFormatError)
    message = str(result.exception)
    assert message.startswith("there are 1 summaries in out.txt but 3 references; the first")
    assert message.endswith("ref.jsonl:2")
