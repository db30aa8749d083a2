"""Training that starts from a reranker: its network, weights and reader.

Owns what is taken over from the directory, and the check that it fits. Does not own encoders to
start from (`sumfit.models.pretrained`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sumfit.errors import IncompatibleModelError
from sumfit.models.pretrained import PretrainedEncoder
from sumfit.models.reranker import Reranker
from sumfit.models.reranker_config import RerankerShape, reader_file
from sumfit.rerank.features import FEATURES
from sumfit.rerank.text_features import LIST_FEATURES
from sumfit.training.reranking.files import load_reranker

__all__ = ["check_start", "feature_names", "read_start", "with_start"]

_ENCODER = (
    *("vocab_size", "pad_id", "width", "n_heads", "ffn_width", "n_layers"),
    *("n_positions", "layer_norm_eps"),
)
_NETWORK = (
    *("n_candidates", "order_weight", "rank_embedding", "head", "head_width"),
    *("max_source", "max_candidate", "dropout"),
)


def feature_names(shape: RerankerShape) -> tuple[str, ...]:
    """Name the features that a network reads.

    Args:
        shape: The network.

    Returns:
        The names, in order; none if it reads none.
    """
    if not shape.n_features:
        return ()
    return LIST_FEATURES if shape.encoder == "none" else FEATURES


def with_start(values: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in what a recipe leaves to the reranker it starts from: every number of ``[model]``.

    Args:
        values: The recipe as read from its file.

    Returns:
        A changed copy; a directory that cannot be read changes nothing, and is reported later.
    """
    start, section = values.get("start"), values.get("model", {})
    folder = start.get("reranker") if isinstance(start, Mapping) else None
    if not (isinstance(folder, str) and folder and isinstance(section, Mapping)):
        return dict(values)
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        shape = config["architecture"]
        own = {name: shape[name] for name in _NETWORK if name in shape}
        own["features"] = bool(shape.get("n_features"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return dict(values)
    return {**values, "model": own | dict(section)}


def read_start(folder: str | Path) -> PretrainedEncoder:
    """Read a reranker to start from.

    Args:
        folder: A checkpoint of a reranker, ``best``, or a directory exported with its weights.

    Returns:
        Its encoder, with the weights of the whole network.

    Raises:
        IncompatibleModelError: If it reads other features than are computed here.
    """
    network, config = load_reranker(folder)
    shape, known = network.shape, feature_names(network.shape)
    if known and tuple(config.get("features", ())) != known:
        raise IncompatibleModelError(
            f"{folder} reads features {config.get('features')}, here {list(known)} are computed; "
            "train it again from the start"
        )
    is_none = shape.encoder == "none"
    fields = {} if is_none else {name: getattr(shape, name) for name in _ENCODER}
    reader = Path(folder) / reader_file(shape.encoder)
    return PretrainedEncoder(shape.encoder, fields, network.state_dict(), reader)


def check_start(network: Reranker, start: PretrainedEncoder, folder: str) -> None:
    """Raise unless a recipe's network is that of the reranker it starts from.

    Args:
        network: The recipe's network.
        start: What `read_start` gave.
        folder: Its directory, for the error.

    Raises:
        IncompatibleModelError: If a tensor is missing or has another shape.
    """
    wanted = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in start.weights.items()}
    wrong = sorted(name for name in wanted | found if wanted.get(name) != found.get(name))
    if wrong:
        name = wrong[0]
        raise IncompatibleModelError(
            f"{name} of {folder} is {found.get(name)}, this recipe's is {wanted.get(name)}; "
            "what the recipe leaves out of [model] is taken from there"
        )
