"""Blind sheets tell nothing of systems, and the tally finds what the marks say."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reading import sheets, tally
from benchmarks.reading.__main__ import main
from sumfit.errors import ConfigError, DataFormatError

NAMES = ("reference", "ours", "lead")


def outputs(path: Path, n: int = 8) -> Path:
    """Made-up texts; ``ours`` is the reference where the number is even."""
    records = []
    for i in range(n):
        right = f"Ferry {i} to stop for repairs"
        ours = right if i % 2 == 0 else f"Ferry {i} stops"
        systems: dict[str, Any] = {
            "reference": right,
            "ours": {"text": ours, "log_prob": -1.0 - i % 2, "rouge": 90.0 - 50 * (i % 2)},
            "lead": f"The ferry {i} that crosses the",
        }
        source = f"The ferry {i} that crosses the bay will stop for repairs."
        record = {"genre": "news" if i < n // 2 else "notice", "limit": 40, "source": source}
        records.append(json.dumps({**record, "systems": systems}))
    path.write_text("\n".join(records) + "\n", encoding="utf-8")
    return path


def made(folder: Path, *options: str) -> tuple[Path, Path]:
    """Sheets and keys."""
    path, keys = outputs(folder / "outputs.jsonl"), folder / "keys.json"
    where = ["--sheets", str(folder / "sheets"), "--keys", str(keys)]
    assert main(["sheets", str(path), *where, *options]) == 0
    return folder / "sheets", keys


def lines_of(sheet: Path) -> dict[str, dict[str, str]]:
    """What a reader sees: of each text its lines by letter."""
    found: dict[str, dict[str, str]] = {}
    for block in sheet.read_text(encoding="utf-8").split("### ")[1:]:
        found[block.split()[0]] = dict(re.findall(r"^([A-Z]): (.*)$", block, re.MULTILINE))
    return found


def judge(line: str) -> list[int]:
    """A reader who likes whole sentences."""
    is_whole = not line.endswith("the")
    return [int(is_whole), 1, int(is_whole), int(line.endswith("repairs"))]


def read(folder: Path, keys: Path, n: int = 2) -> list[Path]:
    """Let readers of that opinion mark the sheets."""
    paths = []
    for number in range(1, n + 1):
        records = [
            json.dumps({"text": text, **{letter: judge(line) for letter, line in lines.items()}})
            for text, lines in lines_of(folder / f"sheet-{number}.md").items()
        ]
        paths.append(keys.parent / f"reader-{number}.jsonl")
        paths[-1].write_text("\n".join(records) + "\n", encoding="utf-8")
    return paths


def test_sheets_name_no_system_and_merge_equal_lines(tmp_path: Path) -> None:
    folder, _ = made(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "keys.json",
        "outputs.jsonl",
        "sheets",
    ]
    for number in (1, 2):
        text = (folder / f"sheet-{number}.md").read_text(encoding="utf-8")
        assert not [name for name in NAMES if name in text]
        sizes = []
        for lines in lines_of(folder / f"sheet-{number}.md").values():
            assert len(set(lines.values())) == len(lines)
            sizes.append(len(lines))
        assert set(sizes) == {2, 3}


def test_half_of_the_texts_are_on_both_sheets_in_orders_of_their_own(tmp_path: Path) -> None:
    folder, keys = made(tmp_path)
    letters = json.loads(keys.read_text(encoding="utf-8"))["letters"]
    of_sheet = [
        [key["text"] for label, key in letters.items() if label.startswith(f"{n}-")] for n in (1, 2)
    ]
    assert len(set(of_sheet[0]) & set(of_sheet[1])) == 4
    assert set(of_sheet[0]) | set(of_sheet[1]) == set(range(8))
    assert of_sheet[0] != sorted(of_sheet[0]) or of_sheet[1] != sorted(of_sheet[1])
    first = (folder / "sheet-1.md").read_bytes()
    made(tmp_path)
    assert (folder / "sheet-1.md").read_bytes() == first
    made(tmp_path, "--seed", "2")
    assert (folder / "sheet-1.md").read_bytes() != first


def test_every_share_is_the_readers_own_opinion(tmp_path: Path) -> None:
    folder, keys = made(tmp_path)
    reading = tally.Reading.load(keys, read(folder, keys))
    table = tally.shares(reading)
    rows = {(row[0], row[1]): row[2:] for row in table.rows}
    assert rows["all texts", "reference"] == (8, *["100 (100 to 100)"] * 4)
    n, grammatical, true, _, publish = rows["all texts", "lead"]
    assert (n, grammatical, true) == (8, "0 (0 to 0)", "100 (100 to 100)")
    assert publish == "0 (0 to 0)"
    assert str(rows["all texts", "ours"][-1]).startswith("50 (")
    assert {genre for genre, _ in rows} == {"news", "notice", "all texts"}


def test_the_command_prints_differences_agreement_and_correlations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, keys = made(tmp_path)
    paths = [str(path) for path in read(folder, keys)]
    arguments = ["tally", str(keys), *paths, "--compare", "ours", "lead", "--format", "json"]
    capsys.readouterr()
    assert main(arguments) == 0
    found = {table["title"]: table["rows"] for table in json.loads(capsys.readouterr().out)}
    (difference,) = found["Differences on the same texts"]
    assert difference["texts"] == 8
    assert difference["true"] == "+0.0 (+0.0 to +0.0)"
    assert difference["publish"].startswith("+50.0 (")
    for row in found["Agreement of readers"]:
        assert row["equal, %"] == 100
        # All lines are true to both readers: chance explains that too.
        assert row["kappa"] == (None if row["mark"] == "true" else 1)
    going = {row["of a line"]: row for row in found["Marks go with"]}
    assert going["log_prob"]["publish"] == going["rouge"]["publish"] == 1
    assert going["log_prob"]["lines"] == 8
    assert going["characters"]["lines"] == 20  # 24 of systems, 4 of them merged
    assert going["characters"]["true"] is None


def test_a_reader_who_errs_lowers_agreement(tmp_path: Path) -> None:
    folder, keys = made(tmp_path, "--shared", "1")
    paths = read(folder, keys)
    turned = re.sub(r"\[(\d), (\d)", r"[\1, 0", paths[1].read_text(encoding="utf-8"))
    paths[1].write_text(turned, encoding="utf-8")
    reading = tally.Reading.load(keys, paths)
    rows = {row[1]: row for row in tally.agreement(reading).rows}
    assert rows["true"][2:] == (20, 0, 0)
    assert rows["publish"][2:] == (20, 100, 1)
    assert str(tally.shares(reading).rows[0][4]).startswith("50 (50")


marks = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@given(marks)
def test_kappa_is_symmetric_and_one_only_for_full_agreement(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found = tally.kappa(left, right)
    if math.isnan(found):
        assert len({*left, *right}) == 1
        return
    assert found == pytest.approx(tally.kappa(right, left))
    assert found == pytest.approx(tally.kappa(1 - left, 1 - right))
    assert -1 - 1e-9 <= found <= 1 + 1e-9
    assert (found > 1 - 1e-9) == bool(np.array_equal(left, right))


def test_kappa_of_a_known_table() -> None:
    """20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.7 agree, 0.5 by chance."""
    left = np.array([1.0] * 25 + [0.0] * 25)
    right = np.array([1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15)
    assert tally.kappa(left, right) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "9-001"}, "no sheet has a text '9-001'"),
        ({"text": "1-001", "A": [1, 1, 1, 1]}, "marked were A; mark every line"),
        ({"text": "1-001", "A": [1, 1, 2, 1]}, "A must have four marks, 0 or 1"),
        ({"text": "1-001", "A": 1}, "A must have four marks, 0 or 1"),
    ],
)
def test_marks_that_do_not_fit_are_named(
    tmp_path: Path, record: dict[str, Any], message: str
) -> None:
    folder, keys = made(tmp_path)
    if "must have" in message:
        shown = lines_of(folder / "sheet-1.md")["1-001"]
        record = {**{letter: [1, 1, 1, 1] for letter in shown}, **record}
    path = tmp_path / "reader.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(DataFormatError, match=re.escape(message)):
        tally.Reading.load(keys, [path])


def test_a_text_marked_twice_is_an_error(tmp_path: Path) -> None:
    folder, keys = made(tmp_path)
    (path, *_) = read(folder, keys)
    path.write_text(path.read_text(encoding="utf-8") * 2, encoding="utf-8")
    with pytest.raises(DataFormatError, match="was marked before"):
        tally.Reading.load(keys, [path])


def test_wrong_plans_and_systems_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = outputs(tmp_path / "outputs.jsonl"), tmp_path / "sheets"
    inside = ["--sheets", str(folder), "--keys", str(folder / "keys.json")]
    assert main(["sheets", str(path), *inside]) == 1
    assert "keys must not lie in the folder of the sheets" in capsys.readouterr().err
    assert not folder.exists()
    with pytest.raises(ConfigError, match=r"shared must lie between 0 and 1, was 2"):
        sheets.Plan(shared=2)
    folder, keys = made(tmp_path)
    reading = tally.Reading.load(keys, read(folder, keys))
    with pytest.raises(ConfigError, match="must be one of lead, ours, reference, was 'other'"):
        tally.differences(reading, [("ours", "other")])
    path.write_text('{"source": "a"}\n', encoding="utf-8")
    with pytest.raises(DataFormatError, match=r"outputs\.jsonl:1 must be an object with 'source'"):
        sheets.read_outputs(path)
