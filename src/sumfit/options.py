"""Every option of a summary, declared once: type, default, range, values, help, group.

Owns `SummaryOptions`, `OPTIONS` and the checks that follow from a declaration alone. Keywords,
flags, fields of requests and the table in the documentation are made from it. Does not own what
an option does, nor the names that registries above hold (`sumfit.pipeline.options`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_args, get_type_hints

from sumfit.deadline import Hook
from sumfit.errors import ConfigError, Keyword, Part, given

__all__ = [
    "GROUPS",
    "OPTIONS",
    "WORDS_PER_VERTEX",
    "Option",
    "SummaryOptions",
    "check_option",
    "default_of",
    "option",
]

WORDS_PER_VERTEX = 5
"""Words at each vertex that models export, and that a decoder keeps where nobody says otherwise."""

_MAIN = ""  # the group of those that matter most, which help shows first
_WORDS = "What the summary may hold"
_TRUE = "Kept to the source (numbers and names by default)"
_RULES = "Rules of the summary"
_INPUT = "What the text is"
_CHOICE = "Search and choice"
GROUPS = (_MAIN, _WORDS, _TRUE, _RULES, _INPUT, _CHOICE)
"""Groups of options, in the order of help."""

_DECLARED = "option"


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of an option.

    Attributes:
        help: One line, for help.
        group: One of `GROUPS`.
        details: What there is to say beyond ``help``.
        at_least: Least value.
        at_most: Greatest value.
        above: Value that it must be above.
        measure: What a number counts, for messages.
        remedy: What to do instead of a wrong number, in parts of a message.
        choices: Values, where there are few; of some options a registry above has them.
        registry: Command that lists the values, where they are many.
        flag: Flag of the command line, where it is not the name.
        metavar: What help shows for the value.
        is_flag: Whether the command line has it.
        is_served: Whether a request may have it; else it is the operator's.
        served_at_most: Greatest value of a request, where it is less.
        name: Name of the keyword.
        default: The default.
        kind: ``bool``, ``int``, ``float``, ``str``, ``tuple`` (of phrases), or ``object`` for what
            is not checked.
        is_optional: Whether it may be ``None``.
    """

    help: str
    group: str = _CHOICE
    details: str = ""
    at_least: int | None = None
    at_most: int | None = None
    above: int | None = None
    measure: str = ""
    remedy: tuple[Part, ...] = ()
    choices: tuple[str | None, ...] = ()
    registry: str = ""
    flag: str = ""
    metavar: str = "N"
    is_flag: bool = True
    is_served: bool = True
    served_at_most: int | None = None
    name: str = ""
    default: Any = None
    kind: type = object
    is_optional: bool = False

    @property
    def long_flag(self) -> str:
        """Its flag of the command line."""
        return self.flag or f"--{self.name.replace('_', '-')}"


def option(default: Any, help: str, group: str = _CHOICE, **declared: Any) -> Any:
    """Declare a field of a dataclass to be an option.

    Args:
        default: Its default.
        help: One line, for help.
        group: One of `GROUPS`.
        **declared: Other attributes of `Option`.

    Returns:
        The field.
    """
    return field(default=default, metadata={_DECLARED: {"help": help, "group": group, **declared}})


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """How to summarise."""

    n_best: int = option(
        1,
        "Candidates to return.",
        _MAIN,
        at_least=1,
        at_most=1000,
        details="The others than the first come as ``alternatives``.",
    )
    near_doubles: bool = option(
        False,
        "Allow candidates that differ in a word more, or endings.",
        details='Or in case, marks or a light word ("of") alone; see `sumfit.text.distinct`.',
    )
    rerank: str | None = option(
        "auto",
        "What chooses: {choices}, or the directory of a trained one.",
        metavar="NAME|DIR",
        details="``None`` takes the most probable one, which alone can be certified.",
    )
    faithful: bool = option(
        False,
        "A candidate that says only what the source says, by rules.",
        _TRUE,
        details="As far as rules see it (`sumfit.truth`): numbers, names, negation, possibility, "
        "roles. Looked at are the 6 that the model's scorer likes best or, where it does not "
        "choose, 20; if none does, the one that least speaks against is taken, whose ``faithful`` "
        "is then ``False``.",
    )
    method: str = option("seqmap", "Decoder.", registry="model")
    ending: str | None = option(
        None,
        "How an end is scored.",
        choices=(None, "eos", "any"),
        details="``eos`` scores complete sequences, ``any`` prefixes; ``None`` is the model's own.",
    )
    fill: str = option(
        "natural",
        "Use as much of the limit as is natural, or more, or one line alone.",
        _MAIN,
        choices=("natural", "prefer", "single"),
        details="``natural`` uses the model's bonus, ``prefer`` raises it. By both, a line that "
        "leaves much of 100 characters or more free is followed by further facts of the text "
        "(``added``), where the scorer chooses, but in slots of commits and titles, behind a "
        "label, of talk, of contested texts, and with banned words; ``single`` adds none.",
    )
    bonus: float | None = option(
        None,
        "Score added per piece, in nats.",
        metavar="X",
        at_least=-10,  # beyond 15, sums over long graphs leave the range of a float64
        at_most=10,
        measure="nats per piece",
        is_served=False,
        details="``None`` is the model's own, unless ``unit_bonus`` is given.",
    )
    unit_bonus: float | None = option(
        None,
        "Score added per unit of the limit that is used, in nats.",
        metavar="X",
        is_served=False,
        details="``None`` is the model's own, unless ``bonus`` is given.",
    )
    beam_size: int = option(
        20,
        "Width of the beam decoders.",
        at_least=1,
        at_most=10_000,  # its tables grow with it: about 50 MB here
        is_served=False,
    )
    words_per_vertex: int | None = option(
        None,
        "Words searched at each vertex.",
        at_least=1,
        is_served=False,
        details="``None`` for all that the model gives.",
    )
    constraints: bool = option(
        True,
        "Keep the constraints below, or none of them.",
        _RULES,
        details="``False`` allows everything, whatever the switches and phrases say.",
    )
    repeat_words: bool = option(False, "Allow a content word twice.", _RULES)
    repeat_adjacent: bool = option(False, "Allow a word to follow itself.", _RULES)
    no_repeat_ngram: int | None = option(
        None,
        "Let no N words in a row occur twice.",
        _WORDS,
        at_least=2,
        served_at_most=100,
        remedy=("for single words use ", given("repeat_words", False)),
    )
    whole_words: bool = option(
        True,
        "Allow only words of the source or the lexicon.",
        _RULES,
        details="In a source of fewer than four words, only its own and its numbers. Here and "
        "below, of a source of more than 200,000 characters its first 200,000 count.",
    )
    dangling_end: bool = option(
        False,
        "Allow an end that lacks something, as 'of the'.",
        _RULES,
        details="Or a comma, or an open bracket.",
    )
    final_stop: bool = option(
        False,
        "Allow a full stop at the end.",
        _RULES,
        details="Headlines, titles and subjects have none.",
    )
    banned: tuple[str, ...] = option(
        (), "Words or phrases that may not occur.", _WORDS, flag="--ban", metavar="TEXT"
    )
    required: tuple[str, ...] = option(
        (), "Words or phrases that must occur.", _WORDS, flag="--require", metavar="TEXT"
    )
    source_numbers_only: bool = option(
        True, "Only numbers of the source.", _TRUE, details="In digits or words."
    )
    source_names_only: bool = option(
        True,
        "Only names of the source.",
        _TRUE,
        details='Or forms of such ("German" for "Germany"), whatever their case and place.',
    )
    style: str = option(
        "auto",
        "What to write.",
        _MAIN,
        details='What the model is told to write, if it was trained to be told. ``"auto"`` is the '
        "style of the preset's slot (``preset=\"git-subject\"`` is a commit's), else left to the "
        "text.",
    )
    capitalization: str | None = option(
        None,
        "Capital letters.",
        _WORDS,
        details='``"sentence"``: a capital at the beginning, others for names alone; '
        '``"title"``: every word but small ones; ``"source"``: letters as the model writes them. '
        "``None`` is sentence case, unless the source begins in lower case itself, or it is a "
        'slot where many texts do (``preset="git-subject"``, ``"synopsis"``). Names, acronyms and '
        "code words keep their letters; lengths are measured afterwards. Gigaword form is always "
        "lower case.",
    )
    on_infeasible: str = option(
        "error",
        "If nothing fits: fail, or cut the source at a word.",
        _MAIN,
        choices=("error", "cut"),
        details="A cut is marked.",
    )
    keep_short: bool = option(
        True,
        "Return a text that already fits as it is.",
        _INPUT,
        details="Cleaned, if ``clean`` says so.",
    )
    clean: bool = option(
        True,
        "Take out markup, quoted mail, time stamps and the like.",
        _INPUT,
        details="Whatever is not content; see `sumfit.cleaning.clean`. Text in the Gigaword form "
        "is never cleaned.",
    )
    input_kind: str = option("auto", "What the text is, where that is known.", _INPUT)
    strict: bool = option(
        False,
        "Refuse a text in a language that the model does not write.",
        _INPUT,
        details="Else its summary only says so (``language``).",
    )
    long: str = option(
        "select",
        "Read what says most of a text, or its beginning.",
        _INPUT,
        choices=("select", "lead"),
        details='Of a source that is longer than the model\'s window: ``"select"`` for the '
        "sentences that say most, see `sumfit.text.passages`; a short text whose line is doubtful "
        "is read once more with the sentence first that says most, see `sumfit.text.salience`; "
        '``"lead"`` for the beginning, as of text in the '
        "Gigaword form.",
    )
    profile: str = option("natural", "Text form.", _INPUT, choices=("natural", "gigaword"))
    max_expansions: int | None = option(
        6_000,
        "Most prefixes that exact search expands.",
        at_least=1,
        is_served=False,
        details="All searches for one summary together, before they settle for a gap (real texts "
        "take some ten; only texts that the model cannot handle come near the limit), a quick "
        "descent to a first result aside; ``None`` for the decoder's own, in each search.",
    )
    time_limit_s: float | None = option(
        None,
        "Most seconds for one summary.",
        flag="--time-limit",
        metavar="S",
        above=0,
        measure="seconds",
        is_served=False,
        details="From reading the text, with its share of the network's time, to reranking; "
        "``None`` for no limit (with a limit, results may depend on the machine). What there is "
        "by then is returned, with ``unfinished`` set; if the time runs out while the text is "
        "read, `sumfit.TimeLimitError` is raised.",
    )
    seed: int | None = option(
        None,
        "Seed of the sampling decoders.",
        at_least=0,
        served_at_most=2**63 - 1,
        details="``None`` for their own.",
    )
    is_cancelled: Hook | None = option(
        None,
        "Function that says whether nobody waits any more.",
        is_flag=False,
        is_served=False,
        details="It is asked between two pieces of work, in the threads that work; once it says "
        "so, what is under way ends as if its time had run out, and texts not begun get an error.",
    )

    def __post_init__(self) -> None:
        for name, declared in OPTIONS.items():
            value = getattr(self, name)
            if value is not declared.default:
                object.__setattr__(self, name, check_option(declared, value))


def _read(cls: type[Any]) -> dict[str, Option]:
    """The declarations of a class, by name."""
    hints = get_type_hints(cls)
    found = {}
    for one in fields(cls):
        hint = hints[one.name]
        kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)]
        kind = tuple if one.type == "tuple[str, ...]" else kinds[0]
        found[one.name] = Option(
            **one.metadata[_DECLARED],
            name=one.name,
            default=one.default,
            kind=kind if kind in (bool, int, float, str, tuple) else object,
            is_optional=type(None) in get_args(hint),
        )
    return found


OPTIONS: Mapping[str, Option] = _read(SummaryOptions)
"""Every option by name, in the order of declaration."""


def default_of(name: str) -> Any:
    """Return the default of an option, for what has the same option by itself.

    Args:
        name: The option.

    Returns:
        Its default.
    """
    return OPTIONS[name].default


def check_option(declared: Option, value: Any, choices: Sequence[str | None] = ()) -> Any:
    """Check a value against a declaration.

    Args:
        declared: The declaration.
        value: What a caller gave.
        choices: Values that a registry has, where the declaration has none.

    Returns:
        The value; a number as Python's own, phrases as a tuple.

    Raises:
        ConfigError: If it is of another type, out of range, or not among the choices.
    """
    choices = declared.choices or choices
    name = declared.name
    if choices:
        if value not in choices:
            shown = ", ".join(repr(choice) for choice in choices if choice is not None)
            raise ConfigError.of(name, value, f"must be one of {shown}")
        return value
    if value is None and declared.is_optional:
        return value
    if declared.kind is bool and not isinstance(value, bool):
        raise ConfigError.of(name, value, "must be True or False")
    if declared.kind is int:
        return _whole(declared, value)
    if declared.kind is float:
        _check_number(declared, value)
    return _phrases(name, value) if declared.kind is tuple else value


def _whole(declared: Option, value: Any) -> int:
    try:
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = None
    name, least, most = declared.name, declared.at_least, declared.at_most
    if whole is None or (least is not None and whole < least):
        rule = f"must be a whole number of at least {least}"
        raise ConfigError.of(name, value, rule, *declared.remedy)
    if most is not None and whole > most:
        raise ConfigError.of(name, whole, f"must be at most {most}")
    return whole


def _check_number(declared: Option, value: Any) -> None:
    name, low, high = declared.name, declared.at_least, declared.at_most
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError.of(name, value, "must be a finite number")
    if low is not None and high is not None and not low <= value <= high:
        raise ConfigError.of(name, value, f"must be from {low} to {high} {declared.measure}")
    if declared.above is not None and value <= declared.above:
        raise ConfigError.of(name, value, f"must be above {declared.above} {declared.measure}")


def _phrases(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        rule = f" must be a list of words or phrases, was the string {value!r}"
        raise ConfigError(Keyword(name, "", value), rule)
    phrases = tuple(value) if isinstance(value, Iterable) else (value,)
    for phrase in phrases:
        if not isinstance(phrase, str) or not phrase.strip():
            raise ConfigError.of(name, phrase, "must hold words or phrases")
    return phrases
