"""What happens to one text: made ready, predicted, searched, measured, reranked, wrapped up.

Owns the order of these stages and the policy for what goes wrong in them. Does not own any stage,
nor how many texts become few (`sumfit.pipeline.summarizer`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from sumfit.cleaning import Cleaned, clean, is_only_links
from sumfit.dag import DAG
from sumfit.deadline import Check, Clock, Deadline
from sumfit.decoding import METHODS
from sumfit.errors import (
    ConstraintError,
    EmptyInputError,
    InfeasibleBudgetError,
    SumfitError,
    TimeLimitError,
    UnsupportedLanguageError,
    UnsupportedScriptError,
)
from sumfit.hypothesis import Candidate, Summary
from sumfit.length import LengthRequest, get_preset, resolve_budget
from sumfit.length.units import Encoder
from sumfit.length.units.chars import UNIT as CHARS
from sumfit.pipeline.batched import BatchTask, can_batch, decode_together
from sumfit.pipeline.bonus import LengthBonus, length_bonus
from sumfit.pipeline.constraints_for_text import ConstraintCompiler, constraints_of, keeps_phrases
from sumfit.pipeline.job import Job, Prepared, check_length
from sumfit.pipeline.options import Options, check_profile
from sumfit.pipeline.reranking import Rerankers, Reranking
from sumfit.pipeline.results import ResultMaker, case_of
from sumfit.pipeline.search import GraphSearch, source_length
from sumfit.pipeline.source import MOST_HELD, Source, prepare
from sumfit.rerank.chooser import TextRead
from sumfit.runtime import Backend, GraphRequest, ModelDirectory, Prediction
from sumfit.text import Tokenizer
from sumfit.text.language import language_name
from sumfit.text.scripts import foreign_script
from sumfit.text.surface import Surface
from sumfit.truth import joints_of
from sumfit.truth.joints import Joints
from sumfit.truth.names import is_ordinary

__all__ = ["Engine"]

_LATE_S = 0.05  # reading may end so late, and a quick search still follows
_HELD_PER_S = 400_000  # characters of a long text that are looked at, for a second of time limit
_LEAST_HELD = 20_000
_MOST_JUDGED = 100  # candidates among which a faithful one is sought
_SEVERAL = 3  # limits of one text from which one search over all lengths pays


class Engine:
    """The stages of one model; safe to use from several threads."""

    def __init__(self, model: ModelDirectory, backend: Backend) -> None:
        """Join the parts.

        Args:
            model: An opened model directory.
            backend: A backend of that model.
        """
        self.model = model
        self.backend = backend
        self._constraints = ConstraintCompiler(model)
        self._rerankers = Rerankers(model, backend)
        self._clock: Clock = time.perf_counter

    def check(self, length: Mapping[str, object], options: Options) -> None:
        """Raise for options that are wrong for every text.

        Args:
            length: Length keywords.
            options: The caller's options.

        Raises:
            ConfigError: If the model was not trained on the profile, or there is no such reranker.
            BudgetError: If the length keywords make no sense.
            ConstraintError: If the constraints contradict each other.
        """
        check_length(length, self.model.tokenizer)
        check_profile(options.profile, self.model.config)
        constraints_of(options)
        self._rerankers.check(options)

    def run(self, jobs: Sequence[Job], options: Options) -> list[list[Summary]]:
        """Summarise some texts, which share one call of the backend.

        Args:
            jobs: Texts with their length keywords.
            options: The caller's options.

        Returns:
            For each text its summaries, in order; what failed has its ``error`` set.
        """
        parts = [
            (number, places, item)
            for number, job in enumerate(jobs)
            for item, places in self.prepare(job, options).by_graph()
        ]
        prepared = [item for _, _, item in parts]
        wanted = [item.graph for item in prepared if item.graph is not None]
        started = time.perf_counter()
        predicted = iter(self.backend.predictions(wanted) if wanted else [])
        forward_s = (time.perf_counter() - started) / max(1, len(wanted))
        predictions = [next(predicted) if item.graph is not None else None for item in prepared]
        started = time.perf_counter()
        together = self._on_device(prepared, predictions, options)
        decode_s = (time.perf_counter() - started) / max(1, len(together))
        results: list[dict[int, Summary]] = [{} for _ in jobs]
        for row, ((number, places, item), prediction) in enumerate(
            zip(parts, predictions, strict=True)
        ):
            early = {0: together[row]} if row in together else None
            timings = {
                "encode": item.encode_s,
                "forward": forward_s if prediction else 0.0,
                "decode": decode_s if early else 0.0,
            }
            found = self.finish(item, prediction, options, timings, early)
            results[number] |= zip(places, found, strict=True)
        return [[by_place[place] for place in sorted(by_place)] for by_place in results]

    def prepare(self, job: Job, options: Options) -> Prepared:
        """Normalise and encode a text, resolve its limits, choose its graph's size.

        Args:
            job: The text with its length keywords.
            options: The caller's options.

        Returns:
            The text, ready for the backend, or the errors that stand in its place.
        """
        started = time.perf_counter()
        reading = self._deadline(options)
        check = _reading_check(reading)
        try:
            if reading.is_cancelled:
                reading.check("the text waited")
            source, late = self._source_in_time(job.text, options, check)
        except SumfitError as error:
            return Prepared(None, [error] * len(job.lengths), [None] * len(job.lengths), 0.0)
        requests: list[LengthRequest | SumfitError] = []
        graphs: list[GraphRequest | None] = []
        refusal = late or self._refusal(source, options)
        for length in job.lengths:
            graph = None
            try:
                request = self.request(length, source, check)
            except SumfitError as error:  # a limit that makes no sense
                requests.append(error)
                graphs.append(None)
                continue
            try:
                if refusal is None and not self._is_kept(source, request, options, check):
                    graph = self.graph_request(source, request, options)
                requests.append(request)
            except TimeLimitError as error:
                refusal = error
                requests.append(request)
            except SumfitError as error:  # a unit of the caller's that fails
                requests.append(error)
            graphs.append(graph)
        try:
            check()
        except TimeLimitError as error:
            refusal = refusal or error
        if isinstance(refusal, TimeLimitError):
            graphs = [None] * len(graphs)
        return Prepared(source, requests, graphs, time.perf_counter() - started, refusal)

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
            tokenizer=self.model.tokenizer,
            profile=options.profile,
            max_source=self.model.most_read,
            clean=partial(self._clean, options=options),
            long=options.long,
            most_held=_most_held(options.time_limit_s),
            check=check,
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
        return clean(text, options.input_kind, known=self._is_known, check=check)

    def _is_known(self, word: str) -> bool:
        return self.model.lexicon is None or is_ordinary(word)

    def request(
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
        self, source: Source, request: LengthRequest | None, options: Options
    ) -> GraphRequest:
        """Choose the size of a text's graph, large enough for its limit, and what is told of it.

        Args:
            source: The text.
            request: Its length request, if it has one.
            options: For the style.

        Returns:
            What to ask of the backend.
        """
        n_pieces, high, unit = 0, None, CHARS
        if request is not None:
            longest = self._length(source, request)
            high = max(min(request.budget.high, longest), request.budget.low)
            unit = request.unit
            n_pieces = unit.pieces_in(high)
        shape = self.model.config.architecture
        style = _style(options, request)
        told = self.model.control_ids(style=style, unit=unit, limit=high)
        ids = (*told, *source.ids)
        n_vertices = shape.n_vertices(len(ids), at_least=n_pieces + 2)
        return GraphRequest(ids, n_vertices)

    def finish(
        self,
        prepared: Prepared,
        prediction: Prediction | None,
        options: Options,
        timings: Mapping[str, float],
        early: Mapping[int, list[Candidate]] | None = None,
    ) -> list[Summary]:
        """Search a text's graph once for each of its requests and wrap up what is found.

        Args:
            prepared: The text.
            prediction: Its graph, ``None`` if no request needs one.
            options: The caller's options.
            timings: Seconds by stage so far.
            early: Candidates found already, by the place of their request.

        Returns:
            One summary per request; what failed has its ``error`` set.
        """
        source = prepared.source
        make = ResultMaker(source, options, self.model.tokenizer)
        reranking = self._rerankers.get(options)
        search, text, spent_s = None, None, 0.0
        if source is not None and prediction is not None:
            dag = prediction.dag
            style = next((_style(options, item) for item in self._good(prepared.requests)), "")
            text = self._text(source, prediction, options, style)
            started = time.perf_counter()
            labels = {item.label for item in self._good(prepared.requests)}
            label = labels.pop() if len(labels) == 1 else ""
            search = self._search(source, dag, options, label)
            spent_s = sum(timings.values()) + time.perf_counter() - started
            if early is None:
                deadline = self._deadline(options, spent_s)
                early = self._from_one_search(search, prepared, options, reranking, deadline)
            decode_s = timings.get("decode", 0.0) + time.perf_counter() - started
            timings = {**timings, "decode": decode_s}
        found = early or {}
        results = []
        for place, request in enumerate(prepared.requests):
            if isinstance(request, SumfitError):
                results.append(make.failed(request))
                continue
            try:
                if search is None or text is None:
                    deadline = self._deadline(options, sum(timings.values()))
                    found_ = self._unsearched(make, request, prepared.refusal, deadline)
                    results.append(found_)
                else:
                    deadline = self._deadline(options, spent_s)
                    early_ = found.get(place)
                    found_ = self._decoded(
                        search, request, early_, make, timings, deadline, text, reranking
                    )
                    results.append(found_)
            except SumfitError as error:
                results.append(make.failed(error, request))
        return results

    def _unsearched(
        self,
        make: ResultMaker,
        request: LengthRequest,
        refusal: SumfitError | None,
        deadline: Deadline,
    ) -> Summary:
        """The summary of a request that needs no graph, or of a text that the model cannot read."""
        assert make.source is not None
        if isinstance(refusal, UnsupportedLanguageError):
            raise refusal
        check = _reading_check(deadline)
        if isinstance(refusal, TimeLimitError):
            check = partial(_raise, refusal)
        try:
            if refusal is None or self._is_kept(make.source, request, make.options, check):
                return make.copied(request, check)
        except TimeLimitError as error:
            refusal = refusal or error
        if make.options.on_infeasible == "cut":
            return make.cut(request, check)
        raise refusal

    def _refusal(self, source: Source, options: Options) -> SumfitError | None:
        """Why a text is not summarised: its writing system, its language, only links."""
        if options.clean and is_only_links(source.head):
            return EmptyInputError(
                "the text is nothing but web addresses; give the text of the page, or use "
                "clean=False"
            )
        config = self.model.config
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
            f"{script} or of other scripts; use a model trained on it, or ask for "
            "on_infeasible='cut'"
        )

    def _decoded(
        self,
        search: GraphSearch,
        request: LengthRequest,
        early: list[Candidate] | None,
        make: ResultMaker,
        timings: Mapping[str, float],
        deadline: Deadline,
        text: TextRead,
        reranking: Reranking,
    ) -> Summary:
        source, options = make.source, make.options
        assert source is not None
        if self._is_kept(source, request, options):
            return make.copied(request)
        bonus = self._bonus(request, options)
        ranking = reranking.ranking(text, deadline)
        started = time.perf_counter()
        try:
            candidates = early or search.find(
                request,
                longest=self._length(source, request),
                bonus=bonus,
                n_wanted=reranking.n_wanted,
                deadline=deadline,
                ranking=ranking,
            )
        except SumfitError as error:
            nothing_fits = isinstance(error, InfeasibleBudgetError) or (
                isinstance(error, ConstraintError) and bool(options.required)
            )
            if nothing_fits and options.on_infeasible == "cut":
                return make.cut(request)
            raise
        if options.faithful and ranking is None:
            candidates = self._until_faithful(candidates, search, request, make, bonus, deadline)
        decoded = time.perf_counter()
        candidates = reranking.order(candidates, text, judge=make.judge, deadline=deadline)
        ranked_s = ranking.seconds if ranking else 0.0
        seconds = {
            **timings,
            "decode": timings["decode"] + decoded - started - ranked_s,
            "rerank": time.perf_counter() - decoded + ranked_s,
        }
        return make.from_model(candidates, request, bonus=bonus, timings=seconds, deadline=deadline)

    def _until_faithful(
        self,
        candidates: list[Candidate],
        search: GraphSearch,
        request: LengthRequest,
        make: ResultMaker,
        bonus: LengthBonus,
        deadline: Deadline,
    ) -> list[Candidate]:
        """The same candidates, or a longer list where none of them is faithful."""
        assert make.source is not None
        if deadline.is_spent or any(make.judge(one.text).supported for one in candidates):
            return candidates
        try:
            return search.find(
                request,
                longest=self._length(make.source, request),
                bonus=bonus,
                n_wanted=max(make.options.n_best, _MOST_JUDGED),
                deadline=deadline,
            )
        except SumfitError:  # the time ran out
            return candidates

    def _from_one_search(
        self,
        search: GraphSearch,
        prepared: Prepared,
        options: Options,
        reranking: Reranking,
        deadline: Deadline,
    ) -> dict[int, list[Candidate]]:
        """Candidates of many "at most" limits by the place of their request, if that pays."""
        source = prepared.source
        assert source is not None
        places = [
            place
            for place, item in enumerate(prepared.requests)
            if isinstance(item, LengthRequest)
            and not item.budget.low
            and item.budget.high
            and not self._is_kept(source, item, options)
        ]
        requests = [item for item in (prepared.requests[i] for i in places)]
        same = {
            (item.unit, item.prefix, item.suffix, item.reserve) for item in self._good(requests)
        }
        is_alone = not METHODS[options.method].has_all_lengths or reranking.is_needed
        if len(places) < _SEVERAL or len(same) > 1 or is_alone or options.n_best > 1:
            return {}
        good = self._good(requests)
        try:
            found = search.find_each(
                good,
                longest=max(self._length(source, item) for item in good),
                bonus=self._bonus(good[0], options),
                deadline=deadline,
            )
        except SumfitError:
            return {}  # each limit is searched by itself and has an error of its own
        return {place: [item] for place, item in zip(places, found, strict=True) if item}

    def _on_device(
        self,
        prepared: Sequence[Prepared],
        predictions: Sequence[Prediction | None],
        options: Options,
    ) -> dict[int, list[Candidate]]:
        """Candidates by the number of their text, decoded in one batch where the backend can."""
        device = self.backend.device
        if device is None or not can_batch(options) or constraints_of(options) is not None:
            return {}
        reranking = self._rerankers.get(options)
        tasks: dict[int, BatchTask] = {}
        for number, (item, prediction) in enumerate(zip(prepared, predictions, strict=True)):
            request = item.requests[0]
            if prediction is None or item.source is None or len(item.requests) > 1:
                continue
            if isinstance(request, SumfitError):
                continue
            longest = self._length(item.source, request)
            search = self._search(item.source, prediction.dag, options)
            style = _style(options, request)
            text = self._text(item.source, prediction, options, style)
            ranking = reranking.ranking(text, Deadline())
            bonus = self._bonus(request, options)
            tasks[number] = BatchTask(search, request, longest, bonus, ranking)
        try:
            found = decode_together(
                list(tasks.values()),
                n_wanted=reranking.n_wanted,
                device=device,
            )
        except SumfitError:
            return {}  # each text is searched by itself and has an error of its own
        return {number: some for number, some in zip(tasks, found, strict=True) if some}

    def _search(self, source: Source, dag: DAG, options: Options, label: str = "") -> GraphSearch:
        return GraphSearch(
            dag=dag,
            options=options,
            ending=options.ending or self.model.config.ending,
            constraints=self._constraints.compile(options, source.head, label=label),
            tokenizer=self.model.tokenizer,
            source=source.read,
            case=case_of(source.read, options),
            surface=Surface(source.head, vouched=options.required),
            joints=_joints(source, options),
        )

    def _deadline(self, options: Options, spent_s: float = 0.0) -> Deadline:
        """The deadline of one summary, on which so many seconds were spent already.

        Each text has its own clock, whatever the others of its batch take.
        """
        return Deadline(
            options.time_limit_s,
            options.max_expansions,
            spent_s=spent_s,
            clock=self._clock,
            is_cancelled=options.is_cancelled,
        )

    def _text(
        self, source: Source, prediction: Prediction, options: Options, style: str
    ) -> TextRead:
        """What a reranker may read of a text."""
        return TextRead(
            prediction.dag,
            self.model.tokenizer,
            source.read,
            source.ids,
            prediction.memory,
            options.required,
            style,
        )

    def _bonus(self, request: LengthRequest, options: Options) -> LengthBonus:
        return length_bonus(options, self.model.config, request.unit)

    def _is_kept(
        self,
        source: Source,
        request: LengthRequest,
        options: Options,
        check: Check | None = None,
    ) -> bool:
        """Return whether the source is returned as it is."""
        return (
            options.keep_short
            and self._length(source, request, check) <= request.limit
            and ResultMaker(source, options, self.model.tokenizer).accepts_source(request, check)
            and keeps_phrases(source.text, options)
        )

    def _length(self, source: Source, request: LengthRequest, check: Check | None = None) -> int:
        """As `source_length`; of a long text, only if its head is not too long already."""
        key = (request.unit, request.limit)
        if key not in source.lengths:
            tokenizer = self._encoder(check)
            length = source_length(source.head, request, tokenizer, check)
            if not source.is_whole and length <= request.limit:
                length = source_length(source.whole(check), request, tokenizer, check)
            source.lengths[key] = length
        return source.lengths[key]

    def _encoder(self, check: Check | None) -> Encoder:
        tokenizer = self.model.tokenizer
        return tokenizer if check is None else _EncoderInTime(tokenizer, check)

    @staticmethod
    def _good(requests: Sequence[LengthRequest | SumfitError]) -> list[LengthRequest]:
        return [item for item in requests if isinstance(item, LengthRequest)]


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


def _reading_check(deadline: Deadline) -> Check:
    """What reading asks between pieces of work: some milliseconds late, a search still follows."""

    def check(needs_s: float = 0.0, /) -> None:
        deadline.check("reading the text", late_s=_LATE_S - needs_s)

    return check


def _raise(error: SumfitError, needs_s: float = 0.0, /) -> None:
    raise error


def _most_held(time_limit_s: float | None) -> int:
    """Characters of a long text that are looked at: fewer where there is little time for it."""
    if time_limit_s is None:
        return MOST_HELD
    return int(min(MOST_HELD, max(_LEAST_HELD, _HELD_PER_S * time_limit_s)))


def _joints(source: Source, options: Options) -> Joints | None:
    """What parts clauses; nothing where marks are the caller's, or the text's form has its own."""
    if options.profile != "natural" or not options.constraints or options.banned:
        return None
    return joints_of(source.read)


def _style(options: Options, request: LengthRequest | None) -> str:
    """The style a model is told: the caller's, else that of the preset's slot, else none."""
    if options.profile != "natural":
        return ""
    if options.style != "auto":
        return options.style
    preset = request.preset if request is not None else None
    return get_preset(preset).style if preset is not None else ""
