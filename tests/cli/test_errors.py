"""One mistake, said to three kinds of callers: each hears the names that it knows."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import pytest

from sumfit import SumfitError, Summarizer
from sumfit.serving.errors import from_sumfit_error
from tests.cli.conftest import Sumfit

TEXT = "Heavy rain flooded several streets in the town of Springfield late on Monday night."


@dataclass(frozen=True)
class Mistake:
    """A call, and how its error begins; for whom nothing is said it begins as in Python."""

    keywords: dict[str, Any]
    parameter: str | None
    value: Any
    python: str
    flags: str = ""
    http: str = ""
    line: str = ""

    @property
    def words(self) -> list[str]:
        """The same call on the command line."""
        given = (f"--{name}={value}" for name, value in self.keywords.items())
        words = [word.replace("_", "-", word.partition("=")[0].count("_")) for word in given]
        return shlex.split(self.line) or words


MISTAKES = [
    Mistake(
        {"max_chars": -1},
        "max_chars",
        -1,
        "max_chars must be 0 or more, was -1",
        "--max-chars must be 0 or more, was -1",
    ),
    Mistake(
        {"max_words": 2, "max_chars": 9},
        "max_words",
        2,
        "max_words=2 and max_chars=9 are two length specifications; give one of them",
        "--max-words 2 and --max-chars 9 are two length specifications; give one of them",
    ),
    Mistake(
        {"min_chars": 5},
        "min_chars",
        5,
        "min_chars=5 needs a maximum; add max_chars=",
        "--min-chars 5 needs a maximum; add --max-chars",
    ),
    Mistake(
        {"max_length": 5},
        "max_length",
        None,
        "max_length= needs unit=, for example unit='chars'",
        "--max-length needs --unit, for example --unit 'chars'",
        'max_length= needs unit=, for example unit="chars"',
    ),
    Mistake(
        {"max_chars": 5, "unit": "chars"},
        "unit",
        "chars",
        "unit=chars and max_chars=5 exclude each other: unit= goes with max_length=, "
        "exact_length=, min_length= or ratio=",
        "--unit chars and --max-chars 5 exclude each other: --unit goes with --max-length, "
        "--exact-length, --min-length or --ratio",
    ),
    Mistake(
        {"max_chars": 5, "prefix": "abcdef", "reserve": 2},
        "prefix",
        "abcdef",
        "prefix='abcdef' and reserve=2 take 8 chars of max_chars=5; raise the limit or",
        "--prefix 'abcdef' and --reserve 2 take 8 chars of --max-chars 5; raise the limit or",
        'prefix="abcdef" and reserve=2 take 8 chars of max_chars=5; raise the limit or',
    ),
    Mistake(
        {"max_chars": 60, "ratio_rule": "paper-dat"},
        "ratio_rule",
        "paper-dat",
        "ratio_rule='paper-dat' needs ratio=, for example ratio=0.25",
        "--ratio-rule 'paper-dat' needs --ratio, for example --ratio 0.25",
        'ratio_rule="paper-dat" needs ratio=, for example ratio=0.25',
    ),
    Mistake(
        {"preset": "poster"},
        "preset",
        "poster",
        "preset 'poster' is not known; use one of seo-title, ",
    ),
    Mistake(
        {"max_chars": 60, "no_repeat_ngram": 1},
        "no_repeat_ngram",
        1,
        "no_repeat_ngram must be a whole number of at least 2, was 1; for single words use "
        "repeat_words=False",
        "--no-repeat-ngram must be a whole number of at least 2, was 1; for single words use "
        "--no-repeat-words",
        "no_repeat_ngram must be a whole number of at least 2, was 1; for single words use "
        "repeat_words=false",
    ),
    Mistake(
        {"max_chars": 60, "time_limit_s": 0},
        "time_limit_s",
        0,
        "time_limit_s must be above 0 seconds, was 0",
        "--time-limit must be above 0 seconds, was 0",
        line="--max-chars 60 --time-limit 0",
    ),
    Mistake(
        {"max_chars": 60, "required": [" "]},
        "required",
        " ",
        "required must hold words or phrases, was ' '",
        "--require must hold words or phrases, was ' '",
        line="--max-chars 60 --require ' '",
    ),
    Mistake(
        {"max_chars": 60, "required": ["rain rain"]},
        None,
        None,
        "'rain rain' is required but repeats 'rain'; allow it with repeat_adjacent=True",
        "'rain rain' is required but repeats 'rain'; allow it with --repeat-adjacent",
        "'rain rain' is required but repeats 'rain'; allow it with repeat_adjacent=true",
        line="--max-chars 60 --require 'rain rain'",
    ),
    Mistake(
        {"max_chars": 60, "fill": "all"},
        "fill",
        "all",
        "fill must be one of 'natural', 'prefer', 'single', was 'all'",
        "--fill must be one of 'natural', 'prefer', 'single', was 'all'",
    ),
    Mistake(
        {"max_chars": 1},
        None,
        None,
        "no summary of this text measures at most 1 chars; change the limit, loosen the "
        "constraints, or ask for on_infeasible='cut'",
        "no summary of this text measures at most 1 chars; change the limit, loosen the "
        "constraints, or ask for --on-infeasible 'cut'",
        "no summary of this text measures at most 1 chars; change the limit, loosen the "
        'constraints, or ask for on_infeasible="cut"',
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.python[:40])
def test_a_mistake_is_told_in_the_words_of_who_made_it(
    sumfit: Sumfit, fit: Summarizer, mistake: Mistake
) -> None:
    with pytest.raises(SumfitError) as caught:
        fit(TEXT, **mistake.keywords)
    error = caught.value
    assert str(error).startswith(mistake.python)
    assert (error.parameter, error.value) == (mistake.parameter, mistake.value)
    problem = from_sumfit_error(error)
    assert problem.param == mistake.parameter
    assert problem.message.startswith(mistake.http or mistake.python)
    outcome = sumfit("text", TEXT, *mistake.words)
    assert outcome.code == error.exit_code
    assert outcome.err.startswith(f"error: {mistake.flags or mistake.python}")


def test_several_mistakes_in_one_call_keep_their_parameters(fit: Summarizer) -> None:
    with pytest.raises(SumfitError, match="2 of 2 limits cannot be met: max_chars must") as caught:
        fit(TEXT, max_chars=[-1, 3], prefix="abc")
    assert caught.value.parameter is None
    message = from_sumfit_error(caught.value).message
    assert 'ask for on_infeasible="cut"; leave them out' in message


def test_settings_that_are_no_flags_are_not_told_as_flags(sumfit: Sumfit) -> None:
    told = sumfit("nbest", "lists", "n_best=0").err
    assert "  n_best must be at least 1, was 0\n" in told
    assert "--n-best" not in told


def test_an_option_of_the_server_is_told_as_its_flag(sumfit: Sumfit) -> None:
    told = sumfit("serve", "--client-share", "2").err
    assert told == "error: --client-share must be above 0 and at most 1, was 2.0\n"
