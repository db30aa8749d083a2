"""Write the list of ordinary English words, which tells them from names, from texts.

A word is ordinary if, within sentences and away from other capitals, texts write it small at least
as often as with a capital: "president" is, "Sunak" and "Apple" are not. Only words go into the
list, no text.

    python scripts/make_ordinary_words.py DATA/*/train.jsonl.xz DATA/texts/*.jsonl.xz
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sumfit.truth.ordinary import ORDINARY_WORDS_FILE
from sumfit.writing import write_whole

_WITHIN = re.compile(r"(?<=[a-z,;] )[A-Za-z]+(?![\w'’-]*[\d_./@])")
_CAPITAL_BEFORE = re.compile(r"[A-Z][\w'’.-]*,? $")
_CAPITAL_AFTER = re.compile(r"(?:['’]s)?,? [A-Z]")
_MOST_TEXTS = 120_000  # of one file
_MOST_CHARACTERS = 2000  # of one text


def sources(path: Path) -> Iterator[str]:
    """Sources of a file of pairs or texts, JSON lines, packed by xz."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, _MOST_TEXTS):
            yield json.loads(line)["source"][:_MOST_CHARACTERS]


def count(text: str, small: Counter[str], capital: Counter[str]) -> None:
    """Count the words within sentences of a text that is not mostly in capitals."""
    matches = list(_WITHIN.finditer(text))
    if sum(match[0][0].isupper() for match in matches) * 2 > len(matches):
        return
    for match in matches:
        word = match[0]
        if word.islower():
            small[word] += 1
        elif not _CAPITAL_AFTER.match(text, match.end()) and not _CAPITAL_BEFORE.search(
            text, max(0, match.start() - 24), match.start()
        ):
            capital[word.lower()] += 1


def main() -> None:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--least", type=int, default=5, help="occurrences that a word needs")
    arguments = parser.parse_args()
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for path in arguments.files:
        for text in sources(path):
            count(text, small, capital)
    words = sorted(
        word
        for word, times in small.items()
        if times >= arguments.least and times >= capital[word] and len(word) > 1
    )
    data = lzma.compress("".join(f"{word}\n" for word in words).encode(), preset=9)
    write_whole(ORDINARY_WORDS_FILE, data)
    print(f"{len(words)} words, {len(data)} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
