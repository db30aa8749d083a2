"""How time grows with the length of a text: every function that reads one, on hostile shapes.

    python benchmarks/input_growth.py [--readers NAME ...] [--shapes NAME ...] [--minutes 10]
                                      [--least 1000] [--most 1024000] [--json FILE]

Every reader gets every shape, from ``--least`` characters on four times as many each time. Above
64,000 those come first whose time seems to grow too fast, and then the shorter ones, of these what
takes least, up to ``--most`` or until the minutes of the processor are over; how far all came is
printed. Times below the noise floor of 2 ms say nothing and are left out; through the others a line
is laid in logarithms, whose slope is the exponent: 1 is linear, 2 grows with the square. Prints the
greatest exponent of each reader with its shape, and exits with 1 if any is above 1.2 and the
longest text also takes more than 20 ms, so that a hash table that falls out of a cache is no
finding. What looks like a finding is measured three times, and the least counts. A reader that
takes more than 5 s is stopped there, and what it took is in its exponent.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sumfit.cleaning import clean
from sumfit.constraints.compile import Constraints
from sumfit.constraints.compiled import CompiledConstraints
from sumfit.constraints.lexicon import WORD_PATTERN, Lexicon
from sumfit.evaluation.alignment import Aligner
from sumfit.evaluation.fidelity import fidelity, unknown_words
from sumfit.evaluation.novelty import reordered_pairs
from sumfit.length import UNITS, measure, resolve_budget, sms_info, unit_costs
from sumfit.pipeline.constraints_for_text import says_little
from sumfit.pipeline.options import Options
from sumfit.pipeline.search import says_something
from sumfit.pipeline.source import prepare
from sumfit.runtime import ModelDirectory
from sumfit.text import ends_completely, get_profile, normalize
from sumfit.text.capitalization import Capitalizer
from sumfit.text.language import language_of
from sumfit.text.passages import select
from sumfit.text.scripts import foreign_script, keeps_scripts
from sumfit.text.split import split_words
from sumfit.text.surface import Surface
from sumfit.truth import support

MOST_EXPONENT = 1.2
FLOOR_S = 0.002
LEAST_HARM_S = 0.02
_FEWEST = 3  # times above the floor that a line is laid through
_REPEATS = 3  # measurements of what looks like a finding
_SUSPECT = 1.1  # exponent from which on a line comes first
_STOP_S = 5.0
_TIMES = 4  # as long as the text before
_BROAD = 64_000  # characters up to which everything is measured, whatever it takes
_LEAD = "The council said on Monday that the old bridge will close for six weeks."
_SUMMARY = "Old bridge to close for 6 weeks, Mayor Smith says; Oslo's ferry helps."

Reader = Callable[[str], object]


def _repeated(part: str, *, before: str = "", after: str = "") -> Callable[[int], str]:
    def shape(n: int) -> str:
        room = max(0, n - len(before) - len(after))
        return before + (part * (room // len(part) + 1))[:room] + after

    return shape


def _counted(word: str, *, between: str = " ") -> Callable[[int], str]:
    def shape(n: int) -> str:
        count = n // (len(word) + 6)
        return between.join(f"{word}{i}" for i in range(count))

    return shape


def _growing(part: str) -> Callable[[int], str]:
    """Runs of the part, each one longer than the one before."""

    def shape(n: int) -> str:
        most = int(math.sqrt(2 * n / len(part)))
        return " ".join(part * size for size in range(1, most))[:n]

    return shape


SHAPES: dict[str, Callable[[int], str]] = {
    "prose": _repeated(_LEAD + " "),
    "accents, dot": _repeated("é", after="."),
    "accents-hyphens": _repeated("é-"),
    "accents.dots": _repeated("é."),
    "CJK, number": _repeated("日", after=" 3.5"),
    "CJK.domain": _repeated("日", before="x.", after=".com"),
    "CJK_underscores": _repeated("日._", after="x.com"),
    "joined emoji": _repeated("👩\u200d", after="."),
    "joiners": _repeated("\u200d", before="a"),
    "flags": _repeated("🇫"),
    "tag flags": _repeated("🏴\U000e0067"),
    "one word": _repeated("a"),
    "one upper word": _repeated("A"),
    "digits": _repeated("7"),
    "digits,groups": _repeated("1,"),
    "digits.dots": _repeated("1."),
    "dots": _repeated("."),
    "letter dots": _repeated("a."),
    "asked loudly": _repeated("?!", after="a"),
    "commas": _repeated(","),
    "brackets": _repeated("("),
    "closers": _repeated(")", before="End."),
    "bracketed path": _repeated("(a", before="x.com/"),
    "links": _repeated("x.com/a "),
    "schemes": _repeated("http://"),
    "mentions": _repeated("@a.b@c.d"),
    "query": _repeated("!", before="x.com?a"),
    "apostrophes": _repeated("'"),
    "apostrophe words": _repeated("a'"),
    "quotes": _repeated('"'),
    "curly quotes": _repeated("‘a "),
    "markup": _repeated("<a href='x'>&amp;"),
    "base64": _repeated("aGVsbG8gd29ybGQ0K+/Zz9"),
    "hex": _repeated("0f3a"),
    "combining marks": _repeated("\u0301", before="a"),
    "mixed marks": _repeated("\u0301\u0323", before="e"),
    "hangul jamo": _repeated("\u1112\u1161\u11ab"),
    "blanks": _repeated(" ", before="a", after="b"),
    "newlines": _repeated("\r\n", before="a", after="b"),
    "blank lines": _repeated("a\n\n"),
    "zero-width": _repeated("a\u200b"),
    "surrogates": _repeated("\ud83d"),
    "hyphens": _repeated("-"),
    "dashes": _repeated("— "),
    "tabs": _repeated("\t", before="U.S. ", after="\n"),
    "capitals": _repeated("Ab. "),
    "title case": _counted("Name"),
    "distinct words": _counted("word"),
    "distinct numbers": _counted("1"),
    "hash signs": _repeated("#."),
    "growing words": _growing("ab"),
    "stutters": _repeated("re real really "),
    "Thai": _repeated("ไทย"),
    "Arabic": _repeated("سلام "),
    "controls": _repeated("\x00a"),
}


class Line(NamedTuple):
    """Times of one reader on one shape.

    Attributes:
        exponent: Slope in logarithms; NaN where too few times are above the floor.
        sizes: Characters.
        seconds: Processor time of each.
    """

    exponent: float
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def is_fault(self) -> bool:
        """Whether the time grows too fast, and does harm."""
        return self.exponent > MOST_EXPONENT and self.seconds[-1] > LEAST_HARM_S


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of a line through the times above the noise floor, in logarithms.

    Args:
        sizes: Characters.
        seconds: Time of each.

    Returns:
        The slope; NaN if fewer than three times are above the floor.
    """
    points = [(n, s) for n, s in zip(sizes, seconds, strict=True) if s >= FLOOR_S]
    if len(points) < _FEWEST:
        return math.nan
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


class Growing:
    """Times of one reader on ever longer texts of a shape."""

    def __init__(
        self,
        read: Reader,
        shape: Callable[[int], str],
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        """Measure nothing yet.

        Args:
            read: The reader.
            shape: Makes the text of so many characters.
            clock: Tells the time.
        """
        self._read, self._shape, self._clock = read, shape, clock
        self._seconds: dict[int, float] = {}

    @property
    def line(self) -> Line:
        """What was measured so far."""
        sizes, seconds = tuple(self._seconds), tuple(self._seconds.values())
        return Line(exponent(sizes, seconds), sizes, seconds)

    def order(self, n_chars: int) -> tuple[bool, int, float]:
        """Say how early a longer text is read: less where the time grows too fast, or is little.

        Args:
            n_chars: Characters of that text.

        Returns:
            A key, with the characters in its middle.
        """
        line = self.line
        return not line.exponent > _SUSPECT, n_chars, line.seconds[-1]

    def measure(self, n_chars: int) -> None:
        """Read a text of so many characters, unless a shorter one took too long.

        Args:
            n_chars: The characters; measured before, the lesser time counts.
        """
        if not self._seconds:
            self._read(self._shape(n_chars))  # what is made once
        elif n_chars not in self._seconds and self.line.seconds[-1] > _STOP_S:
            return
        text = self._shape(n_chars)
        started = self._clock()
        self._read(text)
        took = self._clock() - started
        self._seconds[n_chars] = min(took, self._seconds.get(n_chars, math.inf))

    def settle(self) -> Line:
        """Measure a finding again, in case that something else took the time.

        Returns:
            What is left of it.
        """
        for _ in range(_REPEATS - 1):
            if not self.line.is_fault:
                break
            for n_chars in list(self._seconds):
                self.measure(n_chars)
        return self.line


def readers() -> dict[str, Reader]:
    """Everything that reads a text of a stranger, by name.

    Returns:
        Functions of one text.
    """
    model = ModelDirectory.open()
    tokenizer, lexicon = model.tokenizer, model.lexicon
    gigaword = get_profile("gigaword")
    found: dict[str, Reader] = {
        f"measure {name}": lambda text, name=name: measure(  # type: ignore[misc]
            text, name, tokenizer=tokenizer
        )
        for name in UNITS
    }
    request = resolve_budget(max_chars=60, prefix="News: ")
    known = frozenset(split_words(_LEAD))
    recommended = Constraints.recommended()
    own_words = Constraints.recommended(source_numbers_only=True, source_names_only=True)
    costs = unit_costs(tokenizer, "chars")
    words_of_graph = np.arange(4, 2004, dtype=np.int32)

    def compiled(text: str, constraints: Constraints = recommended) -> CompiledConstraints:
        return constraints.compile(tokenizer, lexicon, normalize(text))

    def fits_own_words(text: str) -> bool:
        rules = own_words.compile(tokenizer, None, normalize(text))
        return rules.fits_own_words(words_of_graph, costs.cost, costs.first_cost, 60, 400)

    def required(text: str) -> object:
        phrase = Constraints(required=(f"x {normalize(text)}",), banned=("y z",))
        rules = phrase.compile(tokenizer, lexicon, "")
        try:
            rules.check_required(words_of_graph, costs.cost, costs.first_cost, 60, 400)
        except ValueError as error:
            return error
        return rules.can_spell(words_of_graph)

    def aligned(text: str) -> object:
        words = split_words(f"x {text}")
        aligner = Aligner.fit([words], [split_words(_SUMMARY)])
        return aligner.align(words, split_words(_SUMMARY))

    def reordered(text: str) -> object:
        return reordered_pairs([hash(character) % 997 for character in text])

    def ratio(text: str) -> object:
        return resolve_budget(ratio=0.1, source=normalize(text), tokenizer=tokenizer)

    found |= {
        "sms_info": sms_info,
        "ratio": ratio,
        "label": lambda text: request.without_label(request.compose(text)),
        "normalize": normalize,
        "gigaword": gigaword.apply_source,
        "gigaword summary": gigaword.apply_summary,
        "split_words": split_words,
        "split_words ascii": lambda text: split_words(text, splitter="ascii"),
        "clean": clean,
        "clean as mail": lambda text: clean(text, "mail"),
        "clean as markdown": lambda text: clean(text, "markdown"),
        "language": language_of,
        "passages": lambda text: select(text, len, most=800),
        "scripts": lambda text: (keeps_scripts(text, text), foreign_script(text, ["Latin"])),
        "ends_completely": ends_completely,
        "capitals": lambda text: Capitalizer(f"A{text}", None)(f"A{text}"),
        "title case": lambda text: Capitalizer(text, "title")(text),
        "surface of source": lambda text: Surface(text).fault(_SUMMARY),
        "surface of summary": lambda text: Surface(_LEAD).fault(text),
        "encode": tokenizer.encode,
        "decode": lambda text: tokenizer.decode(tokenizer.encode(text)),
        "prepare": lambda text: prepare(
            f"x {text}", tokenizer=tokenizer, profile="natural", max_source=192
        ),
        "lexicon": lambda text: Lexicon.from_words(WORD_PATTERN.findall(text)),
        "lexicon lookup": lambda text: text.encode("utf-8", "replace") in lexicon,
        "constraints": compiled,
        "constraints, all": lambda text: compiled(text, own_words),
        "fits_own_words": fits_own_words,
        "required": required,
        "says_little": says_little,
        "says_something": says_something,
        "unknown_words": lambda text: unknown_words(text, _LEAD, known),
        "faithful summary": lambda text: support(_LEAD, text),
        "faithful source": lambda text: support(text, _SUMMARY),
        "fidelity": lambda text: fidelity([text], sources=[text], lexicon=known, limits=60),
        "alignment": aligned,
        "reordering": reordered,
    }
    return found


def pipeline_readers() -> dict[str, Reader]:
    """The whole way of a text, network and search included, and the cut of a text.

    Returns:
        Functions of one text.
    """
    from sumfit.pipeline.results import ResultMaker
    from sumfit.pipeline.summarizer import Summarizer

    fit = Summarizer.from_pretrained(n_workers=1)
    request = resolve_budget(max_chars=60)

    def whole(text: str) -> object:
        return fit([f"x {text}"], max_chars=60, max_expansions=200)

    def cut(text: str) -> object:
        source = prepare(f"x {text}", tokenizer=fit.tokenizer, profile="natural", max_source=192)
        return ResultMaker(source, Options(), fit.tokenizer).cut(request)

    return {"summarize": whole, "cut": cut}


def sizes_between(least: int, most: int) -> list[int]:
    """The least and four times as many each time, up to the most.

    Args:
        least: Characters of the first text.
        most: Most characters.

    Returns:
        Numbers of characters, at least one.
    """
    sizes = [least]
    while sizes[-1] * _TIMES <= most:
        sizes.append(sizes[-1] * _TIMES)
    return sizes


def measured(
    chosen: Mapping[str, Reader],
    shapes: Mapping[str, Callable[[int], str]],
    sizes: Sequence[int],
    is_over: Callable[[], bool],
) -> dict[str, dict[str, Line]]:
    """Time every reader on every shape, as far as there is time.

    Args:
        chosen: Readers by name.
        shapes: Shapes by name.
        sizes: Numbers of characters, ascending.
        is_over: Whether no longer texts are to be begun.

    Returns:
        The lines of each reader, by shape.
    """
    growing = {
        (name, shape): Growing(read, made)
        for name, read in chosen.items()
        for shape, made in shapes.items()
    }
    lines = list(growing.values())
    n_broad = max(1, sum(n_chars <= _BROAD for n_chars in sizes))
    for line in lines:
        for n_chars in sizes[:n_broad]:
            line.measure(n_chars)
    following = dict(itertools.pairwise(sizes))
    waiting = [
        (line.order(n_chars), place)
        for place, line in enumerate(lines)
        for n_chars in sizes[n_broad : n_broad + 1]
    ]
    heapq.heapify(waiting)
    while waiting and not is_over():
        (_, n_chars, _), place = heapq.heappop(waiting)
        lines[place].measure(n_chars)
        if n_chars in following:
            heapq.heappush(waiting, (lines[place].order(following[n_chars]), place))
    return {name: {shape: growing[name, shape].settle() for shape in shapes} for name in chosen}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print.

    Args:
        argv: Arguments of the command line.

    Returns:
        1 if anything grows too fast.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", nargs="*", help="all if left out")
    parser.add_argument("--shapes", nargs="*", choices=list(SHAPES), help="all if left out")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the processor")
    parser.add_argument("--least", type=int, default=1_000)
    parser.add_argument("--most", type=int, default=1_024_000)
    parser.add_argument("--json", type=Path, help="where to write all times")
    given = parser.parse_args(argv)
    chosen = readers() | pipeline_readers()
    unknown = set(given.readers or ()) - set(chosen)
    if unknown:
        parser.error(f"no reader {sorted(unknown)[0]!r}; there are {', '.join(chosen)}")
    chosen = {name: read for name, read in chosen.items() if name in (given.readers or chosen)}
    shapes = {name: SHAPES[name] for name in (given.shapes or SHAPES)}
    faults, table = 0, {}
    sizes = sizes_between(given.least, given.most)
    end = time.process_time() + 60 * given.minutes
    found = measured(chosen, shapes, sizes, lambda: time.process_time() > end)
    print(f"{'reader':22} {'exponent':>8} {'longest':>9}  shape of the greatest exponent")
    for name, lines in found.items():
        table[name] = {shape: line._asdict() for shape, line in lines.items()}
        bad = [shape for shape, line in lines.items() if line.is_fault]
        faults += len(bad)
        worst = max(lines, key=lambda shape: np.nan_to_num(lines[shape].exponent, nan=-1.0))
        slowest = max(line.seconds[-1] for line in lines.values())
        grown = f"{lines[worst].exponent:.2f}"
        print(f"{name:22} {grown:>8} {slowest:8.3f}s  {worst}", flush=True)
        for shape in bad:
            line = lines[shape]
            print(
                f"    above {MOST_EXPONENT}: {shape}: {line.exponent:.2f}, {line.seconds[-1]:.2f} s"
            )
    longest = Counter(line.sizes[-1] for lines in found.values() for line in lines.values())
    for size, count in sorted(longest.items()):
        print(f"{count:5} lines up to {size:,} characters")
    print(f"{len(chosen)} readers, {len(shapes)} shapes each: {faults} above {MOST_EXPONENT}")
    if given.json:
        given.json.write_text(json.dumps(table, indent=1), encoding="utf-8")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
