"""Judging against a real local server that prefers by a rule, and the reading of answers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sumfit.cli.judge import judge as judge_command
from sumfit.errors import ConfigError, DataFormatError, InputError, ServiceError
from sumfit.evaluation.endpoint import Endpoint, EndpointOptions
from sumfit.evaluation.judge import Pair, judge, judge_prompts, read_vote

APP = typer.Typer()
APP.command()(judge_command)
SHOWN = re.compile(r"^Summary ([12]): (.*)$", re.MULTILINE)


def endpoint(server: Any) -> Endpoint:
    return Endpoint(EndpointOptions(server.url, "judge", wait_s=0.0))


def shorter(prompt: str) -> str:
    """A judge that prefers the shorter summary and is not fooled by order or names."""
    shown = SHOWN.findall(prompt)
    return f"Summary {min(shown, key=lambda item: len(item[1]))[0]} is better."


def first_shown(prompt: str) -> str:
    return SHOWN.findall(prompt)[0][0]


def named_one(prompt: str) -> str:
    return "1"


def test_the_prompt_is_the_papers_in_four_permutations() -> None:
    prompts = judge_prompts(Pair("The text {x}.", "ours", "theirs"))
    assert prompts[0] == (
        "Given the text: The text {x}.\n"
        "Consider two summaries of the text:\n"
        "Summary 1: ours\n"
        "Summary 2: theirs\n"
        "A good summary is a shorter piece of text that has the essence of the original and "
        "adheres to coherence, faithfulness, relevance, and overall quality as defined above. "
        "Which summary is better?\n"
        "Answer:"
    )
    shown = [SHOWN.findall(prompt) for prompt in prompts]
    assert shown == [
        [("1", "ours"), ("2", "theirs")],
        [("2", "ours"), ("1", "theirs")],
        [("1", "theirs"), ("2", "ours")],
        [("2", "theirs"), ("1", "ours")],
    ]


def test_a_steady_judge_gives_wins_losses_and_four_equal_votes(chat_server: Any) -> None:
    chat_server.rule = shorter
    pairs = [Pair("s", "short", "much longer"), Pair("s", "rather long", "tiny")]
    with endpoint(chat_server) as model:
        result = judge(pairs, model)
    assert [c.votes for c in result.comparisons] == [(1, 1, 1, 1), (-1, -1, -1, -1)]
    assert [c.outcome for c in result.comparisons] == ["win", "loss"]
    assert (result.rate("win"), result.rate("loss"), result.rate("tie")) == (0.5, 0.5, 0)
    assert result.order_bias == 0.5
    assert result.n_unclear == 0
    assert chat_server.n_requests == 8


@pytest.mark.parametrize(("rule", "bias"), [(first_shown, 1.0), (named_one, 0.5)])
def test_a_judge_fooled_by_order_or_names_ties(chat_server: Any, rule: Any, bias: float) -> None:
    chat_server.rule = rule
    with endpoint(chat_server) as model:
        result = judge([Pair("s", "a", "b")], model)
    assert sum(result.comparisons[0].votes) == 0
    assert result.comparisons[0].outcome == "tie"
    assert result.order_bias == bias


def test_answers_without_a_verdict_are_counted_not_guessed(chat_server: Any) -> None:
    chat_server.rule = lambda prompt: (
        "I cannot say." if "Summary 1: a" in prompt else shorter(prompt)
    )
    with endpoint(chat_server) as model:
        result = judge([Pair("s", "a", "bb")], model)
    assert result.n_unclear == 2
    assert result.comparisons[0].outcome == "win"
    assert result.table(("us", "them")).rows[0][-1] == 50.0
    assert "answers without a verdict: 2 of 4; answers for" in result.table(("us", "them")).notes[2]


def test_identical_summaries_are_ties_that_nobody_is_asked_about(chat_server: Any) -> None:
    chat_server.rule = shorter
    pairs = [Pair("s", "same", " same\n"), Pair("s", "a", "bb"), Pair("s", "", "")]
    with endpoint(chat_server) as model:
        result = judge(pairs, model)
        alone = judge(pairs[:1], model).table(("us", "them"))
    assert [comparison.outcome for comparison in result.comparisons] == ["tie", "win", "tie"]
    assert (result.n_identical, result.n_unclear, result.order_bias) == (2, 0, 0.5)
    assert chat_server.n_requests == 4
    table = result.table(("us", "them"))
    assert table.rows[0][1:4] == pytest.approx((100 / 3, 0.0, 200 / 3))
    assert "identical summaries, ties without a question: 2 of 3" in table.notes
    assert alone.notes[-1] == "answers without a verdict: 0 of 0"


def test_the_table_has_the_papers_columns(chat_server: Any) -> None:
    chat_server.rule = shorter
    pairs = [Pair("s", "a", "bb")] * 3 + [Pair("s", "cc", "d")]
    with endpoint(chat_server) as model:
        table = judge(pairs, model).table(("us", "them"))
    assert table.columns[:4] == ("pair", "win, %", "loss, %", "tie, %")
    assert table.rows[0][:5] == ("us vs. them", 75.0, 25.0, 0.0, 50.0)
    assert (table.columns[-1], table.rows[0][-1]) == ("unclear, %", 0.0)
    assert chat_server.n_requests == 8


@pytest.mark.parametrize(
    ("answer", "vote"),
    [
        ("1", 1),
        (" 2.", 2),
        ("**2**", 2),
        ("Summary 1", 1),
        ("summary 2 is better", 2),
        ("Summary 1 is better than Summary 2.", 1),
        ("The better summary is Summary 2, because 1 is vague.", 2),
        ("Summary 2 is more faithful to the text than Summary 1.", 2),
        ("Answer: 1", 1),
        ("Between summary 1 and summary 2, I would choose summary 2.", 2),
        ("Both are fine, but I prefer 1.", 1),
        ("Summary 1 and Summary 2 are equally good.", 0),
        ("1 or 2? Hard to say.", 0),
        ("Neither.", 0),
        ("", 0),
        ("The storm cut power to 12,000 homes in 2022.", 0),
        ("1,200 homes lost power", 0),
        ("2.5 percent", 0),
    ],
)
def test_answers_are_read(answer: str, vote: int) -> None:
    assert read_vote(answer) == vote


def test_nothing_to_judge_is_an_error(chat_server: Any) -> None:
    with endpoint(chat_server) as model, pytest.raises(InputError, match="nothing to judge"):
        judge([], model)


def command(tmp_path: Path, url: str, *more: str, n_sources: int = 2) -> Any:
    (tmp_path / "us.txt").write_text("tiny\nrather long\n", encoding="utf-8")
    (tmp_path / "them.txt").write_text("much longer\nalso rather long\n", encoding="utf-8")
    (tmp_path / "src.txt").write_text("a text\n" * n_sources, encoding="utf-8")
    arguments = [str(tmp_path / name) for name in ("us.txt", "them.txt")]
    arguments += ["--sources", str(tmp_path / "src.txt"), "--endpoint", url, "--model", "m"]
    arguments += ["--cache", str(tmp_path / "answers.jsonl"), *more]
    return CliRunner().invoke(APP, arguments)


def test_the_command_estimates_first_and_resumes_from_its_cache(
    chat_server: Any, tmp_path: Path
) -> None:
    chat_server.rule = shorter
    prices = ("--price-in", "10", "--price-out", "30")
    estimate = command(tmp_path, chat_server.url, "--estimate", *prices)
    assert estimate.exit_code == 0, estimate.output
    assert estimate.stderr.startswith("8 requests to make (0 of 8 are in the cache)")
    assert chat_server.n_requests == 0
    result = command(tmp_path, chat_server.url, "--yes", "--format", "json")
    assert result.exit_code == 0, result.output
    (table,) = json.loads(result.stdout)
    assert table["rows"][0]["win, %"] == 100
    again = command(tmp_path, chat_server.url)
    assert again.exit_code == 0, again.output
    assert "us vs. them" in again.stdout
    assert chat_server.n_requests == 8


def test_the_command_counts_identical_summaries_by_themselves(
    chat_server: Any, tmp_path: Path
) -> None:
    chat_server.rule = shorter
    command(tmp_path, chat_server.url, "--yes")
    (tmp_path / "us.txt").write_text("much longer\nalso rather long\n", encoding="utf-8")
    arguments = [str(tmp_path / name) for name in ("us.txt", "them.txt")]
    arguments += ["--sources", str(tmp_path / "src.txt"), "--endpoint", chat_server.url]
    result = CliRunner().invoke(APP, [*arguments, "--model", "m"])
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[:2] == [
        "2 of 2 pairs are identical summaries: ties, not asked about",
        "0 requests to make (0 of 0 are in the cache): about 0 tokens in, at most 0 out",
    ]
    assert chat_server.n_requests == 8


def test_the_command_pays_only_when_told(chat_server: Any, tmp_path: Path) -> None:
    result = command(tmp_path, chat_server.url)
    assert isinstance(result.exception, ConfigError)
    assert "run again with --yes" in str(result.exception)
    assert chat_server.n_requests == 0


def test_the_command_says_on_standard_error_that_it_asks_again(
    chat_server: Any, tmp_path: Path
) -> None:
    """In a process of its own: under pytest the log has other handlers."""
    chat_server.rule = shorter
    chat_server.failures = [(429, {"Retry-After": "0"})]
    command(tmp_path, chat_server.url, "--estimate")  # writes the files
    arguments = [str(tmp_path / name) for name in ("us.txt", "them.txt")]
    arguments += ["--sources", str(tmp_path / "src.txt"), "--endpoint", chat_server.url]
    arguments += ["--model", "m", "--yes", "--cache", str(tmp_path / "answers.jsonl")]
    result = subprocess.run(
        [sys.executable, "-m", "sumfit", "judge", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert "us vs. them" in result.stdout
    assert result.stderr.splitlines()[1:] == [
        f"{chat_server.url}/chat/completions: HTTP 429 busy; "
        "try 1 of 6 failed, the next follows in 0.0 s"
    ]


def test_no_verdict_at_all_is_a_failure_without_figures(chat_server: Any, tmp_path: Path) -> None:
    chat_server.rule = lambda prompt: "I cannot say."
    result = command(tmp_path, chat_server.url, "--yes")
    assert isinstance(result.exception, ServiceError)
    assert result.exception.exit_code == 1
    assert re.search("^none of [48] answers names a summary", str(result.exception))
    row = next(line for line in result.stdout.splitlines() if line.startswith("us vs. them"))
    assert row.split()[3:] == ["-"] * 6 + ["100.00"]


def test_the_command_can_judge_a_few(chat_server: Any, tmp_path: Path) -> None:
    command(tmp_path, chat_server.url, "--yes", "--first", "1")
    assert chat_server.n_requests == 4


def test_the_command_wants_a_source_for_each(chat_server: Any, tmp_path: Path) -> None:
    result = command(tmp_path, chat_server.url, "--yes", n_sources=1)
    assert isinstance(result.exception, DataFormatError)
    assert "but 1 sources in" in str(result.exception)
