"""One form for the forms of a word: plural, past, -ing, British and American spelling.

Owns `stem` and `is_past`. `stem` is light: it never joins words of another meaning on purpose, and
what it cannot join (decide, decision) counts as two words here. What it returns is no word to show.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["is_past", "stem"]

_FORMS_OF_VERBS = """
be am is are was were been being; have has had having; do does did done; go goes went gone;
say said says; see saw seen; take took taken; give gave given; get got gotten; come came;
make made; find found; know knew known; think thought; tell told; become became; show shown;
leave left; feel felt; bring brought; begin began begun; keep kept; hold held; write wrote written;
stand stood; hear heard; mean meant; meet met; run ran; pay paid; sit sat; speak spoke spoken;
lead led; grow grew grown; lose lost; fall fell fallen; send sent; build built; draw drew drawn;
break broke broken; spend spent; rise rose risen; drive drove driven; buy bought; wear wore worn;
choose chose chosen; seek sought; throw threw thrown; catch caught; deal dealt; win won;
fight fought; teach taught; eat ate eaten; sell sold; steal stole stolen; fly flew flown;
swim swam swum; sing sang sung; shoot shot; sink sank sunk; strike struck stricken; shake shook
shaken; freeze froze frozen; beat beaten; bite bit bitten; hide hid hidden; forget forgot
forgotten; forbid forbade forbidden; forgive forgave; bear bore borne; tear tore torn; swear swore
sworn; bind bound; wind wound; grind ground; feed fed; flee fled; lay laid; lie lain; lend lent;
sleep slept; sweep swept; weep wept; creep crept; dig dug; stick stuck; hang hung; swing swung;
sting stung; spin spun; wake woke woken; arise arose; withdraw withdrew withdrawn; overthrow
overthrew overthrown; undergo underwent; understand understood; undo undid undone; overtake
overtook; slide slid; shrink shrank shrunk; drink drank drunk; ring rang; spring sprang sprung;
blow blew blown; ride rode ridden; drown drowned; mistake mistook mistaken; foresee foresaw;
outgrow outgrew; uphold upheld; rebuild rebuilt; repay repaid; resell resold; withhold withheld
"""
_OTHER_FORMS = """
man men; woman women; child children; person people persons; foot feet; tooth teeth; goose geese;
mouse mice; ox oxen; life lives; wife wives; knife knives; half halves; wolf wolves;
shelf shelves; thief thieves; crisis crises; analysis analyses; criterion criteria; medium media;
use used uses using; good better best; bad worse worst; programme program; grey gray;
tyre tire; cheque check; plough plow; sceptic skeptic; mould mold; kerb curb;
aluminium aluminum; jewellery jewelry;
manoeuvre maneuver; aeroplane airplane; licence license; practise practice;
storey story
"""
_IRREGULAR = {
    form: forms[0]
    for forms in (group.split() for group in f"{_FORMS_OF_VERBS};{_OTHER_FORMS}".split(";"))
    for form in forms[1:]
}
_VOWELS = frozenset("aeiouy")
_PASTS = frozenset(
    form
    for group in _FORMS_OF_VERBS.split(";")
    for form in group.split()[1:]
    if form[-1] != "s" and form[-3:] != "ing" and form not in ("am", "are")
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Bring a word into the form that its plural, past and other spelling share.

    Args:
        word: The word in lower case, without "'s".

    Returns:
        The form, which may be no word itself.
    """
    word = _IRREGULAR.get(word, word)
    n = len(word)
    if n > 3:
        word = _without_ending(word)
        word = _IRREGULAR.get(word, word)
    return _spelled_one_way(word)


def is_past(word: str) -> bool:
    """Say whether a word looks like the past form of a verb, or its participle.

    Args:
        word: The word in lower case.

    Returns:
        The verdict.
    """
    return (word.endswith("ed") and not word.endswith("eed")) or word in _PASTS


def _without_ending(word: str) -> str:
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        if word.endswith("ies"):
            return word[:-3] + "y" if len(word) > 4 else word[:-1]
        if word.endswith(("sses", "xes", "ches", "shes", "zes", "oes")):
            return word[:-2]
        return word[:-1]
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ed") and not word.endswith("eed") and _has_vowel(word[:-2]):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("ing") and len(word) > 5 and _has_vowel(word[:-3]):
        return word[:-3]
    if word.endswith("ly") and len(word) > 5:
        return word[:-2]
    return word


def _spelled_one_way(word: str) -> str:
    if len(word) > 4:
        word = word.replace("iz", "is").replace("yz", "ys")
        if "our" in word:
            head, _, tail = word.rpartition("our")
            if head and tail in ("", "e", "it", "ite", "abl", "able", "er", "man", "hood", "ful"):
                word = head + "or" + tail
        if word.endswith("tre"):
            word = word[:-3] + "ter"
        elif word.endswith("ogue"):
            word = word[:-2]
        elif word.endswith("ense"):
            word = word[:-4] + "ence"
        if len(word) > 6:
            word = word.replace("ae", "e").replace("oe", "e")
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in _VOWELS:
        word = word[:-1]
    return word


def _has_vowel(part: str) -> bool:
    return not _VOWELS.isdisjoint(part)
