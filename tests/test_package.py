"""Packages, container files and the documentation site."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from sumfit import __version__

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
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


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert sorted(listed) == sorted(pages | {"decisions/README.md"})


def test_container_files_have_no_fault_that_hadolint_finds() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    found = subprocess.run([hadolint, *DOCKERFILES], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stdout) == (0, ""), found.stderr


def dependencies() -> dict[str, str]:
    """Name and versions of what sumfit needs, as pyproject.toml says it."""
    block = re.search(r"^dependencies = \[\n(.*?)^\]", PYPROJECT, re.MULTILINE | re.DOTALL)
    assert block is not None
    lines = re.findall(r'"([\w-]+)([^";]*)', block[1])
    return {name: versions.strip() for name, versions in lines if versions}


def test_the_conda_recipe_says_what_pyproject_says() -> None:
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == __version__
    run = dict(line.partition(" ")[::2] for line in recipe["requirements"]["run"])
    python = re.search(r'^requires-python = "(.*)"', PYPROJECT, re.MULTILINE)
    assert python is not None
    assert run == {"python": python[1], **dependencies()}
    build = re.search(r'^requires = \["hatchling(.*)"\]', PYPROJECT, re.MULTILINE)
    assert build is not None
    assert f"hatchling {build[1]}" in recipe["requirements"]["host"]
    command = re.search(r'^sumfit = "(.*)"', PYPROJECT, re.MULTILINE)
    assert command is not None
    assert recipe["build"]["python"]["entry_points"] == [f"sumfit = {command[1]}"]


def test_the_conda_recipe_can_be_rendered() -> None:
    rattler = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    recipe = rattler.Stage0Recipe.from_file(ROOT / "conda" / "recipe.yaml")
    (variant,) = recipe.render(rattler.VariantConfig())
    assert (variant.recipe.package.name, variant.recipe.package.version) == ("sumfit", __version__)


def test_the_page_on_installing_says_what_each_dependency_costs() -> None:
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (\d+) \|", page, re.MULTILINE)
    assert {name for name, _ in rows} == set(dependencies())
    sizes = [int(size) for _, size in rows]
    assert sizes == sorted(sizes, reverse=True)
    extras = re.search(r"\[project.optional-dependencies\]\n(.*?)\n\n", PYPROJECT, re.DOTALL)
    assert extras is not None
    names = set(re.findall(r"^([\w-]+) = ", extras[1], re.MULTILINE)) - {"dev"}
    table = page.partition("| extra |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([\w-]+)`", table)) == names


def test_the_size_of_the_environment_is_summed_by_dependency() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "environment_size.py")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = re.findall(r"^ *([\d.]+) MiB  ([\w-]+)", found.stdout, re.MULTILINE)
    by_name = {name: float(size) for size, name in lines}
    listed = [line for line in requires("sumfit") or [] if "extra ==" not in line]
    needed = {re.split(r"[^\w-]", line)[0] for line in listed}
    assert needed - {"tomli"} <= set(by_name)
    assert by_name["numba"] > by_name["regex"] > 0
    *parts, total = (float(size) for size, _ in lines)
    assert total == pytest.approx(sum(parts), abs=0.1 * len(parts))
    over = subprocess.run([*command, "--limit", "1"], capture_output=True, text=True, timeout=120)
    assert (over.returncode, over.stderr) == (1, "error: more than 1 MiB\n")


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
