"""Which sentence of a short text holds its point, by weights learned from everyday texts.

Owns what is looked at in a sentence, and the weights (``scripts/make_salience.py`` makes them from
texts with lines by editors; only words and numbers are kept, no text). A linear score: it knows how
chats, minutes, reviews and mails say what they come to, and news, papers and commits begin with it.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from sumfit.text.function_words import FUNCTION_WORDS
from sumfit.text.passages import TextForm

__all__ = ["WEIGHTS_FILE", "features_of", "salience"]

WEIGHTS_FILE = Path(__file__).with_name("salience.json.xz")

_WORD = re.compile(r"[\w'’]+")
_LABEL = re.compile(r"[A-Z][\w ]{1,20}: ")
_LONGEST = 40  # words
_ROOT = 5  # letters that tell a word


def salience(
    sentences: Sequence[str],
    form: TextForm = "article",
    weights: Mapping[str, float] | None = None,
) -> list[float]:
    """Score sentences of one text by how much of an editor's line each would give.

    Args:
        sentences: The sentences, in order.
        form: Talk, a thread, or anything else.
        weights: Others than those of the package.

    Returns:
        A score of each; about the share of the line's words that it has, above the mean.
    """
    weights = _weights() if weights is None else weights
    return [
        sum(weights.get(name, 0.0) * value for name, value in features.items())
        for features in features_of(sentences, form)
    ]


@cache
def _weights() -> Mapping[str, float]:
    found: dict[str, float] = json.loads(lzma.decompress(WEIGHTS_FILE.read_bytes()))
    return found


def features_of(sentences: Sequence[str], form: TextForm = "article") -> list[dict[str, float]]:
    """Return what the score is made of, by name, for each sentence.

    Args:
        sentences: The sentences of one text, in order.
        form: Talk, a thread, or anything else.

    Returns:
        Words and pairs of them; place, length, marks, and what is shared with the others, which
        count for each form by itself too.
    """
    roots = [_roots(sentence) for sentence in sentences]
    seen = Counter(root for own in roots for root in own)
    last = len(sentences) - 1
    found = []
    for place, sentence in enumerate(sentences):
        words = [word.lower() for word in _WORD.findall(sentence)]
        n_words, share = min(len(words), _LONGEST) / 10, place / max(1, last)
        shared = sum(seen[root] - 1 for root in roots[place]) / max(1, len(roots[place]))
        titled = len(roots[place] & roots[0]) / max(1, len(roots[place])) if place else 0.0
        features = {
            "first": place == 0,
            "second": place == 1,
            "last": place == last,
            "last but one": place == last - 1,
            "place": share,
            "place squared": share**2,
            "length": n_words,
            "length squared": n_words**2,
            "short": len(words) < 4,
            "asks": sentence.endswith("?"),
            "calls": sentence.endswith("!"),
            "behind a question": bool(place) and sentences[place - 1].endswith("?"),
            "digit": any(map(str.isdigit, sentence)),
            "label": _LABEL.match(sentence) is not None,
            "capitals": sum(word.isupper() and len(word) > 2 for word in sentence.split()) / 3,
            "shared": shared,
            "titled": titled,
        }
        features |= {f"{form} {name}": value for name, value in features.items()}
        features |= dict.fromkeys((f"w:{word}" for word in words), 1.0)
        features |= dict.fromkeys((f"b:{a}_{b}" for a, b in pairwise(words)), 1.0)
        features[f"s:{words[0] if words else ''}"] = 1.0
        found.append({name: float(value) for name, value in features.items() if value})
    return found


def _roots(sentence: str) -> frozenset[str]:
    """Content words of a sentence, cut to what tells them."""
    words = (word.lower() for word in _WORD.findall(sentence))
    return frozenset(word[:_ROOT] for word in words if word not in FUNCTION_WORDS)
