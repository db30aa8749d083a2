"""Write ``docs/cli.md`` from the commands themselves.

    python scripts/make_cli_page.py [--check]

``--check`` writes nothing and exits with 1 if the page is not current.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sumfit.cli.app import load_command
from sumfit.cli.commands import COMMANDS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
HEAD = """# Command line

<!-- Written by scripts/make_cli_page.py; do not edit. -->

`sumfit "text" --max-chars 63` is short for `sumfit text "text" --max-chars 63`. Results go to
standard output, everything else to standard error. Exit codes: 0 good, 1 a run-time error, 2 wrong
usage, 130 interrupted. `--debug` anywhere shows a traceback when something fails. `sumfit
--install-completion` sets up completion for the shell.
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
    rows = []
    for parameter in command.params:
        if "--help" in parameter.opts:
            continue
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        if parameter.param_type_name == "argument":
            names = f"`{parameter.name.upper()}`"
        text = getattr(parameter, "help", "") or ""
        default = parameter.default
        plain = isinstance(default, (str, int, float)) and not isinstance(default, bool)
        if plain and default != "" and not callable(default):
            text = f"{text} Default: `{default}`."
        rows.append(f"| {names} | {text.replace('|', '/')} |")
    if rows:
        lines += ["| option | |", "|---|---|", *rows, ""]
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
    current = page()
    if "--check" in sys.argv[1:]:
        is_current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == current
        if not is_current:
            sys.stderr.write(f"{PAGE} is not current; run: python scripts/make_cli_page.py\n")
        return 0 if is_current else 1
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
