"""The default way to choose a summary: the model's scorer reads the candidates of the exact search.

Owns how many candidates are listed, and what their scores are added up from. Does not own the
scorer (`sumfit.runtime.scorer`), when it is used (`sumfit.pipeline.reranking`), the search, or the
check of a candidate against its source (`sumfit.truth`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sumfit.deadline import Deadline
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.rerank.chooser import Chooser, ListPlan, Ranked, TextRead
from sumfit.rerank.confidence import Evidence, confidence
from sumfit.runtime.scorer import Scorer
from sumfit.text.orders import order_of
from sumfit.truth import rank_by_support

__all__ = ["ChoiceWeights", "ScorerChooser"]

_LISTED = 12  # candidates that the search lists and the scorer reads
_CHECKED = 6  # the best of them, whose texts are held against the source
_AFTER_BEST = 64  # expansions that the list may cost once the best is certain
_SHORTER = {0.75: 6, 0.5: 4}  # of these parts of the limit, so many more
_DOUBTFUL = 0.4  # chance of the first one below which shorter ones are listed
_WIDE = 100  # characters from which on a first one says that the slot is to be filled
_AT_ONCE = 32  # candidates that are read between two looks at the clock


_VERDICT_ALONE = {"verdict": 1.0}


@dataclass(frozen=True, slots=True)
class ChoiceWeights:
    """What a candidate's parts weigh, in nats; tuned on marked validation texts.

    Attributes:
        graph: Weight of the graph's own log-probability.
        verdict: Nats for each logit of the scorer's verdict, where it has one.
        length: Nats for each character, so that a short text does not win by being short.
        point: Nats for all of a candidate being of the text's point, where that can be told.
        support: Weight of the penalty for what the source does not say.
        label: What a label at the beginning costs that the source does not have ("net: ...").
        heading: What it costs to be no more than the heading of the source ("Storm warning").
        torn: What a comma costs that joins parts of different sentences.
        no_order: What a commit subject costs that does not begin with an order, "fix" or a verb
            of the source.
        order: What it costs in other styles to begin with an order that the source lacks ("Fix").
    """

    graph: float = 0.3
    verdict: float = 4.0
    length: float = 0.2
    point: float = 8.0
    support: float = 1.5
    label: float = 4.0
    heading: float = 4.0
    torn: float = 6.0
    no_order: float = 3.0
    order: float = 2.0

    def sum(self, logp: float, graph: float, n_chars: int, verdict: float, point: float) -> float:
        """Add up what is known of a candidate without its words (Eq. A19).

        Args:
            logp: Nats of the scorer.
            graph: Nats of the graph.
            n_chars: Characters of the candidate.
            verdict: Logit of the scorer's verdict; 0 for none.
            point: Share of it that is of the text's point; 0 where that cannot be told.

        Returns:
            Nats; the penalty for what the source does not support is not among them.
        """
        total = logp + self.graph * graph + self.length * n_chars
        return total + self.verdict * verdict + self.point * point


class ScorerChooser(Chooser):
    """Orders candidates by the scorer and by what the source supports."""

    def __init__(
        self,
        scorer: Scorer,
        weights: ChoiceWeights | None = None,
        *,
        confidence: Mapping[str, float] | None = None,
    ) -> None:
        """Store the scorer.

        Args:
            scorer: The model's scorer.
            weights: What a candidate's parts weigh.
            confidence: What makes the chance that a reader would print a candidate, see
                `sumfit.rerank.confidence`; nothing where that is not told.
        """
        self._scorer = scorer
        self._confidence = dict(confidence or {}) if scorer.has_verdict else {}
        self._weights = weights or ChoiceWeights()

    @property
    def name(self) -> str:
        """``"scorer"``."""
        return "scorer"

    @property
    def plan(self) -> ListPlan:
        """A list for the scorer, of which the best are held against the source."""
        return ListPlan(_CHECKED, _LISTED, _AFTER_BEST, n_judged=_CHECKED, shorter=_SHORTER)

    def rank_found(self, text: TextRead, found: Sequence[Hypothesis], deadline: Deadline) -> Ranked:
        """Order hypotheses by the scorer.

        Args:
            text: The text.
            found: Hypotheses of its graph.
            deadline: Once it is over, the scorer reads no more; what it has not read comes last.

        Returns:
            The order.
        """
        new = [one for one in found if one.words not in text.noted]
        for begin in range(0, len(new), _AT_ONCE):
            if deadline.is_over:
                deadline.stop()
                break
            self._score(text, new[begin : begin + _AT_ONCE])
        totals = [text.noted.get(one.words, -math.inf) for one in found]
        order = sorted(range(len(found)), key=lambda place: -totals[place])
        known = text.evidence.get(found[order[0]].words) if order else None
        if known is None or known.chars * 100 >= _WIDE:
            return Ranked(order)
        chance = confidence(known, self._confidence or _VERDICT_ALONE)
        return Ranked(order, is_doubtful=chance < _DOUBTFUL)

    def rank_texts(
        self, text: TextRead, candidates: Sequence[Candidate], deadline: Deadline
    ) -> Ranked:
        """Order candidates by the scorer and what their source supports.

        Args:
            text: The text.
            candidates: Candidates, in the scorer's order.
            deadline: Once it is over, no more are read.

        Returns:
            The order, with score and confidence of each that there was time for; but the first is
            none of those that were listed only because the caller asked for many.
        """
        scores: dict[int, float] = {}
        chances: dict[int, float] = {}
        for begin in range(0, len(candidates), _AT_ONCE):
            if deadline.is_over:
                deadline.stop()
                break
            places = [
                place
                for place, one in enumerate(candidates[begin : begin + _AT_ONCE], begin)
                if one.hypothesis.words in text.noted
            ]
            texts = [candidates[place].text for place in places]
            for place, penalty in zip(places, rank_by_support(text.source, texts), strict=True):
                words = candidates[place].hypothesis.words
                scores[place] = text.noted[words] - self._weights.support * penalty
                if self._confidence:
                    evidence = text.evidence[words]._replace(penalty=penalty)
                    chances[place] = confidence(evidence, self._confidence)
        if not scores:
            return Ranked(range(len(candidates)))
        first = min(scores, key=lambda place: (candidates[place].is_extra, -scores[place]))
        rest = sorted(scores.keys() - {first}, key=lambda place: (-scores[place], place))
        unread = [place for place in range(len(candidates)) if place not in scores]
        return Ranked([first, *rest, *unread], choice_scores=scores, confidences=chances)

    def _score(self, text: TextRead, new: Sequence[Hypothesis]) -> None:
        assert text.memory is not None
        read = self._scorer.read(text.memory, [one.words for one in new], text.word_ids)
        has_verdict = read.verdict is not None
        verdicts = [0.0] * len(new) if read.verdict is None else read.verdict.tolist()
        weights = self._weights
        parts = zip(new, read.logp.tolist(), read.least.tolist(), verdicts, strict=True)
        for one, own, least, verdict in parts:
            string = text.tokenizer.decode(one.words)
            point = text.points.share(string) if text.points is not None else 0.0
            if has_verdict:
                text.evidence[one.words] = Evidence.of(
                    verdict=verdict,
                    logp=own,
                    least=least,
                    graph=one.log_prob,
                    n_pieces=len(one.words),
                    n_chars=len(string),
                    point=point,
                )
            total = weights.sum(own, one.log_prob, len(string), verdict, point)
            total -= 0.0 if text.surface.has_labels(string) else weights.label
            total -= weights.torn * text.joints.n_torn(string)
            if text.style == "commit":
                total -= 0.0 if _orders(string, text) else weights.no_order
            else:
                total -= weights.heading * text.joints.is_label(string)
                total -= weights.order * _orders_anew(string, text)
            text.noted[one.words] = total


def _orders(subject: str, text: TextRead) -> bool:
    """Return whether a commit subject begins with an order that its source gives a reason for."""
    verb = order_of(subject)
    return verb == "fix" or (bool(verb) and text.joints.knows(verb))


def _orders_anew(line: str, text: TextRead) -> bool:
    """Return whether a line begins with an order whose verb the source does not have."""
    verb = order_of(line)
    return bool(verb) and not text.joints.knows(verb)
