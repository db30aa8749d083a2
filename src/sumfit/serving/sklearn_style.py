"""A transformer in scikit-learn's style, for columns of data frames and pipelines.

Owns `SummaryTransformer`. scikit-learn itself is not needed: its conventions are (parameters as
given, ``fit`` returns ``self``, names of features out), so that `sklearn.base.clone`, pipelines
and column transformers take it.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from sumfit.errors import ConfigError, InputError
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.pipeline import Summarizer

__all__ = ["SummaryTransformer"]


class SummaryTransformer:
    """Turns a column of texts into a column of summaries.

    Example::

        SummaryTransformer(max_chars=60).fit_transform(frame["body"])
        ColumnTransformer([("title", SummaryTransformer(max_words=8), "body")])
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        max_words: int | None = None,
        max_chars: int | None = None,
        max_bytes: int | None = None,
        max_tokens: int | None = None,
        max_graphemes: int | None = None,
        max_cells: int | None = None,
        preset: str | None = None,
        ratio: float | None = None,
        options: dict[str, Any] | None = None,
        on_error: str = "raise",
        n_workers: int | None = None,
    ) -> None:
        """Remember the parameters; they are checked by `fit`.

        Args:
            model: Model directory, ``None`` for the embedded model.
            max_words: Limit in words. Give one limit, or a preset, or a ratio.
            max_chars: Limit in characters.
            max_bytes: Limit in bytes.
            max_tokens: Limit in vocabulary pieces.
            max_graphemes: Limit in graphemes.
            max_cells: Limit in terminal columns.
            preset: A named slot.
            ratio: Limit as a share of each text.
            options: Further keyword arguments of `sumfit.Summarizer`.
            on_error: ``"raise"``, or ``"empty"`` to return an empty string for a text that cannot
                be summarised.
            n_workers: Threads; one per processor if ``None``.
        """
        self.model = model
        self.max_words = max_words
        self.max_chars = max_chars
        self.max_bytes = max_bytes
        self.max_tokens = max_tokens
        self.max_graphemes = max_graphemes
        self.max_cells = max_cells
        self.preset = preset
        self.ratio = ratio
        self.options = options
        self.on_error = on_error
        self.n_workers = n_workers

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """List the parameters.

        Args:
            deep: No effect; there are no nested estimators.

        Returns:
            Parameter values by name.
        """
        names = [name for name in inspect.signature(type(self)).parameters]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **parameters: Any) -> SummaryTransformer:
        """Change parameters.

        Args:
            **parameters: New values by name.

        Returns:
            This object.

        Raises:
            ConfigError: If a name is unknown.
        """
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ConfigError(f"unknown parameter {name!r}; known are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def fit(self, X: Any = None, y: Any = None) -> SummaryTransformer:
        """Load the model and check the parameters; nothing is learned.

        Args:
            X: Ignored.
            y: Ignored.

        Returns:
            This object.

        Raises:
            ConfigError: If a parameter is wrong.
        """
        if self.on_error not in ("raise", "empty"):
            raise ConfigError(f"on_error must be 'raise' or 'empty', was {self.on_error!r}")
        self.summarizer_ = Summarizer.from_pretrained(self.model, n_workers=self.n_workers)
        list(self.summarizer_.stream([], **self._keywords()))
        return self

    def transform(self, X: Any) -> Any:
        """Summarise a column.

        Args:
            X: Texts: a list, an array, a Series, or a frame or array with exactly one column.

        Returns:
            Array of the same shape as the input with the summaries as objects.

        Raises:
            InputError: If there are several columns.
        """
        if not hasattr(self, "summarizer_"):
            self.fit()
        column = np.asarray(X, dtype=object)
        if column.ndim > 2 or (column.ndim == 2 and column.shape[1] != 1):
            raise InputError(
                f"one column of texts is needed, the shape was {column.shape}; select a column"
            )
        summaries = self.summarizer_(
            column.ravel().tolist(),
            on_error="return" if self.on_error == "empty" else "raise",
            **self._keywords(),
        )
        texts = np.array([summary.text for summary in summaries], dtype=object)
        return texts.reshape(column.shape)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Load the model and summarise a column.

        Args:
            X: As for `transform`.
            y: Ignored.

        Returns:
            As `transform`.
        """
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the output column.

        Args:
            input_features: Names of the input columns; the first is used.

        Returns:
            ``(1,)`` names.
        """
        first = "text" if input_features is None else str(input_features[0])
        return np.array([f"{first}_summary"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` has run."""
        return hasattr(self, "summarizer_")

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn: a transformer of text that needs no fitting."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
            requires_fit=False,
        )

    def _keywords(self) -> dict[str, Any]:
        given = {name: value for name, value in self.get_params().items() if name in LIMIT_KEYWORDS}
        return {name: value for name, value in given.items() if value is not None} | dict(
            self.options or {}
        )
