"""Text in CAPITALS, or In Title Case Throughout, in sentence case.

Owns which passages are put into sentence case and by what rules a word keeps its capitals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from sumfit.cleaning.names import (
    ACRONYMS,
    GIVEN_NAMES,
    NAMES,
    PHRASES,
    SPELLED,
    STREETS,
    SURNAMES,
    TITLES,
    TOWNS,
)

__all__ = ["clean_capitals"]

_ABBREVIATED = "|".join(
    rf"(?<=\b{short})" for short in ("MR", "MRS", "MS", "DR", "ST", "SEN", "REP", "GOV", "NO", "VS")
)
_SEGMENT = re.compile(  # up to the end of a sentence or line
    rf"[^\n.!?]*(?:(?:[.!?](?!\s)|(?:(?<=[.\s][A-Z])|{_ABBREVIATED})\.)[^\n.!?]*)*"
    r"[.!?]*[\"'”’)\]]*\s*"
)
_WORD = re.compile(r"[^\W_]+(?:['’/&.-][^\W_]+)*\.?")
_PHRASE = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.IGNORECASE)
_PHRASE_FORMS = {phrase.lower(): phrase for phrase in PHRASES}
_DOTTED = re.compile(r"(?:[A-Z]\.){2,}[A-Z]?\.?")
_NO_VOWEL = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{2,5}")
_WITH_DIGIT = re.compile(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9-]+")
_NUMBER_UNIT = re.compile(
    r"(\d+(?:[.,]\d+)?)(KM|KG|CM|MM|MPH|KMH|KW|MW|GW|M|BN|TH|ST|ND|RD|PM|AM|S)"
)
_HAS_NO_VOWEL = frozenset(
    """
    mr mrs dr st vs th nd rd mph km kg cm mm ft lb lbs pct bn mln hrs min my by why try cry dry
    fly gym shy sky sly spy hymn lynch myth
    """.split()
)
_US_PERSONS = frozenset(
    """
    tell told telling give gives gave for to of with join let lets help helps helped contact
    call email ask asked among between behind around all shows showed teach teaches bring brings
    brought visit follow
    """.split()
)
_SMALL = frozenset(
    """
    a an the and or but nor of to for from with at by in on into onto upon about against among
    as between despite during except near than toward towards under until versus via vs within
    without who whom whose which is are was were be been being has have had do does did will
    would shall should can could may might must not no so if that this these those it its he she
    they we you his her their our your my i
    """.split()
)
_MONTH_BEFORE = frozenset(
    """
    in on of since until by from during last next this early late through and between
    """.split()
)
_PLACED_BY = frozenset(
    """
    in on at of near from to and along off into between around outside behind below above through
    """.split()
)
_NO_STREETS = frozenset(
    """
    main side busy icy country dirt slip ring open cycle bus fast slow both other one two any every
    city town village high public private narrow wet dry same new old next this that each coast
    coastal mountain toll service access left right
    """.split()
)
_LETTERED = frozenset(
    "block blocks building buildings class classes door exit floor gate gates group groups hall "
    "level line platform room rooms section sections wing zone zones".split()
)
_HEADS = frozenset(  # of names of two words, behind a word that is known for nothing else
    """
    abbey airlines airport airways arena bank bay beach bridge castle cathedral church city club
    college council county district falls farms festival foods forest group hall harbour hill hills
    holdings hospital hotel house industries island islands lake mill mills motors mountain museum
    park partners point port school square stadium station theatre university valley
    """.split()
)
_FEWEST_WORDS = 4
_LEAST_SHARE = 0.85  # of the letters
_FEWEST_TITLED = 8
_LEAST_TITLED = 0.9
_NAME_BEHIND = re.compile(r"(?:ed|ing|s|ly)\Z")


def clean_capitals(
    text: str, *, sure: bool = False, known: Callable[[str], bool] | None = None
) -> str:
    """Put what is written in capitals, or throughout in title case, into sentence case.

    A passage is a sentence or line. In capitals is one with at least four words of which hardly
    any has a small letter. A word in it keeps a capital if the text has it in mixed case
    elsewhere, if it is a known name, or if it is no known word at all; an ordinary word has one
    as the name of a street or town or a surname ("in Cork", "on Mill Lane"). It stays in
    capitals if it is a known acronym, has no vowel, or holds a digit. A text in title case has
    at least eight words, nine in ten of them with a capital; only known words lose it.

    Args:
        text: The text.
        sure: No difference.
        known: Whether a word in small letters is a known one; without it title case stays.

    Returns:
        The text; unchanged if no passage is in capitals or title case.
    """
    segments = _SEGMENT.findall(text)
    in_capitals = [_is_capitals(segment, _FEWEST_WORDS) for segment in segments]
    if any(in_capitals):
        if _is_capitals(text, _FEWEST_WORDS):  # its short sentences are too
            in_capitals = [_is_capitals(segment, 1) for segment in segments]
        forms = _mixed_forms(segments, in_capitals)
        return "".join(
            _sentence_case(segment, forms, known) if is_one else segment
            for segment, is_one in zip(segments, in_capitals, strict=True)
        )
    if known is not None and _is_titled(text):
        return "".join(_untitled(segment, known) for segment in segments)
    return text


def _is_capitals(segment: str, fewest: int) -> bool:
    words = [word for word in _WORD.findall(segment) if sum(map(str.isalpha, word)) > 1]
    if len(words) < fewest:
        return False
    letters = [letter for letter in segment if letter.isalpha()]
    n_upper: int = sum(map(str.isupper, letters))
    longer: int = sum(
        sum(map(str.isalpha, word)) > 3 and word.lower() not in ACRONYMS for word in words
    )
    is_upper: bool = n_upper >= _LEAST_SHARE * len(letters)
    return bool(is_upper and (longer > 1 or fewest == 1))


def _mixed_forms(segments: list[str], in_capitals: list[bool]) -> dict[str, str]:
    """Words that the rest of the text has with a capital within a sentence."""
    forms: dict[str, Counter[str]] = {}
    for segment, is_one in zip(segments, in_capitals, strict=True):
        if is_one:
            continue
        for word in _WORD.findall(segment)[1:]:
            forms.setdefault(word.lower(), Counter())[word] += 1
    return {low: counts.most_common(1)[0][0] for low, counts in forms.items()}


def _sentence_case(segment: str, forms: dict[str, str], known: Callable[[str], bool] | None) -> str:
    matches = list(_WORD.finditer(segment))
    words = [match.group().lower().rstrip(".") for match in matches]
    named = _named(words, known)
    shown: list[str] = []
    end = 0
    for place, match in enumerate(matches):
        word = match.group()
        before = words[place - 1] if place else ""
        made = _cased(word, before, forms, known)
        if made == word.lower() and (place in named or not place):
            made = made[:1].upper() + made[1:] if made not in SPELLED.values() else made
        shown += [segment[end : match.start()], made]
        end = match.end()
    shown.append(segment[end:])
    return _PHRASE.sub(lambda name: _PHRASE_FORMS[name.group().lower()], "".join(shown))


def _named(words: list[str], known: Callable[[str], bool] | None) -> frozenset[int]:
    """Places of ordinary words that are names where they stand: of streets, towns and persons."""
    found: set[int] = set()
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if word in STREETS and _is_street(words, place):
            found.update((place - 1, place))
        elif word in TOWNS and before in _PLACED_BY:
            if before not in ("to", "and") or _ends_a_way(words, place):
                found.add(place)
        elif word in SURNAMES and (before in GIVEN_NAMES or before in TITLES):
            found.add(place)
        elif before in GIVEN_NAMES and place > 1 and words[place - 2] in TITLES:
            found.add(place)
        elif before == "river" and word not in _SMALL and known is not None and not known(word):
            found.add(place - 1)
        elif word in _HEADS and before not in _SMALL and known is not None:
            if before.isalpha() and not known(before):
                found.add(place)
    return frozenset(found)


def _is_street(words: list[str], place: int) -> bool:
    """Return whether the word before "street" is its name: one that nothing else can be there."""
    name = words[place - 1] if place else ""
    is_participle = name.endswith(("ed", "ing")) and name not in SURNAMES
    if len(name) < 3 or name in _SMALL or name in _NO_STREETS or is_participle:
        return False
    return place > 1 and words[place - 2] in _PLACED_BY


def _ends_a_way(words: list[str], place: int) -> bool:
    """Return whether "from ..." or "between ..." stands shortly before a word."""
    return not {"from", "between"}.isdisjoint(words[max(0, place - 5) : place])


def _cased(
    word: str, before: str, forms: dict[str, str], known: Callable[[str], bool] | None
) -> str:
    """One word of a passage in capitals, as it would stand within a sentence."""
    core, stop = (word[:-1], ".") if word.endswith(".") and word.count(".") == 1 else (word, "")
    low = core.lower()
    if low in forms:
        return forms[low] + stop
    if _DOTTED.fullmatch(word):
        return word
    if low in ("i", "i'm", "i’m", "i've", "i'll", "i'd"):
        return "I" + low[1:] + stop
    if len(core) == 1 and core.isalpha() and (low != "a" or before in _LETTERED):
        return core + stop
    if low == "us":
        return ("us" if before in _US_PERSONS else "US") + stop
    if low in ("may", "march", "august") and (before in _MONTH_BEFORE or before.isdigit()):
        return core.capitalize() + stop
    if unit := _NUMBER_UNIT.fullmatch(core):
        return unit.group(1) + unit.group(2).lower() + stop
    if _WITH_DIGIT.fullmatch(core):
        return core + stop
    for mark in "-/&":
        if mark in core:
            parts = core.split(mark)
            return mark.join(_cased(part, before, forms, known) for part in parts) + stop
    root, apostrophe, rest = core.partition("'" if "'" in core else "’")
    low_root = root.lower()
    if low in SPELLED:
        return SPELLED[low] + stop
    if low_root in ACRONYMS:
        return root.upper() + apostrophe + rest.lower() + stop
    if _NO_VOWEL.fullmatch(root) and low_root not in _HAS_NO_VOWEL:
        return root + apostrophe + rest.lower() + stop
    is_name = low_root in NAMES or before.rstrip(".") in TITLES or low_root in TITLES
    is_surname = before in NAMES and low_root not in _SMALL and not _NAME_BEHIND.search(low_root)
    is_unknown = known is not None and len(root) > 2 and root.isalpha() and not known(low_root)
    if is_name or is_unknown or (is_surname and known is not None and not known(low_root)):
        return root.capitalize() + apostrophe + rest.lower() + stop
    return low + stop


def _is_titled(text: str) -> bool:
    words = [
        word for word in _WORD.findall(text) if word[0].isalpha() and word.lower() not in _SMALL
    ]
    if len(words) < _FEWEST_TITLED or not re.search(r"[.!?][\"'”’)]*\s*\Z", text):
        return False
    return bool(sum(word[0].isupper() for word in words) >= _LEAST_TITLED * len(words))


def _untitled(segment: str, known: Callable[[str], bool]) -> str:
    is_first = True

    def changed(match: re.Match[str]) -> str:
        nonlocal is_first
        word = match.group()
        low, was_first = word.lower(), is_first
        is_first = False
        is_title = word[:1].isupper() and word[1:].islower()
        if was_first or not is_title or low in NAMES or low in TITLES:
            return word
        return low if known(low.rstrip(".")) else word

    return _WORD.sub(changed, segment)
