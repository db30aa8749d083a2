"""`Summarizer`: the one place that joins tokenizer, runtime, decoder and reranker.

Owns the order of the stages for one text and for streams of texts, and the policy for errors.
Does not own any stage.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sumfit.dag import DAG
from sumfit.errors import ConfigError, InfeasibleBudgetError, InputError, SumfitError
from sumfit.hypothesis import Summary
from sumfit.length import LengthRequest, expand_limits, resolve_budget
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.pipeline.constraints import ConstraintCompiler, constraints_of, keeps_phrases
from sumfit.pipeline.describe import describe
from sumfit.pipeline.inspection import Inspection
from sumfit.pipeline.job import Job, Prepared, check_length, jobs_of
from sumfit.pipeline.options import Options, split_keywords
from sumfit.pipeline.reranking import RerankerCache
from sumfit.pipeline.results import (
    cut_summary,
    failed_summary,
    model_summary,
    source_summary,
)
from sumfit.pipeline.search import search, source_length
from sumfit.pipeline.source import Source, prepare
from sumfit.pipeline.stream import grouped, ordered_map
from sumfit.runtime import Backend, GraphRequest, ModelConfig, ModelDirectory, load_backend
from sumfit.text import Tokenizer

__all__ = ["Summarizer"]

_PIECES_PER_UNIT = {"tokens": 1.0, "words": 2.0}
_PIECES_PER_CHARACTER = 1 / 3  # for every other unit: pieces hold 4 to 5 characters on average
_FILL_BONUS = 1.0  # nats per token that fill="prefer" adds


class Summarizer:
    """Writes summaries that fit.

    One object may be used from several threads. A result depends on its own text and options
    alone, never on the other texts of a call. ``model`` is the opened model directory,
    ``backend`` what predicts the graphs, ``n_workers`` the number of threads for many texts.
    """

    def __init__(
        self, model: ModelDirectory, backend: Backend, *, n_workers: int | None = None
    ) -> None:
        """Join an opened model and a backend; `from_pretrained` does both.

        Args:
            model: An opened model directory.
            backend: A backend of that model.
            n_workers: Threads for many texts; one per processor if not given.

        Raises:
            ConfigError: If ``n_workers`` is below 1.
        """
        if n_workers is not None and n_workers < 1:
            raise ConfigError(f"n_workers must be at least 1, was {n_workers}")
        self.model = model
        self.backend = backend
        self.n_workers = n_workers or _n_processors()
        self._constraints = ConstraintCompiler(model)
        self._rerankers = RerankerCache(model)

    @classmethod
    def from_pretrained(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        backend: str = "onnx",
        device: str | None = None,
        precision: str | None = None,
        n_workers: int | None = None,
    ) -> Summarizer:
        """Load a model from a directory; nothing is ever downloaded.

        Args:
            path: Model directory; ``None`` for the default model inside the package.
            backend: ``"onnx"`` (CPU) or ``"torch"``.
            device: Torch device, for example ``"cuda"``.
            precision: ``"int8"``, ``"fp32"`` or ``"bf16"``, as the backend has them.
            n_workers: Threads for many texts; one per processor if not given.

        Returns:
            The summarizer.

        Raises:
            ModelError: If the directory holds no usable model.
            ConfigError: If the backend is unknown.
            MissingExtraError: If the backend needs a package that is not installed.
        """
        model = ModelDirectory.open(path)
        loaded = load_backend(model, backend=backend, device=device, precision=precision)
        return cls(model, loaded, n_workers=n_workers)

    @property
    def config(self) -> ModelConfig:
        """The model's configuration."""
        return self.model.config

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return self.model.tokenizer

    def __call__(self, texts: Any, /, **keywords: Any) -> Any:
        """Summarise one text, a list of texts, or a stream of texts.

        A string gives a `Summary`; a list (or other sized collection) a list; any other iterable
        an iterator that works a bounded number of texts ahead. With ``limits=[...]`` each text
        gives a list of summaries, one per limit, from one forward pass; with one text, a list as
        a limit (``max_chars=[30, 60]``) means the same, with many texts one limit for each.

        Args:
            texts: A string, or an iterable of strings.
            **keywords: Length keywords (`sumfit.length.resolve_budget`), fields of `Options`,
                and ``batch_size``, ``on_error`` as in `stream`. For one text an error is
                raised; for many it is returned in the item's ``error``, unless
                ``on_error="raise"``.

        Returns:
            A `Summary`, a list, or an iterator, as above.

        Raises:
            InputError: If ``texts`` is no text and no iterable.
        """
        if isinstance(texts, str):
            return self._one(texts, keywords)
        if isinstance(texts, bytes | bytearray | Mapping) or not isinstance(texts, Iterable):
            hint = "; decode it as UTF-8 first" if isinstance(texts, bytes | bytearray) else ""
            raise InputError(
                f"give a string or an iterable of strings, was {type(texts).__name__}{hint}"
            )
        if hasattr(texts, "__len__"):
            return list(self.stream(list(texts), **keywords))
        return self.stream(texts, **keywords)

    def summarize(self, text: str, /, **keywords: Any) -> Summary:
        """Summarise one text at one limit.

        Args:
            text: The text.
            **keywords: As for calling the object, without lists of limits.

        Returns:
            The summary.
        """
        result = self._one(text, keywords)
        assert isinstance(result, Summary), "a list of limits gives a list; call the object"
        return result

    def stream(
        self,
        texts: Iterable[object],
        /,
        *,
        on_error: str = "return",
        batch_size: int | None = None,
        **keywords: Any,
    ) -> Iterator[Any]:
        """Summarise texts as they come, in order.

        Options and limits are checked when this is called; texts are read as results are taken,
        at most ``n_workers + batch_size`` ahead.

        Args:
            texts: Any iterable; what is no string gives a result with an error.
            on_error: ``"return"`` puts a text's error into its summary, ``"raise"`` raises it.
            batch_size: Texts that a batching backend predicts at once, and texts read ahead.
            **keywords: As for calling the object.

        Returns:
            Iterator over one `Summary` per text, or one list each with ``limits=``.

        Raises:
            ConfigError: If an option is out of range.
            BudgetError: If the length keywords make no sense.
        """
        length, options = split_keywords(keywords)
        if on_error not in ("raise", "return"):
            raise ConfigError(f"on_error must be 'raise' or 'return', was {on_error!r}")
        if batch_size is not None and (not isinstance(batch_size, int) or batch_size < 1):
            raise ConfigError(f"batch_size must be at least 1, was {batch_size!r}")
        self._check(length, options)
        return self._stream(texts, length, options, on_error, batch_size)

    def graph(self, text: str, /, **keywords: Any) -> DAG:
        """Predict the graph of a text without decoding it.

        Args:
            text: The text.
            **keywords: Length keywords, which may enlarge the graph, and ``profile``.

        Returns:
            The graph.
        """
        length, options = split_keywords(keywords)
        source = self._source(text, options)
        requests = [self._request(length, source)] if length else []
        wanted = self._graph_request(source, requests)
        return self.backend.graphs([wanted])[0]

    def inspect(self, text: str, /, **keywords: Any) -> Inspection:
        """Summarise a text and show the graph behind the summary.

        A source that already fits is summarised all the same.

        Args:
            text: The text.
            **keywords: As for calling the object, without lists of limits.

        Returns:
            Graph, summary, and the summary's path.

        Raises:
            SumfitError: If the text cannot be summarised.
        """
        length, options = split_keywords({**keywords, "keep_short": False})
        self._check(length, options)
        prepared = self._prepare(Job(text, [length]), options)
        request = prepared.requests[0]
        if isinstance(request, SumfitError):
            raise request
        assert prepared.source is not None
        assert prepared.graph is not None
        dag = self.backend.graphs([prepared.graph])[0]
        summary = self._summary(prepared, request, dag, options, {})
        if summary.error is not None:
            raise summary.error
        return Inspection.of(
            summary,
            dag=dag,
            read=prepared.source.read,
            tokenizer=self.tokenizer,
            n_source=len(prepared.source.ids),
        )

    def count_tokens(self, text: str, /) -> int:
        """Count the vocabulary pieces of a text.

        Args:
            text: Any text.

        Returns:
            The number of pieces.
        """
        return len(self.tokenizer.encode(text))

    def describe(self) -> dict[str, Any]:
        """Describe the model and what may be asked of it, in JSON types alone.

        Returns:
            Name, version, units, presets, methods, defaults, and the model's configuration.
        """
        return describe(self.config, self.backend.name)

    def _one(self, text: str, keywords: Mapping[str, Any]) -> Any:
        rest = dict(keywords)
        rest.pop("batch_size", None)
        on_error = rest.pop("on_error", "raise")
        if on_error not in ("raise", "return"):
            raise ConfigError(f"on_error must be 'raise' or 'return', was {on_error!r}")
        length, options = split_keywords(rest)
        self._check(length, options)
        lengths = expand_limits(length)
        several = "limits" in length or len(lengths) > 1 or _holds_list(length)
        results = self._run([Job(text, lengths)], options)[0]
        _raise_if(on_error == "raise", results)
        return results if several else results[0]

    def _stream(
        self,
        texts: Iterable[object],
        length: Mapping[str, Any],
        options: Options,
        on_error: str,
        batch_size: int | None,
    ) -> Iterator[Any]:
        several = "limits" in length
        size = min(batch_size or self.backend.batch_size, self.backend.batch_size)
        groups = grouped(jobs_of(texts, length), size)
        look_ahead = max(1, (batch_size or 4 * self.n_workers) // size)
        for group in ordered_map(
            lambda jobs: self._run(jobs, options),
            groups,
            n_workers=self.n_workers,
            look_ahead=look_ahead,
        ):
            for results in group:
                _raise_if(on_error == "raise", results)
                yield results if several else results[0]

    def _check(self, length: Mapping[str, Any], options: Options) -> None:
        check_length(length, self.tokenizer)
        if options.profile not in self.config.profiles:
            known = ", ".join(repr(name) for name in self.config.profiles)
            raise ConfigError(
                f"model {self.config.name!r} was trained on profile {known}, "
                f"profile was {options.profile!r}; use another model"
            )
        constraints_of(options)
        self._rerankers.get(options.rerank)

    def _run(self, jobs: Sequence[Job], options: Options) -> list[list[Summary]]:
        """Summaries of some jobs, which share one call of the backend; runs in any thread."""
        prepared = [self._prepare(job, options) for job in jobs]
        wanted = [item.graph for item in prepared if item.graph is not None]
        started = time.perf_counter()
        graphs = iter(self.backend.graphs(wanted) if wanted else [])
        forward_s = (time.perf_counter() - started) / max(1, len(wanted))
        results = []
        for item in prepared:
            dag = next(graphs) if item.graph is not None else None
            timings = {"encode": item.encode_s, "forward": forward_s if dag else 0.0}
            results.append(
                [
                    failed_summary(request, options=options)
                    if isinstance(request, SumfitError)
                    else self._summary(item, request, dag, options, timings)
                    for request in item.requests
                ]
            )
        return results

    def _prepare(self, job: Job, options: Options) -> Prepared:
        started = time.perf_counter()
        try:
            source = self._source(job.text, options)
        except SumfitError as error:
            return Prepared(None, [error] * len(job.lengths), None, 0.0)
        requests: list[LengthRequest | SumfitError] = []
        for length in job.lengths:
            try:
                requests.append(self._request(length, source))
            except SumfitError as error:
                requests.append(error)
        open_requests = [
            request
            for request in requests
            if isinstance(request, LengthRequest) and not self._is_kept(source, request, options)
        ]
        graph = self._graph_request(source, open_requests) if open_requests else None
        return Prepared(source, requests, graph, time.perf_counter() - started)

    def _source(self, text: object, options: Options) -> Source:
        return prepare(
            text,
            tokenizer=self.tokenizer,
            profile=options.profile,
            max_source=self.config.max_source,
        )

    def _request(self, length: Mapping[str, Any], source: Source) -> LengthRequest:
        return resolve_budget(**length, source=source.text, tokenizer=self.tokenizer)

    def _is_kept(self, source: Source, request: LengthRequest, options: Options) -> bool:
        """Whether the source is returned as it is."""
        return (
            options.keep_short
            and source_length(source.text, request, self.tokenizer) <= request.limit
            and request.accepts(source.text, tokenizer=self.tokenizer)
            and keeps_phrases(source.text, options)
        )

    def _graph_request(self, source: Source, requests: Sequence[LengthRequest]) -> GraphRequest:
        n_pieces = 0
        for request in requests:
            longest = source_length(source.text, request, self.tokenizer)
            high = max(min(request.budget.high, longest), request.budget.low)
            rate = _PIECES_PER_UNIT.get(request.unit_name, _PIECES_PER_CHARACTER)
            n_pieces = max(n_pieces, math.ceil(high * rate))
        n_vertices = self.config.architecture.n_vertices(len(source.ids), at_least=n_pieces + 2)
        return GraphRequest(source_ids=source.ids, n_vertices=n_vertices)

    def _summary(
        self,
        prepared: Prepared,
        request: LengthRequest,
        dag: DAG | None,
        options: Options,
        timings: Mapping[str, float],
    ) -> Summary:
        """One summary, or one whose ``error`` is set."""
        source = prepared.source
        assert source is not None
        shared: dict[str, Any] = {
            "request": request,
            "source": source,
            "options": options,
            "tokenizer": self.tokenizer,
        }
        failure: SumfitError
        try:
            if dag is None or self._is_kept(source, request, options):
                return source_summary(**shared)
            return self._decoded(dag, timings=timings, **shared)
        except InfeasibleBudgetError as error:
            failure = error
        except SumfitError as error:
            return failed_summary(error, options=options, request=request)
        if options.on_infeasible == "cut":
            try:
                return cut_summary(**shared)
            except InfeasibleBudgetError as error:
                failure = error
        return failed_summary(failure, options=options, request=request)

    def _decoded(
        self,
        dag: DAG,
        *,
        request: LengthRequest,
        source: Source,
        options: Options,
        tokenizer: Tokenizer,
        timings: Mapping[str, float],
    ) -> Summary:
        bonus = options.bonus
        if bonus is None:
            bonus = self.config.bonus_for(request.unit_name)
        if options.fill == "prefer":
            bonus += _FILL_BONUS
        started = time.perf_counter()
        candidates = search(
            dag,
            request=request,
            longest=source_length(source.text, request, tokenizer),
            options=options,
            bonus=bonus,
            ending=options.ending or self.config.ending,
            constraints=self._constraints.compile(options, source.text),
            tokenizer=tokenizer,
            n_wanted=self._rerankers.n_candidates(options),
        )
        decoded = time.perf_counter()
        candidates = self._rerankers.order(candidates, source=source.read, options=options)
        reranked = time.perf_counter()
        return model_summary(
            candidates,
            request=request,
            source=source,
            options=options,
            bonus=bonus,
            tokenizer=tokenizer,
            timings={**timings, "decode": decoded - started, "rerank": reranked - decoded},
        )


def _n_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _raise_if(wanted: bool, results: Iterable[Summary]) -> None:
    if wanted:
        for result in results:
            if result.error is not None:
                raise result.error


def _holds_list(length: Mapping[str, Any]) -> bool:
    return any(
        isinstance(length.get(name), Iterable) and not isinstance(length[name], str)
        for name in LIMIT_KEYWORDS
    )
