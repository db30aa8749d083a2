"""A small writer of ONNX graphs, with matrix products in float32 or int8.

Owns nodes, constants and the arithmetic of quantisation. Does not know the network
(`sumfit.models.export`).

int8 here means: weights as signed bytes, one scale per output column; activations as unsigned bytes
around 128, one scale per row, found while running. A row's result depends on that row alone, so an
item never depends on its batch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

__all__ = ["MICROSOFT", "GraphWriter"]

OPSET = 20
MICROSOFT = "com.microsoft"  # operators of onnxruntime: fused attention, norms, integer products
# Processors without VNNI add two products of a byte and a signed byte in 16 bits, and saturate:
# 2 * 255 * 64 fits, 2 * 255 * 127 does not. Activations, not weights, dominate the error.
_LARGEST_WEIGHT = 64
FloatArray = npt.NDArray[np.float32]


class GraphWriter:
    """Collects the nodes and constants of one graph. Values are known by their names."""

    def __init__(self, *, is_int8: bool) -> None:
        """Start an empty graph.

        Args:
            is_int8: Whether matrix products run in int8.
        """
        self.is_int8 = is_int8
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._vectors: dict[str, str] = {}
        self._quantised_rows: dict[str, tuple[str, str]] = {}

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        *,
        domain: str = "",
        n_outputs: int = 1,
        name: str | None = None,
        **attributes: Any,
    ) -> tuple[str, ...]:
        """Add a node.

        Args:
            operator: ONNX operator.
            inputs: Names of its inputs; ``""`` leaves one out.
            domain: Operator set; the standard one if empty.
            n_outputs: Outputs it has.
            name: Name of its only output; made up if ``None``.
            **attributes: Attributes of the operator.

        Returns:
            Names of its outputs.
        """
        stem = f"{operator}_{len(self._nodes)}"
        outputs = [name] if name else [f"{stem}_{index}" for index in range(n_outputs)]
        self._nodes.append(
            helper.make_node(
                operator, list(inputs), outputs, name=stem, domain=domain, **attributes
            )
        )
        return tuple(outputs)

    def op(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return the output's name.

        Args:
            operator: ONNX operator.
            *inputs: Names of its inputs.
            domain: Operator set; the standard one if empty.
            **attributes: Attributes of the operator.

        Returns:
            Name of its output.
        """
        return self.node(operator, inputs, domain=domain, **attributes)[0]

    def constant(self, name: str, values: npt.ArrayLike | Tensor) -> str:
        """Store values once under a name.

        Args:
            name: Name of the constant; a second call with the same name returns the first.
            values: The values, in the type to store.

        Returns:
            The name.
        """
        if name not in self._constants:
            array = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
            self._constants[name] = numpy_helper.from_array(np.array(array, order="C"), name)
        return name

    def vector(self, name: str, values: npt.ArrayLike | Tensor) -> str:
        """Store a vector of numbers, in half precision where weights are int8.

        Args:
            name: Name of the constant.
            values: The numbers.

        Returns:
            Name of the float32 vector; onnxruntime casts it once, when the session loads.
        """
        array = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
        if not self.is_int8:
            return self.constant(name, np.asarray(array, dtype=np.float32))
        if name not in self._vectors:
            stored = self.constant(name, np.asarray(array, dtype=np.float16))
            self._vectors[name] = self.op("Cast", stored, to=TensorProto.FLOAT)
        return self._vectors[name]

    def ints(self, *values: int) -> str:
        """Store a vector of int64.

        Args:
            *values: The values.

        Returns:
            Name of the constant.
        """
        return self.constant("ints_" + "_".join(map(str, values)), np.array(values, np.int64))

    def number(self, value: float) -> str:
        """Store a float32 scalar.

        Args:
            value: The value.

        Returns:
            Name of the constant.
        """
        return self.constant(f"float_{value}", np.array(value, np.float32))

    def positions(self, name: str, values: Tensor, length: str) -> str:
        """Store a table of rows, in half precision where weights are int8, and read its start.

        Args:
            name: Name of the constant.
            values: ``(P, D)`` float32.
            length: Name of the ``(1,)`` int64 number of rows wanted.

        Returns:
            Name of the ``(length, D)`` float32 rows.
        """
        array = values.detach().cpu().numpy()
        table = self.constant(name, array.astype(np.float16) if self.is_int8 else array)
        rows = self.op("Slice", table, self.ints(0), length, self.ints(0))
        return self.op("Cast", rows, to=TensorProto.FLOAT) if self.is_int8 else rows

    def product(self, x: str, name: str, weight: Tensor) -> str:
        """Multiply rows by a weight matrix, without bias.

        Args:
            x: Name of the ``(..., K)`` rows.
            name: Name to store the weight under.
            weight: ``(N, K)`` as torch stores it.

        Returns:
            Name of the ``(..., N)`` product.
        """
        array = weight.detach().cpu().numpy().astype(np.float32)
        if not self.is_int8:
            return self.op("MatMul", x, self.constant(name, array.T))
        values, scale = quantise(array)
        return self._int8_product(
            x, self.constant(name, values.T), self.vector(f"{name}.scale", scale)
        )

    def lookup(self, ids: str, name: str, table: Tensor) -> str:
        """Read rows of a word table that `tied_logits` may multiply by: it is stored once.

        Args:
            ids: Name of the ``(B, T)`` int64 ids.
            name: Name to store the table under.
            table: ``(V, D)``.

        Returns:
            Name of the ``(B, T, D)`` float32 rows.
        """
        array = table.detach().cpu().numpy().astype(np.float32)
        if not self.is_int8:
            return self.op("Gather", self.constant(name, array), ids)
        values, scale = quantise(array)
        rows = self.op("Gather", self.constant(name, values), ids)
        row_scale = self.op("Gather", self.vector(f"{name}.scale", scale), ids)
        whole = self.op("Cast", rows, to=TensorProto.FLOAT)
        return self.op("Mul", whole, self.op("Unsqueeze", row_scale, self.ints(-1)))

    def tied_logits(self, x: str, name: str, table: Tensor, *, n_special: int) -> str:
        """Multiply rows by the word table; special words come out as ``-inf``.

        Args:
            x: Name of the ``(B, S, D)`` rows.
            name: Name the table is stored under.
            table: ``(V, D)``.
            n_special: Ids below this one are impossible.

        Returns:
            Name of the ``(B, S, V)`` logits.
        """
        array = table.detach().cpu().numpy().astype(np.float32)
        mask = np.where(np.arange(len(array)) < n_special, -np.inf, 0.0).astype(np.float32)
        bias = self.vector(f"{name}.mask", mask)
        if self.is_int8:
            values, scale = quantise(array)
            # Turned once, when the session loads: the file holds the table once.
            weight = self.op("Transpose", self.constant(name, values), perm=[1, 0])
            return self._int8_product(x, weight, self.vector(f"{name}.scale", scale), bias)
        flat = self.op("Reshape", x, self.ints(-1, array.shape[1]))
        logits = self.op("Gemm", flat, self.constant(name, array), bias, transB=1)
        shape = self.op("Concat", self.op("Shape", x, end=2), self.ints(len(array)), axis=0)
        return self.op("Reshape", logits, shape)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        about: dict[str, str],
    ) -> None:
        """Check the graph and write it; the file appears whole or not at all.

        Args:
            path: File to write.
            inputs: Value infos of the inputs.
            outputs: Value infos of the outputs.
            about: Metadata to store.
        """
        graph = helper.make_graph(
            self._nodes, "sumfit", list(inputs), list(outputs), list(self._constants.values())
        )
        sets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=sets, ir_version=9, producer_name="sumfit")
        helper.set_model_props(model, about)
        onnx.checker.check_model(model)
        target = Path(path)
        part = target.with_name(target.name + ".part")
        part.write_bytes(model.SerializeToString())
        part.replace(target)

    def _int8_product(self, x: str, weight: str, scale: str, bias: str = "") -> str:
        rows, peak = self._rows(x)
        # The bias is added before the row's scale is multiplied in: good for 0 and -inf only.
        product = self.op(
            "MatMulIntegerToFloat",
            rows,
            weight,
            self.number(1 / 127),
            scale,
            self.constant("byte_128", np.array(128, np.uint8)),
            "",
            bias,
            domain=MICROSOFT,
        )
        return self.op("Mul", product, peak)

    def _rows(self, x: str) -> tuple[str, str]:
        """Quantise rows: names of ``(..., K)`` bytes and of the ``(..., 1)`` largest magnitude."""
        if x not in self._quantised_rows:
            peak = self.op("ReduceMax", self.op("Abs", x), self.ints(-1), keepdims=1)
            # A row of zeros would be 0 / 0.
            peak = self.op("Max", peak, self.number(1e-30))
            zero = self.constant("byte_128", np.array(128, np.uint8))
            rows = self.op("QuantizeLinear", self.op("Div", x, peak), self.number(1 / 127), zero)
            self._quantised_rows[x] = (rows, peak)
        return self._quantised_rows[x]


def quantise(weight: FloatArray) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """Round each row of a matrix to 129 levels.

    Args:
        weight: ``(N, K)``.

    Returns:
        ``(N, K)`` values in -64..64 and ``(N,)`` scales; their product is the matrix to within
        half a scale.
    """
    scale = np.maximum(np.abs(weight).max(axis=1), 1e-12) / np.float32(_LARGEST_WEIGHT)
    values = np.rint(weight / scale[:, None]).astype(np.int8)
    return values, scale.astype(np.float32)
