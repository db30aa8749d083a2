r"""Open files decompressed and split them into lines, at ``\n`` alone; UTF-8 unless told otherwise.

Owns ``.gz``, ``.xz`` and ``.zst``, decoding, line numbers, and the count of lines left out. Does
not own what a line means (`sumfit.data.readers`).

Lines end at ``\n`` alone, so U+2028, U+0085 and form feeds stay inside a text; one ``\r`` before
the ``\n`` and a byte-order mark are dropped.
"""

from __future__ import annotations

import codecs
import gzip
import importlib
import io
import itertools
import lzma
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from sumfit.errors import ConfigError, DataFormatError, MissingExtraError

__all__ = [
    "COMPRESSED",
    "Line",
    "OnBad",
    "ReadReport",
    "checked_encoding",
    "decoded_lines",
    "iter_lines",
    "open_bytes",
    "recoded_lines",
    "skip_or_raise",
]

OnBad = Literal["raise", "skip"]
"""Whether a bad record ends reading or is left out and counted."""

COMPRESSED = (".gz", ".xz", ".zst")
_MAX_MESSAGES = 20
_PACKED_BYTES = 16_384  # read at once


@dataclass(slots=True)
class ReadReport:
    """What reading met, filled while a reader is consumed.

    Attributes:
        n_read: Records returned.
        n_skipped: Bad records left out by ``on_bad="skip"``.
        messages: The first 20 reasons, each with file and line.
    """

    n_read: int = 0
    n_skipped: int = 0
    messages: list[str] = field(default_factory=list)

    def skip(self, message: str) -> None:
        """Count a record left out.

        Args:
            message: Why; kept for the first 20.
        """
        self.n_skipped += 1
        if len(self.messages) < _MAX_MESSAGES:
            self.messages.append(message)


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file for reading, decompressed.

    Args:
        path: File; ``.gz``, ``.xz`` and ``.zst`` are decompressed while reading.

    Returns:
        Binary stream.

    Raises:
        DataFormatError: If the file cannot be opened.
        MissingExtraError: If ``.zst`` is asked for without the ``zstandard`` package.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    try:
        if suffix == ".gz":
            return io.BufferedReader(gzip.open(path, "rb"))
        if suffix == ".xz":
            return io.BufferedReader(lzma.open(path, "rb"))
        raw = path.open("rb")
    except OSError as error:
        raise DataFormatError(f"cannot read {path}: {error.strerror or error}") from error
    if suffix != ".zst":
        return raw
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError as error:
        raw.close()
        raise MissingExtraError("zstandard", "zstd") from error
    return io.BufferedReader(_ZstdStream(raw, zstandard))


class _ZstdStream(io.RawIOBase):
    """A decompressed file; unlike the package's own reader it notices where one breaks off."""

    def __init__(self, raw: IO[bytes], zstandard: Any) -> None:
        super().__init__()
        self._raw = raw
        self._zstandard = zstandard
        self._frame: Any = None  # the frame begun
        self._packed = b""  # read behind the end of a frame
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._ready:
            data = self._packed or self._raw.read(_PACKED_BYTES)
            if not data:
                if self._frame is not None:
                    raise EOFError("the file ended within a frame")
                return 0
            self._unpack(data)
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _unpack(self, data: bytes) -> None:
        if self._frame is None:
            self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        try:
            self._ready = memoryview(self._frame.decompress(data))
        except self._zstandard.ZstdError as error:
            raise OSError(str(error)) from error
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None

    def close(self) -> None:
        self._raw.close()
        super().close()


def checked_encoding(encoding: str) -> str:
    """Check the name of an encoding.

    Args:
        encoding: The name.

    Returns:
        Python's own name of it.

    Raises:
        ConfigError: If Python knows no encoding of texts by that name.
    """
    try:
        "".encode(encoding)  # of all that it looks up, encodings of texts alone take a string
        return codecs.lookup(encoding).name
    except (LookupError, ValueError, TypeError):  # a name with a null character, or none
        rule = "must be one that Python knows, such as cp1252 or utf-16"
        raise ConfigError.of("encoding", encoding, rule) from None


def recoded_lines(stream: Iterable[bytes], encoding: str, *, name: str) -> Iterator[bytes]:
    r"""Turn the lines of a stream in another encoding into lines of UTF-8.

    Args:
        stream: Binary lines, or any other parts.
        encoding: Name of the encoding.
        name: File name for messages.

    Yields:
        The lines, split at ``\n`` alone.

    Raises:
        DataFormatError: If the bytes are not of that encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    number, begun = 1, ""
    for part in itertools.chain(stream, [None]):
        try:
            text = decoder.decode(part or b"", final=part is None)
        except UnicodeError as error:
            reason = getattr(error, "reason", str(error))
            raise DataFormatError(
                f"{name}: not {encoding} in or after line {number}: {reason}; name the file's own "
                "encoding"
            ) from error
        *lines, begun = (begun + text).split("\n")
        for line in lines:
            number += 1
            yield f"{line}\n".encode()
    if begun:
        yield begun.encode()


class Line(NamedTuple):
    """One line.

    Attributes:
        number: From 1.
        text: Without its end; U+FFFD stands for bytes that are not UTF-8.
        error: Which byte is not UTF-8.
    """

    number: int
    text: str
    error: DataFormatError | None = None


def decoded_lines(stream: Iterable[bytes], *, name: str) -> Iterator[Line]:
    r"""Decode the lines of a binary stream, split at ``\n`` alone, the bad among them too.

    Args:
        stream: Binary lines, as an open file yields them.
        name: File name for messages.

    Yields:
        The lines.

    Raises:
        DataFormatError: If the compressed data is damaged.
    """
    lines = iter(stream)
    number = 0
    while True:
        try:
            raw = next(lines)
        except StopIteration:
            return
        except DataFormatError:  # it says already what is wrong
            raise
        except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
            raise DataFormatError(
                f"{name}: damaged after line {number}: {error}; copy or make the file again"
            ) from error
        number += 1
        if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
            raw = raw[3:]
        if raw.endswith(b"\n"):
            raw = raw[:-2] if raw.endswith(b"\r\n") else raw[:-1]
        try:
            yield Line(number, raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            bad = DataFormatError(
                f"{name}:{number}: not UTF-8 at byte {error.start} of the line "
                f"(0x{raw[error.start]:02x}); convert the file to UTF-8 (sumfit summarize has "
                "--encoding)"
            )
            yield Line(number, raw.decode("utf-8", "replace"), bad)


def iter_lines(
    stream: Iterable[bytes],
    *,
    name: str,
    on_bad: OnBad = "raise",
    report: ReadReport | None = None,
) -> Iterator[tuple[int, str]]:
    r"""Decode the lines of a binary stream, split at ``\n`` alone.

    Args:
        stream: Binary lines, as an open file yields them.
        name: File name for messages.
        on_bad: Whether a line that is not UTF-8 raises or is left out and counted.
        report: Where to count lines left out.

    Yields:
        Line number from 1, and the line without its end.

    Raises:
        DataFormatError: If a line is not UTF-8, or the compressed data is damaged.
    """
    for number, text, error in decoded_lines(stream, name=name):
        if error is None:
            yield number, text
        else:
            skip_or_raise(error, on_bad, report)


def skip_or_raise(error: DataFormatError, on_bad: OnBad, report: ReadReport | None) -> None:
    """Raise an error, or count it, as the policy says.

    Args:
        error: What is wrong with a record.
        on_bad: The policy.
        report: Where to count.

    Raises:
        DataFormatError: The error, if the policy is to raise.
    """
    if on_bad == "raise":
        raise error
    if report is not None:
        report.skip(str(error))
