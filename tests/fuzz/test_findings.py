"""What fuzzing has found, one test for each kind."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sumfit.data.readers import read_rows
from sumfit.errors import DataFormatError


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
