"""The language of a text, if it can be told.

Owns `language_of` and `language_name`: English is told by its function words alone, at no cost;
only a text with few of them is given to a trained identifier, which is loaded then. Short texts,
code and lists of names have no language that can be told.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

__all__ = ["is_foreign", "language_name", "language_of"]

_NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian",
    "bn": "Bengali",
    "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "lo": "Lao",
    "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ml": "Malayalam",
    "mr": "Marathi", "ms": "Malay", "nb": "Norwegian", "ne": "Nepali", "nl": "Dutch",
    "nn": "Norwegian", "no": "Norwegian", "or": "Odia", "pa": "Punjabi", "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian",
    "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_NORWEGIAN = frozenset({"nb", "nn"})

# Function words that hardly any other language writes the same way.
_ENGLISH = frozenset(
    """
    the and with that this from their they them there these those have has had been were which
    would could should will said says you your our his her she who what when where how why after
    before into than then about because through between of for is are was to it's don't doesn't
    isn't can't won't i'm we're
    """.split()
)
# Function words of languages in Latin letters, none of them English words.
_MARKERS = {
    code: frozenset(words.split())
    for code, words in {
        "af": "die het nie van wat vir met sy dit sal aan ook",
        "ca": "els les del dels amb per que una és són més als pel",
        "cs": "je na se že pro které jsou bylo byl jako podle která za od po také ve ze si",
        "cy": "yn yr ar wedi mae gan oedd bydd i'r o'r",
        "da": "og det er af til på ikke som med har fra der den blev vil efter skal",
        "de": "der die das und ist nicht ein eine einen einem einer den dem des mit für auf von im "
        "zu sich auch wird nach bei aus sind wie wurde hat haben über zum zur dass werden",
        "es": "el los las del una que por con para más como su sus fue está según sobre entre al y "
        "se han desde pero también muy es en la de un",
        "et": "ja ei ning mis kui oli see kes ka selle pärast",
        "eu": "eta da du dira zen dute ez bat baino",
        "fi": "ja ei että oli joka mutta kun myös ovat sekä tai mukaan hän",
        "fr": "le les des une est dans pour sur qui que avec du par pas au aux ce cette ont été "
        "plus sont et en il elle la de un l'on d'un",
        "ga": "agus na an ar tá bhí sé leis chun",
        "gl": "unha cun dos das polo pola máis tamén foi non",
        "hr": "je se na koji koja za što od su iz nije kako kao će",
        "hu": "a az és hogy nem egy is volt meg szerint még után csak",
        "id": "yang dan di untuk dengan dari pada ini itu akan tidak dalam oleh telah ke",
        "is": "og að er í á sem var til með ekki við um",
        "it": "il lo gli una che di per con del della nel nella sono è più alla dei delle dal "
        "si ha "
        "anche non le la da un ai",
        "lt": "ir kad yra į su dėl buvo kaip tai iš",
        "lv": "un ir ka par ar no lai tas kas",
        "ms": "yang dan di untuk dengan dari pada ini itu akan tidak dalam oleh telah ke",
        "nl": "de het een van en dat niet zijn voor met op te aan er ook bij uit worden wordt naar "
        "heeft maar deze om",
        "no": "og det er av til på ikke som med har fra den ble skal etter vil jeg",
        "pl": "w na z się nie że do jest i o po od przez dla oraz jak za są był zostanie",
        "pt": "o os das dos uma que não com para por em mais foi são ao na no se da do e um de",
        "ro": "și în la pe cu de din că este nu pentru care sunt fost mai un",
        "sk": "je na sa že pre ktoré sú bolo bol ako podľa ktorá za od po aj vo zo si",
        "sl": "je na se da za ki so iz pri tudi bo kot ne",
        "sq": "të dhe në për me një që nga është",
        "sr": "je se na koji koja za što od su iz nije kako kao će",
        "sv": "och det är av till på inte som med har från den för att ett ska efter när var",
        "sw": "na ya wa kwa ni za katika la kuwa",
        "tl": "ang ng sa mga na ay at para hindi",
        "tr": "ve bir bu için ile de da olarak çok daha olan gibi sonra",
        "vi": "và của là có được trong cho một không với các những",
    }.items()
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# A word with a sign of code begins behind a space or a mark of code: without that, a long word
# would be read again from each of its letters.
_CODE = re.compile(r"`[^`\n]*`|(?<![^\s`])\S*[\d_/\\=<>{}@#$|~^]\S*|\b[A-Z]{2,}\b")
_ENGLISH_SHARE = 0.12  # of the words
_FEWEST_WORDS = 5
_FEWEST_LETTERS = 30
_FEWEST_UNSPACED = 8  # letters of a script without spaces between words
_MOST_ENGLISH = 0.01  # probability that it is English after all
_LEAST_PROBABILITY = 0.5  # of the language that is named; its neighbours share the rest
_LEAST_MARKED = 0.06  # share of function words of that language
_LEAST_ACCENTED = 0.15  # or of words with letters that English lacks
# Markers that are English words as well, though not function words.
_ALSO_ENGLISH = frozenset(
    """
    die den des met van ten men man war plus pour con son do no me pa el la le les ha se si
    """.split()
)
_ENGLISH_TOO = frozenset("on at by or if it he we be not all".split())
_SAMPLE = 1000  # characters, at the beginning, in the middle and at the end


def is_foreign(language: str | None) -> bool:
    """Tell whether a text is known to be in another language than English.

    Args:
        language: What `language_of` said of it.

    Returns:
        The verdict; ``False`` where the language cannot be told.
    """
    return language not in (None, "en")


def language_of(text: str) -> str | None:
    """Tell the language that most of a text is in.

    Args:
        text: The text, without markup.

    Returns:
        Its code of ISO 639-1, such as ``"en"`` or ``"de"``; ``None`` for a text that is short,
        or has too little that is of one language.
    """
    sample = _CODE.sub(" ", _sampled(text))
    words = _WORD.findall(sample)
    n_letters = sum(map(len, words))
    is_spaced = n_letters < 12 * len(words)
    if n_letters < (_FEWEST_LETTERS if is_spaced else _FEWEST_UNSPACED):
        return None
    if is_spaced and len(words) < _FEWEST_WORDS:
        return None
    n_english = sum(word.lower().replace("’", "'") in _ENGLISH for word in words)
    if n_english >= _ENGLISH_SHARE * len(words):
        return "en"
    ranked = dict(_identifier().rank(" ".join(words)))
    code = max(ranked, key=lambda name: ranked[name])
    if code == "en":
        return "en"
    if ranked[code] < _LEAST_PROBABILITY or ranked["en"] > _MOST_ENGLISH:
        return None
    code = "no" if code in _NORWEGIAN else code
    n_known = sum(word in _ENGLISH or word in _ENGLISH_TOO for word in words)
    markers = [word for word in words if word in _MARKERS.get(code, ())]  # a name's "De" is none
    n_marked = len(markers)
    n_accented = sum(not word.isascii() and not word[0].isupper() for word in words)
    is_marked = n_marked > n_known and n_marked >= _LEAST_MARKED * len(words)
    is_marked = is_marked and not _ALSO_ENGLISH.issuperset(markers)
    is_accented = not n_known and n_accented >= _LEAST_ACCENTED * len(words)
    return code if is_marked or is_accented else None


def language_name(code: str) -> str:
    """The English name of a language.

    Args:
        code: A code of ISO 639-1.

    Returns:
        The name; the code itself if `language_of` does not know it.
    """
    return _NAMES.get(code, code)


def _sampled(text: str) -> str:
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = (len(text) - _SAMPLE) // 2
    return f"{text[:_SAMPLE]} {text[middle : middle + _SAMPLE]} {text[-_SAMPLE:]}"


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(_NAMES))
    return identifier
