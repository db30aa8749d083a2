"""The keyword arguments of a summarizer, as types: what a checker and an editor know of a call.

Owns names and types alone. Defaults and checks are `sumfit.options`' and
`sumfit.length.resolve_budget`'s. The parts between the marks are written by
``scripts/make_keywords.py`` from the declarations.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Literal, TypedDict

from sumfit.deadline import Hook
from sumfit.decoding import MethodName
from sumfit.length import Unit
from sumfit.length.names import PresetName, UnitName
from sumfit.rerank import AnyReranker

__all__ = [
    "DropInKeywords",
    "InputKind",
    "Keywords",
    "MethodName",
    "OneKeywords",
    "OptionKeywords",
    "PipelineKeywords",
    "PresetName",
    "SeveralKeywords",
    "StyleName",
    "UnitName",
]

# made
StyleName = Literal["auto", "news", "commit", "title", "subject", "synopsis", "plain"]
# end
"""What a model can be told to write."""

# made
InputKind = Literal[
    "auto", "plain", "html", "markdown", "wiki", "mail", "transcript", "diff", "trace"
]
# end
"""Names of `sumfit.cleaning.INPUT_KINDS`."""


class OptionKeywords(TypedDict, total=False):
    """Fields of `sumfit.Options`."""

    # made
    n_best: int
    near_doubles: bool
    rerank: str | os.PathLike[str] | AnyReranker | None
    faithful: bool
    method: MethodName
    ending: Literal["eos", "any"] | None
    fill: Literal["natural", "prefer", "single"]
    bonus: float | None
    unit_bonus: float | None
    beam_size: int
    words_per_vertex: int | None
    constraints: bool
    repeat_words: bool
    repeat_adjacent: bool
    no_repeat_ngram: int | None
    whole_words: bool
    dangling_end: bool
    final_stop: bool
    banned: Iterable[str]
    required: Iterable[str]
    source_numbers_only: bool
    source_names_only: bool
    style: StyleName
    capitalization: Literal["sentence", "title", "source"] | None
    on_infeasible: Literal["error", "cut"]
    keep_short: bool
    clean: bool
    input_kind: InputKind
    strict: bool
    long: Literal["select", "lead"]
    profile: Literal["natural", "gigaword"]
    max_expansions: int | None
    time_limit_s: float | None
    seed: int | None
    is_cancelled: Hook | None
    # end


class _Call(OptionKeywords, total=False):
    """What every call takes beside its limit."""

    unit: UnitName | Unit | Callable[[str], int] | None
    ratio_rule: Literal["floor", "paper-dat", "paper-truncate"]
    preset: PresetName | None
    reserve: int
    prefix: str
    suffix: str


class OneKeywords(_Call, total=False):
    """Keywords of one text with one limit."""

    # made
    max_words: int | None
    exact_words: int | None
    min_words: int | None
    max_tokens: int | None
    exact_tokens: int | None
    min_tokens: int | None
    max_chars: int | None
    exact_chars: int | None
    min_chars: int | None
    max_graphemes: int | None
    exact_graphemes: int | None
    min_graphemes: int | None
    max_bytes: int | None
    exact_bytes: int | None
    min_bytes: int | None
    max_cells: int | None
    exact_cells: int | None
    min_cells: int | None
    max_length: int | None
    exact_length: int | None
    min_length: int | None
    ratio: float | None
    # end


class Keywords(OneKeywords, total=False):
    """Keywords of one text or many with one limit."""

    on_error: Literal["raise", "return"]
    batch_size: int | None


class SeveralKeywords(_Call, total=False):
    """Keywords of a call with several limits: of one text, or one for each of many."""

    # made
    max_words: int | Iterable[int] | None
    exact_words: int | Iterable[int] | None
    min_words: int | Iterable[int] | None
    max_tokens: int | Iterable[int] | None
    exact_tokens: int | Iterable[int] | None
    min_tokens: int | Iterable[int] | None
    max_chars: int | Iterable[int] | None
    exact_chars: int | Iterable[int] | None
    min_chars: int | Iterable[int] | None
    max_graphemes: int | Iterable[int] | None
    exact_graphemes: int | Iterable[int] | None
    min_graphemes: int | Iterable[int] | None
    max_bytes: int | Iterable[int] | None
    exact_bytes: int | Iterable[int] | None
    min_bytes: int | Iterable[int] | None
    max_cells: int | Iterable[int] | None
    exact_cells: int | Iterable[int] | None
    min_cells: int | Iterable[int] | None
    max_length: int | Iterable[int] | None
    exact_length: int | Iterable[int] | None
    min_length: int | Iterable[int] | None
    ratio: float | Iterable[float] | None
    # end
    on_error: Literal["raise", "return"]
    batch_size: int | None


class DropInKeywords(OneKeywords, total=False):
    """Keywords of a call to the drop-in: those of `OneKeywords`, and the old pipeline's."""

    max_new_tokens: int | None
    min_new_tokens: int | None
    batch_size: int | None
    clean_up_tokenization_spaces: bool | None
    do_sample: bool | None
    early_stopping: bool | str | None
    length_penalty: float | None
    no_repeat_ngram_size: int | None
    num_beams: int | None
    padding: bool | str | None
    repetition_penalty: float | None
    return_tensors: bool | None
    return_text: bool | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    truncation: bool | str | None


class PipelineKeywords(DropInKeywords, total=False):
    """Keywords of the drop-in itself; what tells other libraries how to load has no effect."""

    config: object
    dtype: object
    framework: object
    revision: object
    tokenizer: object
    torch_dtype: object
