"""Every example of README and documentation: Python runs, commands parse, what can be run is run.

Pages with tests of their own for what is special to them: `tests/decoding/test_worked_example.py`,
`tests/evaluation/test_docs.py`, `tests/integrations/test_docs.py`, `tests/serving/test_docs.py`.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from sumfit.cli.app import _with_default, load_command, run
from sumfit.cli.commands import COMMANDS
from sumfit.runtime import default_model_path
from sumfit.serving.options import ServerOptions
from tests.serving.conftest import running
from tests.tiny_model import TEXTS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FORMULAS = {"algorithms.md"}  # its "python" is recursions, compared with the code elsewhere
NEEDS_A_RUN = "load_baseline("  # of a baseline that somebody has trained
has_model = pytest.mark.skipif(
    not (default_model_path() / "config.json").is_file(),
    reason="this checkout has no embedded model",
)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def with_python() -> Iterator[Path]:
    for page in PAGES:
        if page.name not in FORMULAS and any(kind == "python" for kind, _ in blocks(page)):
            yield page


@has_model
@pytest.mark.parametrize("page", [*with_python()], ids=lambda page: page.stem)
def test_python_runs_as_it_stands(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is read from top to bottom: its later blocks may use the names of its earlier ones."""
    monkeypatch.chdir(tmp_path)
    if page.stem == "integrations":
        pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    has_spacy = find_spec("spacy") is not None
    names: dict[str, Any] = {"__name__": page.stem}
    for kind, code in blocks(page):
        can_run = NEEDS_A_RUN not in code and (has_spacy or "from spacy" not in code)
        if kind == "python" and can_run:
            exec(compile(code, str(page), "exec"), names)


def lines_of(text: str) -> Iterator[str]:
    """Lines of a shell block, those joined that a backslash or an open quotation joins."""
    waiting = ""
    for line in text.replace("\\\n", " ").splitlines():
        waiting += line
        if len(re.findall(r"(?<!\w)'|'(?!\w)", waiting)) % 2 or waiting.count('"') % 2:
            waiting += " "
            continue
        yield waiting
        waiting = ""


def commands(page: Path) -> Iterator[list[str]]:
    """Words of each call of sumfit on a page."""
    for kind, text in blocks(page):
        if kind not in ("", "sh", "console"):
            continue
        for line in lines_of(text):
            found = re.search(r"(?:^|[|&] |^\$ )(sumfit (?!it\b).*)", line)
            if found:
                call = re.split(r"\s{3,}(?=\w)", found[1])[0]  # what follows is a remark
                words = shlex.split(call, comments=True)[1:]
                ends = [words.index(mark) for mark in ("<", ">", "|", "&&") if mark in words]
                yield words[: min(ends, default=None)]


def of_page(page: Path) -> list[Any]:
    """Parameters of a test, one for each call."""
    return [
        pytest.param(words, id=f"{page.stem}: {' '.join(words)[:60]}") for words in commands(page)
    ]


CALLS = [call for page in PAGES for call in of_page(page)]


def test_calls_are_found() -> None:
    assert len(CALLS) > 80


@pytest.mark.parametrize("words", CALLS)
def test_a_command_is_understood(words: list[str]) -> None:
    name, *arguments = _with_default(words)
    assert name in COMMANDS, words
    command: Any = load_command(name)
    if hasattr(command, "commands"):
        name, *arguments = arguments
        command = command.commands[name]
    with command.make_context(name, arguments) as context:
        assert context.params.keys() == {parameter.name for parameter in command.params}


@pytest.mark.parametrize("page", ["README.md", "docs/installing.md"])
def test_the_way_to_torch_without_a_gpu_stands_where_torch_is_asked_for(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert "pip install torch --index-url INDEX" in text
    assert "pytorch.org/get-started/locally" in text
    for script in ("scripts/test.sh", "Makefile"):
        assert "TORCH_INDEX" in (ROOT / script).read_text(encoding="utf-8")


def test_the_index_of_torch_reaches_pip() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for given, wanted in (
        (["TORCH_INDEX=INDEX"], "--index-url INDEX torch=="),
        (["TORCH_INDEX="], "install torch=="),
    ):
        done = subprocess.run(
            ["make", "-n", "-C", str(ROOT), "install", *given],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert wanted in " ".join(done.stdout.split())


TEXT = " ".join(TEXTS)
LEFT_OUT = {
    "serve": "runs until it is stopped; tests/cli/test_serve.py",
    "train": "minutes; tests/training",
    "data": "needs data; tests/data",
    "export": "needs a run; tests/training",
    "git-hook": "needs a repository; tests/integrations",
}


def files(folder: Path) -> None:
    """The files that README and quickstart name."""
    records = [{"id": n, "text": text, "body": text, "width": 40} for n, text in enumerate(TEXTS)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "news.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    (folder / "news.jsonl").write_text(lines)
    (folder / "news.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(records), folder / "big.parquet")


def table(folder: Path, mark: str) -> None:
    rows = [f"40{mark}{json.dumps(text)}" for text in TEXTS]
    (folder / "cues.csv").write_text("\n".join([f"width{mark}text", *rows, ""]))


@pytest.mark.parametrize(
    "words", [*of_page(ROOT / "README.md"), *of_page(ROOT / "docs" / "quickstart.md")]
)
def test_a_command_for_beginners_runs(
    words: list[str],
    tiny_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, *_ = _with_default(words)
    if name in LEFT_OUT:
        pytest.skip(LEFT_OUT[name])
    files(tmp_path)
    table(tmp_path, ";" if ";" in words else ",")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUMFIT_MODEL", str(tiny_model))
    given = (tmp_path / "news.txt").open(encoding="utf-8")
    monkeypatch.setattr("sys.stdin", given)
    words = [TEXT if "..." in word or word == "text" else word for word in words]
    with given:
        assert run(words) == 0, capsys.readouterr().err


def curls() -> Iterator[Any]:
    for page in PAGES:
        for kind, text in blocks(page):
            for call in re.findall(r"curl -s .*?'(?=\n)", text if kind == "sh" else "", re.DOTALL):
                yield pytest.param(shlex.split(call.replace("\\\n", " ")), id=page.stem)


@pytest.mark.parametrize("words", [*curls()])
def test_curl_gets_an_answer(words: list[str], live_url: str) -> None:
    """With the server's address in place of the usual one, as curl would send it."""
    (address,) = [word for word in words if word.startswith("http://")]
    assert address.startswith("http://127.0.0.1:8077/v1/")
    name, _, value = words[words.index("-H") + 1].partition(": ")
    body = words[words.index("-d") + 1]
    json.loads(body)
    url = live_url + address.removeprefix("http://127.0.0.1:8077")
    reply = httpx.post(url, content=body, headers={name: value}, trust_env=False, timeout=120)
    assert reply.status_code == 200, reply.text


@pytest.fixture(scope="module")
def live_url(tiny_model: Path) -> Iterator[str]:
    from sumfit import Summarizer

    fit = Summarizer.from_pretrained(tiny_model, n_workers=1)
    with running(fit, ServerOptions(port=0, time_limit_s=600)) as url:
        yield url


def programs() -> Iterator[Any]:
    """Calls of programs of the repository, wherever a page names them."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for call in re.findall(
            r"(?:python|sh) (?:-m )?((?:benchmarks|scripts|examples)[/.][^`\n#)]*)", text
        ):
            yield pytest.param(call, id=f"{page.stem}: {call[:50]}")


@pytest.mark.parametrize("call", [*programs()])
def test_a_program_that_is_named_is_there_with_its_options(call: str) -> None:
    name, *words = call.replace("\\", " ").split()
    place = ROOT / (name if "/" in name else name.replace(".", "/"))
    sources = sorted(place.glob("*.py")) if place.is_dir() else [place]
    assert sources, f"{name} is not there"
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    for word in words:
        if word.startswith("--"):
            assert f'"{word.partition("=")[0]}"' in text or word in text, f"{name} has no {word}"


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_tools_that_examples_need_are_there() -> None:
    """What a reader needs besides sumfit to run a shell example; fails if a page adds another."""
    known = {
        "sumfit",
        "python",
        "python3",
        "pip",
        "sh",
        "cat",
        "curl",
        "git",
        "docker",
        "make",
        "llm",
    }
    known |= {".venv/bin/pip", "pre-commit", "torchrun", "rattler-build", "mkdir", "zcat", "nc"}
    for page in PAGES:
        for kind, text in blocks(page):
            if kind != "sh":
                continue
            for line in text.replace("\\\n", " ").splitlines():
                word = line.split()[0] if line.split() else "sumfit"
                assert word in known or word.startswith("#"), f"{page.name}: {line}"
    assert shutil.which("git")
