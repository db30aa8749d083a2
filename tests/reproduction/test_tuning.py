"""The choice of a bonus, the runs behind it, and the command that stores it."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sumfit.cli.tune import tune as tune_command
from sumfit.errors import ConfigError, DataFormatError, InputError, ModelFormatError
from sumfit.evaluation.rouge import rouge
from sumfit.evaluation.tuning import BonusPoint, choose_bonus, measure_bonus
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, find_set
from sumfit.reproduction.tuning import store

APP = typer.Typer()
APP.command()(tune_command)


def point(bonus: float, *, mean: float, fill: float, complete: float = 0.9) -> BonusPoint:
    spread = (10.0, -10.0, 5.0, -5.0)
    return BonusPoint(bonus, mean, fill, complete, tuple(mean + value for value in spread))


def test_equal_quality_gives_the_slot_that_is_used_most() -> None:
    points = [point(0.0, mean=50, fill=0.5), point(1.0, mean=50, fill=0.8)]
    assert choose_bonus(points).bonus == 1.0


def test_quality_is_not_given_away_for_fill() -> None:
    points = [point(0.0, mean=50, fill=0.5), point(1.0, mean=49.9, fill=0.8)]
    assert choose_bonus(points).bonus == 0.0


def test_a_loss_within_one_standard_error_is_noise() -> None:
    quiet = point(0.0, mean=50, fill=0.5)
    noisy = BonusPoint(1.0, 49.5, 0.8, 0.9, (64.0, 35.0, 55.0, 44.0))
    assert choose_bonus([quiet, noisy]).bonus == 1.0


def test_complete_endings_are_not_given_away() -> None:
    points = [point(0.0, mean=50, fill=0.5), point(1.0, mean=50, fill=0.8, complete=0.8)]
    assert choose_bonus(points).bonus == 0.0
    assert choose_bonus(points, complete_loss=0.2).bonus == 1.0


def test_equal_points_give_the_smaller_bonus() -> None:
    points = [point(1.0, mean=50, fill=0.5), point(0.5, mean=50, fill=0.5)]
    assert choose_bonus(points).bonus == 0.5


def test_points_must_cover_the_same_items() -> None:
    with pytest.raises(InputError, match="no bonus to choose from"):
        choose_bonus([])
    with pytest.raises(InputError, match="different numbers of items"):
        choose_bonus([point(0.0, mean=1, fill=1), BonusPoint(1.0, 1, 1, 1, (1.0,))])


def test_a_bonus_is_scored_by_the_modules() -> None:
    summaries, references = ["storm cuts power", "rates"], ["storm cuts the power", "rates rise"]
    measured = measure_bonus(0.5, summaries, references, limits=[20, 5], unit="chars")
    assert measured.rsum == pytest.approx(rouge(summaries, references).scores["R-Sum"].value)
    assert measured.fill == pytest.approx((16 / 20 + 1) / 2)


def write_set(directory: Path, texts: tuple[str, ...]) -> Path:
    path = directory / "news" / "valid.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [{"source": text, "summary": " ".join(text.split()[:5])} for text in texts]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_set_is_found_and_thinned_evenly(tmp_path: Path, texts: tuple[str, ...]) -> None:
    path = write_set(tmp_path, texts)
    assert find_set(tmp_path, "news/valid") == path
    whole, thin = EvaluationSet.read(path), EvaluationSet.read(path, name="n", first=3)
    assert len(whole) == 6
    assert thin.sources == (texts[0], texts[2], texts[4])
    assert (whole.name, thin.name) == ("valid", "n")


def test_unusable_sets_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no news/test below .*; tried \.jsonl\.xz"):
        find_set(tmp_path, "news/test")
    path = tmp_path / "a.jsonl"
    path.write_text("", encoding="utf-8")
    with pytest.raises(DataFormatError, match=r"a\.jsonl has no pairs"):
        EvaluationSet.read(path)
    path.write_text('{"source": "a", "summary": " "}\n', encoding="utf-8")
    with pytest.raises(DataFormatError, match=r"a\.jsonl:1: an empty reference"):
        EvaluationSet.read(path)


def test_two_processes_give_what_one_gives(tiny_model: Path, texts: tuple[str, ...]) -> None:
    many = list(texts) * 6
    limits = [20 + i % 7 for i in range(len(many))]
    with ModelRunner(tiny_model, n_processes=1) as one:
        alone = one.run(many, per_item={"max_chars": limits}, n_best=3)
    with ModelRunner(tiny_model, n_processes=2) as two:
        together = two.run(many, per_item={"max_chars": limits}, n_best=3)
    assert [(i.text, i.limit, i.candidates) for i in alone] == [
        (i.text, i.limit, i.candidates) for i in together
    ]
    assert [item.limit for item in alone] == limits
    assert all(1 <= len(item.candidates) <= 3 for item in alone)


def test_a_text_that_fails_is_an_item_with_its_reason(tiny_model: Path) -> None:
    with ModelRunner(tiny_model, n_processes=1) as runner:
        (item,) = runner.run(["  "], max_words=3)
    assert item.text == ""
    assert item.error
    assert item.candidates == ()
    with pytest.raises(ConfigError, match="n_processes must be at least 1, was 0"):
        ModelRunner(tiny_model, n_processes=0)


@pytest.fixture
def model(tiny_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model, tmp_path / "model"))


def test_the_command_stores_what_it_chose(
    model: Path, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    write_set(tmp_path, texts)
    before = json.loads((model / "config.json").read_text(encoding="utf-8"))
    arguments = [str(model), "--data", str(tmp_path), "--set", "news/valid", "--processes", "1"]
    arguments += ["--bonuses", "0,1", "--format", "json"]
    dry = CliRunner().invoke(APP, [*arguments, "--dry-run"])
    assert dry.exit_code == 0, dry.output
    assert json.loads((model / "config.json").read_text(encoding="utf-8")) == before
    result = CliRunner().invoke(APP, arguments)
    assert result.exit_code == 0, result.output
    tables = json.loads(result.stdout)
    titles = [" ".join(table["title"].split()[:2]) for table in tables]
    assert titles == ["Bonus per"] * 3 + ["MBR under"]
    after = json.loads((model / "config.json").read_text(encoding="utf-8"))
    for table, unit in zip(tables, ("chars", "words", "tokens"), strict=False):
        (chosen,) = [row["bonus"] for row in table["rows"] if row[""] == "chosen"]
        assert after["unit_bonus"][unit] == chosen
        assert all(0 < row["fill, %"] <= 100 for row in table["rows"])
    per_unit = after["unit_bonus"]
    assert per_unit["tweet"] == per_unit["bytes"] == per_unit["chars"]
    (weight,) = [row["weight"] for row in tables[3]["rows"] if row[""] == "chosen"]
    assert after["mbr_weight"] == weight
    assert max(row["R-Sum"] for row in tables[3]["rows"]) == next(
        row["R-Sum"] for row in tables[3]["rows"] if row[""] == "chosen"
    )
    tuned = {"unit_bonus", "mbr_weight"}
    assert {k: v for k, v in after.items() if k not in tuned} == {
        k: v for k, v in before.items() if k not in tuned
    }


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("units", "mbr", "n_runs"),
    [("chars,words,tokens", True, 3 + 2 + 2 + 7), ("words", False, 2)],
)
def test_progress_counts_every_summary_and_says_how_long(
    model: Path,
    tmp_path: Path,
    texts: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    units: str,
    mbr: bool,
    n_runs: int,
) -> None:
    """Runs: the limits of each unit, the weights of MBR, the n-best lists."""
    write_set(tmp_path, texts)
    monkeypatch.setattr("sumfit.jobs.progress._EVERY_S", {True: 0.0, False: 0.0})
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    tune_command(
        model, tmp_path, ["news/valid"], units=units, bonuses="1", mbr=mbr, processes=1,
        dry_run=True,
    )  # fmt: skip
    lines = shown.getvalue().split("\r\x1b[K")[1:]
    assert len(lines) == n_runs + 1
    first = rf"6 of {n_runs * 6} summaries \(\d+%\), [\d.]+/s, [\d.]+ (s|min|h) left"
    assert re.fullmatch(first, lines[0])
    assert re.match(rf"{n_runs * 6} of {n_runs * 6} summaries \(100%\), .*, 0 s left\n$", lines[-1])


def test_there_is_no_progress_where_stderr_is_no_terminal(
    model: Path, tmp_path: Path, texts: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    write_set(tmp_path, texts)
    tune_command(
        model, tmp_path, ["news/valid"], units="words", bonuses="1", mbr=False, processes=1,
        dry_run=True,
    )  # fmt: skip
    out, err = capsys.readouterr()
    assert "Bonus per unit for limits in words" in out
    assert err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bonuses", "a"], "bonuses must be numbers with commas between, was 'a'"),
        (["--bonuses", "-1"], "bonuses must be at least 0 and below 100"),
        (["--units", "pages"], "units must be among words, chars, tokens, was 'pages'"),
    ],
)
def test_bad_options_are_named(
    model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = CliRunner().invoke(
        APP, [str(model), "--data", str(tmp_path), "--set", "news/valid", *arguments]
    )
    assert isinstance(result.exception, ConfigError)
    assert message in str(result.exception)


def test_a_model_without_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"cannot read .*config\.json"):
        store(tmp_path, {"chars": 1.0})


def test_the_embedded_model_is_not_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="copy it with sumfit export default -o DIR"):
        tune_command(Path("default"), tmp_path, ["none"])
