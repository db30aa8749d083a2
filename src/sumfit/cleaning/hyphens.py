"""Words parted at the ends of lines, as in text copied from a PDF.

Owns which hyphen at the end of a line parts a word ("har-/bour") and which belongs to it
("well-/known"). Line breaks between whole words are no matter of this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sumfit.cleaning.names import NAMES

__all__ = ["clean_hyphens"]

_PARTED = re.compile(
    r"(?<![^\W_])([^\W_]{1,40})([-\u2010\u00ad])[ \t\u00a0]{0,8}\n[ \t\u00a0]{0,40}"
    r"(?=[^\W\d_])(\w{1,40})"
)
_COMPOUND = re.compile(r"[^\W\d_]{1,40}[-\u2010][^\W\d_]{1,40}")
_SOFT = "\u00ad"
_MARKS = ("-", "\u2010", _SOFT)
_JOINING = frozenset(  # "pre- and post-war", also of other languages
    "and or nor but to versus through und oder bis et ou y o e en of och og".split()
)
_IN_ADDRESS = re.compile(r"[@/\\_]|www\.")
_GOES_ON_AS_ADDRESS = re.compile(r"[\w.+-]{0,60}[@/\\_]|[\w-]{0,60}\.\w")
_LONGEST_ADDRESS = 200
_PREFIXES = frozenset(  # which take a hyphen at times
    """
    after all anti audio auto bi bio by co counter cross down eco electro euro ever ex
    extra fore geo half hydro hyper in infra inter intra kilo macro mal many mega meta micro mid
    mini mis mono multi nano neo neuro no non north off on out over pan para photo poly post
    pre proto pseudo psycho quasi radio re self semi socio south spatio step sub super supra
    tele thermo trans tri ultra un under uni up vice video
    """.split()
)
_SYLLABLES = frozenset(  # which begin no compound, though some are words
    """
    ab ac af ag al am an ap ar as at be col com con cor de di dif dis du ef el em en er fi fo
    gene hy il im inte ir is la le li lo lu ma mea ne ni nu of or pa par pe per pi po pri pro pu ra
    rea res ri ro ru sa se si suc suf sug sup sur sus ta tar te thou ti tu us va ve vi vo wa
    """.split()
)
_SOLID = frozenset(  # words of two words, or of a prefix and a word, that take no hyphen
    """
    therefore thereby however whatever whenever wherever whether within without into onto upon
    today tonight tomorrow together another anything anyone something someone everything everyone
    nothing nowhere somewhere cannot maybe become becomes became before because behind between
    below beside besides beyond understand understanding understood background outside inside
    indeed income increase increased increases increasing include included includes including
    report reports reported research require required requires return returned recent recently
    record recorded records review reviewed reviews remain remains remained result results
    president present presented propose proposed process product project program programme
    programmes provide provided produce produced protest problem company companies department
    government sometimes otherwise overall support season highway highways highlight highlights
    highlighted highland highlands lowland lowlands shortage shortages shortfall shortfalls
    shortcut shortcuts shortlist shortlisted partake halfway leftover leftovers openness hardware
    hardship hardships hardback freelance freeway crossroads crossword crossing fasten lighthouse
    newborn oneself tenant tenants tension tensions tender tenders tendon forever format formed
    fortune oneness
    """.split()
)
_HYPHENATED = frozenset(  # which texts write with a hyphen about as often
    """
    builtin byelection ceasefire cleanup coop frontline handheld lineup longtime multimodal
    multiplayer nonlinear offseason onboard playoff playoffs pretrained pretraining recover
    recovered recovering reelection resign resigned resigning reuse rollout standalone standoff
    startup startups teammate teammates underexplored
    """.split()
)
_ENDINGS = frozenset(  # which are no second part of a compound, though some are known words
    """
    ing ings able ables ably ally ation ations ive al ed el en er es ey ge ic le ly ny rs ry se te
    ts ty ue ve cy my um
    """.split()
)
_SHORTEST = 3  # letters of the piece of a word


def clean_hyphens(
    text: str,
    *,
    sure: bool = False,
    known: Callable[[str], bool] | None = None,
    frequent: Callable[[str], bool] | None = None,
) -> str:
    """Join words that were parted at line ends; other text stays as it is.

    Where the next line goes on with a small letter, the parts become one word if that is a known
    one and a part is none, or a frequent one ("frame-/work"), or if neither part is a known one.
    Otherwise the hyphen stays and the line break goes: behind a word or a prefix before a word
    ("key-value", "re-signed"), behind a name, in an address, and where the text has the word with
    its hyphen elsewhere.

    Args:
        text: The text.
        sure: No difference.
        known: Whether a word in small letters is a known one; without it only soft hyphens go.
        frequent: Whether a word in small letters is a frequent one; none is if not given.

    Returns:
        The text; unchanged if no word is parted.
    """
    if "\n" not in text or not any(mark in text for mark in _MARKS):
        return text
    if not any(parted.group(3)[0].islower() for parted in _PARTED.finditer(text)):
        return text
    is_frequent = frequent or (lambda word: False)
    compounds = {found.lower().replace("\u2010", "-") for found in _COMPOUND.findall(text)}

    def put_right(parted: re.Match[str]) -> str:
        first, mark, second = parted.groups()
        if not second[0].islower():
            return parted.group()
        if mark == _SOFT:
            return first + second
        if known is None:
            return parted.group()
        low, rest = first.lower(), second.lower()
        before, after = text[max(parted.start() - 1, 0) : parted.start()], text[parted.end() :][:1]
        is_chain = before in _MARKS or after in _MARKS
        if is_chain and (known(low) or before not in _MARKS) and (rest in _JOINING or known(rest)):
            return f"{first}{mark}{second}"
        is_listed = f"{low}-{rest}" in compounds or _is_in_address(text, parted)
        if not is_listed and _is_one_word(first, rest, known, is_frequent):
            return first + second
        return parted.group() if rest in _JOINING else f"{first}{mark}{second}"

    return _PARTED.sub(put_right, text)


def _is_in_address(text: str, parted: re.Match[str]) -> bool:
    before = text[max(parted.start() - _LONGEST_ADDRESS, 0) : parted.start()]
    before = before if not before[-1:].isspace() else ""
    after = _GOES_ON_AS_ADDRESS.match(text, parted.start(3))
    return after is not None or _IN_ADDRESS.search(before.split()[-1] if before else "") is not None


def _is_one_word(
    as_written: str,
    rest: str,
    known: Callable[[str], bool],
    frequent: Callable[[str], bool],
) -> bool:
    first = as_written.lower()
    if len(first) < 2 or not first.isalpha() or first in NAMES:  # "e-mail", "anne-marie"
        return False
    if as_written[1:].lower() != as_written[1:]:  # "COVID-related"
        return False
    if first + rest in _SOLID:
        return True
    if first + rest not in _HYPHENATED and known(first + rest):
        is_ending = rest in _ENDINGS and first not in _PREFIXES and as_written.islower()
        if is_ending or frequent(first + rest):
            return True
    if first in _SYLLABLES:
        return as_written.islower() and known(first + rest)
    is_piece = len(rest) >= _SHORTEST and not (known(rest) or rest in NAMES)
    if known(first) or first in _PREFIXES:
        return is_piece and as_written.islower() and known(first + rest)
    if known(first + rest) or first + rest in NAMES:
        return True
    return is_piece and as_written.islower()
