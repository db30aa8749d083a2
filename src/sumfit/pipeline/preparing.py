"""The first stage: a text is read, its limits are resolved, and its graph gets a size.

Owns what is done before the network is asked, and why a text may never come to it. Does not own
how a text is cleaned and cut (`sumfit.pipeline.source`), nor what a length keyword means
(`sumfit.length`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sumfit.cleaning import Cleaned, clean, is_only_links, is_only_tags
from sumfit.deadline import Check, Deadline
from sumfit.errors import (
    EmptyInputError,
    SumfitError,
    TimeLimitError,
    UnsupportedLanguageError,
    UnsupportedScriptError,
    given,
)
from sumfit.length import LengthRequest, get_preset, resolve_budget
from sumfit.length.units import Encoder
from sumfit.length.units.chars import UNIT as CHARS
from sumfit.pipeline.constraints_for_text import keeps_phrases
from sumfit.pipeline.job import Job
from sumfit.pipeline.options import Options
from sumfit.pipeline.request import Request, Text
from sumfit.pipeline.results import ResultMaker
from sumfit.pipeline.search import source_length
from sumfit.pipeline.source import MOST_HELD, Source, prepare, with_first
from sumfit.runtime import Backend, GraphRequest, ModelDirectory
from sumfit.text import Tokenizer, normalize
from sumfit.text.language import language_name
from sumfit.text.scripts import foreign_script
from sumfit.truth.names import is_ordinary

__all__ = ["Preparer", "SentenceSpans", "reading_check", "sentence_spans", "style_of"]

_LATE_S = 0.05  # reading may end so late, and a quick search still follows
_HELD_PER_S = 400_000  # characters of a long text that are looked at, for a second of time limit
_LEAST_HELD = 20_000


class Preparer:
    """Makes requests of texts; safe to use from several threads."""

    def __init__(
        self, model: ModelDirectory, backend: Backend, deadline: Callable[[Options], Deadline]
    ) -> None:
        """Store them.

        Args:
            model: For tokenizer, lexicon and what the network can read.
            backend: Reads the sentences of a text, to tell which of them says most.
            deadline: Starts the clock of a text.
        """
        self._model, self._backend, self._deadline = model, backend, deadline

    def requests(self, jobs: Sequence[Job], options: Options) -> list[Request]:
        """Normalise and encode texts, resolve their limits, choose the sizes of their graphs.

        Args:
            jobs: The texts with their length keywords.
            options: The caller's options.

        Returns:
            One request for each limit of each text, in order; what failed has its ``error`` set.
        """
        found = [self._requests(job, options, number) for number, job in enumerate(jobs)]
        self._put_in_order(found, options)
        return [request for own in found for request in own]

    def _put_in_order(self, found: Sequence[Sequence[Request]], options: Options) -> None:
        """Let the texts that the network will read begin with the sentence that says most."""
        wanted = {}
        for number, requests in enumerate(found):
            source = requests[0].text.source if requests else None
            if source is not None and any(request.graph is not None for request in requests):
                wanted[number] = source
        started = time.perf_counter()
        ordered = self.in_order(list(wanted.values()))
        seconds = (time.perf_counter() - started) / max(1, len(wanted))
        for number, source in zip(wanted, ordered, strict=True):
            before = found[number][0].text
            text = replace(before, source=source, encode_s=before.encode_s + seconds)
            for request in found[number]:
                request.text = text
                if request.graph is not None:
                    request.graph = self.graph_request(source, request.length, options)

    def in_order(self, sources: Sequence[Source]) -> list[Source]:
        """Put the sentence that says most before the others.

        All texts share one call of the backend.

        Args:
            sources: The texts.

        Returns:
            The texts; those of which it is open which sentence says most have it first.
        """
        salience, tokenizer = self._model.salience, self._model.tokenizer
        if salience is None:
            return list(sources)
        result, most = list(sources), self._model.most_read
        parts = {i: one.parts for i, one in enumerate(sources) if one.parts is not None}
        spans = {i: sentence_spans(one.sentences, tokenizer) for i, one in parts.items()}
        memories = self._backend.memories([own.ids[:most] for own in spans.values()])
        for (place, own), memory in zip(parts.items(), memories, strict=True):
            scores = salience.scores(memory, spans[place].ends, own.sentences, own.form)
            result[place] = with_first(sources[place], own.first(scores.tolist()), tokenizer, most)
        return result

    def _requests(self, job: Job, options: Options, number: int) -> list[Request]:
        started = time.perf_counter()
        reading = self._deadline(options)
        check = reading_check(reading)
        try:
            if reading.is_cancelled:
                reading.check("the text waited")
            source, late = self._source_in_time(job.text, options, check)
        except SumfitError as error:
            return [Request(number, Text(None), error=error) for _ in job.lengths]
        refusal = late or self._refusal(source, options)
        found = [Request(number, Text(source)) for _ in job.lengths]
        for request, keywords in zip(found, job.lengths, strict=True):
            try:
                self._resolve(request, keywords, source, options, check, refusal)
            except TimeLimitError as error:
                refusal = error
        try:
            check()
        except TimeLimitError as error:
            refusal = refusal or error
        text = Text(source, time.perf_counter() - started, refusal)
        for request in found:
            request.text = text
            if isinstance(refusal, TimeLimitError):
                request.graph = None
        return found

    def _resolve(
        self,
        request: Request,
        keywords: Mapping[str, object],
        source: Source,
        options: Options,
        check: Check,
        refusal: SumfitError | None,
    ) -> None:
        """Give a request its length and, if the network has to read the text, its graph.

        Raises `TimeLimitError` if the time runs out once the length is known.
        """
        try:
            length = self.length(keywords, source, check)
        except SumfitError as error:  # a limit that makes no sense
            request.error = error
            return
        try:
            if refusal is None and not self.is_kept(source, length, options, check):
                request.graph = self.graph_request(source, length, options)
                request.longest = self._measured(source, length)
            request.length = length
        except TimeLimitError:
            request.length = length
            raise
        except SumfitError as error:  # a unit of the caller's that fails
            request.error = error

    def source(self, text: object, options: Options, check: Check | None = None) -> Source:
        """Normalise and encode a text.

        Args:
            text: What the caller gave.
            options: For the profile.
            check: Called between pieces of work, to give up.

        Returns:
            The text, ready.
        """
        return prepare(
            text,
            tokenizer=self._model.tokenizer,
            profile=options.profile,
            max_source=self._model.most_read,
            clean=partial(self._clean, options=options),
            long=options.long,
            most_held=_most_held(options.time_limit_s),
            check=check,
        )

    def length(
        self, length: Mapping[str, object], source: Source, check: Check | None = None
    ) -> LengthRequest:
        """Resolve the length keywords of a text.

        Args:
            length: Length keywords without lists.
            source: The text.
            check: Called between pieces of work, to give up.

        Returns:
            The length request.
        """
        # Only a ratio asks how long the whole text is.
        text = source.head if length.get("ratio") is None else source.whole(check)
        keywords = {"source": text, "tokenizer": self._encoder(check), "check": check}
        return resolve_budget(**{**length, **keywords})  # type: ignore[arg-type]

    def graph_request(
        self, source: Source, length: LengthRequest | None, options: Options
    ) -> GraphRequest:
        """Choose the size of a text's graph, large enough for its limit, and what is told of it.

        Args:
            source: The text.
            length: Its length request, if it has one.
            options: For the style.

        Returns:
            What to ask of the backend.
        """
        n_pieces, high, unit = 0, None, CHARS
        if length is not None:
            longest = self._measured(source, length)
            high = max(min(length.budget.high, longest), length.budget.low)
            unit = length.unit
            n_pieces = unit.pieces_in(high)
        shape = self._model.config.architecture
        style = style_of(options, length)
        told = self._model.control_ids(style=style, unit=unit, limit=high)
        ids = (*told, *source.ids)
        n_vertices = shape.n_vertices(len(ids), at_least=n_pieces + 2)
        return GraphRequest(ids, n_vertices)

    def is_kept(
        self,
        source: Source,
        length: LengthRequest,
        options: Options,
        check: Check | None = None,
    ) -> bool:
        """Return whether the source is returned as it is.

        Args:
            source: The text.
            length: The length request.
            options: The caller's options.
            check: Called between pieces of work, to give up.

        Returns:
            The verdict.
        """
        return (
            options.keep_short
            and self._measured(source, length, check) <= length.limit
            and ResultMaker(source, options, self._model.tokenizer).accepts_source(length, check)
            and keeps_phrases(source.text, options)
        )

    def _source_in_time(
        self, text: object, options: Options, check: Check
    ) -> tuple[Source, TimeLimitError | None]:
        """A text, ready; if the time runs out and a cut will do, its beginning, and the error."""
        try:
            return self.source(text, options, check), None
        except TimeLimitError as error:
            if options.on_infeasible != "cut" or not isinstance(text, str):
                raise
            beginning = self.source(text[:_LEAST_HELD], options)
            return replace(beginning, given=text, is_whole=False), error

    def _clean(self, text: str, /, *, options: Options, check: Check | None = None) -> Cleaned:
        if not options.clean or options.profile != "natural":
            return Cleaned(text)
        return clean(
            text,
            options.input_kind,
            known=self._is_known,
            frequent=self._is_frequent,
            check=check,
        )

    def _is_known(self, word: str) -> bool:
        return self._model.lexicon is None or is_ordinary(word)

    def _is_frequent(self, word: str) -> bool:
        """Whether a word is a piece of the vocabulary, which has the words that texts have most."""
        return len(self._model.tokenizer.encode(word)) == 1

    def _refusal(self, source: Source, options: Options) -> SumfitError | None:
        """Why a text is not summarised: its writing system, its language, no words."""
        if options.clean and is_only_links(source.head):
            return EmptyInputError(
                "the text is nothing but web addresses; give the text of the page, or use ",
                given("clean", False),
            )
        if options.clean and is_only_tags(source.head):
            return EmptyInputError(
                "the text is nothing but HTML tags; give a text with words, or use ",
                given("clean", False),
            )
        config = self._model.config
        code = source.language
        if options.strict and code and config.languages and code not in config.languages:
            known = " and ".join(map(language_name, config.languages))
            return UnsupportedLanguageError(
                f"the text is in {language_name(code)} ({code}), and model {config.name!r} writes "
                f"{known}; translate it, use a model trained on it, or leave strict out"
            )
        found = foreign_script(source.read, config.scripts) if config.scripts else None
        if found is None:
            return None
        script, share = found
        known = " and ".join(config.scripts)
        return UnsupportedScriptError(
            f"model {config.name!r} reads {known}, but {share:.0%} of this text's letters are "
            f"{script} or of other scripts; use a model trained on it, or ask for ",
            given("on_infeasible", "cut"),
        )

    def _measured(self, source: Source, length: LengthRequest, check: Check | None = None) -> int:
        """As `source_length`; of a long text, only if its head is not too long already."""
        key = (length.unit, length.limit)
        if key not in source.lengths:
            tokenizer = self._encoder(check)
            measured = source_length(source.head, length, tokenizer, check)
            if not source.is_whole and measured <= length.limit:
                measured = source_length(source.whole(check), length, tokenizer, check)
            source.lengths[key] = measured
        return source.lengths[key]

    def _encoder(self, check: Check | None) -> Encoder:
        tokenizer = self._model.tokenizer
        return tokenizer if check is None else _EncoderInTime(tokenizer, check)


class _EncoderInTime:
    """A tokenizer for the lengths of whole texts, which may give up in between."""

    def __init__(self, tokenizer: Tokenizer, check: Check) -> None:
        self._tokenizer, self._check = tokenizer, check

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in self._tokenizer.encode_parts(text):
            ids += part
            self._check()
        return ids


class SentenceSpans(NamedTuple):
    """Sentences as the network reads them, one after the other.

    Attributes:
        ids: Vocabulary ids of all.
        ends: Where in them each begins and ends.
    """

    ids: tuple[int, ...]
    ends: list[tuple[int, int]]


def sentence_spans(sentences: Sequence[str], tokenizer: Tokenizer) -> SentenceSpans:
    """Encode the sentences of a text.

    Args:
        sentences: The sentences, in order.
        tokenizer: The model's tokenizer.

    Returns:
        Their ids, and which are whose.
    """
    ids: list[int] = []
    ends: list[tuple[int, int]] = []
    for sentence in sentences:
        begin = len(ids)
        ids += tokenizer.encode(" " * (begin > 0) + normalize(sentence))
        ends.append((begin, len(ids)))
    return SentenceSpans(tuple(ids), ends)


def reading_check(deadline: Deadline) -> Check:
    """What reading asks between pieces of work: some milliseconds late, a search still follows.

    Args:
        deadline: Of the text.

    Returns:
        The check.
    """

    def check(needs_s: float = 0.0, /) -> None:
        deadline.check("reading the text", late_s=_LATE_S - needs_s)

    return check


def _most_held(time_limit_s: float | None) -> int:
    """Characters of a long text that are looked at: fewer where there is little time for it."""
    if time_limit_s is None:
        return MOST_HELD
    return int(min(MOST_HELD, max(_LEAST_HELD, _HELD_PER_S * time_limit_s)))


def style_of(options: Options, length: LengthRequest | None) -> str:
    """Choose the style that a model is told.

    Args:
        options: The caller's options.
        length: The length request, if there is one.

    Returns:
        The caller's style, else that of the preset's slot, else none.
    """
    if options.profile != "natural":
        return ""
    if options.style != "auto":
        return options.style
    preset = length.preset if length is not None else None
    return get_preset(preset).style if preset is not None else ""
