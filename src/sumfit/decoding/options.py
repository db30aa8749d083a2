"""What a decoder is asked for: one frozen, validated bundle of options.

Owns `DecodeOptions` and its checks against a graph. Does not own how any option is met, nor the
defaults of options that a summary has too (`sumfit.options`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.decoding.costs import NEVER
from sumfit.errors import BudgetError, ConfigError, ConstraintError
from sumfit.hypothesis import NBest
from sumfit.length import LengthBudget
from sumfit.options import WORDS_PER_VERTEX, default_of

if TYPE_CHECKING:
    from sumfit.constraints.compile import CompiledConstraints

__all__ = ["DEFAULTS", "DecodeOptions", "Decoder", "Ending", "is_any_ending"]

Ending = Literal["eos", "any"]
CostArray = npt.NDArray[np.int32]

_MOST_BONUS = 100.0  # nats a word; its exponential over a whole sequence stays a number


@dataclass(frozen=True, slots=True, eq=False)
class DecodeOptions:
    """Options of one call to a decoder.

    Attributes:
        unit_cost: ``(V,)`` cost of each vocabulary id in the budget's unit, each >= 0.
        budget: Interval of allowed total costs.
        first_cost: ``(V,)`` cost of each id when it is the first of the output; `unit_cost` if
            not given.
        ending: ``"eos"`` maximises Eq. 2 (complete sequences), ``"any"`` Eq. 3 (prefixes).
        bonus: Score added per word, in nats.
        unit_bonus: Score added per unit of cost spent, in nats.
        beam_size: ``K`` of the beam decoders.
        words_per_vertex: ``M``, words kept per vertex; ``None`` keeps all candidates.
        n_best: ``N``, how many different hypotheses to return at most.
        constraints: What the output must also obey, compiled for one text; ``None`` for nothing.
        max_expansions: Most prefixes exact search may expand before it settles for a gap.
        after_best: Most prefixes exact search may expand for the rest of the list once the best
            hypothesis is certain; those finished by then are returned, the best of them first.
            ``None`` for as many as the exact list takes.
        time_limit_s: Most seconds a search may take before it settles for a gap.
        deadline: Time and expansions that all calls for one result share: it stands in place of
            ``time_limit_s``, and no call expands more than it has left.
        seed: Seed of the sampling decoders.
    """

    unit_cost: CostArray
    budget: LengthBudget
    first_cost: CostArray = None  # type: ignore[assignment]  # filled in __post_init__
    ending: Ending = "eos"
    bonus: float = 0.0
    unit_bonus: float = 0.0
    beam_size: int = default_of("beam_size")
    words_per_vertex: int | None = WORDS_PER_VERTEX
    n_best: int = default_of("n_best")
    constraints: CompiledConstraints | None = None
    max_expansions: int = 20_000
    after_best: int | None = None
    time_limit_s: float | None = default_of("time_limit_s")
    deadline: Deadline | None = None
    seed: int | None = default_of("seed")

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit_cost", _costs(self.unit_cost, "unit_cost"))
        if self.first_cost is None:
            object.__setattr__(self, "first_cost", self.unit_cost)
        else:
            object.__setattr__(self, "first_cost", _costs(self.first_cost, "first_cost"))
        if self.first_cost.shape != self.unit_cost.shape:
            raise BudgetError(
                f"first_cost must have the shape of unit_cost {self.unit_cost.shape}, "
                f"was {self.first_cost.shape}"
            )
        if not isinstance(self.budget, LengthBudget):
            raise BudgetError(
                f"budget must be a LengthBudget, was {self.budget!r}; "
                "for example LengthBudget(max=8)"
            )
        is_any_ending(self.ending)  # refuses what is neither
        for name in ("bonus", "unit_bonus"):
            value = getattr(self, name)
            if not _is_real(value) or not math.isfinite(value):
                raise ConfigError.of(name, value, "must be a finite number of nats")
            if abs(value) > _MOST_BONUS:
                rule = f"must be between -{_MOST_BONUS:g} and {_MOST_BONUS:g} nats"
                raise ConfigError.of(name, value, rule)
        for name in ("beam_size", "words_per_vertex", "n_best", "max_expansions"):
            value = getattr(self, name)
            if name == "words_per_vertex" and value is None:
                continue
            if not _is_whole(value) or value < 1:
                raise ConfigError.of(name, value, "must be a whole number of at least 1")
        if self.after_best is not None and (not _is_whole(self.after_best) or self.after_best < 0):
            rule = "must be None or a whole number of at least 0"
            raise ConfigError.of("after_best", self.after_best, rule)
        limit = self.time_limit_s
        if limit is not None and (not _is_real(limit) or not limit > 0):
            raise ConfigError.of("time_limit_s", limit, "must be above 0 seconds")
        if self.deadline is not None and not isinstance(self.deadline, Deadline):
            raise ConfigError.of("deadline", self.deadline, "must be a Deadline")
        if self.seed is not None and (not _is_whole(self.seed) or self.seed < 0):
            raise ConfigError.of("seed", self.seed, "must be a whole number of at least 0")

    def check_against(self, dag: DAG) -> None:
        """Check that costs and constraints are made for the graph's vocabulary.

        Args:
            dag: The graph to decode.

        Raises:
            BudgetError: If there is not one cost per vocabulary id.
            ConstraintError: If the constraints are not compiled, or for another vocabulary.
        """
        if self.unit_cost.shape != (dag.vocab_size,):
            raise BudgetError(
                f"unit_cost must be (V,) = ({dag.vocab_size},), was {self.unit_cost.shape}; "
                "give one cost per vocabulary id"
            )
        if self.constraints is not None and not hasattr(self.constraints, "vocab_size"):
            remedy = "give Constraints(...).compile(tokenizer, lexicon, source_text)"
            rule = "must be compiled for one text"
            raise ConstraintError.of("constraints", self.constraints, rule, remedy)
        if self.constraints is not None and self.constraints.vocab_size != dag.vocab_size:
            raise ConstraintError(
                f"constraints were compiled for {self.constraints.vocab_size} vocabulary ids, but "
                f"the graph has {dag.vocab_size}; compile them with the graph's tokenizer"
            )

    def begin(self) -> DecodeOptions:
        """Options of a call that begins now.

        Returns:
            The options with a deadline, and with no more expansions than that has left.
        """
        deadline = self.deadline or Deadline(self.time_limit_s)
        left = deadline.expansions_left
        most = self.max_expansions if left is None else max(1, min(self.max_expansions, left))
        if deadline is self.deadline and most == self.max_expansions:
            return self
        return self.replace(deadline=deadline, max_expansions=most)

    @property
    def running(self) -> Deadline:
        """The deadline of options that `begin` has returned."""
        assert self.deadline is not None
        return self.deadline

    def bonus_of(self, n_words: int, cost: int) -> float:
        """What the score of a sequence has beside its log-probability.

        Args:
            n_words: Its words.
            cost: Its total cost.

        Returns:
            Nats.
        """
        return self.bonus * n_words + self.unit_bonus * cost

    def replace(self, **changes: Any) -> DecodeOptions:
        """Copy the options with some of them changed.

        Args:
            **changes: New values by name.

        Returns:
            The validated copy.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return DecodeOptions(**(values | changes))


DEFAULTS: Any = SimpleNamespace(
    **{one.name: one.default for one in fields(DecodeOptions) if one.default is not MISSING}
)
"""Defaults of decoding, for functions that take some of these options as keywords."""

Decoder = Callable[..., NBest]
"""A decoder: ``decoder(dag, options=DecodeOptions) -> NBest``."""


def is_any_ending(ending: str) -> bool:
    """Say whether a sequence may end at any vertex, without the closing link.

    Args:
        ending: ``"eos"`` (Eq. A2) or ``"any"`` (Eq. A3).

    Returns:
        ``True`` for ``"any"``.

    Raises:
        ConfigError: If it is neither.
    """
    if ending not in get_args(Ending):
        raise ConfigError.of("ending", ending, "must be 'eos' or 'any'")
    return ending == "any"


def _costs(values: npt.ArrayLike | Sequence[int], name: str) -> CostArray:
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise BudgetError(f"{name} must be (V,), one cost per vocabulary id: {error}") from error
    if array.ndim != 1:
        raise BudgetError(f"{name} must be (V,), one cost per vocabulary id, was {array.shape}")
    if array.dtype == np.int32:
        whole = array
    elif array.dtype.kind in "iu":
        whole = np.clip(array, -1 if array.dtype.kind == "i" else 0, NEVER).astype(np.int32)
    else:
        raise BudgetError(f"{name} must hold whole numbers, was of type {array.dtype}")
    if whole.size and whole.min() < 0:
        where = int(np.argmin(whole))
        raise BudgetError(f"{name}[{where}] is {int(array[where])}; a cost must be 0 or more")
    return np.ascontiguousarray(whole)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_real(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
