"""The first example of the server's page, as a reader runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

from sumfit import Summarizer
from sumfit.runtime import default_model_path
from tests.serving.conftest import running

PAGE = Path(__file__).resolve().parents[2] / "docs" / "server.md"


@pytest.mark.skipif(
    not (default_model_path() / "config.json").is_file(),
    reason="this checkout has no embedded model",
)
def test_the_first_example_answers_what_the_page_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    (body,) = re.findall(r"-d '(\{.*\})'\n", page)
    shown = re.search(r"answers `\{(.*), \.\.\.\}`\.", page)
    assert shown is not None
    with running(Summarizer.from_pretrained(n_workers=1)) as url:
        headers = {"content-type": "application/json"}
        response = httpx.post(
            f"{url}/v1/summarize", content=body, headers=headers, trust_env=False, timeout=60
        )
    reply = response.json()
    known = {}
    for item in shown.group(1).split(", "):
        name, _, value = item.partition(": ")
        assert json.loads(name) in reply
        if "..." not in value:
            known[json.loads(name)] = json.loads(value)
    assert known == {"unit": "chars", "limit": 60, "chosen_by": "scorer"}
    assert {name: reply[name] for name in known} == known
    assert reply["origin"] == "model"
    assert 0 < reply["length"] == len(reply["text"]) <= 60
