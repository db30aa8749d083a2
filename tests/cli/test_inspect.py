"""``sumfit inspect``: the drawing fits a terminal and shows the path."""

from __future__ import annotations

import json
import re

from sumfit import Summarizer
from sumfit.pipeline.drawing import render
from tests.cli.conftest import Sumfit


def test_the_drawing(sumfit: Sumfit, fit: Summarizer, texts: tuple[str, ...]) -> None:
    result = sumfit("inspect", texts[0], "--max-words", "6")
    assert result.code == 0
    lines = result.out.splitlines()
    found = fit.inspect(texts[0], max_words=6)
    assert lines[0] == f"summary   {found.summary.text}"
    assert lines[1].startswith(f"length    {found.summary.length} of 6 words, ")
    assert lines[2].endswith("proved best")
    assert any(line.startswith("* on the summary's path; reach: ") for line in lines)
    lines = [line for line in lines if not line.startswith("* on")]
    marked = [int(line[1:6]) for line in lines if line.startswith("*")]
    assert marked == [0, *found.path, found.dag.n_vertices - 1]
    assert lines[-1] == "path      0 " + " ".join(map(str, found.path)) + " end"


def test_fewer_words_and_links(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    wide = sumfit("inspect", texts[0], "--max-words", "6", "--words", "4").out
    narrow = sumfit("inspect", texts[0], "--max-words", "6", "--words", "1", "--links", "0").out
    assert len(narrow) < len(wide)
    assert "->" not in narrow.split("reach  words", 1)[1].split("\n", 1)[1]


def test_without_a_length(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    result = sumfit("inspect", texts[0])
    assert result.code == 0
    assert " of 80 chars, " in result.out.splitlines()[1]


def test_json(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    facts = json.loads(sumfit("inspect", texts[0], "--max-words", "6", "--json").out)
    assert facts["summary"]["optimal"]
    assert len(facts["vertices"]) == 32
    assert sum(link["chosen"] for link in facts["links"]) == len(facts["path"]) + 1


def test_pieces_cannot_steer_the_terminal(sumfit: Sumfit) -> None:
    text = "The \x1b[31mold\x1b[0m bridge \x07 will open at noon on Sundays in June for four weeks."
    out = sumfit("inspect", text, "--max-words", "5").out
    assert all(letter == "\n" or letter.isprintable() for letter in out)


def test_errors(sumfit: Sumfit, texts: tuple[str, ...]) -> None:
    result = sumfit("inspect", texts[0], "--max-chars", "0")
    assert result.code == 1
    assert result.err.startswith("error: no summary of this text measures at most 0 chars")
    assert sumfit("inspect", texts[0], "--max-words", "5", "--words", "0").code == 2


def test_a_file_gets_all_of_it_and_a_terminal_whole_items(
    fit: Summarizer, texts: tuple[str, ...]
) -> None:
    found = fit.inspect(texts[0], max_words=6)
    whole = render(found, n_words=8, n_links=8).splitlines()
    assert not any("…" in line for line in whole)
    assert max(map(len, whole)) > 100
    rows = [line for line in whole if re.match(r"[* ] {4}\d| {2,5}\d+ 0\.", line)]
    items = {item for line in rows for item in line[13:].replace("->", " ").split()}
    for width in (80, 50, 20):
        cut = render(found, n_words=8, n_links=8, width=width).splitlines()
        table = cut[cut.index("") :]
        shown = [line for line in table if re.match(r"[* ] +\d+ \d\.", line)]
        assert len(shown) == len([line for line in whole if re.match(r"[* ] +\d+ \d\.", line)])
        for line in shown:
            words = line[13:].replace("->", " ").split()
            assert len(line) <= width or len(words) <= 3  # at least one word stays
            assert set(words) - {"…"} <= items | {word for word in words if word.endswith("…")}
