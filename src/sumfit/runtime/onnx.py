"""The default backend: one ONNX graph on the CPU, one text per call.

Owns the checks and calls of its session (`sumfit.models.session`). A text is never padded and never
shares a call with another, so its graph cannot depend on its batch; texts run side by side on
threads instead (onnxruntime releases the interpreter lock). Opens no network connection.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.errors import IncompatibleModelError
from sumfit.models.session import open_session
from sumfit.runtime.directory import ModelDirectory
from sumfit.runtime.graph import GraphRequest, Prediction, fold
from sumfit.runtime.scorer import Scorer

__all__ = ["OnnxBackend"]

_INPUTS = ("source_ids", "vertex_mask")
_OUTPUTS = ("top_ids", "cand_logp", "other_logp", "link_logp")
_PINNED = "pinned_ids"  # an output that graphs without pinned words lack
_MEMORY, _ROWS, _ROW_IDS = "memory", "rows", "row_ids"  # of graphs with a scorer


class OnnxBackend:
    """Predicts graphs with onnxruntime; safe to call from several threads at once."""

    def __init__(
        self, model: ModelDirectory, *, precision: str | None = None, n_threads: int = 1
    ) -> None:
        """Load the network.

        Args:
            model: An opened model directory.
            precision: ``"int8"``, ``"fp32"`` or ``None`` for what is there, int8 first.
            n_threads: Threads inside one call. Leave it at 1 for batches, which run one text per
                thread; more helps a single long text a little.

        Raises:
            ModelFormatError: If the network's file is missing or does not load.
            IncompatibleModelError: If its inputs or outputs are not those of this version.
        """
        self._vocab_size = model.tokenizer.vocab_size
        file = model.graph_file(precision)
        self._session = open_session(
            file, n_threads=n_threads, remedy="copy or export the model again"
        )
        for kind, expected, found in (
            ("inputs", _INPUTS, [value.name for value in self._session.get_inputs()]),
            ("outputs", _OUTPUTS, [value.name for value in self._session.get_outputs()]),
        ):
            if set(expected) - set(found):
                raise IncompatibleModelError(
                    f"{file} has {kind} {', '.join(found)}, needed are {', '.join(expected)}; "
                    "export the model again with this version of sumfit"
                )
        known = (*_INPUTS, _ROW_IDS)
        extra = [value.name for value in self._session.get_inputs() if value.name not in known]
        if extra:
            raise IncompatibleModelError(
                f"{file} asks for {', '.join(extra)}, which this version of sumfit does not give; "
                "export a model without it"
            )
        has_pinned = _PINNED in [value.name for value in self._session.get_outputs()]
        self._outputs = [*_OUTPUTS, _PINNED] if has_pinned else list(_OUTPUTS)
        self._scorer: Scorer | None = None
        scorer = model.scorer_file(file)
        if scorer is not None:
            self._outputs.append(_MEMORY)
            self._scorer = Scorer(scorer, self._all_rows, n_threads=n_threads)
        self._precision = "fp32" if file.name == "model.fp32.onnx" else "int8"

    @property
    def name(self) -> str:
        """``"onnx-int8"`` or ``"onnx-fp32"``."""
        return f"onnx-{self._precision}"

    @property
    def device(self) -> None:
        """``None``: graphs are decoded on the CPU, one by one."""
        return None

    @property
    def batch_size(self) -> int:
        """1: every text has its own call."""
        return 1

    @property
    def scorer(self) -> Scorer | None:
        """Scores whole candidates; ``None`` if the model cannot."""
        return self._scorer

    def graphs(self, requests: list[GraphRequest]) -> list[DAG]:
        """Predict one graph per request, in order.

        Args:
            requests: Sources and graph sizes.

        Returns:
            The graphs.
        """
        return [self._predict(request).dag for request in requests]

    def predictions(self, requests: list[GraphRequest]) -> list[Prediction]:
        """Predict one graph per request, with what the scorer needs, in order.

        Args:
            requests: Sources and graph sizes.

        Returns:
            The predictions.
        """
        return [self._predict(request) for request in requests]

    def _predict(self, request: GraphRequest) -> Prediction:
        inputs = {
            "source_ids": np.asarray([request.source_ids], dtype=np.int64),
            "vertex_mask": np.ones((1, request.n_vertices), dtype=bool),
        }
        if self._scorer is not None:
            inputs[_ROW_IDS] = np.zeros(0, dtype=np.int64)
        values = self._session.run(self._outputs, inputs)
        found = dict(zip(self._outputs, values, strict=True))
        dag = fold(
            **{name: found[name][0] for name in _OUTPUTS},
            vocab_size=self._vocab_size,
            pinned_ids=found.get(_PINNED),
        )
        return Prediction(dag, found[_MEMORY][0] if self._scorer is not None else None)

    def _all_rows(self) -> npt.NDArray[np.float32]:
        """The ``(V, D)`` word embeddings, which the network's file holds already."""
        (rows,) = self._session.run(
            [_ROWS],
            {
                "source_ids": np.ones((1, 1), dtype=np.int64),
                "vertex_mask": np.ones((1, 3), dtype=bool),
                _ROW_IDS: np.arange(self._vocab_size, dtype=np.int64),
            },
        )
        result: npt.NDArray[np.float32] = rows
        return result
