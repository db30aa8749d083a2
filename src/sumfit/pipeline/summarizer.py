"""`Summarizer`: the one place that joins tokenizer, runtime, decoder and reranker.

Owns the order of the stages for one text and for streams of texts, and the policy for errors.
Does not own any stage.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from sumfit.dag import DAG
from sumfit.errors import ConfigError, InputError
from sumfit.hypothesis import Summary
from sumfit.length import expand_limits, measure
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.pipeline.asynchronous import call_in_thread, iterate_in_threads
from sumfit.pipeline.describe import describe
from sumfit.pipeline.engine import Engine
from sumfit.pipeline.inspection import Inspection
from sumfit.pipeline.job import Job, check_each, check_texts, has_length, jobs_of, raise_errors
from sumfit.pipeline.options import Options, check_on_error, split_keywords
from sumfit.pipeline.pictures import Pictures, inspection_of
from sumfit.pipeline.stream import grouped, ordered_map
from sumfit.processors import checked_workers
from sumfit.runtime import Backend, ModelConfig, ModelDirectory, default_model_path, load_backend
from sumfit.text import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack  # of every type checker; needed at no other time

    from sumfit.pipeline.keywords import Keywords, OneKeywords, SeveralKeywords

__all__ = ["Summarizer"]


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
            ConfigError: If ``n_workers`` is below 1 or far above the number of processors.
        """
        self.model = model
        self.backend = backend
        self.n_workers = checked_workers(n_workers, least=1)
        self._engine = Engine(model, backend)
        self._pictures = Pictures(self._engine)

    @classmethod
    def from_pretrained(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        backend: Literal["onnx", "torch"] = "onnx",
        device: str | None = None,
        precision: Literal["int8", "fp32", "bf16", "fp16"] | None = None,
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process, or into a file, as the place of the model, read again there."""
        kind, *_, precision = self.backend.name.split("-")
        settings = {
            "backend": kind,
            "device": self.backend.device,
            "precision": precision,
            "n_workers": self.n_workers,
        }
        is_default = self.model.path == default_model_path()  # wherever sumfit lies over there
        return _loaded, (type(self), None if is_default else str(self.model.path), settings)

    def __repr__(self) -> str:
        """The model and the backend, on one line."""
        return f"Summarizer(model={self.config.name!r}, backend={self.backend.name!r})"

    @property
    def config(self) -> ModelConfig:
        """The model's configuration."""
        return self.model.config

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return self.model.tokenizer

    @overload
    def __call__(self, text: str, /, **keywords: Unpack[Keywords]) -> Summary: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, text: str, /, *, limits: Iterable[int], **keywords: Unpack[Keywords]
    ) -> list[Summary]: ...
    @overload
    def __call__(self, text: str, /, **keywords: Unpack[SeveralKeywords]) -> list[Summary]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, texts: Collection[str | None], /, **keywords: Unpack[SeveralKeywords]
    ) -> list[Summary]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        texts: Collection[str | None],
        /,
        *,
        limits: Iterable[int],
        **keywords: Unpack[Keywords],
    ) -> list[list[Summary]]: ...
    @overload
    def __call__(
        self, texts: Iterable[str | None], /, **keywords: Unpack[SeveralKeywords]
    ) -> Iterator[Summary]: ...
    @overload
    def __call__(
        self,
        texts: Iterable[str | None],
        /,
        *,
        limits: Iterable[int],
        **keywords: Unpack[Keywords],
    ) -> Iterator[list[Summary]]: ...
    def __call__(self, texts: Any, /, **keywords: Any) -> Any:
        """Summarise one text, a list of texts, or a stream of texts.

        A string gives a `Summary`; a list (or other sized collection) a list; any other iterable
        an iterator that works a bounded number of texts ahead. With ``limits=[...]`` each text
        gives a list of summaries, one per limit, each what it would be alone, from one forward
        pass (another one for limits so long that they ask for a larger graph); with one text, a
        list as a limit (``max_chars=[30, 60]``) means the same, with many texts one for each.

        Args:
            texts: A string, or an iterable of strings.
            **keywords: Length keywords (`sumfit.length.resolve_budget`), fields of `Options`,
                and ``batch_size``, ``on_error`` as in `stream`. For one text an error is
                raised, with several limits one that names all that cannot be met; for many
                texts it is returned in the item's ``error``. ``on_error="return"`` and
                ``on_error="raise"`` choose the other way.

        Returns:
            A `Summary`, a list, or an iterator, as above.

        Raises:
            InputError: If ``texts`` is no text and no iterable.
        """
        if isinstance(texts, str):
            return self._one(texts, keywords)
        check_texts(texts)
        if has_length(texts):
            return list(self.stream(list(texts), **keywords))
        return self.stream(texts, **keywords)

    @overload
    async def acall(self, text: str, /, **keywords: Unpack[Keywords]) -> Summary: ...  # type: ignore[overload-overlap]
    @overload
    async def acall(  # type: ignore[overload-overlap]
        self, text: str, /, *, limits: Iterable[int], **keywords: Unpack[Keywords]
    ) -> list[Summary]: ...
    @overload
    async def acall(self, text: str, /, **keywords: Unpack[SeveralKeywords]) -> list[Summary]: ...
    @overload
    async def acall(
        self, texts: Collection[str | None], /, **keywords: Unpack[SeveralKeywords]
    ) -> list[Summary]: ...
    @overload
    async def acall(
        self,
        texts: Collection[str | None],
        /,
        *,
        limits: Iterable[int],
        **keywords: Unpack[Keywords],
    ) -> list[list[Summary]]: ...
    async def acall(self, texts: Any, /, **keywords: Any) -> Any:
        """Summarise in a thread, so that an event loop goes on meanwhile.

        Args:
            texts: A string, or a list or other sized collection of strings.
            **keywords: As for calling the object.

        Returns:
            As for calling the object. Where the caller is cancelled, the work ends as with
            ``is_cancelled``.

        Raises:
            InputError: If ``texts`` has no length: a stream would be read in the thread.
        """
        if not isinstance(texts, str) and not has_length(texts):
            check_texts(texts)
            raise InputError(
                "acall takes a text or a list of texts, was a stream; use astream for it"
            )
        return await call_in_thread(partial(self, texts), keywords)

    @overload
    def astream(
        self, texts: Iterable[str | None], /, **keywords: Unpack[SeveralKeywords]
    ) -> AsyncIterator[Summary]: ...
    @overload
    def astream(
        self,
        texts: Iterable[str | None],
        /,
        *,
        limits: Iterable[int],
        **keywords: Unpack[Keywords],
    ) -> AsyncIterator[list[Summary]]: ...
    def astream(self, texts: Iterable[Any], /, **keywords: Any) -> AsyncIterator[Any]:
        """Summarise texts as they come, in threads, so that an event loop goes on meanwhile.

        Args:
            texts: Any iterable; it is read in those threads.
            **keywords: As for `stream`.

        Returns:
            Asynchronous iterator over what `stream` gives. Where its user goes away, the work ends
            as with ``is_cancelled``.
        """
        return iterate_in_threads(partial(self.stream, texts), keywords)

    def summarize(self, text: str, /, **keywords: Unpack[Keywords]) -> Summary:
        """Summarise one text at one limit.

        Args:
            text: The text.
            **keywords: As for calling the object, without lists of limits.

        Returns:
            The summary.

        Raises:
            ConfigError: If there are several limits.
            SumfitError: If the text cannot be summarised.
        """
        result = self._one(text, dict(keywords))
        if not isinstance(result, Summary):
            raise ConfigError(
                f"summarize takes one limit, was {len(result)}; call the summarizer itself for more"
            )
        return result

    @overload
    def stream(
        self, texts: Iterable[str | None], /, **keywords: Unpack[SeveralKeywords]
    ) -> Iterator[Summary]: ...
    @overload
    def stream(
        self,
        texts: Iterable[str | None],
        /,
        *,
        limits: Iterable[int],
        **keywords: Unpack[Keywords],
    ) -> Iterator[list[Summary]]: ...
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
            InputError: If ``texts`` holds no texts, or is one.
            ConfigError: If an option is out of range.
            BudgetError: If the length keywords make no sense.
        """
        if isinstance(texts, str):  # it would be taken letter by letter
            raise InputError("stream takes many texts, was one string; call the summarizer itself")
        check_texts(texts)
        length, options = split_keywords(keywords)
        check_on_error(on_error)
        if batch_size is not None and (not isinstance(batch_size, int) or batch_size < 1):
            raise ConfigError.of("batch_size", batch_size, "must be at least 1")
        self._engine.check(length, options)
        return self._stream(texts, length, options, on_error, batch_size)

    def graph(self, text: str, /, **keywords: Unpack[OneKeywords]) -> DAG:
        """Predict the graph of a text without decoding it.

        Args:
            text: The text.
            **keywords: Length keywords, which may enlarge the graph, and ``profile``.

        Returns:
            The graph.
        """
        length, options = split_keywords(keywords)
        preparer = self._engine.preparer
        source = preparer.source(text, options)
        asked = preparer.length(length, source) if length else None
        return self.backend.graphs([preparer.graph_request(source, asked, options)])[0]

    def inspect(self, text: str, /, **keywords: Unpack[OneKeywords]) -> Inspection:
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
        self._engine.check(length, options)
        requests = self._engine.preparer.requests(Job(text, [length]), options)
        [(request, summary)] = self._engine.finish(requests, options)
        if summary.error is not None:
            raise summary.error
        source, predicted = request.text.source, request.predicted
        assert source is not None
        assert predicted is not None
        return inspection_of(summary, predicted.search.dag, source, self._engine)

    def count_tokens(self, text: str, /) -> int:
        """Count the vocabulary pieces of a text.

        Args:
            text: Any text.

        Returns:
            The number of pieces.

        Raises:
            InputError: If ``text`` is no string.
        """
        return measure(text, "tokens", tokenizer=self.tokenizer)

    def describe(self) -> dict[str, Any]:
        """Describe the model and what may be asked of it, in JSON types alone.

        Returns:
            Name, version, units, presets, styles, methods, defaults, and the model's configuration.
        """
        controls = self.model.controls
        return describe(self.config, self.backend.name, list(controls.styles) if controls else ())

    def _one(self, text: str, keywords: Mapping[str, Any]) -> Any:
        rest = dict(keywords)
        rest.pop("batch_size", None)
        on_error = rest.pop("on_error", "raise")
        check_on_error(on_error)
        length, options = split_keywords(rest)
        self._engine.check(length, options)
        lengths = expand_limits(length)
        several = "limits" in length or len(lengths) > 1 or _holds_list(length)
        if several and on_error == "raise":
            check_each(lengths, self.tokenizer)
        results = self._engine.run([Job(text, lengths)], options)[0]
        raise_errors(on_error, results)
        for summary, own in zip(results, lengths, strict=True):
            self._pictures.add(summary, text, own, options)
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
            lambda jobs: self._engine.run(jobs, options),
            groups,
            n_workers=self.n_workers,
            look_ahead=look_ahead,
        ):
            for results in group:
                raise_errors(on_error, results)
                yield results if several else results[0]


def _loaded(kind: type[Summarizer], path: str | None, settings: Mapping[str, Any]) -> Summarizer:
    """Load a summarizer that was pickled."""
    return kind.from_pretrained(path, **settings)


def _holds_list(length: Mapping[str, Any]) -> bool:
    return any(
        isinstance(length.get(name), Iterable) and not isinstance(length[name], str)
        for name in LIMIT_KEYWORDS
    )
