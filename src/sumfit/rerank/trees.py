"""Boosted trees that say how likely a reader is to print a line.

Owns the trees of a model: reading, writing and adding them up. Does not own what they look at
(`sumfit.rerank.lines`), nor how they are grown (``scripts/teacher/grow.py``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.errors import ModelFormatError
from sumfit.unpacking import read_arrays

__all__ = ["TREES_FILE", "Trees"]

TREES_FILE = "trees.npz"
"""Where in its directory a model has them."""

FloatArray = npt.NDArray[np.float64]

_ARRAYS = ("roots", "columns", "thresholds", "children", "values", "base")
_LEAF = -1


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Trees of N nodes in all, as flat arrays.

    Attributes:
        roots: ``(T,)`` node at which each tree begins.
        columns: ``(N,)`` column that a node asks for; -1 for a leaf.
        thresholds: ``(N,)`` greatest value that goes to the first child.
        children: ``(N, 2)`` nodes that follow.
        values: ``(N,)`` logits that a leaf adds.
        base: Logit before any tree.
    """

    roots: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    thresholds: FloatArray
    children: npt.NDArray[np.int64]
    values: FloatArray
    base: float

    @classmethod
    def load(cls, file: str | os.PathLike[str], n_columns: int, most: int) -> Trees:
        """Read the trees of a model.

        Args:
            file: Where they lie.
            n_columns: Columns of what they are asked about.
            most: Bytes that the file may unpack to.

        Returns:
            The trees.

        Raises:
            ModelFormatError: If the file is damaged, or asks for columns that there are not.
        """
        try:
            found = read_arrays(file, _ARRAYS, most)
            trees = cls(
                roots=found["roots"].astype(np.int64),
                columns=found["columns"].astype(np.int64),
                thresholds=found["thresholds"].astype(np.float64),
                children=found["children"].astype(np.int64),
                values=found["values"].astype(np.float64),
                base=float(found["base"]),
            )
        except (OSError, ValueError, TypeError) as error:
            raise ModelFormatError(f"{file} is damaged ({error}); copy the model again") from error
        if not trees._is_sound(n_columns):
            raise ModelFormatError(
                f"{file} holds no trees over {n_columns} numbers; use the sumfit that wrote it, or "
                "copy the model again"
            )
        return trees

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the trees, numbers as float32.

        Args:
            file: Where to.
        """
        arrays: dict[str, Any] = {
            "roots": self.roots.astype(np.int32),
            "columns": self.columns.astype(np.int8),
            "thresholds": self.thresholds.astype(np.float32),
            "children": self.children.astype(np.int16),
            "values": self.values.astype(np.float16),
            "base": np.float64(self.base),
        }
        with Path(file).open("wb") as stream:
            np.savez_compressed(stream, **arrays)

    def chances(self, rows: FloatArray) -> FloatArray:
        """Add up the trees.

        Args:
            rows: ``(L, C)``, what is known of each line.

        Returns:
            ``(L,)``, between 0 and 1.
        """
        at = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        lines = np.arange(len(rows))[:, None]
        while True:
            columns = self.columns[at]
            inner = columns != _LEAF
            if not inner.any():
                break
            is_second = rows[lines, np.maximum(columns, 0)] > self.thresholds[at]
            at = np.where(inner, self.children[at, is_second.astype(np.int64)], at)
        logits = self.base + self.values[at].sum(axis=1)
        result: FloatArray = 1.0 / (1.0 + np.exp(-logits))
        return result

    def _is_sound(self, n_columns: int) -> bool:
        """Whether every walk ends at a leaf, and no node asks for what there is not."""
        n = len(self.columns)
        sizes = [len(self.thresholds), len(self.children), len(self.values)]
        if sizes != [n] * 3 or self.children.ndim != 2 or self.children.shape[1] != 2:
            return False
        inner = self.columns != _LEAF
        places = np.arange(n)[inner, None]
        numbers = np.concatenate([self.thresholds[inner], self.values, [self.base]])
        return bool(
            len(self.roots)
            and np.isin(self.roots, np.arange(n)).all()
            and (self.columns >= _LEAF).all()
            and (self.columns < n_columns).all()
            and (self.children[inner] > places).all()  # so no walk goes round
            and (self.children[inner] < n).all()
            and np.isfinite(numbers).all()
        )
