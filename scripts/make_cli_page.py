"""Write ``docs/cli.md`` from the commands themselves.

    python scripts/make_cli_page.py [--check]

``--check`` writes nothing and exits with 1 if the page is not current.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Any

from written import write_or_check

from sumfit.cli.app import load_command
from sumfit.cli.commands import COMMANDS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
HEAD = """# Command line

<!-- Written by scripts/make_cli_page.py; do not edit. -->

`sumfit "A text" --max-chars 63` is short for `sumfit text "A text" --max-chars 63`. Results go to
standard output, everything else to standard error. Exit codes: 0 good, 1 a run-time error, 2 wrong
usage, 130 interrupted. `--debug` anywhere shows a traceback when something fails. `sumfit
--install-completion` sets up completion for the shell, values of options included.

The first run in a new environment compiles the search, about a minute, and says so on standard
error; `SUMFIT_QUIET=1` leaves the line out, `sumfit warmup` compiles beforehand. A job with
`--output` says every 15 seconds how far it is, also in a log.

## Settings

`sumfit text`, `summarize` and `inspect` read options from `sumfit.toml`, or from the table
`[tool.sumfit]` of `pyproject.toml`, in the current folder or the nearest one above that has either;
of both in one folder `sumfit.toml` is read.

```toml
max-chars = 50          # names of options, without the dashes in front
style = "commit"
ban = ["misc", "various"]

[summarize]             # for this command alone; [tool.sumfit.summarize] in pyproject.toml
format = "jsonl"
```

The command line wins over environment variables (`SUMFIT_MODEL`, `SUMFIT_CONFIG`), these over the
file, and in the file a command's table over what stands at the top. A limit on the command line
replaces the file's limit, whatever its unit. An unknown key is an error. `sumfit --show-config`
prints every option that is set, where it comes from, and what it replaced; `--config FILE` takes
another file and `--config none` none. Directories (`model`, `rerank`) are relative to the file.
What is meant for one call (`output`, `overwrite`, `restart`, `json`) cannot be set there.
"""


def page() -> str:
    """Make the page.

    Returns:
        Markdown.
    """
    parts = [HEAD]
    for name, command in COMMANDS.items():
        if find_spec(command.target.partition(":")[0]) is None:
            continue
        real = load_command(name)
        parts.append(f"## sumfit {name}\n")
        if hasattr(real, "commands"):
            parts.append(f"{command.summary}\n")
            for sub, inner in sorted(real.commands.items()):
                parts.append(f"### sumfit {name} {sub}\n")
                parts.append(_one(inner))
        else:
            parts.append(_one(real))
    return "\n".join(parts)


def _one(command: Any) -> str:
    lines = [_paragraphs(command.help or ""), ""]
    groups: dict[str, list[str]] = {}
    for parameter in command.params:
        if "--help" in parameter.opts:
            continue
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        if parameter.param_type_name == "argument":
            names = f"`{parameter.name.upper()}`"
        text = (getattr(parameter, "help", "") or "").replace("\\[", "[")
        default = parameter.default
        plain = isinstance(default, (str, int, float, PurePath)) and not isinstance(default, bool)
        if plain and default != "" and not callable(default):
            text = f"{text.rstrip('.')}. Default: `{default}`."
        group = getattr(parameter, "rich_help_panel", None) or "option"
        groups.setdefault(group, []).append(f"| {names} | {text.replace('|', '/')} |")
    for group in sorted(groups, key=lambda name: name != "option"):  # that of the most used first
        lines += [f"| {group} | |", "|---|---|", *groups[group], ""]
    return "\n".join(lines)


def _paragraphs(text: str) -> str:
    blocks = []
    for block in text.split("\n\n"):
        joined = " ".join(line.strip() for line in block.strip().splitlines())
        is_example = joined.startswith(("sumfit ", "torchrun ", "cat "))
        blocks.append(f"```\n{joined}\n```" if is_example else joined)
    return "\n\n".join(blocks)


def main() -> int:
    """Write or check the page.

    Returns:
        Exit code.
    """
    return write_or_check({PAGE: page()}, "make_cli_page.py")


if __name__ == "__main__":
    sys.exit(main())
