"""What the page says of a summary, run by node: pure functions of the page's own file."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sumfit.serving

NODE = shutil.which("node")
WORDING = Path(sumfit.serving.__file__).parent / "page" / "wording.js"
UNITS = WORDING.with_name("units.js")
DISPLAY = {"chars": {"singular": "character", "plural": "characters", "slider": [1, 9], "start": 5}}
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

SUMMARY = {
    "text": "Council closes old bridge",
    "length": 25,
    "limit": 60,
    "unit": "chars",
    "origin": "model",
    "optimal": False,
    "gap": 0.5,
    "log_prob": -4.0,
    "complete": True,
    "language": "en",
    "source_truncated": False,
    "chosen_by": "scorer",
    "rank": 3,
    "score": 7.0,
    "choice_score": -2.5,
    "unfinished": False,
    "faithful": True,
    "unsupported": [],
    "source_selected": None,
}


def said(function: str, **changes: Any) -> Any:
    """Call a function of the file with a summary."""
    program = (
        f"(await import({json.dumps(UNITS.as_uri())})).useUnits({json.dumps(DISPLAY)});"
        f"const words = await import({json.dumps(WORDING.as_uri())});"
        f"const said = words.{function}({json.dumps({**SUMMARY, **changes})});"
        "process.stdout.write(JSON.stringify(said));"
    )
    done = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", program],
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def badges(**changes: Any) -> list[str]:
    return [badge["text"] for badge in said("badgesOf", **changes)]


@pytest.mark.parametrize("optimal", [True, False])
def test_a_scorers_choice_is_called_no_proof(optimal: bool) -> None:
    shown = badges(optimal=optimal, rank=0)
    assert "chosen by the scorer among the candidates" in shown
    assert "proved best" not in shown
    words = said("certificateOf", optimal=optimal, rank=0)
    assert words.startswith("Chosen by the model\u2019s scorer")
    assert ("it is proved that none scores higher" in words) == optimal
    assert "puts it first as well" in words


def test_the_candidate_of_the_best_score_is_named_beside_the_scorers() -> None:
    other = {**SUMMARY, "text": "Old bridge shut", "rank": 0, "optimal": True}
    words = said("certificateOf", alternatives=[{**SUMMARY, "rank": 1}, other])
    assert (
        "puts another first, and it is proved that none scores higher: \u201cOld bridge shut\u201d."
        in words
    )
    assert "By the score of the search another comes first." in said("certificateOf")


def test_what_the_score_chose_has_its_proof() -> None:
    assert "proved best" in badges(chosen_by="graph", optimal=True, rank=0)
    words = said("certificateOf", chosen_by="graph", optimal=True, rank=0)
    assert words.startswith("Proved: of all wordings")


def test_a_reranker_is_named() -> None:
    words = said("certificateOf", chosen_by="mbr")
    assert words.startswith("Chosen by the reranker mbr, among the best")
    assert "chosen by mbr among the candidates" in badges(chosen_by="mbr", optimal=True)
    assert "proved best" not in badges(chosen_by="mbr", optimal=True)


@pytest.mark.parametrize("origin", ["source", "cut"])
def test_words_of_the_text_are_no_proof(origin: str) -> None:
    own = {"origin": origin, "chosen_by": "graph", "optimal": True, "log_prob": None}
    assert "proved best" not in badges(**own)
    assert said("orderOf", **own) == ""
    assert said("scoreOf", **own) is None
    words = {"source": "The text fits already and is returned as it is.", "cut": "first words"}
    assert words[origin] in said("certificateOf", **own)


def test_a_score_is_shown_with_its_bonus_for_length() -> None:
    words = said("numbersOf", chosen_by="graph")
    assert words == (
        "25 characters; score 7.00; probability about 1 in 55, and 11.00 for its length"
    )
    assert "a bonus for length" in said("orderOf", chosen_by="graph")
    assert "for its length" not in said("numbersOf", chosen_by="graph", score=-4.0)


def test_the_confidence_is_shown_where_it_is_known() -> None:
    words = said("numbersOf", confidence=0.716)
    assert words.startswith("25 characters; confidence 72 %; scorer")


def test_the_scorers_number_is_shown_where_it_chose() -> None:
    words = said("numbersOf")
    assert words == "25 characters; scorer\u2019s number \u22122.50; probability about 1 in 55"
    assert said("orderOf").startswith("Highest scorer\u2019s number first.")
    assert said("numbersOf", chosen_by="mbr") == "25 characters; probability about 1 in 55"
    assert "mbr" in said("orderOf", chosen_by="mbr")


def test_what_was_read_and_what_the_rules_found_are_said() -> None:
    read = {"n_sentences": 12, "of_sentences": 1400, "n_chars": 900, "of_chars": 90000}
    assert "read 12 of 1,400 sentences" in badges(source_selected=read, source_truncated=True)
    assert "end of the text not read" in badges(source_truncated=True)
    assert "search stopped early" in badges(unfinished=True)
    assert "check it against the text" in badges(faithful=False)
    found = said("doubtsOf", faithful=False, unsupported=["number not in the source: 7"])
    assert found == "Rules found: number not in the source: 7."
    assert said("doubtsOf") == ""


@pytest.mark.parametrize(
    ("kind", "can_cut"),
    [
        ("infeasible_budget", True),
        ("nothing_found", True),
        ("unsupported_script", True),
        ("empty_input", False),
        ("unknown_unit", False),
    ],
)
def test_a_problem_has_no_keyword_and_says_what_can_be_done(kind: str, can_cut: bool) -> None:
    problem = {"message": "no: ask for on_infeasible='cut'", "type": kind, "mayPass": False}
    shown = said("problemOf", **problem)
    assert shown["canCut"] == can_cut
    assert not shown["canRetry"]
    assert ("on_infeasible" in shown["text"]) == (kind == "unknown_unit")
    assert said("problemOf", **{**problem, "mayPass": True})["canRetry"]
