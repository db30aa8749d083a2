"""Drop-in for the summarization pipeline that transformers had until version 5.

Owns the old call shapes and their translation. Everything else is `Summarizer`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypedDict, overload

from sumfit.errors import ConfigError
from sumfit.hypothesis import Summary
from sumfit.pipeline.job import has_length
from sumfit.pipeline.summarizer import Summarizer

if TYPE_CHECKING:
    from typing_extensions import Unpack  # of every type checker; needed at no other time

    from sumfit.pipeline.keywords import DropInKeywords, PipelineKeywords

__all__ = ["SummarizationPipeline", "SummaryRecord", "pipeline"]

_TASKS = ("summarization", "text2text-generation")
# Options of the old pipeline that steer what sumfit does by itself, or does not need to do.
_IGNORED = frozenset(
    {
        "clean_up_tokenization_spaces",
        "do_sample",
        "early_stopping",
        "length_penalty",
        "no_repeat_ngram_size",
        "num_beams",
        "padding",
        "repetition_penalty",
        "return_tensors",
        "return_text",
        "temperature",
        "top_k",
        "top_p",
        "truncation",
    }
)
# Options of loading that a model of sumfit has no use for.
_OF_LOADING = frozenset(
    {"batch_size", "config", "dtype", "framework", "revision", "tokenizer", "torch_dtype"}
)


class SummaryRecord(TypedDict):
    """What the old pipeline returned for each text."""

    summary_text: str


class SummarizationPipeline:
    """Called with a text or several, returns ``[{"summary_text": ...}]``.

    ``max_length`` and ``min_length`` count tokens of this model's vocabulary, as they did there;
    every other length keyword of sumfit works too. Options that steer sampling and beams
    (``num_beams``, ``do_sample``, ``length_penalty``, ...) are accepted and have no effect, since
    the search is exact. ``summarizer`` is what does the work, ``task`` the task's name.
    """

    def __init__(self, summarizer: Summarizer, task: str, defaults: dict[str, Any]) -> None:
        """Use `pipeline`.

        Args:
            summarizer: What does the work.
            task: The task's name.
            defaults: Keywords of every call.
        """
        self.summarizer = summarizer
        self.task = task
        self._defaults = defaults

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, text: str, /, **keywords: Unpack[DropInKeywords]
    ) -> list[SummaryRecord]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, texts: Collection[str], /, **keywords: Unpack[DropInKeywords]
    ) -> list[SummaryRecord]: ...
    @overload
    def __call__(
        self, texts: Iterable[str], /, **keywords: Unpack[DropInKeywords]
    ) -> Iterator[SummaryRecord]: ...
    def __call__(
        self, *texts: str | Iterable[str], **keywords: Any
    ) -> list[SummaryRecord] | Iterator[SummaryRecord]:
        """Summarise as the old pipeline did.

        Args:
            *texts: A text, a list of texts, or a generator of texts.
            **keywords: Old and new keywords; a length is needed here or in `pipeline`.

        Returns:
            A list with one dictionary per text; for a generator, an iterator of dictionaries.

        Raises:
            ConfigError: If there is not exactly one input.
        """
        if len(texts) != 1:
            raise ConfigError(f"give one text or one list of texts, got {len(texts)} arguments")
        inputs = texts[0]
        translated = self._translate({**self._defaults, **keywords})
        if isinstance(inputs, str):
            return [_record(self.summarizer.summarize(inputs, **translated))]
        if isinstance(inputs, Iterable) and not has_length(inputs):
            return self._records(inputs, translated)
        return [_record(item) for item in self.summarizer(inputs, on_error="raise", **translated)]

    def _records(self, inputs: Iterable[str], keywords: dict[str, Any]) -> Iterator[SummaryRecord]:
        for summary in self.summarizer.stream(inputs, on_error="raise", **keywords):
            yield _record(summary)

    def _translate(self, keywords: dict[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in keywords.items() if name not in _IGNORED}
        uses_old = any(kept.get(name) is not None for name in ("max_length", "min_length"))
        if "max_new_tokens" in kept:
            kept["max_length"] = kept.pop("max_new_tokens")
            uses_old = True
        if "min_new_tokens" in kept:
            kept["min_length"] = kept.pop("min_new_tokens")
            uses_old = True
        if uses_old and kept.get("unit") is None:
            kept["unit"] = "tokens"
        return kept


def pipeline(
    task: str = "summarization",
    model: str | os.PathLike[str] | Summarizer | None = None,
    *,
    device: int | str | None = None,
    **defaults: Unpack[PipelineKeywords],
) -> SummarizationPipeline:
    """Make the drop-in for ``transformers.pipeline("summarization")``.

    Args:
        task: ``"summarization"`` (or ``"text2text-generation"``, the same here).
        model: A model directory, a `Summarizer`, or ``None`` for the default model.
        device: ``None``, -1 or ``"cpu"`` for the CPU; a number or ``"cuda..."`` for a GPU, which
            needs torch.
        **defaults: Keywords of every call, for example ``max_length=20`` or ``max_chars=60``.

    Returns:
        The callable.

    Raises:
        ConfigError: If the task is not one of these.
    """
    if task not in _TASKS:
        raise ConfigError(f"task must be one of {', '.join(_TASKS)}, was {task!r}")
    kept = {name: value for name, value in defaults.items() if name not in _OF_LOADING}
    if isinstance(model, Summarizer):
        return SummarizationPipeline(model, task, kept)
    place = f"cuda:{device}" if isinstance(device, int) and device >= 0 else device
    on_gpu = place is not None and place not in (-1, "cpu")
    summarizer = Summarizer.from_pretrained(
        model,
        backend="torch" if on_gpu else "onnx",
        device=str(place) if on_gpu else None,
    )
    return SummarizationPipeline(summarizer, task, kept)


def _record(summary: Summary) -> SummaryRecord:
    return {"summary_text": summary.text}
