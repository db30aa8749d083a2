"""What the server accepts and answers, as strict schemas.

Owns field names, types and ranges of requests and replies, but for those of OpenAI's protocol
(`sumfit.serving.chat_schemas`). Does not own what a length option means (`sumfit.length`) nor the
defaults: a field that a request leaves out is not passed on, so
the library's own default holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sumfit.pipeline.options import Options as LibraryOptions
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
InputKind = Literal[
    "auto", "plain", "html", "markdown", "wiki", "mail", "transcript", "diff", "trace"
]
Style = Literal["auto", "news", "commit", "title", "subject", "synopsis", "plain"]
Name = Annotated[str, Field(max_length=64)]  # the library knows which names there are
if TYPE_CHECKING:
    RerankerName = str
else:
    RerankerName = Literal[tuple(RERANKERS)]  # no directories: these are the server's

_DEFAULT: Any = LibraryOptions()

LENGTH_FIELDS = tuple(
    f"{mode}_{what}"
    for mode in ("max", "min", "exact")
    for what in ("words", "tokens", "chars", "graphemes", "bytes", "cells", "length")
)


class Strict(BaseModel):
    """Base of all requests: unknown fields and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Options(Strict):
    """Every option of a summary, apart from the texts."""

    max_words: Limit | None = Field(None, description="at most so many words")
    max_tokens: Limit | None = Field(None, description="at most so many vocabulary pieces")
    max_chars: Limit | None = Field(None, description="at most so many characters")
    max_graphemes: Limit | None = Field(None, description="at most so many graphemes")
    max_bytes: Limit | None = Field(None, description="at most so many bytes of UTF-8")
    max_cells: Limit | None = Field(None, description="at most so many terminal columns")
    max_length: Limit | None = Field(None, description="at most so many of `unit`")
    min_words: Limit | None = Field(None, description="at least so many words")
    min_tokens: Limit | None = Field(None, description="at least so many vocabulary pieces")
    min_chars: Limit | None = Field(None, description="at least so many characters")
    min_graphemes: Limit | None = Field(None, description="at least so many graphemes")
    min_bytes: Limit | None = Field(None, description="at least so many bytes of UTF-8")
    min_cells: Limit | None = Field(None, description="at least so many terminal columns")
    min_length: Limit | None = Field(None, description="at least so many of `unit`")
    exact_words: Limit | None = Field(None, description="exactly so many words")
    exact_tokens: Limit | None = Field(None, description="exactly so many vocabulary pieces")
    exact_chars: Limit | None = Field(None, description="exactly so many characters")
    exact_graphemes: Limit | None = Field(None, description="exactly so many graphemes")
    exact_bytes: Limit | None = Field(None, description="exactly so many bytes of UTF-8")
    exact_cells: Limit | None = Field(None, description="exactly so many terminal columns")
    exact_length: Limit | None = Field(None, description="exactly so many of `unit`")
    unit: Name | None = Field(None, description="unit of max_length, min_length, exact_length")
    ratio: float | None = Field(None, gt=0, le=1, description="limit as a share of the source")
    ratio_rule: Name | None = Field(
        None, description="how a ratio is rounded: floor, paper-dat ..."
    )
    preset: Name | None = Field(None, description="a named slot, see GET /v1/model")
    reserve: Count | None = Field(None, description="room to leave free, in the unit")
    prefix: str | None = Field(None, max_length=1000, description="text before, counted")
    suffix: str | None = Field(None, max_length=1000, description="text after, counted")
    n_best: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None, description="candidates to return; the others are in `alternatives`"
    )
    near_doubles: bool | None = Field(
        None, description="allow alternatives that are near-doubles: a word more, or other endings"
    )
    rerank: RerankerName | None = Field(
        _DEFAULT.rerank,
        description="what chooses among the candidates: "
        + ", ".join(f"`{name}` ({row.about})" for name, row in RERANKERS.items()),
    )
    style: Style | None = Field(
        _DEFAULT.style,
        description="what is written; `auto` is the preset's style, else the text's",
    )
    faithful: bool | None = Field(
        None, description="of the candidates, one that says only what the source says, by rules"
    )
    method: Name | None = Field(None, description="decoder, see GET /v1/model")
    ending: Literal["eos", "any"] | None = Field(None, description="how an end is scored")
    fill: Literal["natural", "prefer"] | None = Field(
        None, description="`prefer` uses more of the slot"
    )
    constraints: bool | None = Field(None, description="keep the constraints below (default true)")
    repeat_words: bool | None = Field(None, description="allow a content word twice")
    repeat_adjacent: bool | None = Field(None, description="allow a word to follow itself")
    no_repeat_ngram: Annotated[int, Field(ge=1, le=100)] | None = Field(
        None, description="allow no sequence of so many words twice"
    )
    whole_words: bool | None = Field(None, description="only words of the source or of the lexicon")
    dangling_end: bool | None = Field(None, description="allow an end that needs another word")
    final_stop: bool | None = Field(None, description="allow a full stop at the end")
    banned: Phrases | None = Field(None, description="words or phrases never used")
    required: Phrases | None = Field(None, description="words or phrases always used")
    source_numbers_only: bool | None = Field(None, description="only numbers that the source has")
    source_names_only: bool | None = Field(None, description="only names that the source has")
    capitalization: Literal["sentence", "title", "source"] | None = Field(
        None, description="capital letters; `source` changes none (default: as the text begins)"
    )
    on_infeasible: Literal["error", "cut"] | None = Field(
        None, description="`cut`: cut the source where nothing fits"
    )
    keep_short: bool | None = Field(
        None, description="return a source that already fits as it is (default true)"
    )
    clean: bool | None = Field(
        None, description="take out markup, quoted mail, time stamps and the like (default true)"
    )
    strict: bool | None = Field(
        None, description="refuse a text in a language that the model does not write"
    )
    long: Literal["select", "lead"] | None = Field(
        None, description="of a long text read what says most (default), or the beginning"
    )
    input_kind: InputKind | None = Field(
        None, description="what the text is, where that is known (default `auto`)"
    )
    profile: Literal["natural", "gigaword"] | None = Field(None, description="form of the text")
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        None, description="of the sampling decoders"
    )


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
    """How much of a long source the model read: its most important sentences."""

    n_sentences: int = Field(description="sentences read, in their order")
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
        None, description="how much of a long source was chosen to be read"
    )
    language: str | None = Field(
        description="of the source, ISO 639-1; null where it cannot be told"
    )
    cleaned: list[str] = Field(
        description="what was taken out of the source or put right, such as `html` or `mail`"
    )
    method: str
    origin: str = Field(description="`model`, `source` (it fitted as it was) or `cut`")
    rank: int = Field(description="its place in the order of scores, 0 for the first")
    chosen_by: str = Field(
        description="`graph` (the best score), `scorer` (the model's reader of whole candidates) "
        "or the reranker's name"
    )
    choice_score: float | None = Field(
        None, description="what the scorer chose by, nats; null where it did not choose"
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


class ModelReply(BaseModel):
    """The model being served and what it can do."""

    name: str
    version: str = Field(description="version of sumfit")
    backend: str
    units: dict[str, str] = Field(description="names and what they count")
    presets: dict[str, dict[str, Any]] = Field(description="named slots: unit and limit")
    styles: list[str] = Field(description="styles that the model can be told; empty for none")
    methods: list[str]
    defaults: dict[str, Any] = Field(description="options when a request leaves them out")
    config: dict[str, Any] = Field(description="the model's own description")
    limits: dict[str, float] = Field(description="what this server accepts")
