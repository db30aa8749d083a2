"""Every decoding method in one row: where it is, and what it promises.

Owns `METHODS`. A decoder is one module below `methods` with one function
``method(dag, *, options: DecodeOptions) -> NBest``; it is imported when first asked for, so that
torch and the compiled kernels load only where they are used.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

from sumfit.decoding.options import DecodeOptions, Decoder
from sumfit.errors import ConfigError, ConstraintError, Keyword

__all__ = ["METHODS", "Method", "MethodName", "get_decoder", "get_method"]

MethodName = Literal[
    "diverse",
    "greedy",
    "lookahead",
    "pathmap",
    "pathmap-released",
    "sample",
    "seqmap",
    "seqmap-beam",
    "seqmap-table",
]
"""Names of `METHODS`, for type checkers; a test compares them."""


@dataclass(frozen=True, slots=True)
class Method:
    """One decoder.

    Attributes:
        target: ``"module:function"`` below `sumfit.decoding.methods`.
        keeps_limit: No hypothesis breaks the budget; else compare ``Hypothesis.cost`` with it.
        keeps_constraints: It obeys constraints; else they are refused.
        is_exhaustive: A complete list that is shorter than asked for holds all that there is.
        can_batch: `sumfit.decoding.device.batch.decode_batch` has it too, for many graphs.
        has_all_lengths: `sumfit.decoding.decode_all_lengths` finds what it would under each limit.
    """

    target: str
    keeps_limit: bool = True
    keeps_constraints: bool = False
    is_exhaustive: bool = False
    can_batch: bool = False
    has_all_lengths: bool = False

    def load(self) -> Decoder:
        """Import the decoder.

        Returns:
            The function ``(dag, *, options) -> NBest``.
        """
        return _loaded(self.target)


METHODS: dict[str, Method] = {
    # by name, the one to try first at the top
    "seqmap": Method(
        "seqmap:seqmap", keeps_constraints=True, is_exhaustive=True, has_all_lengths=True
    ),
    "seqmap-beam": Method("beam:seqmap_beam", keeps_constraints=True, can_batch=True),
    "seqmap-table": Method("table:seqmap_table"),
    "pathmap": Method(
        "pathmap:path_map", keeps_constraints=True, is_exhaustive=True, can_batch=True
    ),
    "pathmap-released": Method("pathmap:path_map_released"),
    "diverse": Method("sampling:diverse"),
    "sample": Method("sampling:sample"),
    "greedy": Method("greedy:greedy", keeps_limit=False),
    "lookahead": Method("lookahead:lookahead", keeps_limit=False),
}
"""Every decoding method."""


def get_method(name: str) -> Method:
    """Look up a decoding method.

    Args:
        name: A name in `METHODS`.

    Returns:
        Its row.

    Raises:
        ConfigError: If there is no such method.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise ConfigError.of("method", name, f"must be one of {', '.join(sorted(METHODS))}")
    return METHODS[name]


def get_decoder(name: str, options: DecodeOptions | None = None) -> Decoder:
    """Look up the function of a decoding method.

    Args:
        name: A name in `METHODS`.
        options: What it will be asked for, if that is known.

    Returns:
        The function ``(dag, *, options) -> NBest``.

    Raises:
        ConfigError: If there is no such method.
        ConstraintError: If it cannot keep the constraints of the options.
    """
    method = get_method(name)
    has_constraints = options is not None and options.constraints is not None
    if has_constraints and not method.keeps_constraints:
        *others, last = (repr(other) for other, row in METHODS.items() if row.keeps_constraints)
        raise ConstraintError(
            Keyword("method", f" {name!r}", name),
            " cannot keep constraints; use ",
            Keyword("method", f"={', '.join(others)}"),
            f" or {last}, or leave the constraints out",
        )
    return method.load()


@lru_cache(maxsize=64)
def _loaded(target: str) -> Decoder:
    module, function = target.split(":")
    found = importlib.import_module(f"sumfit.decoding.methods.{module}")
    return cast(Decoder, getattr(found, function))
