"""Constraints of one text: the caller's switches, the model's lexicon and the source together.

Owns which switches become which constraints. Does not own how the search keeps them
(`sumfit.decoding`).
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from sumfit.pipeline.options import Options
from sumfit.runtime import ModelDirectory

if TYPE_CHECKING:
    from sumfit.decoding.constraints import CompiledConstraints, Constraints

__all__ = ["ConstraintCompiler", "constraints_of", "keeps_phrases"]


class ConstraintCompiler:
    """Compiles constraints for one model; safe to use from several threads."""

    def __init__(self, model: ModelDirectory) -> None:
        """Store the model; its lexicon is read at the first use.

        Args:
            model: For tokenizer and lexicon.
        """
        self._model = model
        self._lock = threading.Lock()
        self._is_ready = False

    def compile(self, options: Options, source: str) -> CompiledConstraints | None:
        """Constraints of one call and one text.

        Args:
            options: The caller's switches.
            source: The whole source, in its profile's form.

        Returns:
            Compiled constraints, or ``None`` if everything is allowed.
        """
        constraints = constraints_of(options)
        if constraints is None:
            return None
        if self._is_ready:
            return constraints.compile(self._model.tokenizer, self._model.lexicon, source)
        with self._lock:  # the tables of tokenizer and lexicon are made once
            compiled = constraints.compile(self._model.tokenizer, self._model.lexicon, source)
            self._is_ready = True
        return compiled


def constraints_of(options: Options) -> Constraints | None:
    """The constraints that some options ask for.

    Args:
        options: The caller's switches.

    Returns:
        The constraints, ``None`` for none.

    Raises:
        ConstraintError: If they contradict each other.
    """
    from sumfit.decoding.constraints import Constraints

    if not options.constraints:
        return None
    made = Constraints(
        repeat_words=options.repeat_words,
        repeat_adjacent=options.repeat_adjacent,
        no_repeat_ngram=options.no_repeat_ngram,
        whole_words=options.whole_words,
        dangling_end=options.dangling_end,
        final_stop=options.final_stop,
        banned=options.banned,
        required=options.required,
        source_numbers_only=options.source_numbers_only,
        source_names_only=options.source_names_only,
    )
    return None if made.is_empty else made


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
