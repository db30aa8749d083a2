"""The MCP server, started as an agent starts it and asked by the SDK's own client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from sumfit import Summarizer
from sumfit.length import UNITS
from tests.tiny_model import TEXTS

mcp = pytest.importorskip("mcp", reason="mcp is not installed")
server = pytest.importorskip("sumfit.integrations.mcp_server")

Answers = list[Any]


def ask(target: Any, *calls: dict[str, Any]) -> Answers:
    """Call the tool on one connection; the list of tools comes first."""

    async def talk() -> Answers:
        async with mcp.Client(target, read_timeout_seconds=240) as client:
            answers: Answers = [await client.list_tools()]
            for arguments in calls:
                answers.append(await client.call_tool("summarize_to_fit", arguments))
            return answers

    return anyio.run(talk)


def test_over_standard_input_and_output(tiny_model: Path, fit: Summarizer) -> None:
    code = f"import sys; sys.path[:] = {sys.path!r}; from sumfit.cli import main; main()"
    command = ["-c", code, "mcp", "--model", str(tiny_model)]
    started = mcp.StdioServerParameters(command=sys.executable, args=command)
    tools, good, bad = ask(started, {"text": TEXTS[0], "limit": 40}, {"text": TEXTS[0], "limit": 0})
    (tool,) = tools.tools
    assert tool.name == "summarize_to_fit"
    assert sorted(tool.input_schema["required"]) == ["limit", "text"]
    expected = fit(TEXTS[0], max_chars=40)
    assert not good.is_error
    assert good.structured_content == {
        "text": expected.text,
        "length": expected.length,
        "unit": "chars",
        "limit": 40,
        "complete": expected.complete,
        "faithful": expected.faithful,
    }
    assert bad.is_error


@pytest.fixture
def asked(fit: Summarizer) -> Callable[..., Answers]:
    """Ask a server in this process."""
    return lambda *calls: ask(server.build_server(fit), *calls)[1:]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"text": TEXTS[0]}, "limit\n  Field required"),
        ({"text": TEXTS[0], "limit": 0}, "greater than or equal to 1"),
        ({"text": TEXTS[0], "limit": 10**7}, "less than or equal to 1000000"),
        ({"text": TEXTS[0], "limit": "many"}, "valid integer"),
        ({"text": TEXTS[0], "limit": 40, "unit": "pixels"}, "'words', 'tokens', 'chars'"),
        ({"text": "x" * (server.LONGEST_TEXT + 1), "limit": 40}, "at most 1000000 characters"),
        ({"text": " ", "limit": 40}, "the text is empty"),
        ({"text": TEXTS[0], "limit": 1}, "no summary"),
    ],
)
def test_what_cannot_be_done_is_told(
    asked: Callable[..., Answers], arguments: dict[str, Any], said: str
) -> None:
    first, again = asked(arguments, {"text": TEXTS[1], "limit": 40})
    assert first.is_error
    assert said in first.content[0].text
    assert not again.is_error  # the server goes on


@pytest.mark.parametrize(("unit", "limit"), [("words", 4), ("bytes", 30), ("tweet", 50)])
def test_every_unit(asked: Callable[..., Answers], fit: Summarizer, unit: str, limit: int) -> None:
    (answer,) = asked({"text": TEXTS[1], "limit": limit, "unit": unit})
    assert answer.structured_content["unit"] == unit
    assert answer.structured_content["length"] <= limit
    expected = fit(TEXTS[1], max_length=limit, unit=unit).text
    assert answer.structured_content["text"] == expected


def test_the_choices_are_those_of_the_library(fit: Summarizer) -> None:
    assert get_args(server._Unit) == tuple(UNITS)
    for style in get_args(server._Style):
        fit(TEXTS[0], max_chars=40, style=style)


def test_without_the_extra_its_pip_line_is_printed() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None; from sumfit.cli.app import run; "
        "print(run(['mcp', '--help'])); print(run(['mcp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert "summarize_to_fit" in done.stdout
    assert done.stdout.split()[-1] == "1"
    assert "mcp is not installed; run: pip install 'sumfit[mcp]'" in done.stderr
