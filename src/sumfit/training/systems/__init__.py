"""The kinds of model that one trainer trains: the DAT and the baselines it is compared with.

Owns the table of systems. Everything else of a run is the same for all of them: packed corpus,
batches, optimiser, processes, moving average, checkpoints, time limit, validation. To add one:

1. the network: a subclass of `sumfit.models.network.Network` in ``models/NAME.py``, built from
   `sumfit.models.config.DATConfig` so that equal ``[model]`` sections give equal sizes, and its
   line in the table of `sumfit.models.network`. Name the entry and the blocks as `Network` does,
   and MiniLM's start weights fit;
2. the loss: a function in ``losses/NAME.py`` that returns `sumfit.losses.objective.LossOutput`
   without waiting for the GPU;
3. inference: a class in ``baselines/NAME.py`` and its line in the table of `sumfit.baselines`;
4. the `System` that joins them in ``training/systems/NAME.py``, and its line in the table below;
   the name in `sumfit.models.config.SYSTEMS`, which a recipe's ``system`` is checked against.
"""

from __future__ import annotations

from importlib import import_module

from sumfit.errors import ConfigError
from sumfit.training.systems.base import LossOptions, System

__all__ = ["LossOptions", "System", "get_system"]

_SYSTEMS = {
    "dat": ("sumfit.training.systems.dat", "DATSystem"),
    "at": ("sumfit.training.systems.autoregressive", "ATSystem"),
    "at-leninfo": ("sumfit.training.systems.autoregressive", "LenInfoSystem"),
    "ctc": ("sumfit.training.systems.ctc", "CTCSystem"),
    "bert-crf": ("sumfit.training.systems.bert_crf", "BertCRFSystem"),
}


def get_system(name: str) -> System:
    """Find a system.

    Args:
        name: As a recipe names it.

    Returns:
        The system.

    Raises:
        ConfigError: If there is none of this name.
    """
    if name not in _SYSTEMS:
        raise ConfigError(f"unknown system {name!r}; known: {sorted(_SYSTEMS)}")
    module, kind = _SYSTEMS[name]
    system: System = getattr(import_module(module), kind)()
    return system
