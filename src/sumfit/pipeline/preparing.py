"""The first stage: a text is read, its limits are resolved, and its graph gets a size.

Owns what is done before the network is asked, and why a text may never come to it. Does not own
how a text is cleaned and cut (`sumfit.pipeline.source`), nor what a length keyword means
(`sumfit.length`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

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
from sumfit.pipeline.source import MOST_HELD, Source, prepare
from sumfit.runtime import GraphRequest, ModelDirectory
from sumfit.text import Tokenizer
from sumfit.text.language import language_name
from sumfit.text.scripts import foreign_script
from sumfit.truth.names import is_ordinary

__all__ = ["Preparer", "reading_check", "style_of"]

_LATE_S = 0.05  # reading may end so late, and a quick search still follows
_HELD_PER_S = 400_000  # characters of a long text that are looked at, for a second of time limit
_LEAST_HELD = 20_000


class Preparer:
    """Makes requests of texts; safe to use from several threads."""

    def __init__(self, model: ModelDirectory, deadline: Callable[[Options], Deadline]) -> None:
        """Store both.

        Args:
            model: For tokenizer, lexicon and what the network can read.
            deadline: Starts the clock of a text.
        """
        self._model, self._deadline = model, deadline

    def requests(self, job: Job, options: Options, number: int = 0) -> list[Request]:
        """Normalise and encode a text, resolve its limits, choose the sizes of its graphs.

        Args:
            job: The text with its length keywords.
            options: The caller's options.
            number: Of the text in the call.

        Returns:
            One request for each limit, in order; what failed has its ``error`` set.
        """
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
