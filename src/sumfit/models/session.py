"""A network's file opened in onnxruntime: on the CPU, silent, without telemetry.

Owns the settings that every exported network runs with, and that it reads no file but its own. Does
not own what goes in and comes out.
"""

from __future__ import annotations

import os
from typing import Any

from sumfit.errors import ModelFormatError
from sumfit.models.onnx_files import check_self_contained

__all__ = ["SLOWER_FUSIONS", "open_session"]

SLOWER_FUSIONS = ["SkipLayerNormFusion"]
"""Fusions of onnxruntime that cost time on a CPU: the scorer takes a sixth more with this one."""


def open_session(file: str | os.PathLike[str], *, n_threads: int, remedy: str) -> Any:
    """Open a network.

    Args:
        file: The ONNX file.
        n_threads: Threads inside one call.
        remedy: What to do about a file that does not load.

    Returns:
        The ``onnxruntime.InferenceSession``.

    Raises:
        ModelFormatError: If the file does not load, or its numbers are in another file.
    """
    check_self_contained(file, remedy=remedy)
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    name = os.fspath(file)
    try:
        return onnxruntime.InferenceSession(
            name, options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER_FUSIONS
        )
    except Exception as error:  # onnxruntime has one class per status, none of them public
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelFormatError(f"{name} does not load as a network ({reason}); {remedy}") from error
