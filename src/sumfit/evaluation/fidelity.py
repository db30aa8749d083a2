"""Whether summaries keep their limits, end as they should, and stay with their sources.

Owns counts over finished strings. Every rate comes with the number of items behind it; nothing
here looks at how a summary was made.
"""

from __future__ import annotations

import itertools
import lzma
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from sumfit.errors import DataFormatError, InputError
from sumfit.length import UnitLike, get_unit, measure
from sumfit.length.units.words import UNIT as WORDS
from sumfit.text.endings import CLITICS, ends_completely
from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.text.split import split_words
from sumfit.truth import support

__all__ = [
    "Fidelity",
    "fidelity",
    "has_repeated_neighbour",
    "has_repeated_word",
    "load_lexicon",
    "unknown_words",
]

_CLITIC = re.compile(rf"(?<=\w)['’](?:{'|'.join(CLITICS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Length and text fidelity of one system's summaries; shares are 0..1, ``nan`` if not asked.

    Attributes:
        n: Summaries.
        n_empty: Of them, without any text.
        mean_length: Mean length in the unit asked for, or in words.
        violations: Share longer than its limit or shorter than its minimum.
        exact_hits: Share exactly as long as its limit.
        fill: Mean of length over limit.
        truncated: Share that had to be cut to meet its limit (%Truncate of the paper).
        complete: Share that ends completely, by `sumfit.text.endings.ends_completely`.
        repeated_neighbour: Share in which a word equals the word before it.
        repeated_word: Share in which a content word occurs twice.
        unknown_word: Share with a word that is in neither its source nor the lexicon.
        unsupported_number: Share with a number that its source lacks, by `sumfit.truth`.
        unsupported_name: Share with a name that its source lacks, by `sumfit.truth`.
    """

    n: int
    n_empty: int
    mean_length: float
    violations: float
    exact_hits: float
    fill: float
    truncated: float
    complete: float
    repeated_neighbour: float
    repeated_word: float
    unknown_word: float
    unsupported_number: float
    unsupported_name: float

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """Name and value of everything that was measured."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isnan(value):
                yield field.name, value


def fidelity(
    summaries: Sequence[str],
    *,
    unit: UnitLike = WORDS,
    limits: int | Sequence[int] | None = None,
    minimums: int | Sequence[int] = 0,
    sources: Sequence[str] | None = None,
    lexicon: Collection[str] | None = None,
    truncated: Sequence[bool] | None = None,
) -> Fidelity:
    """Measure a system's summaries.

    Args:
        summaries: The texts, as they were returned.
        unit: What the limits count.
        limits: One limit for all, or one per item; ``None`` to leave the length rates out.
        minimums: One least length for all, or one per item.
        sources: The texts summarised; ``None`` leaves the rates that need them out.
        lexicon: Known words, lower-cased, see `load_lexicon`; ``None`` leaves the rate out.
        truncated: Which summaries were cut to fit; ``None`` leaves the rate out.

    Returns:
        The counts and rates.

    Raises:
        InputError: If there are no summaries, or a sequence has another length.
        UnknownUnitError: If there is no such unit.
    """
    n = len(summaries)
    if not n:
        raise InputError("there is nothing to measure: no summaries; give at least one")
    for name, values in (
        ("limits", limits),
        ("minimums", minimums),
        ("sources", sources),
        ("truncated", truncated),
    ):
        if isinstance(values, Sequence) and len(values) != n:
            raise InputError(f"there are {n} summaries but {len(values)} {name}; give one for each")
    unit = get_unit(unit)
    lengths = [measure(text, unit) for text in summaries]
    over, exact, fill = _length_rates(lengths, limits, minimums)
    words = [split_words(text) for text in summaries]
    unknown, number, name_ = _source_rates(summaries, sources, lexicon)
    return Fidelity(
        n=n,
        n_empty=sum(not text.strip() for text in summaries),
        mean_length=sum(lengths) / n,
        violations=over,
        exact_hits=exact,
        fill=fill,
        truncated=math.nan if truncated is None else _share(truncated),
        complete=_share([ends_completely(text) for text in summaries]),
        repeated_neighbour=_share([has_repeated_neighbour(item) for item in words]),
        repeated_word=_share([has_repeated_word(item) for item in words]),
        unknown_word=unknown,
        unsupported_number=number,
        unsupported_name=name_,
    )


def has_repeated_neighbour(words: Sequence[str]) -> bool:
    """Tell whether a word equals the word before it.

    Args:
        words: Lower-cased words.

    Returns:
        The verdict.
    """
    return any(one == two for one, two in itertools.pairwise(words))


def has_repeated_word(words: Sequence[str]) -> bool:
    """Tell whether a content word occurs twice.

    A content word has two letters or more and is no function word, the same rule that the search
    keeps with ``repeat_words=False``.

    Args:
        words: Lower-cased words.

    Returns:
        The verdict.
    """
    content = [
        word
        for word in words
        if len(word) > 1 and word not in FUNCTION_WORDS and not any(map(str.isdigit, word))
    ]
    return len(set(content)) < len(content)


def unknown_words(summary: str, source: str, lexicon: Collection[str]) -> tuple[str, ...]:
    """List the words that neither the source nor the lexicon has.

    What follows an apostrophe ("the bridge's", "don't") belongs to its word and is not looked up.

    Args:
        summary: The summary.
        source: Its source.
        lexicon: Known words, lower-cased.

    Returns:
        The words, lower-cased, numbers left out.
    """
    known = set(split_words(source))
    return tuple(
        word
        for word in split_words(_CLITIC.sub("", summary))
        if word not in known and word not in lexicon and not any(map(str.isdigit, word))
    )


def load_lexicon(path: Path) -> frozenset[str]:
    """Read known words from a file, one a line, ``.xz`` or plain.

    Args:
        path: The file.

    Returns:
        The words, split and lower-cased by `sumfit.text.split.split_words`.

    Raises:
        DataFormatError: If the file cannot be read as UTF-8 text.
    """
    try:
        if path.suffix == ".xz":
            text = lzma.open(path, "rt", encoding="utf-8").read()
        else:
            text = path.read_text(encoding="utf-8")
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise DataFormatError(f"cannot read the lexicon {path}: {error}") from error
    return frozenset(split_words(text))


def _length_rates(
    lengths: Sequence[int],
    limits: int | Sequence[int] | None,
    minimums: int | Sequence[int],
) -> tuple[float, float, float]:
    if limits is None:
        return math.nan, math.nan, math.nan
    n = len(lengths)
    most = [limits] * n if isinstance(limits, int) else limits
    least = [minimums] * n if isinstance(minimums, int) else minimums
    rows = list(zip(lengths, least, most, strict=True))
    over = sum(not low <= length <= high for length, low, high in rows) / n
    exact = sum(length == high for length, _, high in rows) / n
    fill = sum(length / high if high else 0.0 for length, _, high in rows) / n
    return over, exact, fill


def _source_rates(
    summaries: Sequence[str], sources: Sequence[str] | None, lexicon: Collection[str] | None
) -> tuple[float, float, float]:
    """Shares with an unknown word, an unsupported number and an unsupported name."""
    if sources is None:
        return math.nan, math.nan, math.nan
    pairs = list(zip(summaries, sources, strict=True))
    unknown = math.nan
    if lexicon is not None:
        known = frozenset(lexicon)
        unknown = _share([bool(unknown_words(text, source, known)) for text, source in pairs])
    found = [support(source, text) for text, source in pairs]
    return (
        unknown,
        _share([bool(one.numbers) for one in found]),
        _share([bool(one.names) for one in found]),
    )


def _share(verdicts: Sequence[bool]) -> float:
    return sum(map(bool, verdicts)) / len(verdicts)
