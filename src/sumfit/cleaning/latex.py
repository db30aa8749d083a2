r"""LaTeX as plain text: ``\emph{x}`` becomes x, ``$3 \times n$`` becomes 3 × n.

Owns what counts as LaTeX and what is said of a formula. A formula alone in other text (``$5``,
``$k$-means``) is no LaTeX, nor is a text about LaTeX.

Patterns, one after the other, which see three braces deep: pylatexenc reads more of the language,
but gives up on a few hundred open braces, warns on the terminal, and writes ``<cit.>`` where a
reference stood. The names of most symbols are those of HTML, which the standard library has.
"""

from __future__ import annotations

import re
import unicodedata
from html.entities import html5

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_latex"]

_CITE = "(?:[Pp]aren|[Tt]ext|[Aa]uto|[Ff]oot|[Ss]hort|[Ss]mart|super)?[Cc]ite[a-z]{0,8}"
_TEXT_NAMES = (
    f"emph|textbf|textit|texttt|textsc|textsf|textrm|textsl|underline|{_CITE}|[a-zA-Z]?ref|"
    "autoref|eqref|label|footnote|(?:sub){0,2}section|chapter|paragraph|title|caption|begin|"
    "documentclass|usepackage|url|href|includegraphics"
)
_TEXT_COMMAND = re.compile(rf"\\(?:{_TEXT_NAMES})\*?(?:\[[^\[\]\n]{{0,200}}\])?\{{")
_COMMAND = re.compile(r"\\[a-zA-Z]{2,30}")
_CODE_SPAN = re.compile(r"(?<!`)`(?!`)[^`\n]+`(?!`)|(?<![\w\\])[A-Za-z]:\\\S*")  # or a path
_ABOUT = re.compile(r"\b(?:La|Xe|Lua|pdf)?TeX\b|\blatex\b", re.IGNORECASE)
_STARTS = re.compile(r"\s*\\(?:begin|documentclass|title|(?:sub)*section\*?)\b")
_FEWEST_COMMANDS = 2
_CITES = re.compile(rf"\\{_CITE}\*?(?:\[[^\[\]\n]{{0,99}}\]){{0,2}}\{{[\w:.,/ -]{{1,400}}\}}")

_HIDDEN = (
    "equation|align|gather|multline|eqnarray|displaymath|figure|table|tabular|array|verbatim|"
    "lstlisting|tikzpicture|thebibliography|comment|algorithm|algorithmic|math"
)
_HIDING = re.compile(rf"\\begin(\{{(?:{_HIDDEN})\*?\}})")
_COMMENT = re.compile(r"(?m)^[ \t]*%.*$\n?|(?<=[.%][ \t])%.*$")
_OWN = re.compile(r"\\(?:(?:re)?newcommand\*?|def)\{?\\([a-zA-Z]{2,30})\}?[ ]?\{([^{}]{0,80})\}")
_KEY = rf"\\({_CITE}|[a-zA-Z]{{0,4}}ref)\*?(?:\[[^\[\]\n]{{0,99}}\]){{0,2}}\{{([^{{}}]{{0,400}})\}}"
_REFERENCE = re.compile(rf"([ \n]?){_KEY}")
_POINTED = re.compile(  # "(see Figure~\ref{x})"
    r"[ \n]{0,2}\((?:(?:see|in|cf\.|from|of|by)[ \n])?(?:[A-Z§][a-z]{0,10}\.?|\\S)?[ ]?\(?"
    rf"{_KEY}\)?\)"
)
_LEADING = frozenset(  # words that need one behind them
    "in following by of from to and or with as see than since using via both for on that unlike "
    "like after under between extending against because while where if but is are was let per upon "
    "the a at compare use uses used follow follows extends improves und von nach siehe".split()
)
_SUBJECT = re.compile(  # "we" with a verb, whose object may be what follows
    r"\b(?:we|they|i)\s(?:(?:\w{1,20}ly|can|may|will|then|also|further)\s){0,2}"
    r"(?!(?:be|been|being|are|were|was|have|had|do|did|will|would|can|could|may|should|must|not|"
    r"also|then|further|\w{1,20}ly)\b)[a-z]{2,20}\Z",
    re.IGNORECASE,
)
_TAKES_OBJECT = frozenset(  # verbs that say nothing without one
    "adapts adopts applies augments beats cites combines complements consults contradicts "
    "corrects disproves employs enhances enriches exceeds generalises generalizes implements "
    "matches mirrors modifies outperforms outperforming outperformed parallels refines refutes "
    "replaces replicates reproduces resembles revisits simplifies strengthens subsumes surpasses "
    "surpassing surpassed thanks extended applying adapting adopting employing combining "
    "generalising generalizing modifying".split()
)
_LATELY = frozenset(  # with which a sentence begins, and then somebody does something
    "recently later subsequently independently similarly concurrently then previously".split()
)
_NAMED = ("citet", "citeauthor", "textcite")
_DOES = re.compile(r"[ \n][a-z]")
_DROPPED = re.compile(
    rf"[ \t~]?\\(?:[a-zA-Z]?ref|autoref|eqref|{_CITE}|label|footnote|footnotemark|index|"
    r"includegraphics|bibliography|bibliographystyle|usepackage|documentclass|vspace|hspace|input|"
    r"include|author|date|thanks|pagestyle|thispagestyle|(?:re)?newcommand|setcounter|setlength|affil|"
    r"keywords|centering|maketitle|noindent|newpage|clearpage|bigskip|medskip|smallskip|item(?=\[))"
    r"\*?(?![a-zA-Z])(?:\[[^\[\]\n]{0,200}\]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\}){0,2000}\}){0,3}(?=(\w?))"
)
_HEADING = re.compile(r"\\(?:(?:sub){0,2}section|chapter|title|paragraph)\*?\{([^{}]{0,300})\}")
_CITED = re.compile(
    r"\\(?:[Cc]itet|[Tt]extcite)\*?\{([A-Za-z])([a-z]{2,20})[:_-]?\d{2,4}[a-z]{0,20}\}"
)  # by a name
_ROOT = re.compile(r"\\sqrt[ ]?\{([^{}]{0,60})\}")
_LIMITS = re.compile(r"([∑∏∫⋃⋂])(?:[ ]?[_^][ ]?(?:\{[^{}]{0,60}\}|[^\s{}]))+")
_CALLED = re.compile(r"(?<=[A-Za-z]) (?=[(\[])")
_LINK = re.compile(r"\\(?:href|(?:text)?color)(?:\[\w+\])?\{[^{}\n]{0,500}\}(?=\{)|\\color\{\w*\}")
_EDGE = re.compile(r"[ ]?\\(?:begin|end)\{[a-zA-Z*]+\}(?:\[[^\[\]\n]{0,99}\]|\{[^{}\n]{0,99}\})*")
_DISPLAY = re.compile(r"\$\$[^$]{0,4000}\$\$|\\\[[^$\\]{0,400}(?:\\(?!\])[^$\\]{0,400}){0,60}\\\]")
_FORMULA = re.compile(
    r"(?<!\\)\$(?=[^\s$])([^$\n]{0,400}(?:\n[^$\n]{1,400}){0,3})(?<![\s\\])\$(?!\d)"
    r"|(?<!\\)\$(?!\d)((?:[^\s$]{0,20}(?:\\[a-zA-Z]{1,20}|[<>=±×≈≤≥])|[-+])[ ]?)\$(?=\d)"  # $\sim$5
    r"|\\ensuremath\{([^{}$\n]{0,200})\}"
    r"|\\\(([^$()\n]{0,200}(?:\([^$()\n]{0,200}\)[^$()\n]{0,200}){0,20})\\\)"
)
_ACCENT = re.compile(r"\\([\"'`^~=.]|[uvHcdbkr](?=\{|[ ]))[ ]?(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))")
_MARKS = dict(
    zip("\"'`^~=.uvHcdbkr", map(chr, (776, 769, 768, 770, 771, 772, 775, 774, 780, 779, 807, 803,
    817, 808, 778)), strict=True)
)  # fmt: skip
_LETTERS = dict(
    sign.split(":")
    for sign in "ss:ß o:ø O:Ø ae:æ AE:Æ oe:œ OE:Œ aa:å AA:Å l:ł L:Ł ldots:… dots:… S:§ "
    "textendash:– textemdash:— LaTeX:LaTeX TeX:TeX pounds:£ euro:€ texteuro:€ copyright:© textmu:µ "
    "micro:µ textless:< textgreater:> textdegree:° degree:° celsius:°C percent:% textpm:± "
    "texttimes:× textasciitilde:~ textquoteright:’ textquoteleft:‘".split()
) | {"item": "\n- ", "par": "\n\n", "newline": "\n", "quad": " ", "qquad": " ", "xspace": " "}
_LAYOUT = frozenset(  # commands without words; another one without any may stand for a word
    "bf it em tt rm sc sl sf bfseries itshape ttfamily scshape normalfont tiny small large Large "
    "huge footnotesize protect relax null hfill vfill qed break tableofcontents".split()
)
_QUANTITY = re.compile(  # no unit may be lost: these stay as they are
    r"\\(?:SI|si|qty|unit|ang|[a-zA-Z]{2,3}(?:range|list))(?:\[[^\[\]\n]{0,99}\])?(?:\{[^{}\n]{0,99}\}){1,3}"
)
_POWER = re.compile(r"\\textsuperscript\{([-+\d]{1,9})\}")
_SYMBOLS = _LETTERS | dict(
    sign.split(":")
    for sign in "cdot:· infty:∞ neq:≠ exists:∃ to:→ gets:← implies:⇒ cdots:… varepsilon:ε varphi:φ "
    "vartheta:θ mid:| lvert:| rvert:| circ:° sim:~ longrightarrow:→ star:⋆ sqrt:√ bmod:mod "
    "pmod:mod leqslant:≤ geqslant:≥ land:∧ lor:∨ neg:¬ partial:∂".split()
)
_FUNCTIONS = frozenset(
    "log ln exp sin cos tan max min sup inf lim det dim ker arg gcd mod Pr poly polylog argmax "
    "argmin rank".split()
)
_OPERATOR = re.compile(r"[ ]*([~∼×≈≤≥≠<>=±→←⇒⇔∈∉⊂⊆∪∩≪≫≡∝≲≳↦])[ ]*")
_WRAPPERS = re.compile(
    r"\\(?:math[a-z]{1,6}|text[a-z]{0,6}|operatorname\*?|left|right|big[lr]?|Big[lr]?|bigg[lr]?|"
    r"boldsymbol|bm|mbox|limits|displaystyle|overline|underline|hat|tilde|bar|vec|widetilde|widehat)"
    r"(?![a-zA-Z])\.?"
)
_FRACTION = re.compile(r"\\[dt]?frac[ ]?(?:\{([^{}]{0,60})\}[ ]?\{([^{}]{0,60})\}|(\d)(\d))")
_RAISED = re.compile(r"\^[ ]?(?:\{([^{}]{0,60})\}|(\\[a-zA-Z]{1,20}|[^\s{}\\]))")
_LOWERED = re.compile(r"_[ ]?(?:\{([^{}]{0,60})\}|(\\[a-zA-Z]{1,20}|[^\s{}\\]))")
_UP = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_DOWN = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_MATHS_COMMAND = re.compile(r"\\([a-zA-Z]{1,30})[ ]?")
_OTHER_COMMAND = re.compile(r"\\([a-zA-Z]{1,30})\*?(?:\[[^\[\]\n]{0,99}\])?(?:\{\}|[ ]?)(?=(\{?))")
_THIN = re.compile(r"\\[,;:!>/ ]|~")
_ESCAPED = re.compile(r"\\([%$&#_{}])")
_KEPT = {mark: chr(0xFDE0 + number) for number, mark in enumerate("%$&#_{}~\\[]")}
_UNKEPT = {ord(code): mark for mark, code in _KEPT.items()}
_QUOTED = re.compile(r"(?<![\w`])`([^`'\n]{1,80})'(?!\w)")
_HOLE = re.compile(
    r"[ ]\([ ,;]{0,3}\)|[ ]\[[ ]?\]|[ ](?=[.,;:!?)\n])|(?<=\()[ ]|[,;](?=[ ]?[.;])|;(?=\))"
)
_BLANKS = re.compile(r"[ \t]+")
_LONGEST_FORMULA = 60  # characters that a formula may take in a sentence


def clean_latex(text: str, *, sure: bool = False) -> str:
    """Take the text out of LaTeX; other text stays as it is.

    Marks go, and what they hold stays; references, footnotes, figures, tables, displayed and long
    formulas are left out. A reference that the sentence needs as a word gives its key: "In [a]".

    Args:
        text: The text.
        sure: It is LaTeX.

    Returns:
        The text; unchanged if it is no LaTeX or nothing would be left.
    """
    if "\\" not in text or not (sure or _is_latex(text)):
        return text
    own = dict(_OWN.findall(text))
    found = _COMMAND.sub(lambda name: own.get(name.group()[1:], name.group()), _OWN.sub("", text))
    found = _COMMENT.sub("", _BLANKS.sub(" ", found)).replace("\\\\", "\n")
    found = _QUANTITY.sub(lambda quantity: _kept(quantity.group()), found)
    found = _POWER.sub(lambda power: power.group(1).translate(_UP), found)
    found = _without_hidden(found)
    found = _ACCENT.sub(_accented, _LINK.sub("", found))
    found = _DISPLAY.sub(" ", found)
    found = _FORMULA.sub(lambda formula: _kept(_said(formula[formula.lastindex or 0])), found)
    found = _CITED.sub(lambda key: key.group(1).upper() + key.group(2), found)
    found = _THIN.sub(" ", found)
    found = _POINTED.sub("", _HEADING.sub(r"\n\n\1\n\n", found))
    found = _REFERENCE.sub(_reference, found)
    found = _EDGE.sub("", _DROPPED.sub(lambda dropped: " " * len(dropped.group(1)), found))
    found = _ESCAPED.sub(lambda mark: _KEPT[mark.group(1)], found)
    found = _OTHER_COMMAND.sub(_letter, found)
    found = found.replace("~", " ").replace("---", "—").replace("--", "–")
    found = found.replace("``", "“").replace("''", "”").translate({123: None, 125: None})
    found = _QUOTED.sub(r"‘\1’", found)
    found = _HOLE.sub("", _BLANKS.sub(" ", found)).translate(_UNKEPT).strip()
    return found if has_words(found) else text


def _is_latex(text: str) -> bool:
    """Whether a text surely is: several commands, one of them around words, or a citation."""
    shown = _CODE_SPAN.sub("", text)
    if not _TEXT_COMMAND.search(shown):
        return False
    if len(_COMMAND.findall(shown)) < _FEWEST_COMMANDS and not _CITES.search(shown):
        return False
    return _STARTS.match(shown) is not None or not _ABOUT.search(shown)


def _without_hidden(text: str) -> str:
    """A text without the environments that hold no sentences."""
    kept: list[str] = []
    place, unclosed = 0, set[str]()
    for opened in _HIDING.finditer(text):
        closing = f"\\end{opened.group(1)}"
        if opened.start() < place or closing in unclosed:
            continue
        end = text.find(closing, opened.end())
        if end < 0:
            unclosed.add(closing)
        else:
            kept.append(text[place : opened.start()])
            place = end + len(closing)
    return "".join(kept) + text[place:]


def _reference(found: re.Match[str]) -> str:
    """A reference: its key in brackets where the sentence needs a word, else nothing."""
    gap, name, keys = found.groups()
    before = found.string[max(0, found.start() - 60) : found.start()]
    word = re.split(r"[\s{(]", before)[-1]
    low = word.lower()
    is_needed = not word or low in _LEADING or (gap and word[-1] in ".!?:," and low != "al.")
    if low in _LATELY and word[0].isupper():
        is_needed = _DOES.match(found.string, found.end()) is not None
    if name == "cite":  # in the others a sentence is whole without them
        is_needed = is_needed or low in _TAKES_OBJECT or _SUBJECT.search(before) is not None
    is_word = is_needed or "cite" not in name.lower() or name.lower() in _NAMED
    return _kept(f"{gap}[{' '.join(keys.split())}]") if is_word else ""


def _letter(command: re.Match[str]) -> str:
    """What a command stands for; itself, if that may be a word or sign that nobody knows."""
    name, is_around = command.groups()
    is_mark = is_around or name in _LAYOUT
    return _kept(_LETTERS.get(name, "" if is_mark else command.group()))


def _accented(accent: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", accent[accent.lastindex or 0] + _MARKS[accent[1]])


def _kept(formula: str) -> str:
    """A formula whose marks mean nothing to what follows."""
    return "".join(_KEPT.get(mark, mark) for mark in formula)


def _said(formula: str) -> str:
    """A formula in plain characters; empty if a sentence cannot hold it."""
    found = _THIN.sub(" ", " ".join(formula.split()))
    found = _ESCAPED.sub(lambda mark: _KEPT[mark.group(1)], found)
    found = _ROOT.sub(lambda root: "√" + _grouped(root[1]), _WRAPPERS.sub("", found))
    found = _FRACTION.sub(
        lambda parts: "/".join(map(_grouped, filter(None, parts.groups()))), found
    )
    found = _MATHS_COMMAND.sub(_symbol, found.replace("\\\\", " "))
    found = _LIMITS.sub(r"\1 ", found)
    found = _LOWERED.sub(lambda index: _script(index, _DOWN, "_"), found)
    found = _RAISED.sub(lambda power: _script(power, _UP, "^"), found)
    found = _OPERATOR.sub(r" \1 ", found).translate({123: None, 125: None, 92: None})
    found = " ".join(found.replace("'", "′").split()).translate(_UNKEPT)
    return _CALLED.sub("", found) if len(found) <= _LONGEST_FORMULA else ""


def _symbol(command: re.Match[str]) -> str:
    name = command.group(1)
    if name in _FUNCTIONS:
        return f" {name} "
    return _SYMBOLS.get(name) or html5.get(f"{name};", name)


def _grouped(part: str) -> str:
    return part if part.isalnum() else f"({part})"


def _script(found: re.Match[str], table: dict[int, int], mark: str) -> str:
    """A power or index: in small characters where there are such."""
    content = (found.group(1) if found.group(1) is not None else found.group(2)).strip()
    if content in ("°", "′", "", "th", "st", "nd", "rd"):
        return content
    small = content.translate(table)
    if all(old != new for old, new in zip(content, small, strict=True)):
        return small
    return mark + _grouped(content)
