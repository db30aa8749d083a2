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
}


def said(function: str, **changes: Any) -> Any:
    """Call a function of the file with a summary."""
    program = (
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
    assert "chosen by the scorer" in shown
    assert "proved best" not in shown
    words = said("certificateOf", optimal=optimal, rank=0)
    assert words.startswith("Chosen by the model's scorer")
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
    assert said("certificateOf", origin="source").startswith("The text already fits")
