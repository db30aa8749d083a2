"""Lexicon: prefix ranges against a plain scan, and its file."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from sumfit.constraints.lexicon import Lexicon
from sumfit.errors import ModelFormatError, ModelNotFoundError

WORDS = ["a", "an", "ant", "anté", "bee", "Bee", "été", "zebra", "zebras", "日本", "ab", "abc"]


def test_prefix_ranges_are_what_a_scan_finds() -> None:
    lexicon = Lexicon.from_words(WORDS)
    ordered = sorted(word.encode() for word in WORDS)
    assert list(lexicon) == ordered
    prefixes = {word[:n] for word in ordered for n in range(len(word) + 1)} | {b"x", b"ac", b"\xff"}
    for prefix in prefixes:
        low, high = lexicon.prefix_range(prefix)
        assert ordered[low:high] == [word for word in ordered if word.startswith(prefix)], prefix


def test_random_prefix_ranges() -> None:
    rng = np.random.default_rng(0)
    words = {bytes(rng.integers(97, 100, size=rng.integers(1, 7)).tolist()) for _ in range(300)}
    lexicon = Lexicon.from_bytes(words)
    ordered = sorted(words)
    for _ in range(500):
        prefix = bytes(rng.integers(97, 101, size=rng.integers(0, 6)).tolist())
        low, high = lexicon.prefix_range(prefix)
        assert ordered[low:high] == [word for word in ordered if word.startswith(prefix)]


def test_membership_is_exact() -> None:
    lexicon = Lexicon.from_words(WORDS)
    assert "anté" in lexicon
    assert "日本".encode() in lexicon
    for missing in ("ant\u00e9s", "", "z", "BEE", 3):
        assert missing not in lexicon


@pytest.mark.parametrize("name", ["lexicon.txt", "lexicon.txt.xz"])
def test_file_round_trip(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    Lexicon.from_words(WORDS).save(path)
    assert list(Lexicon.load(path)) == sorted(word.encode() for word in WORDS)


def test_an_empty_lexicon_is_one(tmp_path: Path) -> None:
    empty = Lexicon.from_words([])
    empty.save(tmp_path / "empty.txt")
    assert len(Lexicon.load(tmp_path / "empty.txt")) == 0
    assert empty.prefix_range(b"a") == (0, 0)


def test_damaged_files_are_typed_errors(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"^no lexicon file at "):
        Lexicon.load(tmp_path / "missing.txt.xz")
    (tmp_path / "bad.txt.xz").write_bytes(b"no xz")
    with pytest.raises(ModelFormatError, match="is not a readable lexicon"):
        Lexicon.load(tmp_path / "bad.txt.xz")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ModelFormatError, match="is not a readable lexicon"):
        Lexicon.load(tmp_path / "latin.txt")
    for unsorted in (b"b\na\n", b"a\na\n", b"abcdefghij\nabcdefghii\n"):
        (tmp_path / "unsorted.txt.xz").write_bytes(lzma.compress(unsorted))
        with pytest.raises(ModelFormatError, match="is not sorted bytewise without repeats"):
            Lexicon.load(tmp_path / "unsorted.txt.xz")
