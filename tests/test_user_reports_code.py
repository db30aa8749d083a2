"""What users of other summarizers reported about installing and loading, one test for each kind."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from pathlib import Path

import pytest

from sumfit.cli.app import _PACKAGES_OF_EXTRA
from sumfit.errors import MissingExtraError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = sorted((ROOT / "src" / "sumfit").rglob("*.py"))
NATIVE = {".so", ".pyd", ".dll", ".dylib", ".a", ".o", ".c", ".cc", ".cpp", ".cu", ".pyx"}
# Decoders and scorers that need a compiler, Perl or a WordNet database, or are no longer kept.
FORGOTTEN = {
    "ctcdecode",
    "fairseq",
    "files2rouge",
    "flashlight-text",
    "hydra-core",
    "openfst-python",
    "pyctcdecode",
    "pyrouge",
    "torchaudio",
}


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~; ]", line)[0].lower() for line in requirements}


def test_nothing_is_compiled_at_installation_and_nothing_forgotten_is_needed() -> None:
    """Loss extensions and CTC decoders failed to compile, or knew no newer GPU."""
    files = [file for file in (ROOT / "src").rglob("*") if "__pycache__" not in file.parts]
    assert len(files) > 100
    assert [file for file in files if file.suffix in NATIVE] == []
    extras = PROJECT["optional-dependencies"].values()
    names = names_of([*PROJECT["dependencies"], *itertools.chain.from_iterable(extras)])
    assert {"numpy", "onnxruntime", "torch"} <= names
    assert not names & FORGOTTEN


def test_what_is_said_to_install_brings_what_is_missing() -> None:
    """A hint named an extra that did not exist, or a package that no index has."""
    brought = {"fastapi": {"pydantic", "starlette"}}
    hints = set()
    for file in MODULES:
        found = re.findall(r'MissingExtraError\(.*"([\w-]+)", "(\w+)"\)', file.read_text("utf-8"))
        hints.update(found)
    hints |= {(name, extra) for extra, names in _PACKAGES_OF_EXTRA.items() for name in names}
    assert {("torch", "train"), ("pydantic", "serve"), ("pyarrow", "parquet")} <= hints
    for package, extra in hints:
        names = names_of([*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]])
        names |= {other for name in names for other in brought.get(name, ())}
        assert package.replace("_", "-") in names, (package, extra)
    assert str(MissingExtraError("torch", "train")) == (
        "torch is not installed; run: pip install 'sumfit[train]' "
        "(in a clone that is not installed: pip install '.[train]')"
    )


def test_the_core_needs_no_torch() -> None:
    """A summarizer brought gigabytes of libraries that it did not use."""
    assert not names_of(PROJECT["dependencies"]) & {
        "torch",
        "transformers",
        "tensorflow",
        "datasets",
        "nltk",
    }


@pytest.mark.parametrize("version", [(3, 10), (3, 13)])
def test_every_module_is_python_of_all_supported_versions(version: tuple[int, int]) -> None:
    """An import failed on the next Python."""
    assert PROJECT["requires-python"] == ">=3.10"
    for file in MODULES:
        ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=version)


def loads_code(tree: ast.AST) -> list[str]:
    """Calls and imports of a module that could run code out of a file of weights."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.append(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            is_off = isinstance(node.value, ast.Constant) and node.value.value is False
            found += [] if is_off else ["allow_pickle"]
    forbidden = {"pickle", "dill", "joblib", "marshal", "shelve", "torch.load", "allow_pickle"}
    return sorted(forbidden & set(found))


def test_a_model_is_data_and_no_program() -> None:
    """Checkpoints held pickled objects, which newer versions refuse to load."""
    assert loads_code(ast.parse("import torch\nx = torch.load('w')")) == ["torch.load"]
    assert loads_code(ast.parse("np.load(f, allow_pickle=True)")) == ["allow_pickle"]
    for file in MODULES:
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
        assert loads_code(tree) == [], file


def test_every_function_fits_on_a_screen() -> None:
    """Functions of hundreds of lines could be neither read nor tested; kernels are one loop."""
    long = []
    for file in MODULES:
        if "kernels" in file.as_posix():
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            is_documented = ast.get_docstring(node) is not None and len(node.body) > 1
            first = node.body[1 if is_documented else 0]  # the options of a command are no work
            assert node.end_lineno is not None
            if node.end_lineno - first.lineno + 1 > 50:
                long.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert long == []
