"""What fuzzing has found, one test for each kind."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from sumfit.config import apply_overrides, read_toml
from sumfit.data.readers import read_rows
from sumfit.errors import ConfigError, DataFormatError, ModelFormatError
from sumfit.text import Tokenizer


def test_gzip_data_damaged_in_the_middle_is_a_data_error(tmp_path: Path) -> None:
    """zlib has an error class of its own, which is neither an OSError nor a ValueError."""
    file = tmp_path / "in.jsonl.gz"
    good = gzip.compress(b'{"text": "a"}\n' * 40, mtime=0)
    n_refused = 0
    for place in range(10, len(good)):
        file.write_bytes(good[:place] + bytes([good[place] ^ 0x5A]) + good[place + 1 :])
        try:
            list(read_rows(file))
        except DataFormatError:
            n_refused += 1
    assert n_refused > (len(good) - 10) * 0.8
    file.write_bytes(good[:10] + b"\xff" * 40)
    with pytest.raises(DataFormatError, match="damaged after line 0"):
        list(read_rows(file))


@pytest.mark.parametrize(
    ("piece", "number", "reason"),
    [("q", 10_000, "an id has no piece"), ("\u65e5", 270, "a piece is no bytes")],
)
def test_a_vocabulary_of_gaps_or_of_no_bytes_is_a_model_error(
    tiny_tokenizer: Tokenizer, piece: str, number: int, reason: str
) -> None:
    """Ids without a piece were a TypeError, at the first text."""
    values = json.loads(tiny_tokenizer._serialised)
    vocab = values["model"]["vocab"]
    values["model"]["merges"] = []
    last = max(vocab, key=lambda name: vocab[name])
    del vocab[last]
    vocab[piece * 3] = (
        number
        if number > len(vocab)
        else vocab.pop(next(name for name in vocab if vocab[name] == number))
    )
    with pytest.raises(ModelFormatError, match=reason):
        _ = Tokenizer(json.dumps(values)).piece_bytes


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("9" * 5000, "4300 digits"),
        ("0x" + "f" * 5000, "a whole number of 20000 bits"),
        ("[[1], [0x" + "f" * 5000 + "]]", "a whole number of 20000 bits"),
        ("[" * 5000 + "]" * 5000, "nested too deeply"),
    ],
)
def test_values_of_a_recipe_that_python_cannot_take_are_a_config_error(
    tmp_path: Path, value: str, reason: str
) -> None:
    """Long numbers were a ValueError, on reading or when a message was to show them."""
    (tmp_path / "recipe.toml").write_text(f"x = {value}\n")
    with pytest.raises(ConfigError, match=rf"recipe\.toml is not TOML: .*{reason}"):
        read_toml(tmp_path / "recipe.toml")
    assert apply_overrides({}, [f"x={value}"]) == {"x": value}  # a string, as all that is not TOML
