"""Constraints of one text: the caller's switches, the model's lexicon and the source together.

Owns which switches become which constraints. Does not own how the search keeps them
(`sumfit.decoding`).
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from sumfit.pipeline.options import Options
from sumfit.runtime import ModelDirectory

__all__ = ["ConstraintCompiler", "keeps_phrases"]


class ConstraintCompiler:
    """Compiles constraints for one model; safe to use from several threads."""

    def __init__(self, model: ModelDirectory) -> None:
        """Store the model; its lexicon is read at the first use.

        Args:
            model: For tokenizer and lexicon.
        """
        self._model = model

    def compile(self, options: Options, source: str) -> Any:
        """Constraints of one call and one text.

        Args:
            options: The caller's switches.
            source: The whole source, in its profile's form.

        Returns:
            Compiled constraints, or ``None`` if everything is allowed.
        """
        if importlib.util.find_spec("sumfit.decoding.constraints") is None:
            return None
        raise NotImplementedError


def keeps_phrases(text: str, options: Options) -> bool:
    """Whether a text has every required phrase and no banned one.

    Args:
        text: The text.
        options: The caller's options.

    Returns:
        The verdict; phrases match whole words, whatever their case.
    """
    return all(_holds(text, phrase) for phrase in options.required) and not any(
        _holds(text, phrase) for phrase in options.banned
    )


def _holds(text: str, phrase: str) -> bool:
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    return re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None
