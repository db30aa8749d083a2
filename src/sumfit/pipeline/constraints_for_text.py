"""Constraints of one text: the caller's switches, the model's lexicon and the source together.

Owns which switches become which constraints. Does not own how the search keeps them
(`sumfit.constraints`).
"""

from __future__ import annotations

import itertools
import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import regex

from sumfit.pipeline.options import Options
from sumfit.runtime import ModelDirectory
from sumfit.text.endings import CLITICS
from sumfit.text.scripts import UNSPACED

if TYPE_CHECKING:
    from sumfit.constraints.compile import CompiledConstraints, Constraints

__all__ = ["ConstraintCompiler", "constraints_of", "keeps_phrases", "says_little"]

_FEWEST_WORDS = 4  # from which on a text may be told in other words
_JOINED = tuple(mark + clitic for mark in "'’" for clitic in CLITICS)
_WORDS = regex.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[\p{{L}}\p{{M}}])+")


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

    def compile(
        self, options: Options, source: str, *, label: str = ""
    ) -> CompiledConstraints | None:
        """Constraints of one call and one text.

        Args:
            options: The caller's switches.
            source: The source in its profile's form; of a very long one its head.
            label: What the prefix says already, if it is a label; banned if
                `Options.has_label_once`, whatever else is constrained.

        Returns:
            Compiled constraints, or ``None`` if everything is allowed.
        """
        constraints = constraints_of(options)
        if label and options.has_label_once:
            constraints = constraints or _none()
            constraints = replace(constraints, banned=(*constraints.banned, *_spellings(label)))
        if constraints is None:
            return None
        lexicon = self._model.lexicon
        if constraints.whole_words and says_little(source):
            constraints, lexicon = _own_words_alone(constraints, source), None
        if self._is_ready:
            return constraints.compile(self._model.tokenizer, lexicon, source)
        with self._lock:  # the tables of tokenizer and lexicon are made once
            compiled = constraints.compile(self._model.tokenizer, lexicon, source)
            self._is_ready = True
        return compiled


def _spellings(label: str) -> tuple[str, ...]:
    """A label, and what a model that may not write it again puts in its place."""
    name = label.strip("[](){}").removesuffix(":")
    return (label,) if name in ("", label) else (label, *(name + mark for mark in ":_/-.,"))


def constraints_of(options: Options) -> Constraints | None:
    """The constraints that some options ask for.

    Args:
        options: The caller's switches.

    Returns:
        The constraints, ``None`` for none.

    Raises:
        ConstraintError: If they contradict each other.
    """
    from sumfit.constraints.compile import Constraints

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


def _none() -> Constraints:
    # Only here: most of what asks for no constraints has no use for their tables.
    from sumfit.constraints.compile import Constraints

    return Constraints()


def says_little(source: str) -> bool:
    """Return whether a text is so short that only its own words can say what it says.

    Args:
        source: The text.

    Returns:
        ``True`` below four words; every letter of a script without spaces is one.
    """
    return len(list(itertools.islice(_WORDS.finditer(source), _FEWEST_WORDS))) < _FEWEST_WORDS


def _own_words_alone(constraints: Constraints, source: str) -> Constraints:
    """The constraints of a text that says little: no number or clitic but its own, none alone."""
    allowed = " ".join((source, *constraints.required)).casefold()
    foreign = [joined if joined not in allowed else joined + joined for joined in _JOINED]
    foreign += [alone for alone in CLITICS if not re.search(rf"(?<![\w'’]){alone}\b", allowed)]
    return replace(constraints, source_numbers_only=True, banned=(*constraints.banned, *foreign))


def keeps_phrases(text: str, options: Options) -> bool:
    """Return whether a text has every required phrase and no banned one.

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
