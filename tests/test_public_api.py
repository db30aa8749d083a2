"""The public names: sorted, documented by their presence, importable, and cheap to import."""

import importlib
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import sumfit


def test_all_is_sorted_and_complete() -> None:
    assert sumfit.__all__ == sorted(sumfit.__all__)
    for name in sumfit.__all__:
        assert getattr(sumfit, name) is not None
    assert dir(sumfit) == sumfit.__all__


def test_public_names() -> None:
    assert sumfit.__all__ == [
        "DAG",
        "Hypothesis",
        "LengthBudget",
        "NBest",
        "Options",
        "SumfitError",
        "Summarizer",
        "Summary",
        "Tokenizer",
        "__version__",
        "measure",
        "pipeline",
        "warm_up",
    ]


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'sumfit' has no attribute 'Sumarizer'"):
        _ = sumfit.Sumarizer


@pytest.mark.parametrize("module", ["pipeline", "runtime", "text", "length", "decoding", "data"])
def test_every_package_exports_what_it_says(module: str) -> None:
    package = importlib.import_module(f"sumfit.{module}")
    for name in getattr(package, "__all__", []):
        assert getattr(package, name) is not None


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


HEAVY = ("torch", "fastapi", "pyarrow", "matplotlib", "pandas")


def test_the_pipeline_is_callable_whatever_was_imported_first() -> None:
    for first in ("sumfit", "sumfit.pipeline", "sumfit.pipeline.summarizer"):
        code = f"import {first}, sumfit; print(callable(sumfit.pipeline), sumfit.pipeline.__name__)"
        assert run(code) == "True sumfit.pipeline"


def test_importing_sumfit_imports_nothing_heavy() -> None:
    code = (
        "import sys, sumfit\n"
        "print([name for name in (*%r, 'numpy', 'numba', 'onnxruntime') if name in sys.modules])"
    )
    assert run(code % (HEAVY,)) == "[]"


def test_help_loads_no_compiler() -> None:
    code = (
        "import sys\n"
        "from sumfit.cli.app import run\n"
        "run(['text', '--help']); run(['presets'])\n"
        "print([name for name in ('numba', 'onnxruntime', 'torch') if name in sys.modules])"
    )
    assert run(code).splitlines()[-1] == "[]"


def test_summarizing_never_imports_an_extra(tiny_model: object, texts: tuple[str, ...]) -> None:
    code = (
        "import sys, sumfit\n"
        f"fit = sumfit.Summarizer.from_pretrained({str(tiny_model)!r})\n"
        f"fit({texts[0]!r}, max_chars=40)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_the_table_of_errors_is_the_code() -> None:
    from pathlib import Path

    from sumfit import errors

    page = Path(__file__).parent.parent / "docs" / "errors.md"
    rows = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 5 and cells[1].startswith("`") and cells[3].isdigit():
            rows[cells[1].strip("`")] = (cells[2].strip("`"), int(cells[3]), int(cells[4]))
    kinds = {name for name in errors.__all__ if name.endswith("Error")}
    assert sorted(rows) == sorted(kinds - {"SumfitError"})
    for name, (also, exit_code, status) in rows.items():
        found = getattr(errors, name)
        assert issubclass(found, errors.SumfitError)
        assert (found.exit_code, found.http_status) == (exit_code, status), name
        assert not also or also in [base.__name__ for base in found.__mro__], name


def test_the_former_name_of_a_cut_summary_still_works_and_warns() -> None:
    cut = sumfit.Summary("A storm", 7, "chars", 8, text_cut=True)
    with pytest.warns(DeprecationWarning, match=r"is now Summary\.text_cut .*source_truncated"):
        assert cut.truncated is True
    assert "truncated" not in repr(cut).replace("source_truncated", "")


def test_flags_of_a_summary_are_in_the_page_of_errors() -> None:
    page = (Path(__file__).parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
    flags = [one.name for one in fields(sumfit.Summary) if one.type == "bool"]
    assert {"complete", "optimal", "source_truncated", "text_cut", "unfinished"} == set(flags)
    table = page.partition("## Results that carry a flag")[2].partition("\n## ")[0]
    assert [name for name in flags if f"`{name}" not in table] == []
