"""The trained baselines of the paper, called like a `sumfit.Summarizer`; need ``sumfit[train]``.

Owns `load_baseline` and the table of baselines. Each reads the directory of a checkpoint that
``sumfit train`` wrote, such as ``runs/NAME/best``.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from sumfit.errors import IncompatibleModelError, MissingExtraError

if TYPE_CHECKING:
    from sumfit.baselines.base import Baseline

__all__ = ["load_baseline"]

# One line for each system: where the class that writes its summaries is.
_BASELINES = {
    "at": ("sumfit.baselines.autoregressive", "AutoregressiveBaseline"),
    "at-leninfo": ("sumfit.baselines.autoregressive", "AutoregressiveBaseline"),
    "ctc": ("sumfit.baselines.ctc", "CTCBaseline"),
    "bert-crf": ("sumfit.baselines.bert_crf", "BertCRFBaseline"),
}


def load_baseline(
    directory: str | os.PathLike[str],
    *,
    device: str | None = None,
    precision: str | None = None,
    batch_size: int = 64,
) -> Baseline:
    """Load a trained baseline, whichever it is.

    Args:
        directory: A checkpoint: ``config.json``, ``model.safetensors`` and ``tokenizer.json``.
        device: Torch device; a GPU if there is one, else the CPU, if not given.
        precision: ``"fp32"`` or ``"bf16"``; bf16 on a GPU and fp32 on the CPU if not given.
        batch_size: Texts that are summarised together.

    Returns:
        The baseline; call it as a `sumfit.Summarizer`.

    Raises:
        ModelNotFoundError: If there is no model.
        ModelFormatError: If a file is missing or damaged.
        IncompatibleModelError: If the model is no baseline.
        ConfigError: If device, precision or batch size cannot be used.
        MissingExtraError: If torch is not installed.
    """
    try:
        from sumfit.models.checkpoint import read_system
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train") from error
    system = read_system(directory)
    if system not in _BASELINES:
        raise IncompatibleModelError(
            f"{directory} holds a model of the system {system!r}, but the baselines are "
            f"{', '.join(_BASELINES)}; a DAT is exported with sumfit export and loaded with "
            "sumfit.Summarizer.from_pretrained"
        )
    module, name = _BASELINES[system]
    kind: type[Baseline] = getattr(import_module(module), name)
    return kind.load(directory, device=device, precision=precision, batch_size=batch_size)
