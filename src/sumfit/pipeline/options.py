"""Everything a caller can ask of a summary apart from its length, with every default.

Owns `Options`, its checks and the splitting of keyword arguments. Does not own length keywords
(`sumfit.length`) or what an option does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from sumfit.cleaning import check_kind
from sumfit.deadline import Hook
from sumfit.decoding import CONSTRAINED_METHODS, METHODS
from sumfit.errors import ConfigError
from sumfit.length.budget import whole_number
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.runtime import ModelConfig
from sumfit.spelling import did_you_mean
from sumfit.text.capitalization import CAPITALIZATIONS
from sumfit.text.controls import STYLES

__all__ = [
    "CHOICES",
    "LENGTH_KEYWORDS",
    "Fill",
    "OnError",
    "OnInfeasible",
    "Options",
    "check_on_error",
    "check_profile",
    "split_keywords",
]

Long = Literal["select", "lead"]
Fill = Literal["natural", "prefer"]
OnInfeasible = Literal["error", "cut"]
OnError = Literal["raise", "return"]

LENGTH_KEYWORDS = (*LIMIT_KEYWORDS, "unit", "ratio_rule", "reserve", "prefix", "suffix")
"""Keywords that say how long a summary may be."""

CHOICES = {
    "fill": get_args(Fill),
    "long": get_args(Long),
    "on_infeasible": get_args(OnInfeasible),
    "ending": (None, "eos", "any"),
    "profile": ("natural", "gigaword"),
    "capitalization": (None, *CAPITALIZATIONS),
    "style": ("auto", *STYLES),
}
"""Values of the options that have few."""

_SWITCHES = (
    "constraints",
    "repeat_words",
    "repeat_adjacent",
    "whole_words",
    "dangling_end",
    "final_stop",
    "source_numbers_only",
    "source_names_only",
    "keep_short",
    "faithful",
    "near_doubles",
    "clean",
    "strict",
)
_MOST_CANDIDATES = 1000
_WIDEST_BEAM = 10_000  # its tables grow with it: about 50 MB here
_LARGEST_BONUS = 10  # nats; above 15, sums over long graphs leave the range of a float64


@dataclass(frozen=True, slots=True)
class Options:
    """How to summarise; the defaults are what `Summarizer` and the command line use.

    Attributes:
        n_best: Candidates wanted, 1 to 1000; the others come as ``alternatives``.
        near_doubles: Allow alternatives that differ from a better candidate in case, marks,
            endings, one word more or a light word ("of") alone (see `sumfit.text.distinct`).
        rerank: What chooses among the candidates: ``"auto"`` for the model's scorer, where it has
            one, text is natural and the method exact; ``None`` for the most probable one, which
            alone can be certified; ``"mbr"`` for minimum Bayes risk under the whole graph; the
            directory of a trained reranker; or ``"neural"`` for the one in the model's own.
        faithful: Take the first candidate that says only what the source says, as far as rules see
            it (`sumfit.truth`): numbers, names, negation, possibility, roles. Looked at are the
            6 that the model's scorer likes best or, where it does not choose, 20; if none
            does, the one that least speaks against, whose ``faithful`` is then ``False``.
        method: Decoder, a name in `sumfit.decoding.METHODS`.
        ending: ``"eos"``, ``"any"``, or ``None`` for the model's own.
        fill: ``"natural"`` uses the model's bonus, ``"prefer"`` raises it so that more of the
            slot is used.
        bonus: Score added per token, in nats; ``None`` for the model's own, unless ``unit_bonus``
            is given.
        unit_bonus: Score added per unit of the limit that is used, in nats; ``None`` for the
            model's own, unless ``bonus`` is given.
        beam_size: ``K`` of the beam decoders.
        words_per_vertex: Words kept per vertex in the search; ``None`` for all the model gives.
        constraints: Keep the constraints below; ``False`` allows everything, whatever they say.
        repeat_words: Allow a content word to occur twice.
        repeat_adjacent: Allow a word or number to follow itself.
        no_repeat_ngram: Allow no sequence of this many words to occur twice; ``None`` for any.
        whole_words: Allow only words that occur in the source or in the model's lexicon; in a
            source of fewer than four words, only its own and its numbers. Here and below, of a
            source of more than 200,000 characters its first 200,000 count.
        dangling_end: Allow an end that needs another word, such as an article or a comma.
        final_stop: Allow a full stop at the end; headlines, titles and subjects have none.
        banned: Words or phrases that may not occur.
        required: Words or phrases that must occur.
        source_numbers_only: Allow only numbers that occur in the source, in digits or words.
        source_names_only: Allow only names that occur in the source or are forms of such
            ("German" for "Germany"), whatever their case and place.
        style: ``"news"``, ``"commit"``, ``"title"``, ``"subject"``, ``"synopsis"`` or ``"plain"``:
            what the model is told to write, if it was trained to be told; ``"auto"`` is the style
            of the preset's slot (``preset="git-subject"`` is a commit's), else left to the text.
        capitalization: ``"sentence"``: a capital at the beginning, others for names alone;
            ``"title"``: every word but small ones; ``"source"``: letters as the model writes them.
            ``None`` is sentence case, unless the source begins in lower case itself, or it is a
            slot where many texts do (``preset="git-subject"``, ``"synopsis"``). Names, acronyms
            and code words keep their letters; lengths are measured afterwards. Gigaword form is
            always lower case.
        on_infeasible: ``"error"``, or ``"cut"`` for a marked word-boundary cut of the source.
        keep_short: Return a source that already fits as it is (cleaned, if ``clean`` says so).
        clean: Take out of the source what is not content: markup, quoted mail, time stamps, the
            frames of a stack trace, lines around the text; see `sumfit.cleaning.clean`. Text in
            the Gigaword form is never cleaned.
        input_kind: What the source is: ``"auto"``, ``"plain"``, ``"html"``, ``"markdown"``,
            ``"wiki"``, ``"mail"``, ``"transcript"``, ``"diff"`` or ``"trace"``.
        strict: Refuse a source in a language that the model does not write; else its summary
            only says so (``language``).
        long: What the model reads of a source that is longer than its window: ``"select"`` for
            the sentences that say most, in their order, see `sumfit.text.passages`; ``"lead"``
            for its beginning, as of text in the Gigaword form.
        profile: Text form, ``"natural"`` or ``"gigaword"``.
        max_expansions: Most prefixes that all searches for one summary may expand together before
            they settle for a gap (real texts take some ten; only texts that the model cannot
            handle come near the limit), a quick descent to a first result aside; ``None`` for the
            decoder's own, in each search.
        time_limit_s: Most seconds one summary may take, from reading the text, with its share of
            the network's time, to reranking; ``None`` for no limit (with a limit, results may
            depend on the machine). What there is by then is returned, with ``unfinished`` set; if
            the time runs out while the text is read, `sumfit.TimeLimitError` is raised.
        seed: Seed of the sampling decoders; ``None`` for their own.
        is_cancelled: A function that says whether nobody waits for the summaries any more. It is
            asked between two pieces of work, in the threads that work; once it says so, what is
            under way ends as if its time had run out, and texts not begun get an error.
    """

    n_best: int = 1
    near_doubles: bool = False
    rerank: str | None = "auto"
    faithful: bool = False
    method: str = "seqmap"
    ending: str | None = None
    fill: str = "natural"
    bonus: float | None = None
    unit_bonus: float | None = None
    beam_size: int = 20
    words_per_vertex: int | None = None
    constraints: bool = True
    repeat_words: bool = False
    repeat_adjacent: bool = False
    no_repeat_ngram: int | None = None
    whole_words: bool = True
    dangling_end: bool = False
    final_stop: bool = False
    banned: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    source_numbers_only: bool = True
    source_names_only: bool = True
    style: str = "auto"
    capitalization: str | None = None
    on_infeasible: str = "error"
    keep_short: bool = True
    clean: bool = True
    input_kind: str = "auto"
    strict: bool = False
    long: str = "select"
    profile: str = "natural"
    max_expansions: int | None = 6_000
    time_limit_s: float | None = None
    seed: int | None = None
    is_cancelled: Hook | None = None

    def __post_init__(self) -> None:
        if self.rerank == "none":
            object.__setattr__(self, "rerank", None)
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                shown = ", ".join(repr(choice) for choice in allowed if choice is not None)
                raise ConfigError(f"{name} must be one of {shown}, was {value!r}")
        if self.profile == "gigaword" and self.capitalization in ("sentence", "title"):
            raise ConfigError(
                "profile='gigaword' is lower case throughout, capitalization was "
                f"{self.capitalization!r}; leave it out"
            )
        check_kind(self.input_kind)
        if self.method not in METHODS:
            known = ", ".join(repr(name) for name in sorted(METHODS))
            raise ConfigError(f"method must be one of {known}, was {self.method!r}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} must be True or False, was {getattr(self, name)!r}")
        for name in ("n_best", "beam_size", "words_per_vertex", "max_expansions"):
            value = getattr(self, name)
            if value is None and name in ("words_per_vertex", "max_expansions"):
                continue
            whole = whole_number(value)
            if whole is None or whole < 1:
                raise ConfigError(f"{name} must be a whole number of at least 1, was {value!r}")
            object.__setattr__(self, name, whole)
        if self.n_best > _MOST_CANDIDATES:
            raise ConfigError(f"n_best must be at most {_MOST_CANDIDATES}, was {self.n_best}")
        if self.beam_size > _WIDEST_BEAM:
            raise ConfigError(f"beam_size must be at most {_WIDEST_BEAM}, was {self.beam_size}")
        if self.seed is not None:
            seed = whole_number(self.seed)
            if seed is None or seed < 0:
                raise ConfigError(f"seed must be a whole number of at least 0, was {self.seed!r}")
            object.__setattr__(self, "seed", seed)
        if self.is_cancelled is not None and not callable(self.is_cancelled):
            raise ConfigError(
                f"is_cancelled must be a function without arguments, was {self.is_cancelled!r}"
            )
        for name in ("bonus", "unit_bonus", "time_limit_s"):
            _check_number(name, getattr(self, name))
        for name in ("banned", "required"):
            object.__setattr__(self, name, _phrases(name, getattr(self, name)))

    @property
    def has_label_once(self) -> bool:
        """Whether a prefix that is a label is kept out of the summary behind it.

        Not where required words might hold it, nor by methods that keep no constraints.
        """
        return not self.required and self.method in CONSTRAINED_METHODS


def split_keywords(
    keywords: Mapping[str, Any], options: Options | None = None
) -> tuple[dict[str, Any], Options]:
    """Part keyword arguments into those of length and the others.

    Args:
        keywords: What the caller gave; ``None`` for a length keyword means not given.
        options: Options to start from.

    Returns:
        The length keywords, and the options with the other keywords applied.

    Raises:
        TypeError: If a keyword is unknown; the message names the nearest one.
        ConfigError: If an option is out of range.
    """
    names = {field.name for field in fields(Options)}
    length: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in LENGTH_KEYWORDS:
            if value is not None:
                length[name] = value
        elif name in names:
            changes[name] = value
        else:
            hint = did_you_mean(name, [*LENGTH_KEYWORDS, *names])
            raise TypeError(f"unknown keyword {name!r}{hint}")
    return length, replace(options or Options(), **changes)


def check_on_error(on_error: object) -> None:
    """Raise ConfigError unless `on_error` is "raise" or "return".

    Args:
        on_error: What the caller gave.

    Raises:
        ConfigError: If it is not ``"raise"`` or ``"return"``.
    """
    if on_error not in get_args(OnError):
        raise ConfigError(f"on_error must be 'raise' or 'return', was {on_error!r}")


def check_profile(profile: str, config: ModelConfig) -> None:
    """Raise unless a model was trained on a text profile.

    Args:
        profile: The profile.
        config: The model's configuration.

    Raises:
        ConfigError: If the model was not trained on it.
    """
    if profile not in config.profiles:
        known = ", ".join(repr(name) for name in config.profiles)
        raise ConfigError(
            f"model {config.name!r} was trained on profile {known}, profile was {profile!r}; "
            "use another model"
        )


def _check_number(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{name} must be a finite number, was {value!r}")
    if name == "bonus" and abs(value) > _LARGEST_BONUS:
        raise ConfigError(f"bonus must be from -10 to 10 nats per piece, was {value!r}")
    if name == "time_limit_s" and value <= 0:
        raise ConfigError(f"time_limit_s must be above 0 seconds, was {value!r}")


def _phrases(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        raise ConfigError(f"{name} must be a list of words or phrases, was the string {value!r}")
    phrases = tuple(value) if isinstance(value, Iterable) else (value,)
    for phrase in phrases:
        if not isinstance(phrase, str) or not phrase.strip():
            raise ConfigError(f"{name} must hold words or phrases, was {phrase!r}")
    return phrases
