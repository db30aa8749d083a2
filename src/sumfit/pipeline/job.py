"""One text with everything asked of it, before it is made ready.

Owns how texts and length keywords pair up. Does not own what a length keyword means
(`sumfit.length`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from sumfit.errors import BudgetError, InputError, SumfitError, joined
from sumfit.hypothesis import Summary
from sumfit.length import LengthRequest, expand_limits, resolve_budget
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.pipeline.search import infeasible
from sumfit.text import Tokenizer

__all__ = [
    "Job",
    "check_each",
    "check_length",
    "check_texts",
    "has_length",
    "jobs_of",
    "raise_errors",
]

_ROOM = ("prefix", "suffix", "reserve")


@dataclass(frozen=True, slots=True)
class Job:
    """A text and its length keywords, one set for each summary wanted.

    Attributes:
        text: What the caller gave; not checked yet.
        lengths: Length keywords without lists.
    """

    text: object
    lengths: Sequence[Mapping[str, Any]]


def check_texts(texts: object) -> None:
    """Raise unless the input holds texts and nothing else.

    Args:
        texts: What the caller gave.

    Raises:
        InputError: If it is no iterable, or one of something else.
    """
    hint = ""
    if isinstance(texts, bytes | bytearray):
        hint = "; decode it as UTF-8 first"
    elif getattr(texts, "columns", None) is not None:  # a data frame iterates over their names
        hint = "; give one of its columns"
    elif isinstance(texts, Iterable) and not isinstance(texts, Mapping):
        if getattr(texts, "ndim", 1) != 0:  # an array without a dimension has no items
            return
    raise InputError(f"give a string or an iterable of strings, was {type(texts).__name__}{hint}")


def has_length(texts: object) -> bool:
    """Say whether texts are a list or the like, not a stream.

    Args:
        texts: What the caller gave.

    Returns:
        The verdict.
    """
    return isinstance(texts, Sized)


def check_length(length: Mapping[str, Any], tokenizer: Tokenizer) -> None:
    """Raise for length keywords that are wrong for every text, before any is read.

    Args:
        length: Length keywords of a call. Lists are checked item by item later.
        tokenizer: For prefix and suffix in tokens.

    Raises:
        SumfitError: As `sumfit.length.resolve_budget` does.
    """
    if any(_is_several(length.get(name)) for name in LIMIT_KEYWORDS):
        return
    _resolved(length, tokenizer)


def check_each(lengths: Sequence[Mapping[str, Any]], tokenizer: Tokenizer) -> None:
    """Raise for all limits of one text that nothing can meet, before any work.

    Args:
        lengths: Length keywords without lists, one set for each limit.
        tokenizer: For prefix and suffix in tokens.

    Raises:
        SumfitError: If one or more are unusable; the message names each.
    """
    errors = []
    for length in lengths:
        try:
            request = _resolved(length, tokenizer)
        except SumfitError as error:
            errors.append(error)
            continue
        if not request.budget.high:
            errors.append(infeasible(request))
    if errors:
        raise _joined(errors, len(lengths))


def raise_errors(on_error: str, results: Sequence[Summary]) -> None:
    """Raise what went wrong with a text, if that is wanted.

    Args:
        on_error: ``"raise"``, or ``"return"`` to leave errors in the summaries.
        results: The summaries of one text.

    Raises:
        SumfitError: One error for all of them.
    """
    errors = [result.error for result in results if result.error is not None]
    if errors and on_error == "raise":
        raise _joined(errors, len(results))


def _joined(errors: Sequence[SumfitError], n_limits: int) -> SumfitError:
    """One error for all limits of a text that cannot be met, of the first one's class.

    Where all limits fail for one reason, as an empty text, it is that error.
    """
    reasons = dict.fromkeys(error.parts for error in errors)
    if len(reasons) == 1 and len(errors) == n_limits:
        return errors[0]
    return type(errors[0])(
        f"{len(errors)} of {n_limits} limits cannot be met: ",
        *joined("; ", reasons),
        "; leave them out, or use on_error='return' for the others",
    )


def _resolved(length: Mapping[str, Any], tokenizer: Tokenizer) -> LengthRequest:
    """Resolve length keywords without a text."""
    source = None
    if "ratio" in length:  # what prefix and suffix leave depends on the text
        length = {name: value for name, value in length.items() if name not in _ROOM}
        source = "word"
    return resolve_budget(**length, source=source, tokenizer=tokenizer)


def jobs_of(texts: Iterable[object], length: Mapping[str, Any]) -> Iterator[Job]:
    """Pair texts with their length keywords, lazily.

    Args:
        texts: Any iterable.
        length: Length keywords; a list or iterator among them holds one value per text, apart
            from ``limits``, which holds several for each.

    Yields:
        One job per text.

    Raises:
        BudgetError: If there are fewer or more values than texts.
    """
    per_item = "limits" not in length and any(
        _is_several(length.get(name)) for name in LIMIT_KEYWORDS
    )
    if not per_item:
        shared = expand_limits(length)
        for text in texts:
            yield Job(text, shared)
        return
    lazy = {name: value for name, value in length.items() if isinstance(value, Iterator)}
    if lazy:
        yield from _lazily(texts, length, lazy)
        return
    if isinstance(texts, Sequence):
        rows = expand_limits(length, n_items=len(texts))
    else:
        rows = expand_limits(length)
    taken = 0
    for text in texts:
        if taken == len(rows):
            raise BudgetError(f"there are {len(rows)} limits, but more texts; give one for each")
        yield Job(text, [rows[taken]])
        taken += 1
    if taken < len(rows):
        raise BudgetError(f"there are {len(rows)} limits for {taken} texts; give one for each")


def _lazily(
    texts: Iterable[object], length: Mapping[str, Any], lazy: Mapping[str, Iterator[Any]]
) -> Iterator[Job]:
    """Advance each iterator of limits once per text, after the text."""
    for text in texts:
        try:
            row = {name: next(values) for name, values in lazy.items()}
        except StopIteration:
            raise BudgetError("there are fewer limits than texts; give one for each") from None
        yield Job(text, [{**length, **row}])


def _is_several(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
