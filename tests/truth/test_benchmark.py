"""The cases of the truth benchmark are well made: their own text is a right answer."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "truth"


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("truth_cases", FOLDER / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["truth_cases"] = module
    spec.loader.exec_module(module)
    return module


def test_there_are_enough_of_every_kind(cases: ModuleType) -> None:
    read = cases.read_cases()
    kinds = Counter(case.kind for case in read)
    assert len(read) >= 300
    assert min(kinds.values()) >= 20
    assert {case.genre for case in read} == {"news", "commit", "mail", "notice", "paper"}
    assert len({case.id for case in read}) == len({case.text for case in read}) == len(read)


def test_no_text_fits_as_it_is_and_each_is_right_by_itself(cases: ModuleType) -> None:
    for case in cases.read_cases():
        assert case.limit < 0.7 * len(case.text)
        assert case.faults(case.text) == [], case.id


def test_faults_are_found(cases: ModuleType) -> None:
    by_id = {case.id: case for case in cases.read_cases()}
    fall = by_id["negation-01"]
    assert fall.faults("No one hurt as tram leaves rails") == []
    assert fall.faults("Two hurt as tram leaves rails")
    assert fall.faults("") == ["empty"]
    assert fall.faults("Tram 7 leaves rails") == ["number 7"]
    assert fall.faults("Tram of Lisbon leaves rails") == ["name Lisbon"]
    assert by_id["denial-02"].faults("Kestrel bid for Brightfield")
    assert by_id["names-01"].faults("Sunak to call early election")


def test_every_pattern_can_match(cases: ModuleType) -> None:
    for case in cases.read_cases():
        for rule in (*case.never, *(part for pair in case.when for part in pair)):
            assert not re.search(r"<(?![!=]|denied|open|people|firms|teams|events)", rule), case.id
            re.compile(rule)
