"""From source ids to graphs: model directories and the networks that run them.

Owns loading a model and calling it. Does not own text (`sumfit.text`) or search
(`sumfit.decoding`). The torch backend is imported only when it is asked for.
"""

from sumfit.runtime.backend import load_backend
from sumfit.runtime.directory import (
    LEXICON,
    RERANKER,
    ModelConfig,
    ModelDirectory,
    default_model_path,
)
from sumfit.runtime.graph import Backend, GraphRequest, Prediction, fold

__all__ = [
    "LEXICON",
    "RERANKER",
    "Backend",
    "GraphRequest",
    "ModelConfig",
    "ModelDirectory",
    "Prediction",
    "default_model_path",
    "fold",
    "load_backend",
]
