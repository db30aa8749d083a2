"""Records of a JSON file that is one array, read one by one.

Owns where an element ends and what a bad one costs. Does not own what the fields mean
(`sumfit.data.readers`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sumfit.data.json_text import RepeatedKeyError, parse_next
from sumfit.data.lines import Line
from sumfit.errors import DataFormatError

__all__ = ["Element", "json_elements", "starts_array"]

_FIRST_READ = 1 << 16  # characters
_MOST = 1 << 28  # characters of one element
_NEAR_END = 16  # an error this close to the end of what was read may be for want of the rest
_BLANK = " \t\n\r"


class Element(NamedTuple):
    """One element of the array.

    Attributes:
        number: From 1.
        fields: Its fields; none if it is bad.
        error: What is wrong with it.
    """

    number: int
    fields: dict[str, Any]
    error: DataFormatError | None = None


def starts_array(lines: Iterator[Line]) -> tuple[bool, Iterator[Line]]:
    """Say whether a file holds an array, by its first character that is not blank.

    Args:
        lines: The file's lines.

    Returns:
        The verdict, and all lines, those included that were looked at.
    """
    seen = []
    for line in lines:
        seen.append(line)
        text = line.text.lstrip(_BLANK)
        if text:
            return text.startswith("["), itertools.chain(seen, lines)
    return False, iter(seen)


def json_elements(lines: Iterator[Line], *, name: str) -> Iterator[Element]:
    """Read the elements of an array.

    An element that is no object, has a key twice, or holds bytes that are not UTF-8 is bad, and
    reading goes on behind it. Behind one that is not JSON nothing can be told from nothing.

    Args:
        lines: The file's lines; the first that is not blank begins with ``[``.
        name: File name for messages.

    Yields:
        The elements.

    Raises:
        DataFormatError: If the array breaks off, is not JSON, or has something behind it.
    """
    text = _Text(lines)
    text.skip("[")
    for number in itertools.count(1):
        if text.skip("]"):
            break
        if number > 1 and not text.skip(","):
            raise text.broken(name, number, "Expecting ',' or ']' between two objects")
        try:
            value, error = text.take()
        except json.JSONDecodeError as found:
            raise text.broken(name, number, found.msg) from found
        except (ValueError, RecursionError) as found:  # a number of too many digits
            reason = "nested too deeply" if isinstance(found, RecursionError) else str(found)
            raise text.broken(name, number, reason) from found
        if isinstance(value, dict) and error is None:
            yield Element(number, value)
            continue
        reason = error or f"must be a JSON object, was {type(value).__name__}"
        yield Element(number, {}, DataFormatError(f"{name}: object {number}: {reason}"))
    if text.rest():
        raise DataFormatError(f"{name}: there is more behind the end of the array; remove it")


class _Text:
    """The file's text, as much of it as is needed."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._buffer = ""
        self._at = 0
        self._bad: list[tuple[int, str]] = []  # places in the buffer of lines that are not UTF-8
        self._is_whole = False
        self._size = _FIRST_READ

    def skip(self, mark: str) -> bool:
        """Go behind a mark, blanks before it included, if it comes next."""
        self._skip_blanks()
        if self._buffer[self._at : self._at + 1] != mark:
            return False
        self._at += 1
        return True

    def rest(self) -> bool:
        """Return whether anything is left but blanks."""
        self._skip_blanks()
        return self._at < len(self._buffer)

    def take(self) -> tuple[Any, str | None]:
        """The next value, and what is wrong with it although its end is known."""
        self._skip_blanks()
        self._size = _FIRST_READ
        while True:
            problem = None
            try:
                value, end = parse_next(self._buffer, self._at)
            except RepeatedKeyError as error:
                problem, value = str(error), None
                _, end = parse_next(self._buffer, self._at, may_repeat=True)
            except json.JSONDecodeError as error:
                if self._is_whole or not self._may_go_on(error):
                    raise
                self._read_more()
                continue
            bad = [reason for at, reason in self._bad if self._at <= at < end]
            self._at = end
            return value, problem or (bad[0] if bad else None)

    def broken(self, name: str, number: int, reason: str) -> DataFormatError:
        """The error for a file that cannot be read on."""
        return DataFormatError(f"{name}: object {number}: not JSON: {reason}; mend the file there")

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        is_at_end = error.pos >= len(self._buffer) - _NEAR_END
        is_open = error.msg.startswith("Unterminated string")
        return (is_at_end or is_open) and len(self._buffer) - self._at < _MOST

    def _skip_blanks(self) -> None:
        while True:
            while self._buffer[self._at : self._at + 1] in tuple(_BLANK):
                self._at += 1
            if self._at < len(self._buffer) or self._is_whole:
                return
            self._read_more()

    def _read_more(self) -> None:
        """Read as much again as is waiting, so that a long element is not parsed too often."""
        parts = [self._buffer[self._at :]]
        self._bad = [(at - self._at, reason) for at, reason in self._bad if at >= self._at]
        self._at = 0
        n_waiting = size = len(parts[0])
        while size < n_waiting + self._size:
            line = next(self._lines, None)
            if line is None:
                self._is_whole = True
                break
            if line.error is not None:
                place = line.text.find("\ufffd")
                self._bad.append((size + max(place, 0), str(line.error)))
            parts += [line.text, "\n"]
            size += len(line.text) + 1
        self._buffer = "".join(parts)
        self._size = max(_FIRST_READ, size)
