"""What all baselines share: the call, the length request, the cut, the measuring.

Owns `Baseline`. Does not own how any of them writes a text. A limit is kept by every baseline: what
a soft one writes is cut after the last whole word that fits, marked as cut, and measured again.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import torch

from sumfit.baselines.fitting import cut_to_fit, misfit
from sumfit.errors import ConfigError, SumfitError
from sumfit.hypothesis import Summary
from sumfit.length import LengthRequest, expand_limits, resolve_budget
from sumfit.models.checkpoint import load_network
from sumfit.models.network import Network, usable_device
from sumfit.pipeline.job import Job, check_length, check_texts, jobs_of, raise_errors
from sumfit.pipeline.options import LENGTH_KEYWORDS, check_on_error, check_profile
from sumfit.pipeline.source import Source, prepare
from sumfit.pipeline.stream import grouped
from sumfit.runtime.directory import ModelConfig, ModelDirectory
from sumfit.text import Tokenizer, ends_completely

__all__ = ["Baseline", "BaselineOptions", "Wanted", "Written"]

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
_WINDOW = 16  # batches that are read ahead and sorted by length, so that little is padded


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """How to summarise; a baseline with options of its own derives from this.

    Attributes:
        profile: Text form; the first one that the model was trained on if empty.
        keep_short: Return a source that already fits as it is.
    """

    profile: str = ""
    keep_short: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.keep_short, bool):
            raise ConfigError.of("keep_short", self.keep_short, "must be True or False")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One summary to write.

    Attributes:
        source: The text, ready.
        request: How long the summary may be.
    """

    source: Source
    request: LengthRequest


@dataclass(frozen=True, slots=True)
class Written:
    """What a baseline wrote.

    Attributes:
        words: Vocabulary ids, without special ones.
        log_prob: Natural log of the model's probability of them.
        score: What the search maximised.
        optimal: Proved to be the best that meets the request.
        gap: Upper bound on the score anyone could gain; 0 if ``optimal``.
    """

    words: tuple[int, ...]
    log_prob: float = math.nan
    score: float = math.nan
    optimal: bool = False
    gap: float = math.inf


class Baseline(ABC):
    """A trained baseline with the call of a `sumfit.Summarizer`.

    ``model`` is the opened directory, ``network`` the network on its ``device``, ``batch_size`` the
    number of texts that are summarised together.

    Attributes:
        method: Name of its search, for `sumfit.Summary`.
        options_type: Its options.
    """

    method: ClassVar[str]
    options_type: ClassVar[type[BaselineOptions]] = BaselineOptions

    def __init__(
        self,
        model: ModelDirectory,
        network: Network,
        *,
        device: torch.device,
        precision: str,
        batch_size: int,
    ) -> None:
        """Use `load`; this only joins the parts.

        Args:
            model: The opened directory.
            network: Its network, in evaluation mode.
            device: Where to run.
            precision: ``"fp32"`` or ``"bf16"``.
            batch_size: Texts that are summarised together.
        """
        self.model = model
        self.network = network.to(device)
        self.device = device
        self.batch_size = batch_size
        self._precision = precision

    @classmethod
    def load(
        cls,
        directory: str | os.PathLike[str],
        *,
        device: str | None = None,
        precision: str | None = None,
        batch_size: int = 64,
    ) -> Baseline:
        """Load a checkpoint; see `sumfit.baselines.load_baseline`.

        Args:
            directory: The checkpoint.
            device: Torch device.
            precision: ``"fp32"`` or ``"bf16"``.
            batch_size: Texts that are summarised together.

        Returns:
            The baseline.

        Raises:
            ConfigError: If device, precision or batch size cannot be used.
        """
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ConfigError.of("batch_size", batch_size, "must be at least 1")
        found = usable_device(device)
        chosen = precision or ("fp32" if found.type == "cpu" else "bf16")
        if chosen not in _DTYPES:
            raise ConfigError.of("precision", chosen, "must be 'fp32' or 'bf16' for a baseline")
        network = load_network(directory)
        model = ModelDirectory.open(directory, system=network.system)
        return cls(model, network, device=found, precision=chosen, batch_size=batch_size)

    @abstractmethod
    def write(self, wanted: Sequence[Wanted], options: Any) -> list[Written | SumfitError]:
        """Write summaries of texts of similar length together.

        Args:
            wanted: Texts and requests, at most ``batch_size``.
            options: An object of ``options_type``.

        Returns:
            For each what was written, or why nothing was. A soft method may write more than the
            request allows, and it is cut; no result may depend on the other texts.
        """

    @property
    def system(self) -> str:
        """Name of the system, as in recipes."""
        return self.network.system

    @property
    def config(self) -> ModelConfig:
        """The model's configuration."""
        return self.model.config

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return self.model.tokenizer

    @property
    def name(self) -> str:
        """For example ``"torch-cuda-bf16"``."""
        return f"torch-{self.device.type}-{self._precision}"

    def __call__(self, texts: Any, /, **keywords: Any) -> Any:
        """Summarise one text, a list of texts, or a stream of texts, as `sumfit.Summarizer` does.

        Args:
            texts: A string, or an iterable of strings.
            **keywords: Length keywords (`sumfit.length.resolve_budget`), fields of
                ``options_type``, and ``on_error``: for one text an error is raised; for many it
                is returned in the item's ``error``, unless ``on_error="raise"``.

        Returns:
            A `Summary` for a string (a list of them for several limits), a list for a sized
            collection, an iterator for anything else.

        Raises:
            InputError: If ``texts`` is no text and no iterable.
        """
        if isinstance(texts, str):
            length, options = self._split(keywords)
            lengths = expand_limits(length)
            results = self._run([Job(texts, lengths)], options)[0]
            raise_errors(keywords.get("on_error", "raise"), results)
            return results if len(lengths) > 1 or "limits" in length else results[0]
        check_texts(texts)
        if hasattr(texts, "__len__"):
            return list(self.stream(list(texts), **keywords))
        return self.stream(texts, **keywords)

    def stream(self, texts: Iterable[object], /, **keywords: Any) -> Iterator[Any]:
        """Summarise texts as they come, in order, a bounded number ahead.

        Args:
            texts: Any iterable; what is no string gives a result with an error.
            **keywords: As for calling the object.

        Returns:
            Iterator over one `Summary` per text, or one list each with ``limits=``.
        """
        length, options = self._split(keywords)
        on_error = keywords.get("on_error", "return")
        check_length(length, self.tokenizer)
        return self._stream(jobs_of(texts, length), "limits" in length, options, on_error)

    def _stream(
        self, jobs: Iterator[Job], several: bool, options: BaselineOptions, on_error: str
    ) -> Iterator[Any]:
        for group in grouped(jobs, self.batch_size * _WINDOW):
            for results in self._run(group, options):
                raise_errors(on_error, results)
                yield results if several else results[0]

    def _split(self, keywords: Mapping[str, Any]) -> tuple[dict[str, Any], BaselineOptions]:
        """Part keywords into those of length and the options, both checked."""
        known = {field.name for field in fields(self.options_type)}
        unknown = set(keywords) - known - set(LENGTH_KEYWORDS) - {"on_error"}
        if unknown:
            raise TypeError(
                f"unknown keyword {min(unknown)!r}; options of {self.system!r} are "
                f"{', '.join(sorted(known))}, on_error, and the length keywords"
            )
        check_on_error(keywords.get("on_error", "raise"))
        chosen = {name: value for name, value in keywords.items() if name in known}
        chosen["profile"] = chosen.get("profile") or self.config.profiles[0]
        check_profile(chosen["profile"], self.config)
        length = {
            name: value
            for name, value in keywords.items()
            if name in LENGTH_KEYWORDS and value is not None
        }
        return length, self.options_type(**chosen)

    def _run(self, jobs: Sequence[Job], options: BaselineOptions) -> list[list[Summary]]:
        """Summarise texts, shortest first, and give the results in the texts' order."""
        results: list[list[Summary | None]] = [[None] * len(job.lengths) for job in jobs]
        wanted: list[tuple[int, int, Wanted, float]] = []
        for row, job in enumerate(jobs):
            for column, length in enumerate(job.lengths):
                started = time.perf_counter()
                found = self._want(job.text, length, options)
                seconds = time.perf_counter() - started
                if isinstance(found, Summary):
                    results[row][column] = found
                else:
                    wanted.append((row, column, found, seconds))
        wanted.sort(key=lambda entry: len(entry[2].source.ids))
        for start in range(0, len(wanted), self.batch_size):
            part = wanted[start : start + self.batch_size]
            started = time.perf_counter()
            with torch.inference_mode(), self._autocast():
                written = self.write([entry[2] for entry in part], options)
            decode_s = (time.perf_counter() - started) / len(part)
            for (row, column, item, encode_s), one in zip(part, written, strict=True):
                timings = {"encode": encode_s, "decode": decode_s}
                try:
                    results[row][column] = self._finish(item, one, timings)
                except SumfitError as error:  # a unit of the caller's that fails
                    results[row][column] = self._failed(item, error)
        return [[summary for summary in row if summary is not None] for row in results]

    def _want(
        self, text: object, length: Mapping[str, Any], options: BaselineOptions
    ) -> Wanted | Summary:
        try:
            source = prepare(
                text,
                tokenizer=self.tokenizer,
                profile=options.profile,
                max_source=self.config.max_source,
            )
            request = resolve_budget(**length, source=source.text, tokenizer=self.tokenizer)
            wanted = Wanted(source, request)
            if options.keep_short and request.accepts(source.text, tokenizer=self.tokenizer):
                return self._summary(wanted, source.text, origin="source")
        except SumfitError as error:
            return Summary("", 0, "", 0, method=self.method, error=error)
        return wanted

    def _finish(
        self, wanted: Wanted, written: Written | SumfitError, timings: Mapping[str, float]
    ) -> Summary:
        if isinstance(written, SumfitError):
            return self._failed(wanted, written)
        text = self.tokenizer.decode(written.words)
        kept = cut_to_fit(text, wanted.request, self.tokenizer)
        if kept == text and text:
            scores = {"log_prob": written.log_prob, "score": written.score}
            proof = {"optimal": written.optimal, "gap": written.gap}
            summary = self._summary(wanted, text, words=written.words, **scores, **proof)
        else:
            words = tuple(self.tokenizer.encode(kept))
            summary = self._summary(wanted, kept, words=words, text_cut=bool(text))
        if not kept or not wanted.request.accepts(kept, tokenizer=self.tokenizer):
            return self._failed(wanted, misfit(text, kept, wanted.request))
        return replace(summary, timings=timings)

    def _summary(self, wanted: Wanted, text: str, **values: Any) -> Summary:
        request = wanted.request
        return Summary(
            text=request.compose(text),
            length=request.measure(text, tokenizer=self.tokenizer),
            unit=request.unit_name,
            limit=request.limit,
            min_length=request.min_length,
            complete=ends_completely(text),
            source_truncated=wanted.source.is_truncated,
            method=self.method,
            **values,
        )

    def _failed(self, wanted: Wanted, error: SumfitError) -> Summary:
        request = wanted.request
        return Summary(
            text="",
            length=0,
            unit=request.unit_name,
            limit=request.limit,
            min_length=request.min_length,
            source_truncated=wanted.source.is_truncated,
            method=self.method,
            error=error,
        )

    def _autocast(self) -> torch.autocast:
        dtype = _DTYPES[self._precision]
        return torch.autocast(self.device.type, dtype=dtype, enabled=dtype != torch.float32)
