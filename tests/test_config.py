from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

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


def recipe_files(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    return folder


def test_a_recipe_holds_only_what_differs_from_the_one_it_extends(tmp_path):
    recipe_files(
        tmp_path,
        base='name = "base"\nlr = 1\nlists = ["a", "b"]\n[loss]\nsmooth = 0.1\nglance = 0.5\n'
        '[[sets]]\nname = "x"\nfile = "x.txt"\nweight = 1.0\n'
        '[[sets]]\nname = "y"\nfile = "y.txt"\n',
        middle='extends = "base.toml"\nremove = ["loss.glance", "sets.y", "sets.x.weight"]\n'
        'lists = ["c"]\n[loss]\nsmooth = 0.2\n',
        last='extends = "middle.toml"\nname = "last"\n'
        '[[sets]]\nname = "z"\nfile = "z.txt"\n[[sets]]\nname = "x"\nprofile = "both"\n',
    )
    assert read_toml(tmp_path / "last.toml", ["sets.z.weight=2"]) == {
        "name": "last",
        "lr": 1,
        "lists": ["c"],
        "loss": {"smooth": 0.2},
        "sets": [
            {"name": "x", "file": "x.txt", "profile": "both"},
            {"name": "z", "file": "z.txt", "weight": 2},
        ],
    }


def test_a_base_is_looked_for_beside_the_file_that_names_it(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    recipe_files(tmp_path, base="lr = 1\n")
    recipe_files(tmp_path / "inner", own='extends = "../base.toml"\n')
    monkeypatch.chdir("/")
    assert read_toml(tmp_path / "inner" / "own.toml") == {"lr": 1}


def test_name_and_output_directory_are_not_inherited(tmp_path):
    recipe_files(
        tmp_path, base='name = "base"\noutput_dir = "runs/base"\n', own='extends = "base.toml"\n'
    )
    assert read_toml(tmp_path / "own.toml") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "own.toml"', r"extends itself \(own.toml -> own.toml\); remove one 'extends'"),
        ('extends = "back.toml"', r"extends itself \(own.toml -> back.toml -> own.toml\)"),
        ("extends = 3", "extends must be the name of a file, was 3"),
        ('extends = "none.toml"', r"cannot read recipe .*none.toml, which .*own.toml extends: No"),
        ('extends = "a\\u0000b"', "cannot read recipe .* extends: .*null"),
        ('extends = "broken.toml"', "broken.toml is not TOML"),
        ('extends = "base.toml"\nremove = ["loss.glace"]', "'loss.glace', which is not inherited"),
        ('extends = "base.toml"\nremove = ["sets.y"]', "'sets.y', which is not inherited"),
        ('extends = "base.toml"\nremove = ["lr.a.b"]', "'lr.a.b', which is not inherited"),
        ('extends = "base.toml"\nremove = "lr"', "must be a list of dotted keys, was 'lr'"),
        ('remove = ["lr"]', "'lr', which is not inherited"),
        (
            'extends = "base.toml"\n[[sets]]\nname = "x"\n[[sets]]\nname = "x"\n',
            "two entries with one name cannot be merged with those of 'x', 'x'; rename one",
        ),
    ],
)
def test_an_inheritance_that_cannot_be_resolved_is_refused(tmp_path, text, message):
    recipe_files(
        tmp_path,
        own=text,
        back='extends = "own.toml"',
        broken="a = = 1",
        base='lr = 1\n[loss]\nglance = 0.5\n[[sets]]\nname = "x"\n',
    )
    with pytest.raises(ConfigError, match=message):
        read_toml(tmp_path / "own.toml")


def test_unknown_keys_are_refused_wherever_they_come_from(tmp_path):
    recipe_files(tmp_path, base="steps = 1\nstepz = 2\n", own='extends = "base.toml"\nlrr = 1\n')
    with pytest.raises(ConfigError, match=r"stepz is not a known key.*(\n.*)?lrr is not a known"):
        build(Whole, read_toml(tmp_path / "own.toml"))


_SETS = st.dictionaries(
    st.sampled_from("abc"), st.dictionaries(st.sampled_from("wxyz"), st.integers(0, 3)), max_size=3
)
_VALUES = st.fixed_dictionaries(
    {},
    optional={
        "lr": st.integers(0, 3),
        "loss": st.dictionaries(st.sampled_from("pqr"), st.integers(0, 3)),
        "lists": st.lists(st.integers(0, 3)),
        "sets": _SETS.map(lambda d: [{"name": name, **entry} for name, entry in d.items()]),
    },
)


@given(base=_VALUES, own=_VALUES)
def test_what_a_recipe_says_itself_holds_and_the_rest_is_inherited(tmp_path_factory, base, own):
    folder = tmp_path_factory.mktemp("recipes")
    recipe_files(
        folder, base=tomli_w.dumps(base), own=tomli_w.dumps({"extends": "base.toml", **own})
    )
    found = read_toml(folder / "own.toml")
    assert found.keys() == base.keys() | own.keys()
    for key in ("lr", "lists"):
        assert found.get(key) == own.get(key, base.get(key))
    assert found.get("loss", {}) == base.get("loss", {}) | own.get("loss", {})
    if own.get("sets") == []:
        assert found["sets"] == []
        return
    named = [{e["name"]: e for e in each.get("sets", [])} for each in (base, own, found)]
    assert list(named[2]) == [*named[0], *(name for name in named[1] if name not in named[0])]
    for name, entry in named[2].items():
        assert entry == named[0].get(name, {}) | named[1].get(name, {})
    assert read_toml(folder / "base.toml") == base
