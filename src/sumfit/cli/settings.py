"""A file of settings: options that a project says once, in ``sumfit.toml`` or ``pyproject.toml``.

Owns where the file is looked for, what it may hold, and which source of an option wins. Does not
own the options (`sumfit.cli.options`).

The nearest folder from the current one upwards that has ``sumfit.toml``, or ``pyproject.toml``
with a table ``[tool.sumfit]``, is taken; of both in one folder the former. Keys are the names of
options without dashes in front: ``max-chars = 50``. What stands at the top is for every command
that summarises; a table named as a command, as ``[tool.sumfit.summarize]``, is for that one and
wins. The command line wins over environment variables, these over the file.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sumfit.errors import ConfigError
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.text.printable import one_line, printable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "CONFIGURED",
    "SettingsFile",
    "SettingsFlags",
    "find_settings",
    "settings_of",
    "settle",
    "where_set",
]

CONFIGURED = ("text", "summarize", "inspect")
"""Commands that read the file."""

_PANEL = "Settings"
_NO_FILE = "none"
_PYPROJECT = "pyproject.toml"
_OWN = "sumfit.toml"
# What is asked for one call: a file that says it would surprise the next one.
_CALL_ONLY = frozenset({"config", "show-config", "output", "overwrite", "restart", "help", "json"})
_LIMITS = frozenset({*LIMIT_KEYWORDS, "unit", "ratio_rule"})
_MOST_BYTES = 1_000_000
_META = "sumfit.settings"

_active: dict[str, str] = {}  # flag -> place of the file that set it, in the command that runs


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings, read.

    Attributes:
        path: The file.
        values: Its table: names of options, and tables named as commands.
    """

    path: Path
    values: Mapping[str, Any]

    def options(self, command: Any) -> dict[str, Any]:
        """The settings of a command, as its parser takes them.

        Args:
            command: The click command.

        Returns:
            Name of the parameter -> value.

        Raises:
            ConfigError: If a key is no option of any of `CONFIGURED`, or a value is of the wrong
                type.
        """
        known = _known_options()
        own = {_flag(one)[2:]: one for one in command.params if _is_option(one)}
        found: dict[str, Any] = {}
        for table in ("", str(command.name)):
            for key, value in self._entries(table, known):
                if key in own:
                    found[own[key].name] = self._value(key, value, own[key])
        return found

    def _entries(self, table: str, known: Mapping[str, frozenset[str]]) -> Iterator[Any]:
        """Keys and values of the top, or of a command's table, each checked."""
        values = self.values.get(table, {}) if table else self.values
        allowed = known[table] if table else frozenset().union(*known.values())
        seen: dict[str, str] = {}
        for name, value in values.items():
            if not table and name in known and isinstance(value, Mapping):
                list(self._entries(name, known))  # a mistake there is one for every command
                continue
            key = name.replace("_", "-")
            where = f"{self._place}, {f'[{table}] ' if table else ''}{printable(name)}"
            if key in _CALL_ONLY:
                raise ConfigError(f"{where}: can be given on the command line alone; leave it out")
            if key not in allowed:
                near = difflib.get_close_matches(key, allowed, n=1)
                hint = f"did you mean {near[0]}?" if near else "see sumfit text --help"
                raise ConfigError(f"{where}: there is no such option; {hint}")
            if key in seen:
                raise ConfigError(f"{where}: is there as {seen[key]} too; keep one")
            seen[key] = name
            yield key, value

    def _value(self, key: str, value: Any, parameter: Any) -> Any:
        """A value as the command line would have it."""
        where = f"{self._place}, {key}"
        if parameter.is_flag:
            if not isinstance(value, bool):
                raise ConfigError(f"{where}: must be true or false, was {value!r}")
            return value
        if isinstance(value, bool):
            raise ConfigError(f"{where}: must not be true or false, was {str(value).lower()}")
        if parameter.multiple:
            values = [value] if isinstance(value, str) else value
            if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
                raise ConfigError(f"{where}: must be a list of strings, was {value!r}")
            return values
        if isinstance(value, list) and parameter.name in _LIMITS:
            value = ",".join(str(one) for one in value)
        if not isinstance(value, str | int | float):
            raise ConfigError(f"{where}: must be a number or a string, was {value!r}")
        is_path = key in ("model", "rerank") and (self.path.parent / str(value)).is_dir()
        return str(self.path.parent / str(value)) if is_path else str(value)

    @property
    def _place(self) -> str:
        return one_line(str(self.path))


def find_settings(start: Path) -> SettingsFile | None:
    """Look for a file of settings from a folder upwards.

    Args:
        start: The folder.

    Returns:
        The nearest file, ``None`` if there is none.
    """
    for folder in (start, *start.parents):
        for name in (_OWN, _PYPROJECT):
            file = folder / name
            if file.is_file():
                found = _read(file)
                if found is not None:
                    return found
    return None


def _read(file: Path) -> SettingsFile | None:
    """The settings of a file; ``None`` of a ``pyproject.toml`` that has none."""
    is_shared = file.name == _PYPROJECT
    place = one_line(str(file))
    try:
        with file.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        if is_shared:
            return None
        raise ConfigError(f"cannot read settings {place}: {error.strerror}; check it") from error
    if is_shared and b"sumfit" not in data:
        return None
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"settings {place} have over {_MOST_BYTES} bytes; give another file")
    try:
        values: Any = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"settings {place} are not TOML: {error}; correct them") from error
    if is_shared:
        tools = values.get("tool", {})
        values = tools.get("sumfit") if isinstance(tools, Mapping) else None
        if values is None:
            return None
    if not isinstance(values, Mapping):
        raise ConfigError(f"settings {place}: tool.sumfit must be a table, was {values!r}")
    return SettingsFile(file, values)


def _has_settings(file: Path) -> bool:
    try:
        return file.is_file() and _read(file) is not None
    except ConfigError:
        return True


def _use(context: typer.Context, value: str | None) -> str | None:
    """Let the file fill in what neither command line nor environment say."""
    if context.resilient_parsing or value == _NO_FILE:
        return value
    if value:
        file = Path(value)
        if not file.is_file():
            raise ConfigError(
                f"--config {printable(value)} is no file; give one, or none to use no file"
            )
        found = _read(file)
        if found is None:
            raise ConfigError(f"--config {printable(value)} has no table [tool.sumfit]; add it")
    else:
        found = find_settings(Path.cwd())
    if found is not None:
        context.default_map = found.options(context.command)
        context.meta[_META] = found.path
    return value


@dataclass(frozen=True)
class SettingsFlags:
    """Which file of settings holds, and what comes of it."""

    config: Annotated[
        str | None,
        typer.Option(
            help="File of settings, or none for no file; sumfit.toml or [tool.sumfit] of "
            "pyproject.toml here or above if not given.".replace("[", "\\["),
            metavar="FILE|none",
            envvar="SUMFIT_CONFIG",
            is_eager=True,
            callback=_use,
            rich_help_panel=_PANEL,
        ),
    ] = None
    show_config: Annotated[
        bool,
        typer.Option(
            "--show-config",
            help="Print what is set, and where, and stop.",
            rich_help_panel=_PANEL,
        ),
    ] = False


def settle(context: Any) -> None:
    """Let what the command line says replace what the file says of the same matter.

    Limits are one matter: a limit on the command line replaces the file's, whatever its unit.

    Args:
        context: Of the command, whose line has been read.

    Raises:
        typer.Exit: If only the settings were asked for, which are printed.
    """
    _active.clear()
    if "show_config" not in context.params:
        return
    file = context.meta.get(_META)
    lost = _give_way(context)
    for parameter in context.command.params:
        if _source(context, parameter) == "DEFAULT_MAP" and parameter.name not in lost:
            _active[_flag(parameter)] = one_line(str(file))
    if context.params["show_config"]:
        for line in _report(context, file, lost):
            print(line)
        raise typer.Exit


def settings_of(context: Any, parameter: Any) -> str:
    """Say that a file of settings has a value that cannot be read, if it is one of a file.

    Args:
        context: Of the command; ``None`` where there is none.
        parameter: The option.

    Returns:
        Words to put behind a message, empty if the value comes from elsewhere.
    """
    if context is None or _source(context, parameter) != "DEFAULT_MAP":
        return ""
    return f" (set in {one_line(str(context.meta.get(_META)))})"


def where_set(message: str) -> str:
    """Add to an error about an option the file that sets it.

    Args:
        message: In the command line's words.

    Returns:
        The message, longer if a setting of a file is at fault.
    """
    words = message.replace(",", " ").replace(";", " ").split()
    places = [place for flag, place in _active.items() if flag in words]
    return f"{message} (set in {places[0]})" if places else message


def _give_way(context: Any) -> frozenset[str]:
    """Take the file's limit back where the command line has one; return what was taken back."""
    given = {one.name: _source(context, one) for one in context.command.params}
    limits = {name for name in given if name in _LIMITS}
    says = {name for name in limits if given[name] in ("COMMANDLINE", "ENVIRONMENT")}
    if not says & set(LIMIT_KEYWORDS):
        return frozenset()
    keeps_unit = any(name.endswith("_length") or name == "ratio" for name in says)
    kept = {"unit", "ratio_rule"} if keeps_unit else set()
    lost = {name for name in limits if given[name] == "DEFAULT_MAP"} - kept
    for name in lost:
        context.params[name] = None
    return frozenset(lost)


def _report(context: Any, file: Path | None, lost: frozenset[str]) -> Iterator[str]:
    """What is set, one option a line, with its source and what it replaced."""
    yield f"settings  {one_line(str(file)) if file else 'no file'}"
    if file and file.name == _OWN and _has_settings(file.with_name(_PYPROJECT)):
        yield f"not read  {one_line(str(file.with_name(_PYPROJECT)))}  ({_OWN} beside it wins)"
    names = {
        "COMMANDLINE": "command line",
        "ENVIRONMENT": "environment",
        "DEFAULT_MAP": file.name if file else "",
    }
    table = context.default_map or {}
    for parameter in context.command.params:
        name, source = parameter.name, _source(context, parameter)
        if not _is_option(parameter) or _flag(parameter)[2:] in _CALL_ONLY or source not in names:
            continue
        if name in lost:
            yield f"{_flag(parameter)[2:]}  not used: the command line has a limit ({file})"
            continue
        value = context.params[name]
        shown = ", ".join(value) if isinstance(value, list | tuple) else printable(str(value))
        instead = ""
        if source != "DEFAULT_MAP" and name in table:
            instead = f"; {names['DEFAULT_MAP']}: {printable(str(table[name]))}"
        yield f"{_flag(parameter)[2:]}  {shown}  ({names[source]}{instead})"


def _known_options() -> dict[str, frozenset[str]]:
    """The names of all options, by command."""
    from sumfit.cli.app import load_command

    return {
        name: frozenset(_flag(one)[2:] for one in load_command(name).params if _is_option(one))
        for name in CONFIGURED
    }


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _flag(parameter: Any) -> str:
    """The first long name of an option, as it stands on the command line."""
    return str(next((one for one in parameter.opts if one.startswith("--")), parameter.opts[0]))


def _source(context: Any, parameter: Any) -> str:
    """Where a value comes from, by the name that click has for it."""
    source = context.get_parameter_source(parameter.name)
    return str(getattr(source, "name", ""))
