"""The cache of compiled loops: never stale, never in the way, safe to share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

from sumfit import compiled


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    compiled.cache_key.cache_clear()
    compiled.cache_base.cache_clear()
    yield
    compiled.cache_key.cache_clear()
    compiled.cache_base.cache_clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package that may be changed."""
    copy = tmp_path / "sumfit"
    left_out = shutil.ignore_patterns("__pyc*", "assets")
    shutil.copytree(Path(compiled.__file__).parent, copy, ignore=left_out)
    monkeypatch.setattr(compiled, "__file__", str(copy / "compiled.py"))
    return copy


def test_a_change_in_a_module_reaches_all_that_call_it(package: Path) -> None:
    callers = ("decoding.kernels.search", "constraints.kernels.rules")
    called, other = "constraints.kernels.lexicon", "decoding.kernels.pathmap"
    before = {name: compiled.cache_key(name) for name in (*callers, called, other)}
    compiled.cache_key.cache_clear()
    with (package / "constraints" / "kernels" / "lexicon.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    after = {name: compiled.cache_key(name) for name in before}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {*callers, called}, "search calls rules, rules call lexicon"


def test_numbas_own_setting_is_left_alone() -> None:
    before = numba.config.CACHE_DIR
    compiled.njit(cache=True)(compiled.cache_key.__wrapped__)
    assert numba.config.CACHE_DIR == before


def test_the_base_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMFIT_CACHE_DIR", str(tmp_path / "mine"))
    assert compiled.cache_base() == tmp_path / "mine"


def deny(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Make some folders read-only, also for root."""
    real = tempfile.TemporaryFile

    def guarded(*arguments: object, dir: Path, **keywords: object) -> object:
        if any(folder == dir or folder in dir.parents for folder in folders):
            raise PermissionError(13, "read-only", str(dir))
        return real(*arguments, dir=dir, **keywords)  # type: ignore[call-overload]

    monkeypatch.setattr(compiled.tempfile, "TemporaryFile", guarded)


def test_a_read_only_package_uses_the_users_cache(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUMFIT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert compiled.cache_base() == package / "__pycache__"
    compiled.cache_base.cache_clear()
    deny(monkeypatch, package)
    assert compiled.cache_base() == tmp_path / "cache" / "sumfit"


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_without_a_home_a_private_temporary_directory_is_used(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUMFIT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-home"))
    shared = tmp_path / "tmp"
    shared.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    deny(monkeypatch, package, tmp_path / "no-home")
    private = compiled.cache_base()
    assert private == shared / f"sumfit-{os.getuid()}"
    assert private.stat().st_mode & 0o077 == 0
    compiled.cache_base.cache_clear()
    private.chmod(0o777)  # anyone may have put code there
    other = compiled.cache_base()
    assert other != private
    assert other.parent == shared
    assert other.stat().st_mode & 0o077 == 0


def test_processes_that_start_at_once_share_one_cache(tmp_path: Path) -> None:
    code = (
        "import numpy as np\n"
        "from sumfit.constraints.kernels.lexicon import narrow\n"
        "text = np.frombuffer(b'abc', np.uint8); start = np.array([0, 1, 2, 3])\n"
        "piece = np.frombuffer(b'b', np.uint8)\n"
        "print([int(n) for n in narrow(text, start, 0, 3, 0, piece, 0, 1)],"
        " sum(narrow.stats.cache_hits.values()))\n"
    )
    environment = {**os.environ, "SUMFIT_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    outputs = [process.communicate(timeout=300) for process in [start() for _ in range(3)]]
    assert all(out.startswith("[1, 2] ") and err == "" for out, err in outputs), outputs
    assert start().communicate(timeout=300) == ("[1, 2] 1\n", "")
