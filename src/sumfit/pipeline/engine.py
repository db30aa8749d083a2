"""What happens to one text: made ready, predicted, searched, reranked, wrapped up.

Owns the order of these stages and the policy for what goes wrong in them. Does not own any stage,
nor how many texts become few (`sumfit.pipeline.summarizer`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sumfit.deadline import Clock, Deadline
from sumfit.errors import (
    ConstraintError,
    InfeasibleBudgetError,
    SumfitError,
    TimeLimitError,
    UnsupportedLanguageError,
)
from sumfit.hypothesis import Summary
from sumfit.models.config import SCORER_POSITIONS
from sumfit.pipeline.bonus import length_bonus
from sumfit.pipeline.constraints_for_text import ConstraintCompiler, constraints_of
from sumfit.pipeline.extending import Extender, may_extend
from sumfit.pipeline.fitting import AllLengths, OneByOne
from sumfit.pipeline.job import Job, check_length
from sumfit.pipeline.options import Options, check_profile
from sumfit.pipeline.preparing import Preparer, reading_check, style_of
from sumfit.pipeline.request import Predicted, Request, Text
from sumfit.pipeline.reranking import Rerankers, Reranking
from sumfit.pipeline.results import ResultMaker, case_of
from sumfit.pipeline.search import GraphSearch
from sumfit.pipeline.source import Source, with_first
from sumfit.rerank.chooser import TextRead
from sumfit.rerank.points import Points
from sumfit.runtime import Backend, ModelDirectory, Prediction
from sumfit.runtime.scorer import Scorer
from sumfit.text.language import is_foreign
from sumfit.text.surface import Surface
from sumfit.truth import joints_of
from sumfit.truth.joints import Joints

__all__ = ["Engine"]

_MOST_SCORED = SCORER_POSITIONS - 1  # pieces
_SURE = 0.6  # confidence at which one reading will do


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
        self.preparer = Preparer(model, self._deadline)
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
        numbered = enumerate(jobs)
        requests = [one for i, job in numbered for one in self.preparer.requests(job, options, i)]
        results: list[list[Summary]] = [[] for _ in jobs]
        for request, summary in self.finish(requests, options):
            results[request.number].append(summary)
        return results

    def finish(
        self, requests: Sequence[Request], options: Options
    ) -> Iterator[tuple[Request, Summary]]:
        """Bring prepared requests to their end, each before the next one's clock begins.

        A text whose line is doubtful, and that does not begin with the sentence that seems to hold
        its point, is read once more with that sentence first.

        Args:
            requests: Requests, those of one text side by side.
            options: The caller's options.

        Returns:
            Iterator over each request with its summary, in order; of two readings the one that was
            taken.
        """
        read = self._read(requests, options)
        return (self._read_again(request, summary, options) for request, summary in read)

    def _read_again(
        self, request: Request, summary: Summary, options: Options
    ) -> tuple[Request, Summary]:
        """Read a text with another sentence first, and take what comes of it if it is better."""
        again = self._second(request, summary)
        if again is None:
            return request, summary
        left = request.deadline.expansions_left
        [(again, other)] = self._read([again], replace(options, max_expansions=left))
        seconds = {
            name: spent + other.timings.get(name, 0.0) for name, spent in summary.timings.items()
        }
        is_better = (other.confidence or 0.0) > (summary.confidence or 0.0)
        if other.error is not None or not is_better:
            return request, replace(summary, timings=seconds)
        return again, replace(other, timings=seconds)

    def _second(self, request: Request, summary: Summary) -> Request | None:
        """What is read of a text the second time; nothing where the first time will do."""
        text, predicted, deadline = request.text, request.predicted, request.deadline
        if predicted is None or summary.confidence is None or summary.confidence >= _SURE:
            return None
        points, source = predicted.read.points, text.source
        if points is None or source is None or deadline.is_spent:
            return None
        if points.is_kept or not points.best:
            return None
        source = with_first(source, points.best, self.model.tokenizer, self.model.most_read)
        again = replace(request, graph=None, predicted=None, candidates=[], seconds={})
        again.text = Text(source, sum(summary.timings.values()), points=points)
        again.graph = self.preparer.graph_request(source, request.length, predicted.search.options)
        return again

    def _read(
        self, requests: Sequence[Request], options: Options
    ) -> Iterator[tuple[Request, Summary]]:
        """Bring requests to their end by one reading each."""
        reranking = self._rerankers.get(options)
        predicted = self._predict(requests, options)
        fitted = self._fit(predicted, options, reranking)
        chosen = self._choose(fitted, options, reranking)
        return self._wrap_up(chosen, options)

    def _predict(self, requests: Sequence[Request], options: Options) -> Sequence[Request]:
        """Give every request that needs one the graph of its text, all from one call."""
        groups: dict[object, list[Request]] = {}
        for request in requests:
            if request.graph is not None:
                groups.setdefault((request.number, request.graph), []).append(request)
        wanted = [graph for group in groups.values() if (graph := group[0].graph) is not None]
        started = time.perf_counter()
        predictions = self.backend.predictions(wanted) if wanted else []
        forward_s = (time.perf_counter() - started) / max(1, len(wanted))
        for group, prediction in zip(groups.values(), predictions, strict=True):
            predicted = self._predicted(group, prediction, forward_s, options)
            for request in group:
                assert request.length is not None
                unit = request.length.unit
                request.bonus = length_bonus(options, self.model.config, unit)
                request.predicted = predicted
        return requests

    def _predicted(
        self, requests: list[Request], prediction: Prediction, forward_s: float, options: Options
    ) -> Predicted:
        """What the requests of one graph share."""
        text, length = requests[0].text, requests[0].length
        source, dag, tokenizer = text.source, prediction.dag, self.model.tokenizer
        assert source is not None
        assert length is not None
        started = time.perf_counter()
        read = TextRead(
            dag,
            tokenizer,
            source.read,
            source.ids,
            prediction.memory,
            options.required,
            style_of(options, length),
            partial(self._points, text, prediction),
        )
        search = GraphSearch(
            dag=dag,
            options=options,
            ending=options.ending or self.model.config.ending,
            constraints=self._constraints.compile(options, source.head, label=length.label),
            tokenizer=tokenizer,
            source=source.read,
            case=case_of(source.read, options),
            surface=Surface(source.head, vouched=options.required),
            joints=_joints(source, options),
        )
        seconds = {"encode": text.encode_s, "forward": forward_s}
        seconds["decode"] = time.perf_counter() - started
        return Predicted(requests, search, read, sum(seconds.values()), seconds)

    def _points(self, text: Text, prediction: Prediction) -> Points | None:
        """Which sentences of a text say most, by this reading or the one before."""
        if text.points is not None:
            return text.points
        model, memory, source = self.model, prediction.memory, text.source
        assert source is not None
        return Points.of(source.parts, model.salience, memory, model.tokenizer, source.ids)

    def _fit(
        self, requests: Sequence[Request], options: Options, reranking: Reranking
    ) -> Iterator[Request]:
        """Find candidates, one request after the other but for what one search finds for many."""
        one_by_one = OneByOne(options, reranking)
        for request in requests:
            predicted = request.predicted
            if predicted is not None:
                if request is predicted.requests[0]:
                    started = time.perf_counter()
                    deadline = self._deadline(options, predicted.spent_s)
                    AllLengths(options, reranking, deadline).fit(predicted.requests)
                    predicted.seconds["decode"] += time.perf_counter() - started
                request.deadline = self._deadline(options, predicted.spent_s)
                one_by_one.fit([request])
            yield request

    def _choose(
        self, requests: Iterable[Request], options: Options, reranking: Reranking
    ) -> Iterator[Request]:
        """Put the candidate to return first."""
        for request in requests:
            if request.predicted is not None and request.error is None:
                make = ResultMaker(request.text.source, options, self.model.tokenizer)
                read, deadline = request.predicted.read, request.deadline
                started = time.perf_counter()
                try:
                    request.candidates = reranking.order(
                        request.candidates, read, judge=make.judge, deadline=deadline
                    )
                except SumfitError as error:
                    request.error = error
                request.seconds["rerank"] += time.perf_counter() - started
            yield request

    def _wrap_up(
        self, requests: Iterable[Request], options: Options
    ) -> Iterator[tuple[Request, Summary]]:
        """Make the summaries."""
        for request in requests:
            make = ResultMaker(request.text.source, options, self.model.tokenizer)
            try:
                summary = self._summary(request, make)
            except SumfitError as error:
                summary = make.failed(error, request.length)
            yield request, summary

    def _summary(self, request: Request, make: ResultMaker) -> Summary:
        """The summary of a request, or the error in its place."""
        length, error = request.length, request.error
        if length is None or (error is not None and not _may_be_cut(error, make.options)):
            assert error is not None
            return make.failed(error, length)
        if error is not None:
            return make.cut(length)
        if request.predicted is None:
            return self._unsearched(request, make)
        return make.from_model(
            request.candidates,
            length,
            bonus=request.bonus,
            timings=request.seconds,
            deadline=request.deadline,
            extender=self._extender(request, make),
        )

    def _extender(self, request: Request, make: ResultMaker) -> Extender | None:
        """What puts further facts behind lines; nothing where a line stands alone."""
        length, predicted = request.searched
        source, options, deadline = make.source, make.options, request.deadline
        assert source is not None
        is_read = "transcript" not in source.cleaned and not is_foreign(source.language)
        if not is_read or not may_extend(options, length, predicted.read.style):
            return None

        scorer, read = self.backend.scorer, predicted.read
        if scorer is None or read.memory is None or deadline.is_over:
            return None
        return Extender(
            source.read,
            length,
            self.model.tokenizer,
            partial(_likely, scorer, read),
            lambda text: make.judge(text).supported,
            lambda text: make.cased(text, length),
        )

    def _unsearched(self, request: Request, make: ResultMaker) -> Summary:
        """The summary of a request that needs no graph, or of a text that the model cannot read."""
        source, length, refusal = make.source, request.length, request.text.refusal
        assert source is not None
        assert length is not None
        if isinstance(refusal, UnsupportedLanguageError):
            raise refusal
        check = reading_check(self._deadline(make.options, request.text.encode_s))
        if isinstance(refusal, TimeLimitError):
            check = partial(_raise, refusal)
        try:
            if refusal is None or self.preparer.is_kept(source, length, make.options, check):
                return make.copied(length, check)
        except TimeLimitError as error:
            refusal = refusal or error
        if make.options.on_infeasible == "cut":
            return make.cut(length, check)
        raise refusal

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


def _likely(scorer: Scorer, read: TextRead, line: str, texts: Sequence[str]) -> list[float]:
    """How likely a line goes on as texts do that begin with it; see `sumfit.pipeline.extending`."""
    assert read.memory is not None
    begun, *whole = [read.tokenizer.encode(text)[:_MOST_SCORED] for text in (line, *texts)]
    first, *scores = scorer.read(read.memory, [begun, *whole], read.word_ids).logp.tolist()
    return [
        (score - first) / (len(ids) - len(begun)) if len(ids) > len(begun) else -math.inf
        for score, ids in zip(scores, whole, strict=True)
    ]


def _joints(source: Source, options: Options) -> Joints | None:
    """What parts clauses; nothing where marks are the caller's, or the text's form has its own."""
    if options.profile != "natural" or not options.constraints or options.banned:
        return None
    return joints_of(source.read)


def _may_be_cut(error: SumfitError, options: Options) -> bool:
    """Whether an error says that nothing fits, and a cut of the source is wanted then."""
    nothing_fits = isinstance(error, InfeasibleBudgetError) or (
        isinstance(error, ConstraintError) and bool(options.required)
    )
    return nothing_fits and options.on_infeasible == "cut"


def _raise(error: SumfitError, needs_s: float = 0.0, /) -> None:
    raise error
