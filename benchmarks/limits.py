"""Does any summary ever break its limit? Random texts, units, modes and limits, counted.

    python benchmarks/limits.py --n 20000 [--model DIR] [--seed 1] [--processes 2]

Each draw takes a text of one or several scripts, a unit, a mode (at most, exactly, between, ratio,
preset, with prefix, suffix or reserve now and then) and a limit, and checks the string that comes
back: its length measured again (words, characters and bytes also by plain Python), not empty,
valid UTF-8, NFC, without control characters, never half a grapheme of the source's last cluster.
"Nothing fits" is a good answer and is counted. The exit code is 1 if anything was broken.

The search of one draw is cut short (``--max-expansions``): the promise about length must hold
whatever the search finds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import sumfit
import sumfit.text
from sumfit.errors import (
    BudgetError,
    ConflictingBudgetError,
    InfeasibleBudgetError,
    NothingFoundError,
    UnsupportedScriptError,
)
from sumfit.length import PRESETS, resolve_budget

SENTENCES = {
    "latin": (
        "The harbour office will move to the old customs house in May.",
        "Two climbers were rescued from the north face on Sunday night, police said.",
        "Łukasz Żółć opened his café “Étoile” in Kraków after nine naïve years.",
        "Der Bürgermeister weihte die Straßenbahn zwischen Süd und Größe ein.",
    ),
    "cyrillic": (
        "Мост через реку закроют на ремонт до конца осени.",
        "Їжак знайшов яблуко в саду.",
    ),
    "greek": ("Η γέφυρα θα κλείσει για έξι εβδομάδες λόγω επισκευών.",),
    "arabic": ("أعلنت البلدية أن الحديقة ستغلق شهرين لإصلاح شبكة المياه.",),
    "hebrew": ("הגשר ייסגר לשישה שבועות לצורך תיקונים.",),
    "devanagari": ("पुल की मरम्मत के लिए छह सप्ताह तक यातायात बंद रहेगा।",),
    "thai": ("สะพานจะปิดหกสัปดาห์เพื่อซ่อมแซม",),
    "han": ("东京地铁星期二早上因信号故障停运两小时。", "大橋將關閉六週進行維修。"),
    "kana": ("地下鉄の信号が故障し、三つの路線が約二時間止まった。",),
    "hangul": ("다리는 수리를 위해 6주 동안 폐쇄된다.",),
    "emoji": ("🎉 Big news 👩‍👩‍👧‍👦 from 🇫🇷🇯🇵 and 👍🏽👩🏾‍🚀!", "☕️ 1️⃣ ❤️‍🔥 \u200d ⌚"),
    "marks": ("e\u0301a\u0300o\u0302 u\u0308n\u0303 c\u0327 s\u030c Z\u0351\u0343\u036a",),
    "code": ("if (x <= 10) { return a[i] + b->c; } // see https://example.org/a?b=1",),
    "numbers": ("In 2024, 14,000 of 1.2 million people paid 4.5% or €3 (12/05).",),
    "spaces": ("A\u00a0b\u2003c\u3000d\te \n f\u2028g\u0085h",),
    "hostile": ("\x1b[31mred\x1b[0m \x00 \u202eevil\u202c \ufeff<b>&amp;</b> \ud800",),
}
UNITS = (
    "words",
    "tokens",
    "chars",
    "graphemes",
    "bytes",
    "cells",
    "utf16",
    "tweet",
    "mastodon",
    "sms",
)
HIGHEST = {"words": 24, "tokens": 40}


@dataclass(frozen=True)
class Draw:
    """One call.

    Attributes:
        text: The text.
        keywords: Length keywords.
    """

    text: str
    keywords: dict[str, Any]


def weight(text: str) -> int:
    """A measure of our own: letters count 1, everything else 2.

    Args:
        text: Any string.

    Returns:
        Its weight.
    """
    return sum(1 if character.isalpha() else 2 for character in text)


def draws(n: int, seed: int) -> Iterable[Draw]:
    """Make random calls.

    Args:
        n: How many.
        seed: Of the random numbers.

    Yields:
        The calls.
    """
    dice = random.Random(seed)
    for _ in range(n):
        yield Draw(_text(dice), _keywords(dice))


def _text(dice: random.Random) -> str:
    scripts = dice.sample(sorted(SENTENCES), dice.choice((1, 1, 1, 2, 3)))
    sentences = [dice.choice(SENTENCES[dice.choice(scripts)]) for _ in range(dice.randint(1, 6))]
    text = dice.choice((" ", " ", "\n", "")).join(sentences)
    shape = dice.random()
    if shape < 0.05:
        return text.split()[0] if text.split() else text
    if shape < 0.08:
        return " ".join([text] * 30)
    return text


def _keywords(dice: random.Random) -> dict[str, Any]:
    mode = dice.choice(("max", "max", "max", "exact", "between", "ratio", "preset"))
    unit: Any = dice.choice((*UNITS, weight))
    high = dice.randint(0, HIGHEST.get(unit, 90) if isinstance(unit, str) else 90)
    if mode == "preset":
        keywords: dict[str, Any] = {"preset": dice.choice(sorted(PRESETS))}
    elif mode == "ratio":
        keywords = {"ratio": round(dice.uniform(0.05, 1.0), 2), "unit": unit}
    elif mode == "exact":
        keywords = {"exact_length": high, "unit": unit}
    elif mode == "between":
        keywords = {"min_length": dice.randint(0, high), "max_length": high, "unit": unit}
    else:
        keywords = {"max_length": high, "unit": unit}
    if dice.random() < 0.15:
        keywords["prefix"] = dice.choice(("fix: ", "🚀 ", "新: "))
    if dice.random() < 0.15:
        keywords["suffix"] = dice.choice((" (#12)", " …", "\u0301!"))
    if dice.random() < 0.1:
        keywords["reserve"] = dice.randint(0, 12)
    return keywords


def faults(draw: Draw, summary: sumfit.Summary, fit: sumfit.Summarizer) -> list[str]:
    """Everything that is wrong with a summary.

    Args:
        draw: The call.
        summary: Its result.
        fit: For tokens.

    Returns:
        One line per fault.
    """
    if summary.error is not None:
        return ["text beside an error"] if summary.text else []
    source = sumfit.text.normalize(draw.text)
    request = resolve_budget(**draw.keywords, source=source, tokenizer=fit.tokenizer)
    text = summary.text
    found = []
    length = sumfit.measure(text, request.unit, tokenizer=fit.tokenizer)
    if length != summary.length:
        found.append(f"says {summary.length} {summary.unit}, measures {length}")
    plain = unicodedata.normalize("NFC", text)
    by_hand = {
        "words": lambda: len(plain.split()),
        "chars": lambda: len(plain),
        "bytes": lambda: len(plain.encode("utf-8")),
    }.get(summary.unit)
    if by_hand is not None and by_hand() != length:
        found.append(f"measure says {length} {summary.unit}, plain Python {by_hand()}")
    if not request.min_length <= length + request.reserve <= request.limit:
        found.append(
            f"{length} + {request.reserve} {summary.unit} outside "
            f"{request.min_length}..{request.limit}"
        )
    if plain == unicodedata.normalize("NFC", request.prefix + request.suffix):
        found.append("empty")
    if plain != text:
        found.append("not NFC")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        found.append("control character or surrogate")
    if "\ufffd" in text and "\ufffd" not in source:
        found.append("replacement character")
    return found


def run(
    fit: sumfit.Summarizer, n: int, *, seed: int = 1, max_expansions: int = 200
) -> tuple[Counter[str], list[str]]:
    """Draw, summarise, check.

    Args:
        fit: The summarizer.
        n: How many draws.
        seed: Of the draws.
        max_expansions: Where the search of a draw stops.

    Returns:
        Counts by outcome, and one line per fault.
    """

    def one(draw: Draw) -> tuple[str, list[str]]:
        keywords = {**draw.keywords, "max_expansions": max_expansions, "on_error": "return"}
        try:
            summary = fit(draw.text, **keywords)
        except BudgetError as error:  # refused before any text is read, such as 新 in an SMS
            return type(error).__name__, []
        outcome = summary.origin
        if summary.error is not None:
            outcome = type(summary.error).__name__
        shown = f"{draw.keywords} {draw.text[:60]!r} -> {summary.text!r}"
        return outcome, [f"{fault}: {shown}" for fault in faults(draw, summary, fit)]

    counts: Counter[str] = Counter()
    broken: list[str] = []
    with ThreadPoolExecutor(fit.n_workers) as pool:
        for outcome, found in pool.map(one, draws(n, seed)):
            counts[outcome] += 1
            broken += found
    return counts, broken


def run_part(model: str | None, n: int, seed: int, max_expansions: int) -> Any:
    """Run draws in a process of their own.

    Args:
        model: Model directory.
        n: How many draws.
        seed: Of the draws.
        max_expansions: Where the search of a draw stops.

    Returns:
        As `run`.
    """
    fit = sumfit.Summarizer.from_pretrained(model, n_workers=1)
    return run(fit, n, seed=seed, max_expansions=max_expansions)


def main() -> int:
    """Run from the command line; the exit code is 1 if anything was broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--model", default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-expansions", type=int, default=200)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    started = time.perf_counter()
    counts: Counter[str] = Counter()
    broken: list[str] = []
    share = -(-options.n // options.processes)
    sizes = [min(share, options.n - start) for start in range(0, options.n, share)]
    with ProcessPoolExecutor(options.processes, multiprocessing.get_context("spawn")) as pool:
        parts = [
            pool.submit(
                run_part, options.model, size, options.seed + number, options.max_expansions
            )
            for number, size in enumerate(sizes)
        ]
        for part in parts:
            some, found = part.result()
            counts += some
            broken += found
    for line in broken[:20]:
        print(line.encode("unicode_escape").decode())
    refused = (
        BudgetError,
        ConflictingBudgetError,
        InfeasibleBudgetError,
        NothingFoundError,
        UnsupportedScriptError,
    )
    known = {"model", "source", "cut", *(kind.__name__ for kind in refused)}
    name = options.model or "the default"
    print(f"model {name}, seed {options.seed}, {time.perf_counter() - started:.0f} s")
    for outcome, count in counts.most_common():
        note = "" if outcome in known else "  (other error)"
        print(f"{count:>7}  {outcome}{note}")
    print(f"{len(broken):>7}  broken of {options.n} draws")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
