"""The paper's tables from a tiny model: every row accounted for, files filled in, errors named."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sumfit.cli.reproduce import reproduce as reproduce_command
from sumfit.errors import ConfigError, InfeasibleBudgetError, InputError, ModelNotFoundError
from sumfit.hypothesis import Summary
from sumfit.models.config import DATConfig
from sumfit.reproduction import paper
from sumfit.reproduction.baselines import CTC_SUM, ROWS, load_baselines, run_baseline
from sumfit.reproduction.paper_data import read_test_set
from sumfit.reproduction.rows import Reproduction, Row
from sumfit.reproduction.runs import ModelRunner
from sumfit.reproduction.tables import MAKERS, planned
from sumfit.runtime import ModelConfig
from tests.tiny_baseline import write_model

NO_VERDICT = SimpleNamespace(rate=lambda outcome: 0.0)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


APP = typer.Typer()
APP.command()(reproduce_command)


@pytest.fixture
def data(tmp_path: Path, texts: tuple[str, ...]) -> Path:
    path = tmp_path / "giga"
    path.mkdir()
    lines = [text.lower().replace(".", " .") for text in texts]
    (path / "input.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    heads = [" ".join(line.split()[1:6]) for line in lines]
    (path / "task1_ref0.txt").write_text("\n".join(heads) + "\n", encoding="utf-8")
    return path


def invoke(model: Path, *arguments: str) -> Any:
    return CliRunner().invoke(
        APP, [*arguments, "--model", str(model), "--processes", "1", "--format", "json"]
    )


def tables(result: Any) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def test_the_list_names_all_eight() -> None:
    result = CliRunner().invoke(APP, ["--list"])
    assert result.exit_code == 0
    assert re.findall(r"^table\d", result.stdout, re.MULTILINE) == list(MAKERS)
    assert list(MAKERS) == list(paper.TABLES)


def test_the_papers_sums_add_up() -> None:
    """A misprint of ours in any row would break the sum that the paper prints with it."""
    rows = [row for part in paper.GIGAWORD.values() for row in part.values()]
    rows += [*paper.DUC.values()]
    rows += [row for part in paper.ABLATIONS.values() for row in part.values()]
    assert len(rows) == 52
    for row in rows:
        assert sum(row.rouge[:3]) == pytest.approx(row.rouge[3], abs=0.015)


def test_table_1_has_every_row_or_says_why_not(tiny_model: Path, data: Path) -> None:
    made = tables(invoke(tiny_model, "table1", "--data", str(data)))
    assert [table["title"] for table in made] == [f"Table 1, {r} %" for r in (20, 25, 30)]
    for table, rows in zip(made, paper.GIGAWORD.values(), strict=True):
        shown = {row["model"]: row for row in table["rows"]}
        left_out = table["notes"][-1]
        assert all(name in shown or name in left_out for name in rows)
        assert shown[paper.PATHMAP]["paper R-Sum"] == rows[paper.PATHMAP].rouge[3]
        assert shown[paper.PATHMAP]["paper length"] == rows[paper.PATHMAP].length
        assert all(row["broken %"] == 0 and row["% truncate"] == 0 for row in shown.values())
        assert "budget:exactly floor(" in table["notes"][0]


def test_r_sum_is_told_without_sources_that_lack_words(tiny_model: Path, data: Path) -> None:
    whole = tables(invoke(tiny_model, "table1", "--data", str(data)))
    assert not any("UNK" in note for table in whole for note in table["notes"])
    source = data / "input.txt"
    first, *others = source.read_text(encoding="utf-8").splitlines()
    source.write_text("\n".join([f"UNK {first}", *others]) + "\n", encoding="utf-8")
    for table in tables(invoke(tiny_model, "table1", "--data", str(data))):
        (note,) = (one for one in table["notes"] if "UNK" in one)
        assert note.startswith(f"1 of {1 + len(others)} sources have UNK or <unk>")
        assert all(f"{row['model']} " in note for row in table["rows"])


def test_rows_are_filled_from_files_and_cut_where_too_long(
    tiny_model: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "at.txt"
    out.write_text("\n".join(["one two three four five six seven eight"] * 6) + "\n")
    system = f"{paper.AT}@25={out}"
    made = tables(invoke(tiny_model, "table1", "--data", str(data), "--system", system))
    cut = [row for row in made[1]["rows"] if row["model"] == paper.AT]
    assert cut[0]["% truncate"] == 100
    assert cut[0]["paper % truncate"] == 33.52
    assert cut[0]["broken %"] == 0
    assert not [row for row in made[0]["rows"] if row["model"] == paper.AT]


def test_rows_are_filled_from_trained_baselines(
    tiny_model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sumfit.reproduction.tables._TIMED", 2)
    systems = ("at", "at-leninfo", "bert-crf", "ctc")
    folders = [write_model(tmp_path / name, name) for name in systems]
    arguments = ["--data", str(data), "--first", "2", "--device", "cpu"]
    arguments += ["--baseline", str(folders[0])]
    for name, folder in zip(systems[1:], folders[1:], strict=True):
        arguments += ["--baseline", f"{name}={folder}"]
    made = tables(invoke(tiny_model, "table1", *arguments))
    for table in made:
        rows = {row["model"]: row for row in table["rows"]}
        for name in ROWS:
            assert rows[name]["broken %"] == 0
            assert 0 <= rows[name]["% truncate"] <= 100
        assert rows[paper.CTC]["% truncate"] == rows[CTC_SUM]["% truncate"] == 0
        assert rows[paper.AT]["paper R-Sum"] > 70
        assert rows[CTC_SUM]["paper R-Sum"] is None
        soft = f"{paper.AT}; {paper.LENINFO}; {paper.CRF}: no length control"
        assert soft in " ".join(table["notes"])
        assert not [name for name in ROWS if name in table["notes"][-1]]
    (speed,) = tables(invoke(tiny_model, "table6", *arguments))
    backends = {row["model"]: row["backend"] for row in speed["rows"]}
    assert {backends[name] for name in ROWS} == {"torch-cpu-fp32"}
    assert backends[paper.PATHMAP] == "onnx-fp32"
    (novelty,) = tables(invoke(tiny_model, "table5", *arguments))
    assert set(ROWS) <= {row["model"] for row in novelty["rows"]}


def test_a_search_that_has_no_output_of_the_length_takes_a_shorter_one_and_counts_it() -> None:
    class Hard:
        config = ModelConfig("m", DATConfig(), "", 64, profiles=("natural", "gigaword"))

        def __call__(self, texts: list[str], **keywords: Any) -> list[Summary]:
            assert keywords["profile"] == "gigaword"
            assert keywords["method"] == "alignment"
            is_exact = "exact_words" in keywords
            limits = keywords["exact_words" if is_exact else "max_words"]
            error = InfeasibleBudgetError("no")
            return [
                Summary("", 0, "words", n, error=error)
                if text == "never" or (is_exact and text == "short")
                else Summary(text, 1, "words", n)
                for text, n in zip(texts, limits, strict=True)
            ]

    sources = ["good", "short", "never", "fine"]
    items = run_baseline(Hard(), ROWS[paper.CTC], sources, [1, 2, 3, 1])  # type: ignore[arg-type]
    assert [item.text for item in items] == ["good", "short", "", "fine"]
    row = Row.of(items)
    assert (row.n_shorter, row.truncated) == (1, [False] * 4)


def test_wrong_baselines_are_named(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "at", "at")
    assert load_baselines([]) == {}
    with pytest.raises(ConfigError, match=r"NAME among at, at-leninfo, ctc, bert-crf, was 'rnn=x'"):
        load_baselines(["rnn=x"])
    with pytest.raises(ConfigError, match="that model is of the system 'at'"):
        load_baselines([f"ctc={folder}"], device="cpu")
    with pytest.raises(ConfigError, match="two --baseline models are of the system 'at'"):
        load_baselines([str(folder), f"at={folder}"], device="cpu")
    with pytest.raises(ModelNotFoundError, match=r"config\.json is not there"):
        load_baselines([str(tmp_path / "none")])


@pytest.mark.parametrize(("name", "letter"), [("table7", "K"), ("table8", "V")])
def test_the_ablations_vary_one_setting(
    tiny_model: Path, data: Path, name: str, letter: str
) -> None:
    (table,) = tables(invoke(tiny_model, name, "--data", str(data)))
    own = [row["model"] for row in table["rows"] if f", {letter}=" in row["model"]]
    assert own == [row for row in paper.ABLATIONS[name] if row.startswith(paper.NO_RERANKER)]
    assert all(f"{paper.SEQMAP}, {letter}=" in part for part in table["notes"][-1].split("; ")[:2])


def test_table_5_measures_the_references_too(tiny_model: Path, data: Path) -> None:
    (table,) = tables(invoke(tiny_model, "table5", "--data", str(data)))
    rows = {row["model"]: row for row in table["rows"]}
    assert rows["Human Reference"]["novelty %"] == 0
    assert rows["Human Reference"]["reordering %"] == 0
    assert rows[paper.PATHMAP]["paper novelty"] == 21.80


def test_table_2_takes_recall_at_75_bytes(tiny_model: Path, data: Path) -> None:
    (table,) = tables(invoke(tiny_model, "table2", "--data", str(data)))
    assert "metric:rouge-recall" in table["notes"][0]
    assert "cut:75-bytes" in table["notes"][0]
    assert "refs:1-mean" in table["notes"][0]
    assert not [column for column in table["rows"][0] if "jackknife" in column]


def test_table_2_averages_over_references_and_names_the_rest(
    tiny_model: Path, data: Path, tmp_path: Path
) -> None:
    """Four references of made-up news: one is the summary, one half of it, two something else."""
    sources = (data / "input.txt").read_text(encoding="utf-8").splitlines()
    gold = ["storm cuts power", "storm cuts", "rates rise again", "river falls"]
    for place, line in enumerate(gold):
        (data / f"task1_ref{place}.txt").write_text(f"{line}\n" * len(sources), encoding="utf-8")
    out = tmp_path / "at.txt"
    out.write_text("storm cuts power\n" * len(sources), encoding="utf-8")
    system = f"{paper.AT}={out}"
    (table,) = tables(invoke(tiny_model, "table2", "--data", str(data), "--system", system))
    (row,) = [row for row in table["rows"] if row["model"] == paper.AT]
    assert [row[name] for name in ("R-1", "R-2", "R-L")] == [50.0, 50.0, 50.0]
    assert row["R-Sum"] == 150.0
    assert row["R-Sum, jackknife"] == row["R-Sum, best reference"] == 300.0
    assert row["paper R-Sum"] == paper.DUC[paper.AT].rouge[3]
    # Behind the paper's figures, and named there.
    assert list(row)[-2:] == ["R-Sum, jackknife", "R-Sum, best reference"]
    assert "refs:4-mean" in table["notes"][0]
    assert "not comparable with the paper's figures" in table["notes"][1]


def test_table_4_asks_the_judge(
    tiny_model: Path, data: Path, tmp_path: Path, chat_server: Any
) -> None:
    arguments = ("table4", "--data", str(data), "--endpoint", chat_server.url)
    cache = ("--judge-model", "m", "--cache", str(tmp_path / "answers.jsonl"))
    (table,) = tables(invoke(tiny_model, *arguments, *cache))
    (row,) = table["rows"]
    assert row["pair"] == f"{paper.NO_RERANKER} vs. {paper.PATHMAP}"
    assert row["tie, %"] == 100
    assert (row["paper win"], row["paper loss"]) == (43.77, 32.04)
    assert 0 < chat_server.n_requests <= 24


def test_all_makes_what_can_be_made(tiny_model: Path, data: Path, tmp_path: Path) -> None:
    plots = tmp_path / "plots"
    arguments = ("--data", str(data), "--first", "2", "--plots", str(plots))
    made = tables(invoke(tiny_model, "all", *arguments))
    for name in ("quality-by-length.svg", "speed-by-quality.svg"):
        assert f">{paper.PATHMAP}<" in (plots / name).read_text(encoding="utf-8")
    numbers = sorted({title.split()[1].strip(",") for title in (t["title"] for t in made)})
    assert numbers == ["1", "5", "6", "7", "8", "9"]
    assert "n:2|" in made[0]["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["table3", "--data", "x"], ConfigError, "the table must be one of table1, table2, .*all"),
        (["table1"], ConfigError, "give the test set with --data"),
        (["table4", "--data", "DATA"], ConfigError, "table4 asks a language model"),
        (["table1", "--data", "DATA", "--system", "x"], ConfigError, "must be NAME=FILE or"),
        (["table1", "--data", "DATA", "--system", "x=no"], ConfigError, "there is no file no"),
    ],
)
def test_bad_arguments_are_named(
    tiny_model: Path, data: Path, arguments: list[str], error: type[Exception], message: str
) -> None:
    given = [str(data) if argument == "DATA" else argument for argument in arguments]
    result = invoke(tiny_model, *given)
    assert isinstance(result.exception, error)
    assert re.search(message, str(result.exception))


def test_a_file_of_another_length_is_named(tiny_model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "at.txt"
    out.write_text("one\n")
    system = f"{paper.CTC}={out}"
    result = invoke(tiny_model, "table5", "--data", str(data), "--system", system)
    assert isinstance(result.exception, InputError)
    assert "at.txt has 1 summaries but the test set has 6 items" in str(result.exception)


def test_table_9_has_a_row_for_every_reranker_given(
    tiny_model: Path, data: Path, tmp_path: Path
) -> None:
    from sumfit.training.reranking.files import export_reranker
    from tests.tiny_reranker import write_checkpoint

    folder = write_checkpoint(tiny_model, tmp_path / "c", head="rank", n_features=0)[0]
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"profiles": []}))
    place = export_reranker(folder, tmp_path / "r", precisions=["fp32"])
    arguments = [f"--reranker={place}", f"--reranker=no rank embedding={place}"]
    arguments += [f"--reranker=with features={place}", f"--reranker=ours={place}"]
    (table,) = tables(invoke(tiny_model, "table9", "--data", str(data), *arguments))
    shown = [row["model"] for row in table["rows"]]
    assert shown == [paper.NO_RERANKER, "all parts", "no rank embedding", "with features"]
    assert "no label smoothing; no pretraining" in table["notes"][-1]
    first = tables(invoke(tiny_model, "table1", "--data", str(data), *arguments))[0]
    shown = [row["model"] for row in first["rows"]]
    assert paper.SEQMAP in shown
    assert "exact SeqMAP, constrained, reranked (ours)" in shown
    wrong = invoke(tiny_model, "table9", "--data", str(data), "--reranker", "ours=nowhere")
    assert isinstance(wrong.exception, ConfigError)
    assert "--reranker ours: there is no directory nowhere" in str(wrong.exception)


def test_the_work_is_counted_before_it_is_done(
    tiny_model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sumfit.reproduction.tables._TIMED", 2)
    monkeypatch.setattr("sumfit.reproduction.tables.judge", lambda pairs, endpoint: NO_VERDICT)
    out = tmp_path / "at.txt"
    out.write_text("\n".join(["one two three"] * 6) + "\n")
    baselines = load_baselines([str(write_model(tmp_path / "ctc", "ctc"))], device="cpu")
    counted: list[int] = []
    part = read_test_set(data)
    with ModelRunner(tiny_model, n_processes=1, on_progress=counted.append) as runner:
        for name in MAKERS:
            counted.clear()
            made = Reproduction(
                runner=runner,
                part=part,
                files={paper.AT: out},
                baselines=baselines,
                endpoint=SimpleNamespace(model="judge"),  # type: ignore[arg-type]
                on_progress=counted.append,
            )
            runs = planned(name, made)
            assert not counted
            MAKERS[name](made)
            assert runs == set(made._done), name
            assert sum(counted) == len(runs) * len(part), name
            assert bool(runs) == (name != "table6")


def test_progress_is_shown_on_a_terminal(
    tiny_model: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr("sumfit.jobs.progress._EVERY_S", {True: 0.0, False: 0.0})
    monkeypatch.setattr("sumfit.jobs.progress.Progress._write", lambda _, line: lines.append(line))
    assert invoke(tiny_model, "table1", "--data", str(data)).exit_code == 0
    assert not lines  # standard error is no terminal here
    monkeypatch.setattr("sumfit.cli.reproduce.sys", SimpleNamespace(stderr=Terminal()))
    assert invoke(tiny_model, "table1", "--data", str(data)).exit_code == 0
    total = re.fullmatch(r"6 of (\d+) summaries \(\d+%\), [\d.]+/s, .* left", lines[0])
    assert total is not None
    assert lines[-1].startswith(f"{total[1]} of {total[1]} summaries (100%)")
