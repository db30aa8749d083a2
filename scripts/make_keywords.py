"""Write what type checkers are told of names and keywords, from the registries and declarations.

    python scripts/make_keywords.py [--check]

Fills the parts between ``# made`` and ``# end`` of two modules. ``--check`` writes nothing and
exits with 1 if one is not current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from written import write_or_check

from sumfit.length import PRESETS, UNITS
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.options import OPTIONS, Option
from sumfit.pipeline.options import CHOICES

SOURCE = Path(__file__).resolve().parent.parent / "src" / "sumfit"
NAMES = SOURCE / "length" / "names.py"
KEYWORDS = SOURCE / "pipeline" / "keywords.py"
_TYPES = {  # of options that take more than their declaration says, or have a name of their own
    "rerank": "str | os.PathLike[str] | AnyReranker | None",
    "method": "MethodName",
    "style": "StyleName",
    "input_kind": "InputKind",
    "is_cancelled": "Hook | None",
}
_WIDTH = 100


def _literal(name: str, values: Iterable[str | None]) -> str:
    words = [f'"{value}"' for value in values if value is not None]
    line = f"{name} = Literal[{', '.join(words)}]"
    if len(line) <= _WIDTH:
        return line
    inner = f"    {', '.join(words)}"
    if len(inner) <= _WIDTH:
        return f"{name} = Literal[\n{inner}\n]"
    return "\n".join([f"{name} = Literal[", *(f"    {word}," for word in words), "]"])


def _type_of(declared: Option) -> str:
    if declared.name in _TYPES:
        return _TYPES[declared.name]
    kind = "Iterable[str]" if declared.kind is tuple else declared.kind.__name__
    if declared.name in CHOICES:
        words = ", ".join(f'"{value}"' for value in CHOICES[declared.name] if value is not None)
        kind = f"Literal[{words}]"
    return f"{kind} | None" if declared.is_optional else kind


def _limits(several: bool) -> Iterator[str]:
    for name in LIMIT_KEYWORDS:
        if name not in ("limits", "preset"):
            kind = "float" if name == "ratio" else "int"
            yield f"    {name}: {kind} | {f'Iterable[{kind}] | ' if several else ''}None"


def parts() -> dict[Path, list[str]]:
    """Make the parts.

    Returns:
        Module -> the text of each of its parts, in order.
    """
    names = [_literal("UnitName", UNITS), _literal("PresetName", PRESETS)]
    return {
        NAMES: names,
        KEYWORDS: [
            _literal("StyleName", CHOICES["style"]),
            _literal("InputKind", CHOICES["input_kind"]),
            "\n".join(f"    {name}: {_type_of(one)}" for name, one in OPTIONS.items()),
            "\n".join(_limits(several=False)),
            "\n".join(_limits(several=True)),
        ],
    }


def filled(text: str, made: Iterable[str]) -> str:
    """Put parts into a module.

    Args:
        text: The module.
        made: Its parts.

    Returns:
        The module with them.
    """
    pieces = text.split("# made\n")
    out = [pieces[0]]
    for piece, part in zip(pieces[1:], made, strict=True):
        indent = "    " if part.startswith("    ") else ""
        _, _, rest = piece.partition("# end\n")
        out.append(f"# made\n{part}\n{indent}# end\n{rest}")
    return "".join(out)


def main() -> int:
    """Write or check the modules.

    Returns:
        Exit code.
    """
    files = {path: filled(path.read_text(encoding="utf-8"), made) for path, made in parts().items()}
    return write_or_check(files, "make_keywords.py")


if __name__ == "__main__":
    sys.exit(main())
