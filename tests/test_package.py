"""Packages, container files and the documentation site."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sumfit import __version__

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILES = sorted((ROOT / "docker").glob("*.Dockerfile"))


@pytest.mark.slow
def test_wheel_and_sdist_build_install_and_work(tiny_model: Path) -> None:
    if importlib.util.find_spec("build") is None:
        pytest.skip("the package build is not installed")
    found = subprocess.run(
        ["sh", str(ROOT / "scripts" / "check_package.sh")],
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "SUMFIT_PYTHON": sys.executable,
            "SUMFIT_CHECK_MODEL": str(tiny_model),
        },
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.endswith("packages are good\n")


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.stem)
def test_container_files_use_the_repository_alone_and_no_root(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").replace("\\\n", " ").split("\n")
    steps = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    names = [name for name, _ in steps]
    assert "ADD" not in names
    assert not any("http" in text for name, text in steps if name in ("RUN", "COPY"))
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line[0] == "!"}
    copied = {part for name, text in steps if name == "COPY" for part in text.split()[:-1]}
    assert copied <= allowed
    assert all((ROOT / part).exists() for part in copied)
    users = [text for name, text in steps if name == "USER"]
    assert users == ["10001"]
    assert names.index("USER") < names.index("ENTRYPOINT")
    (check,) = [text for name, text in steps if name == "HEALTHCHECK"]
    command = json.loads(check[check.index("CMD ") + 4 :])
    compile(command[2], "healthcheck", "exec")
    assert "/readyz" in command[2]
    (start,) = [json.loads(text) for name, text in steps if name == "CMD"]
    assert start[:3] == ["serve", "--host", "0.0.0.0"]


def test_versions_agree() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)[0] == __version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert listed == pages | {"decisions/README.md"}


def test_the_documentation_site_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "http-api.html").is_file()
