"""What the message of an error is made of: it outlives processes, JSON and copies."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
from pathlib import Path

import pytest

from sumfit import errors
from sumfit.decoding import DecodeOptions
from sumfit.errors import (
    BudgetError,
    ConfigError,
    Keyword,
    ModelNotFoundError,
    SumfitError,
    TimeLimitError,
    given,
    joined,
)
from sumfit.length import LengthBudget, resolve_budget
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.options import OPTIONS

CLASSES = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]


def loud(keyword: Keyword) -> str:
    return f"{keyword}!".upper()


def test_a_parameter_with_its_value_is_a_part() -> None:
    error = BudgetError(given("max_chars", 60), " needs ", given("unit"), ", not 'a'")
    assert str(error) == "max_chars=60 needs unit=, not 'a'"
    assert error.text(loud) == "MAX_CHARS=60! needs UNIT=!, not 'a'"
    assert (error.parameter, error.value) == ("max_chars", 60)
    assert error.args == (str(error),)


def test_what_a_value_must_be_is_said_in_one_way() -> None:
    bare = ConfigError.of("beam_size", 0, "must be at least 1")
    assert str(bare) == "beam_size must be at least 1, was 0"
    more = ConfigError.of("clean", "no", "must be True or False", "leave out ", given("clean"))
    assert str(more) == "clean must be True or False, was 'no'; leave out clean="
    assert more.text(loud) == "CLEAN! must be True or False, was 'no'; leave out CLEAN=!"
    assert (more.parameter, more.value) == ("clean", "no")


def test_a_parameter_of_the_remedy_is_not_at_fault() -> None:
    error = SumfitError("the text is empty; use ", given("clean", False))
    assert (error.parameter, error.value) == (None, None)
    assert SumfitError("max_chars=60").text(loud) == "max_chars=60"
    assert SumfitError().parts == ("",)


def test_phrases_in_a_row() -> None:
    room = given("reserve", 3)
    assert joined(" and ", [room]) == [room]
    assert joined("; ", ["a", (room, " b"), room]) == ["a", "; ", room, " b", "; ", room]
    assert joined("; ", []) == []


@pytest.mark.parametrize("kind", [one for one in CLASSES if one is not errors.MissingExtraError])
def test_parts_go_wherever_an_error_goes(kind: type[SumfitError]) -> None:
    error = kind(Keyword("unit", "=<lambda>", len), " and ", given("max_chars", 9), " exclude")
    error.__notes__ = ["kept"]
    for other in (
        pickle.loads(pickle.dumps(error)),
        copy.copy(error),
        copy.deepcopy(error),
        kind.from_parts(json.loads(json.dumps(error.parts))),
    ):
        assert (type(other), str(other)) == (kind, "unit=<lambda> and max_chars=9 exclude")
        assert other.parts == error.parts
        assert (other.parameter, other.value) == ("unit", "<built-in function len>")
        assert other.text(loud) == "UNIT=<LAMBDA>! and MAX_CHARS=9! exclude"
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["kept"]


def test_an_error_about_an_extra_goes_from_process_to_process() -> None:
    error = errors.MissingExtraError("torch", "train")
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied)) == (errors.MissingExtraError, str(error))


def test_errors_that_the_system_has_too_show_their_message_alone() -> None:
    for kind in (ModelNotFoundError, TimeLimitError):
        error = kind("a", given("time_limit_s"), "b", "c")
        assert str(error) == "atime_limit_s=bc"
        assert (error.errno, error.filename) == (None, None)


def test_a_subclass_of_somebody_else_has_a_text() -> None:
    class Own(SumfitError):
        def __init__(self, code: int) -> None:
            self.code = code

        def __str__(self) -> str:
            return f"code {self.code}"

    error = Own(7)
    assert (error.text(loud), error.parts, error.parameter) == ("code 7", ("code 7",), None)


def test_decoders_and_limits_name_their_parameters() -> None:
    with pytest.raises(ConfigError, match="beam_size must be a whole number") as caught:
        DecodeOptions(unit_cost=[1], budget=LengthBudget(max=1), beam_size=0)
    assert (caught.value.parameter, caught.value.value) == ("beam_size", 0)
    with pytest.raises(BudgetError, match=r"exact=3 and max=4 exclude each other") as conflict:
        LengthBudget(exact=3, max=4)
    assert (conflict.value.parameter, conflict.value.value) == ("exact", 3)
    with pytest.raises(BudgetError, match="max_chars must be 0 or more, was -1") as negative:
        resolve_budget(max_chars=-1)
    assert (negative.value.parameter, negative.value.value) == ("max_chars", -1)


def test_no_error_names_a_parameter_outside_its_parts() -> None:
    others = "unit ratio_rule reserve prefix suffix backend device precision n_workers".split()
    names = "|".join((*LIMIT_KEYWORDS, *OPTIONS, *others))
    named = re.compile(rf"(?<![\w.-])({names})(=| must )")
    kinds = {kind.__name__ for kind in CLASSES}
    found = []
    for file in Path(errors.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in kinds:
                words = [one for argument in node.args for one in ast.walk(argument)]
                found += [
                    f"{file.name}:{node.lineno}: {word.value}"
                    for word in words
                    if isinstance(word, ast.Constant) and named.search(str(word.value))
                ]
    assert found == []
