"""Packed files: what they hold, and no more memory or time than that is worth."""

from __future__ import annotations

import io
import lzma
import os
import pickle
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit.constraints.lexicon import MOST_BYTES, Lexicon
from sumfit.errors import ModelFormatError
from sumfit.rerank.phrases import Phrases
from sumfit.text import Tokenizer
from sumfit.unpacking import packed_size, read_arrays, read_object, read_up_to, xz_blocks

MIB = 1 << 20


def bomb(path: Path, content: bytes, times: int) -> Path:
    """A file that unpacks to ``times`` copies of ``content``."""
    packer = lzma.LZMACompressor(preset=0)
    with path.open("wb") as file:
        for _ in range(times):
            file.write(packer.compress(content))
        file.write(packer.flush())
    return path


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=5000), times=st.integers(1, 40))
def test_xz_comes_back_whole(
    content: bytes, times: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "one.xz"
    path.write_bytes(lzma.compress(content * times))
    size = len(content) * times
    assert b"".join(xz_blocks(path, size)) == content * times
    assert packed_size(path, size) == size
    if size:
        with pytest.raises(ValueError, match="unpacks to more than"):
            b"".join(xz_blocks(path, size - 1))


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damaged_xz_is_a_value_error(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.xz"
    whole = lzma.compress(bytes(range(256)) * 40)
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ValueError, match=r"."):
        list(xz_blocks(path, MIB))
    path.write_bytes(whole + data.draw(st.binary(min_size=1, max_size=20)))
    with pytest.raises(ValueError, match="more behind its end"):
        list(xz_blocks(path, MIB))


def test_an_xz_file_that_asks_for_gigabytes_of_memory_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    (tmp_path / "wide.xz").write_bytes(lzma.compress(b"word\n", filters=filters))
    with pytest.raises(ValueError, match=r"[Mm]emory"):
        list(xz_blocks(tmp_path / "wide.xz", MIB))


def cost(code: str, file: Path) -> tuple[float, float, str]:
    """Seconds of CPU, MiB of memory, and the error, of a process that loads a file."""
    program = (
        "import resource, sys, time, pathlib\n"
        "from sumfit.constraints.lexicon import Lexicon\n"
        "from sumfit.rerank.phrases import Phrases\n"
        "from sumfit.errors import ModelFormatError\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "before, begin = peak(), time.process_time()\n"
        f"try: {code}(pathlib.Path(sys.argv[1])); said = 'loaded'\n"
        "except ModelFormatError as error: said = str(error)\n"
        "print(time.process_time() - begin, peak() - before, said, sep='\\n')\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(file)], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    seconds, mebibytes, said = result.stdout.split("\n", 2)
    return float(seconds), float(mebibytes), said


@pytest.mark.skipif(os.name == "nt", reason="peak memory is asked for as on Unix")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (bytes(MIB), "a control character, 0x00"),
        (b"\n" * MIB, "an empty line"),
        (b"a\n" * (MIB // 2), "cannot all differ"),
        (b"a" * MIB, f"unpacks to more than {MOST_BYTES:,} bytes"),
        (b"word\n" * (MIB // 5), f"unpacks to more than {MOST_BYTES:,} bytes"),
    ],
)
def test_a_lexicon_that_unpacks_without_end_costs_little(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    times = 640 if content[0] == 0 else 12 if b"a\n" in content or b"\n\n" in content else 64
    file = bomb(tmp_path / "lexicon.txt.xz", content, times)
    seconds, mebibytes, said = cost("Lexicon.load", file)
    assert reason in said
    assert (seconds, mebibytes) < (2, 200)
    assert mebibytes < 200


def test_a_lexicon_of_many_words_is_sorted_across_blocks(tmp_path: Path) -> None:
    words = sorted(f"{number:x}".encode() for number in range(140_000))
    path = tmp_path / "lexicon.txt.xz"
    path.write_bytes(lzma.compress(b"\n".join(words) + b"\n", preset=0))
    assert list(Lexicon.load(path)) == words
    for place in (65_535, 65_536, 65_537, 131_071, len(words) - 2):
        swapped = [*words[:place], words[place + 1], words[place], *words[place + 2 :]]
        path.write_bytes(lzma.compress(b"\n".join(swapped) + b"\n", preset=0))
        with pytest.raises(ModelFormatError, match="is not sorted bytewise"):
            Lexicon.load(path)
        twice = [*words[: place + 1], *words[place:]]
        path.write_bytes(lzma.compress(b"\n".join(twice) + b"\n", preset=0))
        with pytest.raises(ModelFormatError, match="is not sorted bytewise"):
            Lexicon.load(path)


def test_a_lexicon_of_more_than_its_manifest_says_is_refused(tmp_path: Path) -> None:
    Lexicon.from_words(["bridge", "storm"]).save(tmp_path / "lexicon.txt.xz")
    assert len(Lexicon.load(tmp_path / "lexicon.txt.xz", most_bytes=13)) == 2
    with pytest.raises(ModelFormatError, match="unpacks to more than 12 bytes"):
        Lexicon.load(tmp_path / "lexicon.txt.xz", most_bytes=12)


def table(**changes: Any) -> Phrases:
    arrays: dict[str, Any] = {
        "words": np.array([3, 500, 2**32 - 1], dtype=np.uint32),
        "log_p": np.array([1, 2, 3], dtype=np.uint8),
        "log_rest": np.array([1, 2, 3], dtype=np.uint8),
        "log_kept": np.array([-1, 2, 3], dtype=np.int8),
        "pairs": np.array([7, 9], dtype=np.uint32),
        "pair_log_p": np.array([1, 2], dtype=np.uint8),
    }
    return Phrases(**(arrays | changes))


def test_arrays_come_back_as_numpy_wrote_them(tmp_path: Path) -> None:
    arrays = {
        "a": np.arange(12, dtype=np.int16).reshape(3, 4),
        "f": np.asfortranarray(np.linspace(0, 1, 6).reshape(2, 3)),
        "empty": np.zeros((0, 2), dtype=np.uint8),
        "number": np.array(3.5),
    }
    np.savez_compressed(tmp_path / "some.npz", **arrays)
    found = read_arrays(tmp_path / "some.npz", arrays, MIB)
    for name, values in arrays.items():
        np.testing.assert_array_equal(found[name], values)
        assert found[name].dtype == values.dtype


def npy(header: bytes, body: bytes = b"", version: bytes = b"\1\0") -> bytes:
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header + body


HUGE = b"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999,), }\n"


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (npy(HUGE, b"abc"), "states another size than it has"),
        (
            npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", b"x"),
            "Python objects",
        ),
        (npy(b"{nonsense", b"x"), "."),
        (npy(HUGE, version=b"\7\0"), r"version \(7, 0\)"),
        (b"", "."),
    ],
)
def test_hostile_arrays_are_refused(tmp_path: Path, member: bytes, reason: str) -> None:
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as file:
        file.writestr("x.npy", member)
    with pytest.raises(ValueError, match=reason):
        read_arrays(tmp_path / "p.npz", ["x"], MIB)


def test_no_pickle_is_ever_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "phrases.npz", "w") as file:
        for name in Phrases.__slots__:
            file.writestr(f"{name}.npy", stream.getvalue())
    with pytest.raises(ModelFormatError, match="Python objects"):
        Phrases.load(tmp_path / "phrases.npz")
    (tmp_path / "phrases.npz").write_bytes(pickle.dumps([Trap()]))
    with pytest.raises(ModelFormatError, match="missing or damaged"):
        Phrases.load(tmp_path / "phrases.npz")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.skipif(os.name == "nt", reason="peak memory is asked for as on Unix")
def test_a_table_that_unpacks_without_end_costs_little(tmp_path: Path) -> None:
    file = tmp_path / "phrases.npz"
    table().save(file)
    assert Phrases.load(file).pairs.tolist() == [7, 9]
    zeros = np.zeros(1 << 27, dtype=np.uint8)
    np.savez_compressed(file, **{name: zeros for name in Phrases.__slots__[:2]})
    with zipfile.ZipFile(file, "a") as archive:
        for name in Phrases.__slots__[2:]:
            archive.writestr(f"{name}.npy", b"")
    seconds, mebibytes, said = cost("Phrases.load", file)
    assert "unpacks to more than 67,108,864 bytes" in said
    assert seconds < 2
    assert mebibytes < 200


def test_a_table_of_the_wrong_shape_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "phrases.npz"
    for changes in (
        {"log_p": np.array([1.0, 2, 3])},
        {"log_kept": np.array([1], dtype=np.int8)},
        {"log_rest": np.array([[1, 2, 3]], dtype=np.uint8)},
    ):
        table(**changes).save(file)
        with pytest.raises(ModelFormatError, match="holds no table of phrases"):
            Phrases.load(file)
    arrays: dict[str, Any] = {name: getattr(table(), name) for name in Phrases.__slots__}
    np.savez_compressed(file, **arrays)
    with pytest.raises(ModelFormatError, match="not four rows of bytes"):
        Phrases.load(file)


def test_a_file_of_more_bytes_than_allowed_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(100))
    assert len(read_up_to(tmp_path / "file", 100)) == 100
    with pytest.raises(ValueError, match="longer than 99 bytes"):
        read_up_to(tmp_path / "file", 99)
    begin = time.process_time()
    if Path("/dev/zero").exists():
        with pytest.raises(ValueError, match="longer than"):
            read_object("/dev/zero")
    assert time.process_time() - begin < 1


def test_a_tokenizer_of_more_bytes_than_any_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(b" " * ((1 << 24) + 1))
    with pytest.raises(ModelFormatError, match=r"tokenizer\.json .*longer than 16,777,216 bytes"):
        Tokenizer.from_file(tmp_path / "tokenizer.json")
