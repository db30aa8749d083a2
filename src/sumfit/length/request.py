"""From the keywords of a call to one length request.

Owns `resolve_budget` and `LengthRequest`: which keywords may stand together, what a ratio of the
source comes to, what prefix, suffix and reserve leave of a limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from sumfit.deadline import Check
from sumfit.errors import BudgetError, ConflictingBudgetError, Keyword, Part, given, joined
from sumfit.length.budget import LengthBudget, whole_number
from sumfit.length.presets import get_preset
from sumfit.length.unit import Unit, UnitLike
from sumfit.length.units import KEYWORD_UNITS, Encoder, get_unit, measure
from sumfit.length.units.words import UNIT as WORDS
from sumfit.nfc import nfc

__all__ = [
    "KEYWORD_UNITS",
    "LIMIT_KEYWORDS",
    "MAX_LIMIT",
    "RATIO_RULES",
    "LengthRequest",
    "expand_limits",
    "resolve_budget",
]

MAX_LIMIT = 1_000_000
"""Largest limit accepted, in any unit."""

LIMIT_KEYWORDS = (
    *(f"{mode}_{name}" for name in (*KEYWORD_UNITS, "length") for mode in ("max", "exact", "min")),
    "ratio",
    "limits",
    "preset",
)
"""Keywords that set a limit; all of them but ``preset`` may also be given one value per item."""

_LABEL_ENDS = tuple(":]})>|/-–—•·»：】）")

RATIO_RULES = ("floor", "paper-dat", "paper-truncate")
"""How a share of the source's length becomes a limit."""

_CHARS = given("unit", "chars")
_NEEDS_UNIT = (" needs ", given("unit"), ", for example ")


@dataclass(frozen=True, slots=True)
class LengthRequest:
    """One length specification, checked.

    Attributes:
        unit: What is counted.
        budget: Allowed lengths of the summary itself: what prefix, suffix and reserve leave.
        limit: Most that the whole string, prefix and suffix included, may measure, as asked for.
        min_length: Least that the whole string may measure, 0 where nothing was asked.
        prefix: Stands before the summary, just as given.
        suffix: Stands after the summary, just as given.
        reserve: Length to be left free for something that is added later.
        preset: Name of the preset, if one was asked for.
        keyword: The keyword that set the limit, for messages.
    """

    unit: Unit
    budget: LengthBudget
    limit: int
    min_length: int = 0
    prefix: str = ""
    suffix: str = ""
    reserve: int = 0
    preset: str | None = None
    keyword: str = "max_length"

    @property
    def unit_name(self) -> str:
        """Name of the unit."""
        return self.unit.name

    @property
    def label(self) -> str:
        """The prefix where it is a label, as ``net:`` or ``[News]``; empty where it is not.

        A label has a letter and ends with a mark that ends no sentence, number or abbreviation. It
        stands once, so a summary does not hold it again.
        """
        label = self.prefix.strip()
        return label if label.endswith(_LABEL_ENDS) and any(map(str.isalpha, label)) else ""

    def without_label(self, text: str) -> str:
        """A text without the label that it begins with already.

        Args:
            text: Any text.

        Returns:
            What follows the label; the text itself if it begins otherwise, or nothing follows.
        """
        label = self.label
        if not label or text[: len(label)].casefold() != label.casefold():
            return text
        return text[len(label) :].lstrip() or text

    def compose(self, text: str) -> str:
        """The whole string: prefix, summary, suffix.

        Args:
            text: The summary.

        Returns:
            The string to return to the caller, NFC.
        """
        return nfc(f"{self.prefix}{text}{self.suffix}")

    def measure(
        self, text: str, *, tokenizer: Encoder | None = None, check: Check | None = None
    ) -> int:
        """Length of the whole string around a summary.

        Args:
            text: The summary, without prefix and suffix.
            tokenizer: Needed for ``tokens`` only.
            check: Called between the parts of a long text, to give up.

        Returns:
            Length in `unit`, the reserve not included.
        """
        return measure(self.compose(text), self.unit, tokenizer=tokenizer, check=check)

    def accepts(
        self, text: str, *, tokenizer: Encoder | None = None, check: Check | None = None
    ) -> bool:
        """Return whether the whole string around a summary keeps the limit and the minimum.

        Args:
            text: The summary, without prefix and suffix.
            tokenizer: Needed for ``tokens`` only.
            check: Called between the parts of a long text, to give up.

        Returns:
            ``True`` if it may be returned.
        """
        length = self.measure(text, tokenizer=tokenizer, check=check) + self.reserve
        return self.min_length <= length <= self.limit


def resolve_budget(
    *,
    unit: UnitLike | None = None,
    preset: str | None = None,
    ratio: float | None = None,
    ratio_rule: str = "floor",
    reserve: int = 0,
    prefix: str = "",
    suffix: str = "",
    source: str | None = None,
    tokenizer: Encoder | None = None,
    check: Check | None = None,
    **limits: Any,
) -> LengthRequest:
    """Turn the length keywords of a call into one request.

    Exactly one specification: ``max_X``, ``exact_X``, or ``min_X`` with ``max_X`` for X among
    `KEYWORD_UNITS`; the same with ``X=length`` and ``unit=``; ``ratio=`` (with ``unit=``, words
    if left out); or ``preset=``. Keywords that are ``None`` count as not given.

    A ratio r of a source of n units allows at most ``floor(r n)``, computed without rounding
    error, and at least 1. The rules of Huang et al. 2024 count words: ``"paper-dat"`` allows
    ``floor(r (n + 2)) + 1``, ``"paper-truncate"`` ``floor(r n) + 1``.

    Args:
        unit: Unit of ``max_length``, ``exact_length``, ``min_length`` and ``ratio``.
        preset: Name in `sumfit.length.PRESETS`.
        ratio: Part of the source's length, above 0 and at most 1.
        ratio_rule: ``"floor"``, ``"paper-dat"`` or ``"paper-truncate"``.
        reserve: Length to leave free, in the unit.
        prefix: Text to stand before the summary; counts toward the limit.
        suffix: Text to stand after the summary; counts toward the limit.
        source: The text to summarise; needed for ``ratio`` only.
        tokenizer: Needed for ``tokens`` only.
        check: Called while a long source is measured, to give up.
        **limits: ``max_words=``, ``exact_chars=`` and so on.

    Returns:
        The request.

    Raises:
        BudgetError: If no limit is given, or one is not a whole number from 0 to `MAX_LIMIT`.
        ConflictingBudgetError: If two keywords contradict each other, or prefix, suffix and
            reserve leave nothing of the limit.
        UnknownUnitError: If there is no such unit or preset.
        TypeError: If a keyword is not known.
    """
    asked = _asked({**limits, "ratio": ratio, "preset": preset})
    if ratio_rule != "floor" and "ratio" not in asked:
        needs = (" needs ", given("ratio"), ", for example ", given("ratio", 0.25))
        raise BudgetError(given("ratio_rule", ratio_rule), *needs)
    keyword, minimum_keyword, is_exact = _one_specification(asked, unit)
    if keyword == "ratio":
        resolved = get_unit(WORDS if unit is None else unit)
        limit = _limit_of_ratio(asked["ratio"], ratio_rule, resolved, source, tokenizer, check)
    else:
        resolved, limit = _unit_and_limit(keyword, asked[keyword], unit)
    minimum = limit if is_exact else 0
    if minimum_keyword:
        minimum = _minimum(minimum_keyword, asked[minimum_keyword], keyword, limit)
    overhead = _overhead(resolved, prefix, suffix, tokenizer)
    reserve = _whole_number("reserve", reserve)
    room = limit - overhead - reserve
    if room < 0:
        _explain_no_room(keyword, limit, resolved, overhead, prefix, suffix, reserve)
    low = max(0, minimum - overhead - reserve)
    if is_exact:
        budget = LengthBudget(exact=room)
    else:
        budget = LengthBudget(min=low, max=room) if low else LengthBudget(max=room)
    return LengthRequest(
        unit=resolved,
        budget=budget,
        limit=limit,
        min_length=minimum,
        prefix=prefix,
        suffix=suffix,
        reserve=reserve,
        preset=asked.get("preset"),
        keyword=keyword,
    )


def expand_limits(
    keywords: Mapping[str, Any], *, n_items: int | None = None
) -> list[dict[str, Any]]:
    """Spread a keyword that holds several values over items, or over limits of one text.

    ``limits=[...]`` always means several limits for each text; it stands for ``max_length`` and
    needs ``unit=``. Any other limit keyword with several values means several limits when there
    is one text, and one limit for each item when there are many.

    Args:
        keywords: Keywords of a call for `resolve_budget`.
        n_items: Number of texts; ``None`` for a single text.

    Returns:
        One dictionary of plain keywords for each limit (single text or ``limits=``) or for each
        item; a list of one where every value is a scalar.

    Raises:
        BudgetError: If there are no values, or not as many as items.
        ConflictingBudgetError: If two keywords hold several values and their numbers differ, or
            ``limits`` stands beside another limit.
    """
    plain = {name: value for name, value in keywords.items() if value is not None}
    if "limits" in plain:
        others = [name for name in LIMIT_KEYWORDS if name in plain and name != "limits"]
        if others:
            _conflict("limits", plain["limits"], others[0], plain[others[0]])
        values = plain.pop("limits")
        if not _is_several(values):
            _refuse_limits(values)
        listed = _filled("limits", values)
        if plain.get("unit") is None:
            raise BudgetError(
                given("limits"), *_NEEDS_UNIT, given("limits", [30, 60]), ", ", _CHARS
            )
        return [{**plain, "max_length": value} for value in listed]
    several = {
        name: _filled(name, plain[name])
        for name in LIMIT_KEYWORDS
        if name != "preset" and _is_several(plain.get(name))
    }
    if not several:
        return [plain]
    (first, values), *rest = several.items()
    for name, others_ in rest:
        if len(others_) != len(values):
            raise ConflictingBudgetError(
                Keyword(first, "", values),
                f" has {len(values)} values and ",
                Keyword(name, "", others_),
                f" has {len(others_)}; give as many of each",
            )
    if n_items is not None and len(values) != n_items:
        raise BudgetError(
            Keyword(first, "", values),
            f" has {len(values)} values for {n_items} texts; give one for each text, or ",
            given("limits"),
            " for several limits of each",
        )
    return [
        {**plain, **{name: column[i] for name, column in several.items()}}
        for i in range(len(values))
    ]


def _is_several(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _filled(name: str, values: Iterable[Any]) -> list[Any]:
    listed = list(values)
    if not listed:
        raise BudgetError(
            Keyword(name, "", []),
            " is an empty list; give at least one limit, as in ",
            given(name, [30]),
        )
    if any(map(_is_several, listed)):
        rule = "must be one list of whole numbers"
        raise BudgetError.of(name, listed, rule, "write ", given(name, [30, 60]))
    return listed


def _refuse_limits(value: object) -> NoReturn:
    several = ("write ", given("limits", [30, 60]), " and ", _CHARS)
    single = (", or ", given("max_chars", 30), " for a single limit")
    raise BudgetError.of("limits", value, "must be a list of whole numbers", *several, *single)


def _known() -> str:
    names = ", ".join(KEYWORD_UNITS)
    return (
        f"max_X, exact_X and min_X for X in {names}, length; "
        "unit, ratio, ratio_rule, preset, reserve, prefix, suffix"
    )


def _conflict(first: str, value: object, second: str, other: object) -> NoReturn:
    both = (given(first, value), " and ", given(second, other))
    raise ConflictingBudgetError(*both, " are two length specifications; give one of them")


def _one_specification(
    asked: Mapping[str, Any], unit: UnitLike | None
) -> tuple[str, str | None, bool]:
    """Keyword of the limit, keyword of the minimum, and whether the limit is exact."""
    tops = [name for name in asked if not name.startswith("min_")]
    minima = [name for name in asked if name.startswith("min_")]
    if not asked:
        example: tuple[Part, ...] = (given("max_length", 60),)
        if unit is None:
            example = (given("max_chars", 60), " or ", given("max_words", 8))
        raise BudgetError("no length limit was given; give one, for example ", *example)
    if len(tops) > 1:
        _conflict(tops[0], asked[tops[0]], tops[1], asked[tops[1]])
    if len(minima) > 1:
        _conflict(minima[0], asked[minima[0]], minima[1], asked[minima[1]])
    if not tops:
        wanted = minima[0].replace("min_", "max_")
        least = given(minima[0], asked[minima[0]])
        raise BudgetError(least, " needs a maximum; add ", given(wanted))
    keyword = tops[0]
    if keyword == "limits":
        _refuse_limits(asked[keyword])
    minimum = minima[0] if minima else None
    if minimum and keyword != minimum.replace("min_", "max_"):
        _conflict(keyword, asked[keyword], minimum, asked[minimum])
    if keyword not in ("max_length", "exact_length", "ratio") and unit is not None:
        name = str(getattr(unit, "__name__", unit))
        both = (Keyword("unit", f"={name}", name), " and ", given(keyword, asked[keyword]))
        maximum, exact, least = map(given, ("max_length", "exact_length", "min_length"))
        others = (maximum, ", ", exact, ", ", least, " or ", given("ratio"))
        rule = (" exclude each other: ", given("unit"), " goes with ", *others)
        raise ConflictingBudgetError(*both, *rule)
    return keyword, minimum, keyword.startswith("exact_")


def _asked(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords that have a value."""
    unknown = sorted(set(keywords) - set(LIMIT_KEYWORDS))
    if unknown:
        raise TypeError(f"unknown keyword {unknown[0]!r}; length keywords are {_known()}")
    return {name: value for name, value in keywords.items() if value is not None}


def _unit_and_limit(keyword: str, value: Any, unit: UnitLike | None) -> tuple[Unit, int]:
    """What a preset or a limit such as ``max_words`` says."""
    if keyword == "preset":
        chosen = get_preset(value)
        return get_unit(chosen.unit), chosen.limit
    name = keyword.partition("_")[2]
    if name == "length" and unit is None:
        raise BudgetError(given(keyword), *_NEEDS_UNIT, _CHARS)
    counted = unit if name == "length" and unit is not None else name
    return get_unit(counted), _whole_number(keyword, value)


def _minimum(keyword: str, value: Any, limit_keyword: str, limit: int) -> int:
    minimum = _whole_number(keyword, value)
    if minimum > limit:
        raise ConflictingBudgetError(
            given(keyword, minimum), " is above ", given(limit_keyword, limit), "; swap them"
        )
    return minimum


def _whole_number(name: str, value: Any) -> int:
    number = whole_number(value)
    if number is None:
        is_quoted = isinstance(value, str) and value.strip().isdecimal()
        remedy = (f"write {value.strip()} without quotes",) if is_quoted else ()
        raise BudgetError.of(name, value, "must be a whole number", *remedy)
    if number < 0:
        raise BudgetError.of(name, number, "must be 0 or more")
    if number > MAX_LIMIT:
        raise BudgetError.of(name, number, f"must be at most {MAX_LIMIT}")
    return number


def _limit_of_ratio(
    ratio: Any,
    rule: str,
    unit: Unit,
    source: str | None,
    tokenizer: Encoder | None,
    check: Check | None,
) -> int:
    is_number = isinstance(ratio, (int, float)) and not isinstance(ratio, bool)
    if not is_number or not math.isfinite(ratio) or not 0 < ratio <= 1:
        raise BudgetError.of("ratio", ratio, "must be a number above 0 and at most 1")
    if rule not in RATIO_RULES:
        raise BudgetError.of("ratio_rule", rule, f"must be one of {', '.join(RATIO_RULES)}")
    if rule != "floor" and not unit.counts_words:
        both = (given("ratio_rule", rule), " and ", given("unit", unit.name))
        raise ConflictingBudgetError(*both, " exclude each other: the paper's rules count words")
    if source is None:
        raise BudgetError(given("ratio", ratio), " needs the source text")
    # The decimal the caller wrote, not the binary fraction near it: 0.29 of 100 is 29.
    exact = Fraction(repr(float(ratio)))
    n = measure(source, unit, tokenizer=tokenizer, check=check)
    if rule == "paper-dat":
        return math.floor(exact * (n + 2)) + 1
    if rule == "paper-truncate":
        return math.floor(exact * n) + 1
    return max(1, math.floor(exact * n))


def _overhead(unit: Unit, prefix: str, suffix: str, tokenizer: Encoder | None) -> int:
    """What prefix and suffix add to a text between them."""
    for name, part in (("prefix", prefix), ("suffix", suffix)):
        if not isinstance(part, str):
            raise BudgetError.of(name, part, "must be a string")
        if any("\ud800" <= character <= "\udfff" for character in part):
            half = " holds half a character; UTF-8 has no place for it"
            raise BudgetError(given(name, part), half)
        alphabet = unit.alphabet
        outside = [c for c in part if c not in alphabet.characters] if alphabet else []
        if alphabet and outside:
            raise BudgetError(
                given(name, part),
                f" holds {outside[0]!r}, which is not in {alphabet.name}; ",
                *alphabet.remedy,
            )
    if not prefix and not suffix:
        return 0
    probe = "x"
    whole = measure(f"{prefix}{probe}{suffix}", unit, tokenizer=tokenizer)
    return max(0, whole - measure(probe, unit, tokenizer=tokenizer))


def _explain_no_room(
    keyword: str, limit: int, unit: Unit, overhead: int, prefix: str, suffix: str, reserve: int
) -> None:
    around = {"prefix": prefix, "suffix": suffix, "reserve": reserve}
    parts = [given(name, part) for name, part in around.items() if part]
    verb = "takes" if len(parts) == 1 else "take"
    raise ConflictingBudgetError(
        *joined(" and ", parts),
        f" {verb} {overhead + reserve} {unit.name} of ",
        given(keyword, limit),
        "; raise the limit or shorten them",
    )
