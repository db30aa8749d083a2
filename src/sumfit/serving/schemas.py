"""What the server accepts and answers, as strict schemas.

Owns field names, types and ranges of requests and replies, but for those of OpenAI's protocol
(`sumfit.serving.chat_schemas`). Does not own what a length option means (`sumfit.length`), nor the
options and their defaults (`sumfit.options`): a field that a request leaves out is not passed on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from sumfit.length.units import KEYWORD_UNITS, UNITS
from sumfit.options import OPTIONS, Option
from sumfit.pipeline.options import CHOICES
from sumfit.rerank import RERANKERS

__all__ = [
    "LENGTH_FIELDS",
    "Count",
    "ErrorReply",
    "GraphReply",
    "GraphRequest",
    "ModelReply",
    "Options",
    "Strict",
    "SummarizeReply",
    "SummarizeRequest",
    "SummaryReply",
]

Count = Annotated[int, Field(ge=0, le=1_000_000)]
# Of thousands of mistakes the first is enough, and each takes memory.
Counts = Annotated[list[Count], Field(fail_fast=True)]
Limit = Count | Counts  # a list: one per text, or for a single text one summary per limit
Phrases = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=64)]
Name = Annotated[str, Field(max_length=64)]  # the library knows which names there are
if TYPE_CHECKING:
    RerankerName = str
else:
    RerankerName = Literal[tuple(RERANKERS)]  # no directories: these are the server's

LENGTH_FIELDS = tuple(
    f"{mode}_{what}" for mode in ("max", "min", "exact") for what in (*KEYWORD_UNITS, "length")
)


class Strict(BaseModel):
    """Base of all requests: unknown fields and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _length_fields() -> dict[str, Any]:
    """Fields that say how long, from the units."""
    counted = {name: UNITS[name].plural or name for name in KEYWORD_UNITS}
    counted["length"] = "of `unit`"
    modes = {"max": "at most so many", "min": "at least so many", "exact": "exactly so many"}
    limits = {
        f"{mode}_{name}": (Limit | None, Field(None, description=f"{words} {many}"))
        for mode, words in modes.items()
        for name, many in counted.items()
    }
    return limits | {
        "unit": (
            Name | None,
            Field(None, description="unit of max_length, min_length, exact_length"),
        ),
        "ratio": (
            float | None,
            Field(None, gt=0, le=1, description="limit as a share of the source"),
        ),
        "ratio_rule": (
            Name | None,
            Field(None, description="how a ratio is rounded: floor, paper-dat ..."),
        ),
        "preset": (Name | None, Field(None, description="a named slot, see GET /v1/model")),
        "reserve": (Count | None, Field(None, description="room to leave free, in the unit")),
        "prefix": (
            str | None,
            Field(None, max_length=1000, description="text before, counted"),
        ),
        "suffix": (
            str | None,
            Field(None, max_length=1000, description="text after, counted"),
        ),
    }


def _option_fields() -> dict[str, Any]:
    """Fields of the options that a request may have, from their declarations."""
    fields: dict[str, Any] = {}
    for declared in OPTIONS.values():
        if declared.is_served:
            default = declared.default
            shown = list(default) if isinstance(default, tuple) else default
            told = Field(shown, description=_said_of(declared))
            fields[declared.name] = (_kind_of(declared) | None, told)
    return fields


def _said_of(declared: Option) -> str:
    if declared.name == "rerank":
        known = ", ".join(f"`{name}` ({row.about})" for name, row in RERANKERS.items())
        return f"what chooses among the candidates: {known}"
    said = declared.help[0].lower() + declared.help[1:].removesuffix(".")
    return f"{said}, see GET /v1/model" if declared.registry else said


def _kind_of(declared: Option) -> Any:
    """The type of a field, with its range."""
    if declared.name == "rerank":
        return RerankerName
    if declared.registry:
        return Name
    if declared.name in CHOICES:
        literal: Any = Literal
        return literal[tuple(name for name in CHOICES[declared.name] if name is not None)]
    if declared.kind is tuple:
        return Phrases
    bounds: dict[str, Any] = {
        "ge": declared.at_least,
        "le": declared.served_at_most or declared.at_most,
        "gt": declared.above,
    }
    annotated: Any = Annotated
    return annotated[declared.kind, Field(**bounds)]


if TYPE_CHECKING:

    class _Declared(Strict):
        n_best: int | None

else:
    _Declared = create_model("_Declared", __base__=Strict, **_length_fields(), **_option_fields())


class Options(_Declared):
    """Every option of a summary, apart from the texts."""


class SummarizeRequest(Options):
    """One text or many, with one way to say how long."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "The text to shorten ...", "max_chars": 60}]}
    )

    text: str | None = Field(None, description="one text; give this or `texts`")
    texts: Annotated[list[str], Field(min_length=1, fail_fast=True)] | None = Field(
        None, description="many texts; the reply keeps their order"
    )
    limits: Annotated[Counts, Field(min_length=1)] | None = Field(
        None, description="several limits in `unit` for one text, from one forward pass"
    )

    @model_validator(mode="after")
    def _one_source(self) -> SummarizeRequest:
        if (self.text is None) == (self.texts is None):
            raise ValueError("give either text (a string) or texts (a list of strings)")
        if self.texts is not None:
            if self.limits is not None:
                raise ValueError("limits goes with text; with texts give one limit per text")
            for name in LENGTH_FIELDS:
                value = getattr(self, name)
                if isinstance(value, list) and len(value) != len(self.texts):
                    raise ValueError(
                        f"{name} has {len(value)} limits for {len(self.texts)} texts; "
                        "give one limit, or one per text"
                    )
        return self


class ErrorDetail(BaseModel):
    """What went wrong."""

    type: str = Field(description="stable name of the kind of error, snake case")
    message: str = Field(description="what was asked, what is allowed, what to do")
    param: str | None = Field(description="field or header at fault")
    request_id: str = Field(description="the id in the x-request-id header and in the log")


class ErrorReply(BaseModel):
    """The one shape of every error."""

    error: ErrorDetail


class ItemError(BaseModel):
    """Why one text of many has no summary."""

    type: str
    message: str


class SelectionReply(BaseModel):
    """How much of a source the model read: its most important sentences."""

    n_sentences: int = Field(description="sentences read")
    of_sentences: int = Field(description="sentences of the source")
    n_chars: int = Field(description="characters read")
    of_chars: int = Field(description="characters of the source")


class SummaryReply(BaseModel):
    """One summary, measured on the very string returned."""

    text: str
    length: int = Field(description="measured length of `text` in `unit`")
    unit: str
    limit: int
    min_length: int
    log_prob: float | None = Field(description="natural log of its probability under the model")
    score: float | None = Field(description="what the search maximised")
    optimal: bool = Field(description="proved: nothing that fits scores higher")
    gap: float | None = Field(description="at most this much score could be gained, in nats")
    complete: bool = Field(description="ends as a sentence or headline should")
    source_truncated: bool = Field(description="the model did not see all of the source")
    source_selected: SelectionReply | None = Field(
        None, description="how much of a source was chosen to be read"
    )
    language: str | None = Field(
        description="of the source, ISO 639-1; null where it cannot be told"
    )
    cleaned: list[str] = Field(
        description="what was taken out of the source or put right, such as `html` or `mail`"
    )
    method: str
    origin: str = Field(description="`model`, `source` (it fitted as it was) or `cut`")
    added: list[str] = Field(
        description="further facts of the text behind the line that was searched for, whose are "
        "`log_prob`, `score`, `optimal` and `gap`"
    )
    rank: int = Field(description="its place in what the search listed, 0 for the best score")
    chosen_by: str = Field(
        description="`graph` (the best score), `scorer` (the model's reader of whole candidates) "
        "or the reranker's name"
    )
    choice_score: float | None = Field(
        None, description="what the scorer chose by, nats; null where it did not choose"
    )
    confidence: float | None = Field(
        None,
        description="chance, 0 to 1, that a strict editor would print the text as it is; null "
        "where that is not known",
    )
    unfinished: bool = Field(description="a limit of time or work ended the search early")
    faithful: bool | None = Field(
        None, description="all of `checks` hold; null where the text does not come from the model"
    )
    checks: dict[str, bool] | None = Field(
        None,
        description="by rules, whether `numbers`, `names`, `negation`, `modality` and `roles` are "
        "the source's",
    )
    unsupported: list[str] | None = Field(
        None, description="what the rules found, in words, and new words, which may be right"
    )
    alternatives: list[SummaryReply] | None = None
    error: ItemError | None = None


class SummarizeReply(BaseModel):
    """Summaries in the order of the texts, or of the limits."""

    summaries: list[SummaryReply]
    n_errors: int = Field(description="how many of them hold an error instead of a text")


class GraphRequest(Options):
    """A text whose graph to show, with the limit that chooses the path."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "The text to shorten ...", "max_words": 8}]}
    )

    text: str
    words_per_vertex: int = Field(3, ge=1, le=10, description="words listed at each vertex")
    min_link_prob: float = Field(0.02, ge=0.001, le=1, description="links below are left out")


class GraphWord(BaseModel):
    """A word that a vertex may emit."""

    text: str
    prob: float


class GraphVertex(BaseModel):
    """A vertex with its most probable words; the first and last vertex emit nothing."""

    index: int
    reach: float = Field(description="probability that a random path passes it")
    words: list[GraphWord]
    chosen: str | None = Field(description="word of the summary that this vertex emits")
    chosen_prob: float | None = Field(description="its probability at this vertex")


class GraphLink(BaseModel):
    """A link between two vertices."""

    source: int
    target: int
    prob: float
    chosen: bool


class GraphReply(BaseModel):
    """The graph the model predicted, and the path of the summary through it."""

    vertices: list[GraphVertex]
    links: list[GraphLink]
    path: list[int] = Field(description="vertices of the most probable path of the summary")
    summary: SummaryReply


class UnitDisplay(BaseModel):
    """How a page shows a unit."""

    singular: str = Field(description="what one is called")
    plural: str = Field(description="what several are called")
    slider: list[int] = Field(description="least and most that a slider offers as a limit")
    start: int = Field(description="the limit to begin with")


class ModelReply(BaseModel):
    """The model being served and what it can do."""

    name: str
    version: str = Field(description="version of sumfit")
    backend: str
    units: dict[str, str] = Field(description="names and what they count")
    unit_display: dict[str, UnitDisplay] = Field(
        default_factory=dict, description="how a page shows each unit"
    )
    presets: dict[str, dict[str, Any]] = Field(description="named slots: unit and limit")
    styles: list[str] = Field(description="styles that the model can be told; empty for none")
    methods: list[str]
    defaults: dict[str, Any] = Field(description="options when a request leaves them out")
    config: dict[str, Any] = Field(description="the model's own description")
    limits: dict[str, float] = Field(description="what this server accepts")
