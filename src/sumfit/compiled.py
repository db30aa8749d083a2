"""How loops are compiled, and where they are kept between runs: `njit`, with a cache to trust.

Owns the options of compilation and the place of the cache. numba keeps it beside the source and
looks at the one file a function is written in; that is not enough. A loop that calls a loop of
another file would go on using its old code after an upgrade, and a package directory that cannot
be written, without a home directory, is an error. So every module has a directory of its own,
named by the content of the file and of all files in folders called ``kernels`` that it takes loops
from.

The base is ``SUMFIT_CACHE_DIR`` if set; else the package's ``__pycache__``, the user's cache
directory or a private temporary directory, the first that can be written. Several processes may
start at once: numba replaces its files atomically.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
import numpy.typing as npt
from numba.core import event

from sumfit import compilation

__all__ = [
    "PUBLIC",
    "INLINE",
    "INTERNAL",
    "ALLOCATES",
    "BoolArray",
    "Float32Array",
    "Float64Array",
    "Int",
    "Int32Array",
    "Int64Array",
    "UInt8Array",
    "UInt32Array",
    "UInt64Array",
    "cache_base",
    "cache_key",
    "njit",
]

F = TypeVar("F", bound=Callable[..., Any])

Int = int | np.integer[Any]
"""A whole number of a loop that callers make in its width, as ``np.int64(0)``."""
BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]
UInt32Array = npt.NDArray[np.uint32]
UInt64Array = npt.NDArray[np.uint64]

_IMPORT = re.compile(r"^from sumfit\.((?:\w+\.)*kernels)(?:\.(\w+))? import (.+)$", re.MULTILINE)

# Loops that neither make nor return arrays do without reference counts, which cost more than what
# most of them do. Those that only other loops call have no entrance from Python either, which is
# slow to compile; and those that are called often with many arrays become part of the caller, for
# an array is handed over as seven numbers.
PUBLIC: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
ALLOCATES: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
INTERNAL: dict[str, Any] = {**ALLOCATES, "_nrt": False}
INLINE: dict[str, Any] = {**INTERNAL, "forceinline": True}


class _Watch(event.Listener):
    """Tells `sumfit.compilation` of every function that is compiled, not loaded."""

    def on_start(self, event: object) -> None:
        compilation.begins()

    def on_end(self, event: object) -> None:
        """Nothing to tell."""


_register: Any = event.register
_register("numba:compile", _Watch())


@overload
def njit(function: F) -> F: ...
@overload
def njit(**options: Any) -> Callable[[F], F]: ...
def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile as `numba.njit` does, with the cache in its own place.

    Args:
        function: The function, if there are no options.
        **options: Options of `numba.njit`.

    Returns:
        The compiled function, or a decorator.
    """
    if function is None:
        return lambda given: _compiled(given, options)
    return _compiled(function, options)


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    module = function.__module__.removeprefix("sumfit.")
    config: Any = numba.config
    before = config.CACHE_DIR
    base = Path(before) if before else cache_base()
    config.CACHE_DIR = str(base / f"sumfit-{module}-{cache_key(module)}")
    try:
        return numba.njit(**options)(function)
    finally:
        config.CACHE_DIR = before


@cache
def cache_key(module: str) -> str:
    """Name the code of a module: its own and that of every module it takes loops from.

    Args:
        module: Name of a module below the package, such as ``decoding.kernels.search``.

    Returns:
        12 hexadecimal digits.
    """
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or not _file(name).is_file():
            continue
        found.add(name)
        waiting += _taken_from(_file(name).read_text(encoding="utf-8"))
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + _file(name).read_bytes() + b"\0")
    return digest.hexdigest()[:12]


@cache
def cache_base() -> Path:
    """Choose where caches are kept.

    Returns:
        A directory that can be written; temporary if there is no other.
    """
    chosen = os.environ.get("SUMFIT_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    candidates = [
        *([Path(chosen)] if chosen else []),
        Path(__file__).parent / "__pycache__",
        Path(os.path.expanduser(home)) / "sumfit",
        Path(tempfile.gettempdir()) / f"sumfit-{_user()}",
    ]
    for candidate in candidates:
        if _is_usable(candidate):
            return candidate
    fresh = tempfile.mkdtemp(prefix="sumfit-")
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return Path(fresh)


def _taken_from(source: str) -> list[str]:
    """Modules of kernels that a source text imports from, named as in `cache_key`."""
    modules = []
    for folder, module, names in _IMPORT.findall(source):
        found = [module] if module else re.findall(r"\w+", names)
        modules += [f"{folder}.{name}" for name in found]
    return modules


def _file(module: str) -> Path:
    return Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")


def _is_usable(directory: Path) -> bool:
    """Return whether we can write a directory, and nobody else who cannot write the package."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
        if directory.parent == Path(tempfile.gettempdir()):
            facts = directory.lstat()
            return (
                stat.S_ISDIR(facts.st_mode)
                and facts.st_uid == _user()
                and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            )
    except OSError:
        return False
    return True


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
