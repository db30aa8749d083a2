"""What an abstract, a forecast and a report of a match come to.

Owns how these are told. All begin with something else: with what is known, with the weather of the
morning, with who scored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sumfit.text.leading import Found, capital, ended, first

__all__ = ["news_behind_opening"]

_PART = re.compile(
    r"(?:background|context|importance|introduction|objectives?|aims?|purpose|hypothesis|design|"
    r"settings?|participants|patients|interventions?|methods?|main outcomes?[^.:]{0,30}|"
    r"measurements|"
    r"results?|findings|conclusions?(?: and relevance)?|interpretation|significance|limitations)"
    r"[ \t]*[:.][ \t]*",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(r"(?:conclusions?(?: and relevance)?|interpretation)\b", re.IGNORECASE)
_FEWEST_PARTS = 2
_STUDY = re.compile(
    r"\b[Ww]e (?:\w+ )?(?:compared|tracked|recorded|studied|examined|measured|surveyed|"
    r"randomi[sz]ed|"
    r"assigned|followed|interviewed|sampled|monitored|analy[sz]ed|tested)\b|"
    r"\brandomi[sz]ed (?:\w+ ){0,2}trial\b|\bcohort study\b"
)
_FINDS = re.compile(
    r"\b(?:(?:our|these|the) (?:results|findings|data) (?:suggest|show|indicate|demonstrate|imply)|"
    r"we (?:conclude|found|find|show|demonstrate)|there was no (?:significant )?difference|"
    r"did not differ)\b(?: that\b)?,?",
    re.IGNORECASE,
)
_LEADS_UP = re.compile(
    r"(?:.{3,120}?, )?(?:(?:our|these|the) (?:results|findings|data) (?:suggest|show|indicate|"
    r"demonstrate|imply)|we (?:conclude|found|find|show|demonstrate)) that (?=\w)",
    re.IGNORECASE,
)
_JUDGES = re.compile(
    r"\b(?:is|are|should|could|can|may|might|not|reduces?|improves?|increases?|helps?)\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:unclear|unknown|debated|disputed|(?:poorly|not well|not yet|little) "
    r"(?:known|understood|studied)|little is known|evidence\b.{0,30}\bis (?:weak|mixed|limited))\b",
    re.IGNORECASE,
)
_BUT = re.compile(r"^(?:however|but|although|yet|first)\b|\b(?:we|our|studies)\b", re.IGNORECASE)
_LITTLE_KNOWN = re.compile(
    r"\b(?:but|although|yet)\b.{0,120}\b(?:unclear|(?:poorly|not well|not yet|little) "
    r"(?:known|understood|studied))\b"
)
_WHETHER = re.compile(r"(?:whether|why|how)\b", re.IGNORECASE)
_COMPARES = re.compile(
    r"\d.{0,60}\b(?:more|fewer|less|higher|lower|faster|slower)\b.{0,60}\bthan\b"
)
_FEWEST_SENTENCES = 3
_OFFERS = re.compile(
    r"\b[Ww]e (?:\w+ )?(?:propose|introduce|present|develop|describe)\b|\bis proposed\b|"
    r"\b(?:paper|work|study|article) (?:presents|introduces|proposes|describes|develops)\b"
)
_AFTERWORD = re.compile(
    r"\b(?:code|data sets?|datasets?|available|future|further research|implications|discuss)\b",
    re.IGNORECASE,
)
_WEATHER = re.compile(
    r"\b(?:sunny|sunshine|cloudy|clouds|showers|rain|snow|fog(?:gy)?|winds?|gusts?|highs|lows|"
    r"degrees|"
    r"temperatures?|thunderstorms?|dry|frost|mild|clear|heat|hot|warm|cold|breeze)\b",
    re.IGNORECASE,
)
_FEWEST_WEATHER = 4  # such words, in three of four sentences
_FEWEST_DATED = 2  # sentences that say when
_SEVERE = re.compile(
    r"\b(?:thunderstorms?|storms?|hail|floods?|flooding|blizzard|gales?|heavy (?:rain|snow)\w*|"
    r"gusts?|"
    r"black ice|freezing rain|icy|blocked roads|heatwave|snow|hurricane|warning)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:today|tonight|tomorrow|morning|afternoon|evening|overnight|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day|weekend)\b",
    re.IGNORECASE,
)
_FORECAST_SHARE = 0.25  # of the words of a forecast that are read at least
_SCORE = re.compile(r"\b\d{1,3}[-–]\d{1,3}\b")
_BEATS = re.compile(
    r"\b(?:beat|beats|beaten|defeat(?:s|ed)|thrash(?:es|ed)|edg(?:es|ed)|hammer(?:s|ed)|"
    r"knock(?:s|ed)\b.{1,60}\bout|won|wins?|lost to|drew with|overc[ao]mes?)\b"
)
_CLAUSE = re.compile(r"^(.{15,160}?),? (?:as|when) ((?=(?:[a-z-]+ ){0,2}[A-Z])[^,;]{3,80}\b.*)$")


def news_behind_opening(sentences: Sequence[str]) -> Found | None:
    """Find what an abstract concludes, a forecast warns of, or how a match ended.

    Args:
        sentences: Sentences of the text.

    Returns:
        What to read; ``None`` if it is none of these, or begins with that.
    """
    return (
        _conclusion(sentences) or _finding(sentences) or _warning(sentences) or _result(sentences)
    )


def _conclusion(sentences: Sequence[str]) -> Found | None:
    """What an abstract with labels concludes; then its other parts without theirs."""
    labels = [_PART.match(one) for one in sentences]
    if sum(label is not None for label in labels) < _FEWEST_PARTS:
        return None
    main = first(sentences, _CONCLUDES.match)
    if main is None:
        return None
    bare = [
        capital(one[label.end() :]) if label else one
        for one, label in zip(sentences, labels, strict=True)
    ]
    behind = next((i for i in range(main, len(bare)) if bare[i].strip()), None)
    if behind is None:
        return None
    return _lead_with(bare, behind)


def _finding(sentences: Sequence[str]) -> Found | None:
    """What a study found, and not what it was about."""
    if len(sentences) < _FEWEST_SENTENCES or any('"' in one or "“" in one for one in sentences):
        return None
    is_study = any(map(_STUDY.search, sentences))
    if not (is_study or any(map(_UNKNOWN.search, sentences[:2]))) or any(
        map(_OFFERS.search, sentences)
    ):
        return None
    last = sentences[-1]
    concludes = _JUDGES.search(last) and not any(
        cue.search(last) for cue in (_AFTERWORD, _STUDY, _BUT)
    )
    found = first(sentences, _LEADS_UP.match, last=True)
    is_open = len(sentences) > _FEWEST_SENTENCES and _LITTLE_KNOWN.search(sentences[0])
    if found is None and concludes and (is_study or is_open):
        found = len(sentences) - 1
    if found is None:
        found = first(sentences, _FINDS.search)
    if found is None and _WHETHER.match(sentences[0]):
        found = first(sentences, _COMPARES.search)
    return _lead_with(sentences, found) if found else None


def _lead_with(sentences: Sequence[str], main: int) -> Found:
    said = capital(_LEADS_UP.sub("", sentences[main], count=1))
    others = [one for place, one in enumerate(sentences) if place != main]
    return Found([said], said, others, 0.0)


def _warning(sentences: Sequence[str]) -> Found | None:
    """The rough weather of a forecast that begins with the fair."""
    n_words = [len(_WEATHER.findall(one)) for one in sentences]
    n_with = sum(map(bool, n_words))
    n_dated = sum(_WHEN.search(one) is not None for one in sentences)
    if n_with * 4 < 3 * len(sentences) or sum(n_words) < _FEWEST_WEATHER or n_dated < _FEWEST_DATED:
        return None
    main = first(sentences, _SEVERE.search)
    if not main:
        return None
    said = sentences[main]
    return Found([said], said, sentences[main + 1 :], _FORECAST_SHARE)


def _result(sentences: Sequence[str]) -> Found | None:
    """How a match ended, where a text begins with who played well in it."""
    if not any(map(_SCORE.search, sentences[:3])):
        return None
    clause = _CLAUSE.match(sentences[0])
    if clause and _BEATS.search(clause.group(2)) and not _BEATS.search(clause.group(1)):
        said = capital(clause.group(2))
        return Found([said, ended(clause.group(1)), *sentences[1:]], said)
    if len(sentences) > 1 and not _BEATS.search(sentences[0]):
        if _BEATS.search(sentences[1]) and _SCORE.search(sentences[1]):
            return Found([sentences[1], sentences[0], *sentences[2:]], sentences[1])
    return None
