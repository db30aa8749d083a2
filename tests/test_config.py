from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from sumfit.config import apply_overrides, build, read_toml, to_mapping
from sumfit.errors import ConfigError


@dataclass(frozen=True)
class Part:
    name: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.weight < 0:
            raise ConfigError(f"weight must be 0 or more, was {self.weight}")


@dataclass(frozen=True)
class Whole:
    steps: int
    lr: float = 0.1
    fast: bool = False
    mode: Literal["a", "b"] = "a"
    parts: tuple[Part, ...] = ()
    limit: float | None = None


def test_a_recipe_round_trips_through_build_and_to_mapping():
    values = {
        "steps": 3,
        "lr": 1,
        "fast": True,
        "mode": "b",
        "parts": [{"name": "x", "weight": 2.0}],
        "limit": 4.0,
    }
    whole = build(Whole, values)
    assert whole == Whole(3, 1.0, True, "b", (Part("x", 2.0),), 4.0)
    assert isinstance(whole.lr, float)
    assert to_mapping(whole) == values


def test_every_problem_is_reported_at_once_with_its_place():
    with pytest.raises(ConfigError) as caught:
        build(
            Whole,
            {
                "lr": "fast",
                "fast": 1,
                "mode": "c",
                "stepz": 3,
                "parts": [{"name": "x", "weight": -1.0}, {"wait": 2}],
            },
        )
    lines = str(caught.value).splitlines()
    assert lines == [
        "8 problems in the recipe:",
        "  lr must be a number, was 'fast'",
        "  fast must be true or false, was 1",
        "  mode must be one of 'a', 'b', was 'c'",
        "  stepz is not a known key; did you mean 'steps'?",
        "  parts[x]: weight must be 0 or more, was -1.0",
        "  parts[1].wait is not a known key; did you mean 'weight'?",
        "  parts[1].name is missing",
        "  steps is missing",
    ]


def test_booleans_are_not_numbers():
    with pytest.raises(ConfigError, match="steps must be a whole number, was True"):
        build(Whole, {"steps": True})
    with pytest.raises(ConfigError, match="lr must be a number, was False"):
        build(Whole, {"steps": 1, "lr": False})


def test_a_plain_value_where_a_table_belongs_is_named():
    with pytest.raises(ConfigError, match=r"parts\[0\] must be a table, was 3"):
        build(Whole, {"steps": 1, "parts": [3]})
    with pytest.raises(
        ConfigError, match=r"parts must be a list, was 'x'; write it in brackets, \['x'\]"
    ):
        build(Whole, {"steps": 1, "parts": "x"})


def test_overrides_reach_nested_tables_and_named_entries():
    values = {"a": {"b": 1}, "sets": [{"name": "n", "w": 1}, {"name": "m", "w": 1}]}
    changed = apply_overrides(
        values, ["a.b=2", "a.c=/some/where", "sets.m.w=0.5", "sets.0.w=3", "x=true", "y=[1, 2]"]
    )
    assert changed["a"] == {"b": 2, "c": "/some/where"}
    assert [item["w"] for item in changed["sets"]] == [3, 0.5]
    assert changed["x"] is True
    assert changed["y"] == [1, 2]
    assert values["a"] == {"b": 1}


def test_bad_overrides_are_listed_together():
    with pytest.raises(ConfigError) as caught:
        apply_overrides({"a": 1, "sets": [{"name": "n"}]}, ["a", "a.b=1", "sets.q.w=2"])
    assert str(caught.value).splitlines() == [
        "override 'a' must be key=value, for example optimizer.lr=3e-4",
        "override 'a.b=1': 'b' lies inside a plain value, not a table",
        "override 'sets.q.w=2': no entry is named 'q'; known: n",
    ]


def test_files_that_are_not_toml_say_so(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read recipe .*: No such file"):
        read_toml(tmp_path / "none.toml")
    bad = tmp_path / "bad.toml"
    bad.write_text("a = = 1\n")
    with pytest.raises(ConfigError, match=r"bad.toml is not TOML: .*line 1"):
        read_toml(bad)
    bad.write_bytes(b"a = '\xff'\n")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        read_toml(bad)


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "1" + "0" * 400])
def test_a_number_is_finite(word):
    values = apply_overrides({"steps": 1}, [f"lr={word}", f"limit={word}"])
    with pytest.raises(ConfigError, match="2 problems") as caught:
        build(Whole, values)
    assert f"lr must be a finite number, was {word}" in str(caught.value)
    assert f"limit must be a finite number, was {word}" in str(caught.value)


def test_an_unknown_key_does_not_hide_what_the_others_say_together():
    with pytest.raises(ConfigError) as caught:
        build(Whole, {"steps": 1, "stepz": 2, "parts": [{"name": "x", "weight": -1, "wait": 2}]})
    assert [line.strip() for line in str(caught.value).splitlines()] == [
        "3 problems in the recipe:",
        "stepz is not a known key; did you mean 'steps'?",
        "parts[x].wait is not a known key; did you mean 'weight'?",
        "parts[x]: weight must be 0 or more, was -1.0",
    ]
