"""Signatures: everything that two numbers must share to be comparable.

A signature is an ordered list of key-value pairs, printed like sacrebleu's:
``metric:rouge-f1|scorer:rouge-score-0.1.2|tok:ascii|...``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sumfit._version import __version__

__all__ = ["Signature", "fingerprint_texts"]

_SHOWN = 12  # hexadecimal digits of a fingerprint that are shown


@dataclass(frozen=True, slots=True)
class Signature:
    """What a score depends on, besides the summaries.

    Attributes:
        entries: Key-value pairs, in printing order.
    """

    entries: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, entries: Mapping[str, object]) -> Signature:
        """Build a signature and add this package's version.

        Args:
            entries: Key-value pairs; pairs whose value is ``None`` or empty are left out.

        Returns:
            The signature.
        """
        pairs = [(key, _clean(value)) for key, value in entries.items() if value not in (None, "")]
        return cls((*pairs, ("version", f"sumfit-{__version__}")))

    def __str__(self) -> str:
        """``key:value`` joined by bars."""
        return "|".join(f"{key}:{value}" for key, value in self.entries)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The pairs."""
        return iter(self.entries)

    def differences(self, other: Signature) -> tuple[str, ...]:
        """Name what keeps two scores from being compared.

        Args:
            other: Signature of the other score.

        Returns:
            The keys whose values differ; empty if the scores are comparable.
        """
        ours, theirs = dict(self.entries), dict(other.entries)
        keys = [*ours, *(key for key in theirs if key not in ours)]
        return tuple(key for key in keys if ours.get(key) != theirs.get(key))


def fingerprint_texts(texts: Iterable[str | Iterable[str]]) -> str:
    """Hash the references of a data set, whatever file format they came in.

    Args:
        texts: One text, or several alternatives, per item, in order.

    Returns:
        The first 12 hexadecimal digits of the SHA-256 of the items as UTF-8.
    """
    digest = hashlib.sha256()
    for item in texts:
        for text in (item,) if isinstance(item, str) else item:
            digest.update(text.encode("utf-8", "surrogatepass"))
            digest.update(b"\x1f")
        digest.update(b"\n")
    return digest.hexdigest()[:_SHOWN]


def _clean(value: object) -> str:
    return str(value).replace("|", "/").replace("\n", " ")
