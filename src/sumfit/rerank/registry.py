"""The rerankers that have a name, one row for each, and the lookup.

Owns the names, what help texts say of them, and how each is made for a model. To add one, write a
`Chooser` in a module of its own and its row here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sumfit.errors import ConfigError, Keyword, given
from sumfit.rerank.adapters import as_chooser
from sumfit.rerank.chooser import Chooser
from sumfit.spelling import did_you_mean

if TYPE_CHECKING:
    from sumfit.runtime import ModelDirectory
    from sumfit.runtime.scorer import Scorer

__all__ = ["AUTO", "RERANKERS", "Row", "get_reranker"]

AUTO = "auto"
"""The model's own way to choose, the default."""


@dataclass(frozen=True, slots=True)
class Row:
    """A reranker that has a name.

    Attributes:
        about: What chooses, for help texts.
        make: Makes it for a model and its scorer, if there is one; ``None`` where the order of
            the search is to stay.
    """

    about: str
    make: Callable[[ModelDirectory, Scorer | None], Chooser | None]


# Each is imported when it is asked for: names are listed where no model is.
def _scorer(model: ModelDirectory, scorer: Scorer | None) -> Chooser | None:
    from sumfit.rerank.confidence import check_weights
    from sumfit.rerank.scorer import ScorerChooser

    if scorer is None:
        return None
    check_weights(model.config.confidence, model.path / "config.json")
    return ScorerChooser(scorer, confidence=model.config.confidence)


def _mbr(model: ModelDirectory, scorer: Scorer | None) -> Chooser:
    from sumfit.rerank.graph import GraphMBRReranker

    return GraphMBRReranker.of(model.tokenizer, weight=model.config.mbr_weight)


def _own(model: ModelDirectory, scorer: Scorer | None) -> Chooser:
    place = model.own_reranker
    if place is None:
        raise ConfigError(
            f"model {model.config.name!r} has no reranker of its own "
            f"({model.own_reranker_path} is not there); use ",
            given("rerank", "mbr"),
            ", or the directory of a trained reranker",
        )
    return _trained(place, model)


RERANKERS: dict[str, Row] = {
    AUTO: Row("the model's scorer", _scorer),
    "none": Row("the best score", lambda model, scorer: None),
    "mbr": Row("expected overlap", _mbr),
    "neural": Row("the model's own reranker", _own),
}
"""What ``rerank`` may be beside a directory."""


def get_reranker(
    rerank: object, model: ModelDirectory, *, scorer: Scorer | None = None
) -> Chooser | None:
    """Look a reranker up.

    Args:
        rerank: A name in `RERANKERS`, the directory of a trained reranker, or an object that is a
            reranker already.
        model: The model among whose candidates it is to choose.
        scorer: The model's scorer, if it is loaded.

    Returns:
        The reranker; ``None`` where the order of the search is to stay.

    Raises:
        ConfigError: If there is no such reranker.
        ModelError: If the directory holds no usable reranker, or one for another tokenizer.
    """
    if isinstance(rerank, str):
        if rerank in RERANKERS:
            return RERANKERS[rerank].make(model, scorer)
        if rerank == "mbr-nbest":
            raise ConfigError(
                given("rerank", rerank), " has been removed; use ", given("rerank", "mbr")
            )
        path = Path(rerank)
        if path.is_dir() or len(path.parts) > 1:
            return _trained(path, model)
    elif isinstance(rerank, os.PathLike):
        return _trained(Path(rerank), model)
    else:
        chooser = as_chooser(rerank)
        if chooser is not None:
            return chooser
    hint = did_you_mean(rerank, RERANKERS)
    other = "the directory of a trained reranker" if isinstance(rerank, str) else "a Reranker"
    rule = f" must be {', '.join(map(repr, RERANKERS))} or {other}, was {rerank!r}{hint}"
    raise ConfigError(Keyword("rerank", "", rerank), rule)


def _trained(path: Path, model: ModelDirectory) -> Chooser:
    from sumfit.rerank.neural import NeuralReranker

    config = model.config
    loaded = NeuralReranker(path)
    loaded.check_model(tokenizer_sha256=config.tokenizer_sha256, name=config.name)
    return loaded
