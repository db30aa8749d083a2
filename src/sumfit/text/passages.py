"""The sentences of a long text that matter most, as many as fit.

Owns `sentences_of` and `select`. A text longer than the model's window is not read from its
beginning until the window is full; its sentences are ranked, and the best that fit together are
read in their order. Linear in the length of the text but for one sort of its sentences.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import regex

__all__ = ["Passages", "TextForm", "select", "sentences_of"]

TextForm = Literal["article", "thread", "talk"]
"""Where the point of a text stands: at its beginning; in the last message; anywhere."""

_GAP = re.compile(r"\n[ \t\r]*\n\s*")
# Each run of marks is tried once, from its beginning, and given up whole.
_END = regex.compile(
    r"(?<![.!?…؟।])[.!?…؟।]++[\"'”’»)\]]*+(?=\s+[\"'“‘«(\[]?[^\s\W_a-z]|\s*$)|[。！？]"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|Sen|Rep|Gov|Gen|St|No|vs|etc|"
    r"Jr|Sr|Inc|Ltd|Co|Corp|Fig|[Rr]ef|(?<=[(])no|Eq|al|approx|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)\.$"
)
_NUMBERED = re.compile(
    r"(?:^|[\s(])(?:nos?|pp?|vol|ch|art|sec|fig|ver|v|tel|ext|max|min)\.$", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{3,}|\d[\d.,]*\d|\d")
_LONGEST = 60  # words of a sentence; speech without marks is cut into pieces of this length
_STOP = frozenset(
    """
    the and for that this with are was were been have has had not but you your they their them
    there these those what which who whom when where why how will would could should can may might
    must shall does did doing its it's his her hers him she our ours from into onto than then also
    just very really much many more most some any all each few other such only own same too one
    two like get got going gonna know think yeah okay well right thing things something kind sort
    lot way back even still make made say says said see want need use used let because about over
    under again once here out off down upon while during before after between both being myself
    """.split()
)
_SMALL_TALK = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|welcome|thanks|thank you|bye|goodbye|okay|"
    r"ok|yeah|yes|no|sure|right|great|cool|exactly|absolutely|um|uh|so yeah|see you|sorry|please "
    r"(?:subscribe|like|mute)|can you hear|can everyone|let me share|next slide|"
    r"(?:my name is|i am|i'm) \w+(?: and| from|,|\.)|how are you|nice to|happy to be|glad to|"
    r"don't forget to|if you enjoyed|before we (?:start|begin)|sign up|click|follow us|cookies?|"
    r"good, good|i had (?:coffee|lunch|dinner)|how was your|so i don't know|i don't remember|"
    r"i don't know|i think we talked|it's funny|that reminds me|no worries|could you say that|"
    r"mm-hmm|totally|i mean|well, i mean|let's (?:come back|move on|maybe)|i need (?:a|another))\b",
    re.IGNORECASE,
)
_WELCOME = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))\b.{0,30}?)?\bwelcome (?:back )?to\b",
    re.IGNORECASE,
)
_POINT = re.compile(
    r"\b(?:decid\w+|decision|agree[ds]?|agreement|conclu\w+|we(?:'ll| will| are going to|'re going "
    r"to) (?:go|use|move|ship|start|take|drop|keep|close|open|delay|postpone|hire|buy|switch)|"
    r"the plan is|in short|in summary|to sum up|overall|the (?:main|key|most important) (?:point|"
    r"thing|reason|finding|result|takeaway)|most importantly|the (?:bottom line|upshot|takeaway)|"
    r"final(?:ly|ised|ized)?|approved|rejected|resolved|settled|confirmed|announc\w+|found that|"
    r"results? (?:show|suggest)|we (?:show|find|propose|present)|root cause|turned out|deadline|"
    r"(?:revenue|sales|profits?|earnings) (?:rose|fell|grew|increased|declined|dropped|doubled)|"
    r"(?:cut|raised?|lower(?:ed)?|confirm(?:ed)?) (?:our|its|the) (?:forecast|guidance|outlook))\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"\b(?:in this (?:episode|video|talk|session)|(?:we|i)(?:'ll| will|'re going to| are going to|"
    r"'re| are)? (?:talk|talking|discuss|discussing|speak|speaking) about|my guest|"
    r"(?:main|first|only) item|the (?:reason|purpose) (?:why|of)|how to|item \w+ is|"
    r"the (?:proposal|question) (?:is|for)|topic)\b",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:decided|decision is|(?:are|have|is) (?:agreed|settled|approved|rejected)|"
    r"motion (?:carries|is carried)|root cause)\b",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:vot(?:ed|es)|decided|decides|approv(?:ed|es)|announc(?:ed|es)|ruled|rules that|"
    r"sign(?:ed|s)|adopt(?:ed|s)|reject(?:ed|s)|ban(?:s|ned)|agreed to|order(?:ed|s) |plans to|"
    r"(?:ha(?:s|ve) )?found that|(?:was|were) published|publishes|launch(?:ed|es)|will (?:be )?"
    r"(?:close[ds]?|shut|cut|open(?:ed)?|buil[dt]|buy|sell|sold|merge[ds]?|lose)|"
    r"shows? that|finds that|elected|sentenced|acquitted|convicted|resign(?:ed|s)|"
    r"according to a (?:study|report|survey))\b",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:is|are|was|were) (?:an?|the|one of)\b|\b(?:said|says|told|will|can|study|report|"
    r"announce|how to|should|according to|new)\b|\d",
    re.IGNORECASE,
)
_SCENE = re.compile(r"[\"“”]|\b(?:I|my|me|she|he|her|his|him)\b")
_OF_PEOPLE = re.compile(r"\b(?:he|she|his|her|him|said|says)\b", re.IGNORECASE)
_POINT_BONUS: dict[TextForm, float] = {"article": 1.1, "thread": 2.5, "talk": 2.5}
_LEAD = 1.0  # how much more the first sentence of an article weighs than one in its middle
_LEAD_SENTENCES = 6.0  # over how many sentences that wears off
_LEAD_SHARE = 0.5  # of the window, that the beginning of an article has in any case
_LAST = 2.0  # the same of the last message of a thread
_LAST_SHARE = 0.15  # over what share of the thread that wears off
_QUESTION = 0.6
_SHORT = 5  # words below which a sentence says little
_SHORT_SHARE = 0.4
_SEEN = 0.3  # what is left of a word's weight once a sentence with it is taken
_LENGTH_POWER = 0.7  # 1 would be the mean weight of a sentence's words, 0 their sum
_LEAST_WEIGHT = 0.3  # of the heaviest sentence; of talk and threads, lighter ones only distract
_OPENING = 3  # sentences that show whether an article begins with a scene
_STORY = 0.15  # of the sentences that tell of people, at least, in an article that has a scene
_NEWS_BONUS = 1.3
_NUMBER_BONUS = 1.15
_SCENE_SHARE = 0.6
_TOPIC_BONUS = 1.8  # of talk in which nothing is decided
_NEWS_LEAD = 0.5
_DOMINATES = 1.5  # times a sentence of the opening, on average, that the main one must weigh
_LEAST_PROSE = 0.75  # share of letters and spaces; less is code, a table, a list of links
_MOST_MISFITS = 40  # sentences in a row that do not fit in what is left


@dataclass(frozen=True, slots=True)
class Passages:
    """Sentences of a text that were selected.

    Attributes:
        text: The sentences with single spaces between them: in their order, from the main one on,
            and then, behind an empty line, those before it.
        n_sentences: How many they are.
        of_sentences: How many the text has, or the part of it that was looked at.
    """

    text: str
    n_sentences: int
    of_sentences: int


def sentences_of(text: str) -> list[str]:
    """Part a text into sentences; lines within a paragraph belong together.

    Args:
        text: The text, with its line breaks.

    Returns:
        The sentences, stripped, in order; what runs on for more than 60 words is cut.
    """
    found: list[str] = []
    for paragraph in _GAP.split(text):
        for line in _lines(paragraph):
            start = 0
            for end in _END.finditer(line):
                before = line[max(start, end.end() - 12) : end.end()]
                if _ABBREVIATION.search(before) or _is_numbered(before, line, end.end()):
                    continue
                found += _pieces(line[start : end.end()])
                start = end.end()
            found += _pieces(line[start:])
    return found


def select(
    text: str, n_pieces: Callable[[str], int], *, most: int, form: TextForm = "article"
) -> Passages:
    """Choose the sentences that say most of a text and fit together.

    A sentence weighs what its words weigh, on the average over its length: a word counts by how
    often the text has it (logarithm) and how few of its sentences do, a repeated sentence counted
    once. That weight is changed by the place of the sentence (the beginning of an article counts
    most, of a thread of mails its last message), by words that announce a point or decision, and
    down for questions, small talk and very short sentences. The heaviest is taken, the weight of
    its words falls, and so on (as SumBasic does), until nothing more fits. Of a thread or talk,
    sentences below 0.3 of the heaviest are left out even where there is room. Half of the room is
    kept for the beginning of an article, without small talk and what is no prose.

    A small model believes that a text begins with what matters. So of a thread or talk
    the heaviest sentence comes first if it tells of a decision or topic, and what is before it in
    the text comes last; and so of an article that begins with a scene, from the sentence on that
    tells the news.

    Args:
        text: The text, with its line breaks.
        n_pieces: Length of a sentence in the unit of ``most``.
        most: Most that the sentences may measure together.
        form: Where the point of the text stands.

    Returns:
        The sentences; at least one if any fits.
    """
    chooser = _Chooser(sentences_of(text), n_pieces, most, form)
    main = 0
    if form == "article":
        main = chooser.news_behind_scene()
        chooser.take_beginning(_LEAD_SHARE, main)
    chooser.take_heaviest(0.0 if form == "article" else _LEAST_WEIGHT)
    if form != "article" and chooser.heaviest is not None and chooser.has_point(chooser.heaviest):
        main = chooser.heaviest
    taken = sorted(chooser.taken)
    parts = [place for place in taken if place >= main], [place for place in taken if place < main]
    chosen = "\n\n".join(
        " ".join(chooser.sentences[place] for place in part) for part in parts if part
    )
    return Passages(chosen, len(taken), len(chooser.sentences))


class _Chooser:
    """Sentences with their weights, and those taken so far."""

    def __init__(
        self, sentences: list[str], n_pieces: Callable[[str], int], most: int, form: TextForm
    ) -> None:
        self.sentences = sentences
        self.taken: set[int] = set()
        self.heaviest: int | None = None
        self._n_pieces = n_pieces
        self._most = self._left = most
        self._words = [
            tuple(word for word in map(str.lower, _WORD.findall(one)) if word not in _STOP)
            for one in sentences
        ]
        self._weight = _weights(list(dict(zip(sentences, self._words, strict=True)).values()))
        self._has_topic = form == "talk" and not any(map(_DECIDES.search, sentences))
        self._factor = [
            _factor(sentence, place / len(sentences), place, form)
            * (_TOPIC_BONUS if self._has_topic and _TOPIC.search(sentence) else 1.0)
            for place, sentence in enumerate(sentences)
        ]
        self._seen: set[tuple[str, ...]] = set()

    def has_point(self, place: int) -> bool:
        """Say whether a sentence tells of a decision, or of the topic where nothing is decided."""
        sentence = self.sentences[place]
        if self._has_topic and _TOPIC.search(sentence):
            return True
        return _POINT.search(sentence) is not None

    def news_behind_scene(self) -> int:
        """Find the sentence of an article that tells its news, where it begins with a scene.

        Returns:
            Its place; 0 where the article begins with its point, or no sentence stands out.
        """
        opening = self.sentences[:_OPENING]
        if len(self.sentences) <= _OPENING or any(map(_NEWS.search, opening)):
            return 0
        n_of_people = sum(_OF_PEOPLE.search(one) is not None for one in self.sentences)
        if _TELLS.search(self.sentences[0]) or n_of_people < _STORY * len(self.sentences):
            return 0
        weights = [self._news_weight(place) for place in range(len(self.sentences))]
        least = _DOMINATES * sum(weights[:_OPENING]) / _OPENING
        news = [
            place
            for place in range(_OPENING, len(weights))
            if _NEWS.search(self.sentences[place]) and _says_something(self.sentences[place])
        ]
        main = max(news, key=lambda place: weights[place] * _near_beginning(place), default=0)
        return main if weights[main] * _near_beginning(main) >= least else 0

    def _news_weight(self, place: int) -> float:
        sentence = self.sentences[place]
        weight = self._score(place) / self._factor[place]
        weight *= _NEWS_BONUS if _NEWS.search(sentence) else 1.0
        weight *= _NUMBER_BONUS if any(map(str.isdecimal, sentence)) else 1.0
        return weight * (_SCENE_SHARE if _SCENE.search(sentence) else 1.0)

    def take_beginning(self, share: float, start: int = 0) -> None:
        """Take sentences from one on until they fill a share of the room."""
        for place in range(start, len(self.sentences)):
            if self._left < (1 - share) * self._most:
                return
            if _says_something(self.sentences[place]) and not self._take(place):
                return

    def take_heaviest(self, least_share: float) -> None:
        """Take the heaviest sentence again and again, down to a share of the first one's weight."""
        heap = [(-self._score(place), place) for place in range(len(self.sentences))]
        heapq.heapify(heap)
        least, misfits = 0.0, 0
        while heap and misfits < _MOST_MISFITS:
            old, place = heapq.heappop(heap)
            if place in self.taken or self._words[place] in self._seen:
                continue
            new = self._score(place)
            if not self.taken:
                least = least_share * new
            if heap and -new > heap[0][0] and -new > old:  # it weighs less by now
                heapq.heappush(heap, (-new, place))
            elif new <= least:
                return
            elif not self._take(place):
                misfits += 1

    def _score(self, place: int) -> float:
        words = self._words[place]
        heaviness = sum(self._weight[word] for word in set(words))
        return self._factor[place] * heaviness / math.pow(max(_SHORT, len(words)), _LENGTH_POWER)

    def _take(self, place: int) -> bool:
        cost = self._n_pieces(" " + self.sentences[place])
        if cost > self._left:
            return False
        self._left -= cost
        self.taken.add(place)
        if self.heaviest is None:
            self.heaviest = place
        for word in set(self._words[place]):
            self._weight[word] *= _SEEN
        self._seen.add(self._words[place])
        return True


def _near_beginning(place: int) -> float:
    """How much more a sentence of an article may tell the news the earlier it stands."""
    return 1 + _NEWS_LEAD * math.exp(-place / (2 * _LEAD_SENTENCES))


def _is_numbered(before: str, line: str, end: int) -> bool:
    """Whether a stop belongs to the abbreviation of what has a number ("no. 7", "pp. 3-5")."""
    return line[end:].lstrip()[:1].isdecimal() and _NUMBERED.search(before.rstrip()) is not None


def _lines(paragraph: str) -> list[str]:
    """Lines of a paragraph, those that go on joined: after a mark at its end a line is whole."""
    found: list[str] = []
    is_open = False
    for line in paragraph.split("\n"):
        stripped = " ".join(line.split())
        if not stripped:
            continue
        if is_open:
            found[-1] = f"{found[-1]} {stripped}"
        else:
            found.append(stripped)
        is_open = stripped[-1] not in ".!?…:\"'”’)" and len(found[-1]) < 20_000
    return found


def _pieces(sentence: str) -> list[str]:
    words = sentence.split()
    if len(words) <= _LONGEST:
        return [" ".join(words)] if words else []
    return [" ".join(words[at : at + _LONGEST]) for at in range(0, len(words), _LONGEST)]


def _weights(words: Sequence[Sequence[str]]) -> dict[str, float]:
    """Weight of each word: its frequency, and how few sentences have it."""
    count = Counter(word for sentence in words for word in sentence)
    n_with = Counter(word for sentence in words for word in set(sentence))
    return {
        word: math.log1p(n) * math.log1p(len(words) / n_with[word]) if n > 1 else 0.5
        for word, n in count.items()
    }


def _factor(sentence: str, share: float, place: int, form: TextForm) -> float:
    """How much the place and the manner of a sentence count; ``share`` is its place in 0..1."""
    factor = 1.0
    if form == "article":
        factor += _LEAD * math.exp(-place / _LEAD_SENTENCES)
    elif form == "thread":
        factor += _LAST * math.exp((share - 1) / _LAST_SHARE)
    if _POINT.search(sentence):
        factor *= _POINT_BONUS[form]
    if sentence.endswith("?"):
        factor *= _QUESTION
    return factor if _says_something(sentence) else factor * _SHORT_SHARE


def _says_something(sentence: str) -> bool:
    """Return whether a sentence is neither very short nor small talk, code or a row of marks."""
    n_words = len(sentence.split())
    if n_words < _SHORT or (n_words < 3 * _SHORT and _SMALL_TALK.match(sentence)):
        return False
    if n_words < 6 * _SHORT and _WELCOME.match(sentence):
        return False
    n_prose = sum(letter.isalpha() or letter == " " for letter in sentence)
    return n_prose >= _LEAST_PROSE * len(sentence)
