"""Strict TOML recipes: a mapping becomes frozen dataclasses, or one error lists every problem.

Owns reading, inheritance, command-line overrides and type checks. Does not own what a recipe
contains: the dataclasses live beside the code that uses them (`sumfit.training.recipe`).

A file that begins with ``extends = "other.toml"`` (a path from its own folder) holds only what
differs from that file. Tables are merged key by key. In an array of tables with names, such as
``data.sets``, entries of the same name are merged and new ones are appended; any other array
replaces the inherited one. ``remove = ["loss.denoise", "data.sets.arxiv"]`` takes keys and entries
out of what is inherited. ``name`` and ``output_dir`` belong to one file and are not inherited.

A dataclass field may be ``bool``, ``int``, ``float``, ``str``, a ``Literal`` of these, a nested
dataclass, ``tuple[X, ...]`` or ``X | None``. An ``int`` is accepted where a ``float`` is asked
for, nothing else is converted.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sumfit.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["apply_overrides", "build", "check_fields", "read_toml", "to_mapping"]

T = TypeVar("T")
_LARGEST = 2**31 - 1  # number of an architecture
_MOST_BITS = 10_000  # of a whole number in TOML, which promises 64
_NOT_INHERITED = ("name", "output_dir")  # two runs must not write to the same directory
_BAD: Any = object()  # in place of a value that cannot be used; what is wrong has been listed


def read_toml(path: str | Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Read a TOML file, with what it inherits, and change it by ``key=value`` words.

    Args:
        path: The file.
        overrides: Words such as ``optimizer.lr=3e-4``; see `apply_overrides`.

    Returns:
        Nested mapping of the file's values; ``extends`` and ``remove`` have been used up.

    Raises:
        ConfigError: If a file is missing, is not UTF-8 TOML or extends itself, if ``remove`` names
            what is not inherited, or an override does not parse.
    """
    chain: dict[Path, dict[str, Any]] = {}  # from the file that was asked for to its last base
    file, heir = Path(path), ""
    while True:
        values = _read_file(file, heir)
        place = file.resolve()
        if place in chain:
            names = " -> ".join(each.name for each in (*chain, place))
            raise ConfigError(f"recipe {path} extends itself ({names}); remove one 'extends'")
        chain[place] = values
        base = values.pop("extends", None)
        if base is None:
            break
        if not isinstance(base, str):
            raise ConfigError(f"recipe {file}: extends must be the name of a file, was {base!r}")
        file, heir = file.parent / base, f", which {file} extends"
    result: dict[str, Any] = {}
    for place, values in reversed(chain.items()):
        removed = values.pop("remove", [])
        result = _without(result, removed, place)
        result = _merged(result, values, place)
    return apply_overrides(result, overrides)


def _read_file(path: Path, heir: str) -> dict[str, Any]:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"recipe {path} is not UTF-8 (byte {error.start})") from error
    except (OSError, ValueError) as error:  # a ValueError for a name with a NUL
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"cannot read recipe {path}{heir}: {reason}") from error
    try:
        return _parsed(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(f"recipe {path} is not TOML: {reason}") from error


def _without(inherited: Mapping[str, Any], keys: Any, file: Path) -> dict[str, Any]:
    """Copy what is inherited, without ``keys`` and without what belongs to one file."""
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise ConfigError(f"recipe {file}: remove must be a list of dotted keys, was {keys!r:.80}")
    result: dict[str, Any] = _copy(inherited)
    for key in keys:
        *parents, last = key.split(".")
        table: Any = result
        for name in parents:
            table = table.get(name) if isinstance(table, dict) else _entry(table, name)
        found = table.get(last) if isinstance(table, dict) else _entry(table, last)
        if found is None:
            raise ConfigError(f"recipe {file}: remove names {key!r}, which is not inherited")
        if isinstance(table, dict):
            del table[last]
        else:
            table.remove(found)
    return {key: value for key, value in result.items() if key not in _NOT_INHERITED}


def _entry(array: Any, name: str) -> Any:
    """The entry of an array of tables that has this name, or ``None``."""
    return next((entry for entry in _named(array) if entry["name"] == name), None)


def _merged(inherited: Any, own: Any, file: Path) -> Any:
    """Lay a recipe's own values over those that it inherits."""
    if isinstance(inherited, dict) and isinstance(own, dict):
        both = inherited.keys() & own.keys()
        changed = {key: _merged(inherited[key], own[key], file) for key in both}
        return {key: changed.get(key, value) for key, value in (inherited | own).items()}
    if _named(inherited) and _named(own):
        entries = {entry["name"]: entry for entry in inherited}
        names = [entry["name"] for entry in own]
        if len(entries) < len(inherited) or len(set(names)) < len(names):
            raise ConfigError(
                f"recipe {file}: two entries with one name cannot be merged with those of "
                f"{', '.join(map(repr, names)):.80}; rename one of them"
            )
        for name, entry in zip(names, own, strict=True):
            entries[name] = _merged(entries.get(name, {}), entry, file)
        return list(entries.values())
    return own


def _named(array: Any) -> list[dict[str, Any]]:
    """An array of tables in which every entry has a name; empty for any other value."""
    if not isinstance(array, list):
        return []
    is_named = all(isinstance(e, dict) and isinstance(e.get("name"), str) for e in array)
    return array if is_named else []


def _parsed(text: str) -> dict[str, Any]:
    """TOML; a `ValueError` for numbers too long to be shown in a message, in any notation."""
    values = tomllib.loads(text)
    rest: list[Any] = [values]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest += value.values()
        elif isinstance(value, list):
            rest += value
        elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise ValueError(f"a whole number of {value.bit_length()} bits")
    return values


def apply_overrides(values: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Set dotted keys in a nested mapping.

    The value is read as TOML (``3``, ``1e-4``, ``true``, ``["a", "b"]``); what is not TOML is
    taken as a string, so that paths need no quotes. In an array of tables an entry is named by
    its ``name`` or its number: ``data.sets.newsapi.weight=2``.

    Args:
        values: Mapping to start from; not changed.
        overrides: Words ``key=value``.

    Returns:
        A changed copy.

    Raises:
        ConfigError: If words are not ``key=value`` or a key leads through something that is not
            a table; every such word is listed.
    """
    result: dict[str, Any] = _copy(values)
    problems = []
    for word in overrides:
        key, equals, raw = word.partition("=")
        if not equals or not key.strip():
            problems.append(f"override {word!r} must be key=value, for example optimizer.lr=3e-4")
            continue
        problem = _set(result, key.strip().split("."), _parse_value(raw))
        if problem:
            problems.append(f"override {word!r}: {problem}")
    if problems:
        raise ConfigError("\n".join(problems))
    return result


def build(
    cls: type[T], values: Mapping[str, Any], *, where: str = "", what: str = "the recipe"
) -> T:
    """Turn a nested mapping into a frozen dataclass and check everything on the way.

    Args:
        cls: A dataclass.
        values: Nested mapping, as `read_toml` gives.
        where: Dotted prefix for the messages.
        what: What the values were read from, for the messages.

    Returns:
        An instance of ``cls``.

    Raises:
        ConfigError: If keys are unknown or missing, types are wrong, or a dataclass refuses its
            values; the message lists all problems, one a line.
    """
    problems: list[str] = []
    result = _build(cls, values, where, problems)
    if problems:
        head = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise ConfigError(f"{head} in {what}:\n{lines}")
    assert isinstance(result, cls)
    return result


def check_fields(cls: type, fields: Mapping[str, Any]) -> None:
    """Check stored fields of an architecture: every field of such a class has a plain default.

    Args:
        cls: The dataclass.
        fields: Name and value of each field; missing ones take their default.

    Raises:
        ConfigError: If a name is unknown or a type is wrong.
    """
    kinds = {field.name: type(field.default) for field in dataclasses.fields(cls)}
    unknown = sorted(set(fields) - set(kinds))
    if unknown:
        raise ConfigError(f"unknown architecture field {unknown[0]!r}; known: {sorted(kinds)}")
    for name, value in fields.items():
        kind = kinds[name]
        is_bool = isinstance(value, bool) and kind is not bool
        if is_bool or not isinstance(value, (int, float) if kind is float else kind):
            raise ConfigError(f"{name} must be {kind.__name__}, was {value!r:.80}")
        if isinstance(value, int | float) and not abs(value) <= _LARGEST:
            raise ConfigError(f"{name} must be at most {_LARGEST:,}, was {value!r:.80}")


def to_mapping(value: Any) -> Any:
    """Turn a dataclass into plain values that JSON and TOML can hold.

    Args:
        value: A dataclass instance, tuple, mapping or plain value.

    Returns:
        The same with dataclasses as dicts and tuples as lists.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_mapping(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_mapping(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_mapping(item) for key, item in value.items()}
    return value


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


def _parse_value(raw: str) -> Any:
    try:
        return _parsed(f"value = {raw}")["value"]
    except (ValueError, RecursionError, KeyError):
        return raw


def _set(table: Any, keys: list[str], value: Any) -> str | None:
    """Set ``keys`` in ``table`` in place; return what is wrong, or ``None``."""
    head, rest = keys[0], keys[1:]
    if isinstance(table, list):
        names = [item.get("name") if isinstance(item, dict) else None for item in table]
        if head in names:
            index = names.index(head)
        elif head.isdigit() and int(head) < len(table):
            index = int(head)
        else:
            known = ", ".join(str(name) for name in names if name)
            return f"no entry is named {head!r}; known: {known or 'none'}"
        if not rest:
            table[index] = value
            return None
        return _set(table[index], rest, value)
    if not isinstance(table, dict):
        return f"{head!r} lies inside a plain value, not a table"
    if not rest:
        table[head] = value
        return None
    return _set(table.setdefault(head, {}), rest, value)


def _build(cls: Any, values: Any, where: str, problems: list[str]) -> Any:
    if not isinstance(values, Mapping):
        problems.append(f"{where or 'the whole'} must be a table, was {values!r}")
        return _BAD
    hints = typing.get_type_hints(cls)
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    is_whole, n_before = True, len(problems)
    arguments: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{where}.{key}" if where else str(key)
        if key not in fields:
            near = difflib.get_close_matches(str(key), fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(fields)}"
            problems.append(f"{name} is not a known key; {hint}")
            continue
        arguments[key] = _convert(hints[key], value, name, problems)
    for key, field in fields.items():
        has_default = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        if key not in values and not has_default:
            problems.append(f"{where + '.' if where else ''}{key} is missing")
            is_whole = False
    if not is_whole or any(value is _BAD for value in arguments.values()):
        return _BAD
    try:  # unknown keys have been listed, but what the others say together can be checked
        return cls(**arguments)
    except ConfigError as error:
        prefix = f"{where}: " if where else ""
        problems.extend(f"{prefix}{line}" for line in str(error).splitlines())
        return _unchecked(cls, arguments)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        if len(problems) == n_before:
            raise
        return _BAD  # a check stumbled over values that have been listed


def _unchecked(cls: Any, arguments: Mapping[str, Any]) -> Any:
    """Make an instance that refused its values, so that what is around it can be checked too."""
    result = object.__new__(cls)
    for field in (field for field in dataclasses.fields(cls) if field.init):
        if field.name in arguments:
            value = arguments[field.name]
        elif field.default is not dataclasses.MISSING:
            value = field.default
        else:
            assert field.default_factory is not dataclasses.MISSING
            value = field.default_factory()
        object.__setattr__(result, field.name, value)
    return result


def _convert(hint: Any, value: Any, name: str, problems: list[str]) -> Any:
    origin = typing.get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return _build(hint, value, name, problems)
    if origin is typing.Literal:
        allowed = typing.get_args(hint)
        if value in allowed and type(value) in {type(item) for item in allowed}:
            return value
        shown = ", ".join(repr(item) for item in allowed)
        problems.append(f"{name} must be one of {shown}, was {value!r}")
        return _BAD
    if origin in (typing.Union, types.UnionType):
        inner = [item for item in typing.get_args(hint) if item is not type(None)]
        assert len(inner) == 1, f"{name}: only X | None is supported"
        return None if value is None else _convert(inner[0], value, name, problems)
    if origin is tuple:
        item_hint = typing.get_args(hint)[0]
        if not isinstance(value, list | tuple):
            problems.append(
                f"{name} must be a list, was {value!r}; write it in brackets, [{value!r}]"
            )
            return _BAD
        items = tuple(
            _convert(item_hint, item, f"{name}[{_label(item, index)}]", problems)
            for index, item in enumerate(value)
        )
        return _BAD if any(item is _BAD for item in items) else items
    return _convert_plain(hint, value, name, problems)


def _convert_plain(hint: Any, value: Any, name: str, problems: list[str]) -> Any:
    is_bool = isinstance(value, bool)
    if hint is float and isinstance(value, int | float) and not is_bool:
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond 1e308
            number = math.inf
        if not math.isfinite(number):
            problems.append(f"{name} must be a finite number, was {value}")
            return _BAD
        return number
    if hint is int and isinstance(value, int) and not is_bool:
        return value
    if hint in (bool, str) and isinstance(value, hint):
        return value
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "a string"}
    problems.append(f"{name} must be {words[hint]}, was {value!r}")
    return _BAD


def _label(item: Any, index: int) -> str:
    name = item.get("name") if isinstance(item, Mapping) else None
    return str(name) if isinstance(name, str) else str(index)
