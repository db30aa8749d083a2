"""The Spark recipe of the documentation, run as it stands there on a local Spark."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from sumfit import Summarizer
from tests.tiny_model import TEXTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "files-and-clusters.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what pyspark itself warns of is not ours
def test_the_recipe_adds_the_librarys_own_summaries(
    tiny_model: Path, fit: Summarizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("java is not installed")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    recipe: dict[str, Any] = {"MODEL": str(tiny_model)}
    exec(compile(code, str(PAGE), "exec"), recipe)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    spark = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path / "warehouse"))
        .getOrCreate()
    )
    try:
        rows = [(i, TEXTS[i % len(TEXTS)]) for i in range(20)] + [(20, "  ")]
        frame = spark.createDataFrame(rows, "id long, text string").repartition(2)
        found = {row["id"]: row for row in recipe["add_summaries"](frame).collect()}
    finally:
        spark.stop()
    assert sorted(found) == list(range(21))
    for number, text in rows[:20]:
        summary = fit(text, max_chars=60)
        assert (found[number]["summary"], found[number]["summary_length"]) == (
            summary.text,
            summary.length,
        )
    assert "the text is empty" in found[20]["summary_error"]
