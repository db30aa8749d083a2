"""Stack traces: what went wrong and where, without the list of frames.

Owns what counts as a frame (Python, Java, JavaScript, C#, Go, Rust, Ruby).
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_trace"]

_PYTHON_START = re.compile(r"\s*(?:\+ Exception Group )?Traceback \(most recent call last\):\s*")
_PYTHON_FRAME = re.compile(r"\s*File \"([^\"\n]+)\", line (\d+)(?:, in (\S+))?\s*")
_PYTHON_MARKS = re.compile(r"\s*[~^]+\s*|\s*\[Previous line repeated .*\]\s*")
_CHAINED = re.compile(
    r"During handling of the above exception.*|The above exception was the direct cause.*"
)
_FRAME = re.compile(
    r"\s*at (?:async |new )?[\w$.<>/\[\]\\`:-]+.{0,300}(?:\(.*\)|:\d+)\s*|"
    r"\s*at [\w$.<>`+]+\(.*\)(?: in .*)?\s*|\s*\.{3} \d+ (?:more|common frames omitted)\s*|"
    r"\s*goroutine \d+ \[.*\]:\s*|\s+\S+\.go:\d+(?: \+0x[0-9a-f]+)?\s*|"
    r"\s*\d+: +(?:0x[0-9a-f]+ - )?[\w<:]+::[\w:<>{}# ]+\s*|\s*from \S+:\d+:in [`'].*|"
    r"\s*(?:stack backtrace|note: run with `RUST_BACKTRACE).*|exit status \d+\s*"
)
_THREAD = re.compile(r"(?:Exception in thread \"[^\"\n]*\"|Unhandled exception[.:])\s*")
_LONGEST_FRAME = 1000  # characters
_QUALIFIED = re.compile(r"\b(?:[a-z][\w$]*\.){2,}(?=[A-Z])")


def clean_trace(text: str, *, sure: bool = False) -> str:
    """Take the frames out of a stack trace; other text stays as it is.

    What stays is the error with its message, and of a Python trace the innermost function.

    Args:
        text: The text.
        sure: One frame is enough.

    Returns:
        The text without frames; unchanged if there are none or nothing would be left.
    """
    lines = text.split("\n")
    n_frames = sum(_is_frame(line) or _PYTHON_FRAME.fullmatch(line) is not None for line in lines)
    has_start = "Traceback (most recent call last)" in text
    if n_frames < (1 if sure or has_start else 2):
        return text
    kept: list[str] = []
    where, in_python = "", False
    for line in lines:
        if _PYTHON_START.fullmatch(line):
            in_python = True
        elif frame := _PYTHON_FRAME.fullmatch(line):
            in_python = True
            name = frame.group(1).replace("\\", "/").rpartition("/")[2]
            where = f" in {frame.group(3)}" if frame.group(3) else ""
            where += f" ({name}, line {frame.group(2)})"
        elif in_python and (line[:1].isspace() or _PYTHON_MARKS.fullmatch(line) or not line):
            continue
        elif _CHAINED.fullmatch(line) or _is_frame(line):
            continue
        else:
            shown = _QUALIFIED.sub("", _THREAD.sub("", line))
            if in_python and where:
                shown = f"{shown.rstrip().rstrip('.')}{where}."
            in_python, where = False, ""
            kept.append(shown)
    found = "\n".join(kept).strip()
    return found if has_words(found) else text


def _is_frame(line: str) -> bool:
    return len(line) <= _LONGEST_FRAME and _FRAME.fullmatch(line) is not None
