"""Write ``docs/options.md`` from the declarations of the options.

    python scripts/make_options_page.py [--check]

``--check`` writes nothing and exits with 1 if the page is not current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from written import write_or_check

from sumfit.options import GROUPS, OPTIONS, Option
from sumfit.pipeline.options import CHOICES, help_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "options.md"
HEAD = """# Options

<!-- Written by scripts/make_options_page.py; do not edit. -->

Every option of a summary beside its length (see [length units](length-units.md)). The names are
those of the keyword arguments, `Summarizer()(text, max_chars=60, n_best=3)`, of the fields of an
HTTP request, and, with dashes, of the flags. A switch that is on has a flag `--no-NAME`. Options
that decide how much work a request is are the operator's: HTTP does not take them.
"""


def page() -> str:
    """Make the page.

    Returns:
        Markdown.
    """
    parts = [HEAD]
    for group in GROUPS:
        parts.append(f"## {group or 'What matters most'}\n")
        parts.append(
            "| option | values | default | flag | HTTP | meaning |\n|---|---|---|---|---|---|"
        )
        parts += [row(one) for one in OPTIONS.values() if one.group == group]
        parts[-1] += "\n"
    return "\n".join(parts)


def row(one: Option) -> str:
    """Make the row of an option.

    Args:
        one: Its declaration.

    Returns:
        Markdown.
    """
    meaning = f"{help_of(one)} {one.details}".strip().replace("``", "`").replace("|", "/")
    flag = f"`{one.long_flag}`" if one.is_flag else "no"
    default = list(one.default) if isinstance(one.default, tuple) else one.default
    shown = "" if default is None else f"`{json.dumps(default)}`"
    return f"| `{one.name}` | {values(one)} | {shown} | {flag} | {served(one)} | {meaning} |"


def values(one: Option) -> str:
    """Say what values an option has.

    Args:
        one: Its declaration.

    Returns:
        Words.
    """
    if one.name in CHOICES:
        return ", ".join(f"`{value}`" for value in CHOICES[one.name] if value is not None)
    kinds = {bool: "true or false", int: "whole number", float: "number", tuple: "phrases"}
    kind = kinds.get(one.kind, "name" if one.kind is str else "function")
    if one.at_least is not None and one.at_most is not None:
        return f"{kind}, {one.at_least:,} to {one.at_most:,}"
    if one.at_least is not None:
        return f"{kind}, at least {one.at_least:,}"
    return f"{kind}, above {one.above}" if one.above is not None else kind


def served(one: Option) -> str:
    """Say whether a request may have an option.

    Args:
        one: Its declaration.

    Returns:
        Words.
    """
    if not one.is_served:
        return "no"
    return f"at most {one.served_at_most:,}" if one.served_at_most else "yes"


def main() -> int:
    """Write or check the page.

    Returns:
        Exit code.
    """
    return write_or_check({PAGE: page()}, "make_options_page.py")


if __name__ == "__main__":
    sys.exit(main())
