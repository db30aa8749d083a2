import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit import parts as parts_module
from sumfit.errors import ConfigError, InputError, ModelFormatError, ModelNotFoundError
from sumfit.text import PieceClass, Tokenizer, normalize
from sumfit.text import tokenizer as tokenizer_module
from tests.sample_texts import SAMPLE_TEXTS, tiny_tokenizer
from tests.strategies import texts

TOKENIZER = tiny_tokenizer()
N_SPECIAL = 4


@given(texts(untidy=True, surrogates=True))
def test_decode_gives_the_normalised_text_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == normalize(text)


@given(texts(untidy=True))
def test_pieces_spell_the_text_with_one_space_before_it(text: str) -> None:
    ids = TOKENIZER.encode(text)
    expected = normalize(text)
    assert TOKENIZER.decode_bytes(ids).decode("utf-8") == (f" {expected}" if expected else "")


@given(st.lists(texts(untidy=True), max_size=6).map(" ".join), st.integers(1, 12))
def test_long_texts_are_encoded_in_parts_without_a_trace(text: str, part: int) -> None:
    whole = TOKENIZER.encode(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_module, "PART", part)
        assert TOKENIZER.encode(text) == whole


@given(
    st.sampled_from(
        [
            "ab",
            "abc'",
            "as'\u200d",
            "\u00e9-",
            "a\u0301\u200d ",
            "0f3a",
            "\u65e5a",
            "s'\"",
            "ler'\u2019",
            "1\u0301a",
            "\u200c\u200da",
            "\u200d'.l",
            "\u200e\ue000\u0301",
        ]
    ),
    st.lists(
        st.sampled_from(
            [
                "nation",
                "ing",
                "the",
                "s",
                "'s",
                "\u200d",
                "-",
                "12",
                "...",
                "'re",
                "\u2019ll",
                "\u200d" * 70,
                "\u0301" * 70,
            ]
        )
    ),
    st.integers(8, 60),
    st.randoms(use_true_random=False),
)
def test_long_runs_without_a_space_are_encoded_in_parts_without_a_trace(
    letters: str, words: list[str], longest: int, random: Random
) -> None:
    drawn = [*random.choices(letters, k=random.randrange(300)), *words]
    text = normalize("".join(drawn * random.choice([1, 3])))
    whole = TOKENIZER._hf.encode(text, add_special_tokens=False).ids
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer_module, "_LONG_RUN", longest)
        assert TOKENIZER.encode(text) == whole


def test_long_runs_are_never_merged_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_module, "_LONG_RUN", 64)
    for text in ("banana" * 400, "\u65e5" * 900, "a1" * 900, "a" * 2000, "\u0301" * 900):
        parts = list(TOKENIZER.encode_parts(text))
        assert len(parts) > 8
        assert max(map(len, parts)) <= 256


def test_clitics_stay_whole_wherever_a_long_run_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "-we're-you'll-they\u2019ve-it's" * 40
    tokenizer = Tokenizer.train([text], vocab_size=320)
    whole = tokenizer._hf.encode(text, add_special_tokens=False).ids
    for longest in range(64, 96):
        monkeypatch.setattr(tokenizer_module, "_LONG_RUN", longest)
        assert tokenizer.encode(text) == whole


class Counted:
    """Encodes as a tokenizer of the library does, and keeps the lengths of what it was given."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.lengths = inner, list[int]()
        self.pre_tokenizer = SimpleNamespace(
            pre_tokenize_str=self._counting(inner.pre_tokenizer.pre_tokenize_str)
        )
        self.model = SimpleNamespace(tokenize=self._counting(inner.model.tokenize))
        self.encode = self._counting(inner.encode)

    def _counting(self, read: Callable[..., object]) -> Callable[..., object]:
        def counted(text: str, **options: object) -> object:
            self.lengths.append(len(text))
            return read(text, **options)

        return counted


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("a", "\u200d", ""),
        ("a", "\u200d", "a"),
        ("a", "\u200c\u200d", "."),
        ("", "\u200d", ""),
        ("1", "\u0301", "a"),
        ("", "\u200e", "1"),
        ("", "\ue000", ""),
        ("", "a", ""),
        ("", "?!", "'s"),
        ("", "a" + "\u200d" * 100, ""),
        ("", "1" * 60 + "a" * 60, ""),
    ],
)
def test_long_runs_are_read_a_part_at_a_time_and_a_few_times_at_most(
    before: str, unit: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the library reads in one go takes more than in proportion to its length."""
    monkeypatch.setattr(tokenizer_module, "_LONG_RUN", 64)
    tokenizer = tiny_tokenizer()
    tokenizer.__dict__["_inner"] = counted = Counted(tokenizer._inner)
    text = before + unit * (6400 // len(unit)) + after
    whole = tokenizer._hf.encode(text, add_special_tokens=False).ids
    assert tokenizer.encode(text) == whole
    assert max(counted.lengths) <= 4 * 64
    assert sum(counted.lengths) <= 5 * len(text.encode())


@pytest.mark.parametrize("unit", ["a", "\u200d", "\u0301", "?!", "12"])
def test_the_first_ids_of_a_long_run_need_its_beginning_alone(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer_module, "_LONG_RUN", 64)
    tokenizer = tiny_tokenizer()
    tokenizer.__dict__["_inner"] = counted = Counted(tokenizer._inner)
    parts = tokenizer.encode_parts("." + unit * 6400)
    next(parts), next(parts)
    assert sum(counted.lengths) <= 20 * 64


@given(texts())
def test_encode_never_gives_a_special_id(text: str) -> None:
    assert all(N_SPECIAL <= i < TOKENIZER.vocab_size for i in TOKENIZER.encode(text))


@pytest.mark.parametrize("text", ["<pad>", "⟨pad⟩ ⟨bos⟩⟨eos⟩ ⟨mask⟩", "<|endoftext|>", "[PAD]"])
def test_special_names_in_a_text_are_plain_text(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert min(ids) >= N_SPECIAL
    assert TOKENIZER.decode(ids) == text


def test_special_ids_are_the_first_four_and_stand_for_nothing() -> None:
    assert (Tokenizer.PAD, Tokenizer.BOS, Tokenizer.EOS, Tokenizer.MASK) == (0, 1, 2, 3)
    ids = TOKENIZER.encode("old bridge")
    assert TOKENIZER.decode([1, *ids, 2, 0, 3]) == "old bridge"
    assert TOKENIZER.piece_bytes[:N_SPECIAL] == (b"",) * N_SPECIAL


def test_first_word_has_the_pieces_of_any_other() -> None:
    assert TOKENIZER.encode("bridge bridge") == TOKENIZER.encode("bridge") * 2


def test_every_byte_is_a_piece_so_nothing_is_unknown() -> None:
    assert {bytes([byte]) for byte in range(256)} <= set(TOKENIZER.piece_bytes)
    assert len(set(TOKENIZER.piece_bytes[N_SPECIAL:])) == TOKENIZER.vocab_size - N_SPECIAL


def test_batches_give_what_single_texts_give_across_chunks() -> None:
    many = [SAMPLE_TEXTS[i % len(SAMPLE_TEXTS)][: i % 40] for i in range(5000)]
    batch = TOKENIZER.encode_batch(iter(many))
    assert len(batch) == len(many)
    for i in (0, 1, 39, 4095, 4096, 4999):
        assert batch[i] == TOKENIZER.encode(many[i])


def test_encode_stream_reads_no_further_than_a_chunk() -> None:
    read = 0

    def endless() -> object:
        nonlocal read
        while True:
            read += 1
            yield "old bridge"

    assert next(TOKENIZER.encode_stream(endless())) == TOKENIZER.encode("old bridge")  # type: ignore[arg-type]
    assert read <= 5000


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("it's 12:30, ok", ["it", "'s", " 12", ":", "30", ",", " ok"]),
        ("thyme 's end", ["thyme", " 's", " end"]),
        ("'tis rock 'n' roll", ["'", "tis", " rock", " '", "n", "'", " roll"]),
        ("a1b2", ["a", "1", "b", "2"]),
        ("cafe\u0338 ok", ["cafe\u0338", " ok"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("❤\ufe0fok 1\ufe0f\u20e3", ["❤\ufe0f", "ok", " 1\ufe0f\u20e3"]),
    ],
)
def test_no_piece_reaches_over_two_atoms(text: str, atoms: list[str]) -> None:
    ends = {len(b" " + "".join(atoms[: i + 1]).encode()) for i in range(len(atoms))}
    position, piece_ends = 0, set()
    for i in TOKENIZER.encode(text):
        position += len(TOKENIZER.piece_bytes[i])
        piece_ends.add(position)
    assert ends <= piece_ends
    trained = Tokenizer.train([text] * 9, vocab_size=400)
    assert len(trained.encode(text)) == len(atoms)


def test_starts_word_marks_the_pieces_with_a_leading_space() -> None:
    expected = [piece.startswith(b" ") for piece in TOKENIZER.piece_bytes]
    np.testing.assert_array_equal(TOKENIZER.starts_word, expected)
    assert TOKENIZER.starts_word.dtype == np.bool_


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        (b"", PieceClass.SPECIAL),
        (b" the", PieceClass.LETTERS),
        (b"e", PieceClass.LETTERS),
        (" города".encode(), PieceClass.LETTERS),
        (b"7", PieceClass.DIGITS),
        (b".", PieceClass.SYMBOLS),
        (b"'s", PieceClass.SYMBOLS),
        (b"\xe6", PieceClass.OTHER),
        (b" ", PieceClass.OTHER),
    ],
)
def test_piece_class_is_the_kind_of_its_atom(piece: bytes, kind: int) -> None:
    tokenizer = Tokenizer.train([*SAMPLE_TEXTS, "it's", "города"] * 5, vocab_size=700)
    index = tokenizer.piece_bytes.index(piece)
    assert tokenizer.piece_class[index] == kind


def test_piece_class_of_bare_marks_is_letters() -> None:
    tokenizer = Tokenizer.train(["a\u0338 \u0338 b\u0338"] * 9, vocab_size=300)
    assert tokenizer.piece_class[tokenizer.piece_bytes.index("\u0338".encode())] == 1


@given(st.lists(st.integers(0, TOKENIZER.vocab_size - 1), max_size=12))
def test_decode_of_any_ids_is_a_normalised_text_no_longer_than_its_bytes(ids: list[int]) -> None:
    text = TOKENIZER.decode(ids)
    assert normalize(text) == text
    assert "\ufffd" not in text or "\ufffd".encode() in TOKENIZER.decode_bytes(ids)


def test_decode_leaves_out_bytes_that_form_no_character() -> None:
    stray = TOKENIZER.piece_bytes.index(b"\xe6")
    ids = [*TOKENIZER.encode("old"), stray, *TOKENIZER.encode("bridge")]
    assert TOKENIZER.decode(ids) == "old bridge"
    assert TOKENIZER.decode_bytes(ids) == b" old\xe6 bridge"


@pytest.mark.parametrize("bad", [-1, TOKENIZER.vocab_size])
def test_decode_names_an_id_outside_the_vocabulary(bad: int) -> None:
    with pytest.raises(InputError, match=rf"^id {bad} is not in the vocabulary of \d+ pieces$"):
        TOKENIZER.decode([5, bad])


def test_pieces_shows_specials_spaces_and_stray_bytes() -> None:
    stray = TOKENIZER.piece_bytes.index(b"\xe6")
    ids = [1, *TOKENIZER.encode("the"), stray, 2]
    assert TOKENIZER.pieces(ids) == ["⟨bos⟩", " the", "\\xe6", "⟨eos⟩"]


def test_same_texts_give_the_same_tokenizer() -> None:
    again = Tokenizer.train(iter(SAMPLE_TEXTS * 2), vocab_size=560)
    assert again.fingerprint == TOKENIZER.fingerprint
    other = Tokenizer.train(SAMPLE_TEXTS, vocab_size=300, min_frequency=1)
    assert other.fingerprint != TOKENIZER.fingerprint


def test_vocabulary_has_the_size_asked_for() -> None:
    assert TOKENIZER.vocab_size == 560 == len(TOKENIZER.piece_bytes)


def test_save_and_load_keep_everything(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    TOKENIZER.save(path)
    loaded = Tokenizer.from_file(path)
    assert loaded.fingerprint == TOKENIZER.fingerprint
    assert loaded.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()
    assert loaded.piece_bytes == TOKENIZER.piece_bytes
    assert loaded.encode_batch(SAMPLE_TEXTS) == TOKENIZER.encode_batch(SAMPLE_TEXTS)


def test_train_refuses_a_vocabulary_too_small_for_bytes() -> None:
    with pytest.raises(ConfigError, match=r"^vocab_size must be at least 260, was 100$"):
        Tokenizer.train(["text"], vocab_size=100)


def test_from_file_names_what_is_missing_or_damaged(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    with pytest.raises(ModelNotFoundError, match=r"^no tokenizer file at .*none\.json$"):
        Tokenizer.from_file(missing)
    with pytest.raises(ModelNotFoundError, match=r"^no tokenizer file at "):
        Tokenizer.from_file(tmp_path)
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(b'{"version": "1.0", "mod')
    with pytest.raises(ModelFormatError, match=r"damaged\.json is not a readable tokenizer \(.*\)"):
        Tokenizer.from_file(damaged)
    damaged.write_bytes(b"\xff\xfe")
    with pytest.raises(ModelFormatError, match=r"\(not UTF-8\); restore it from the model$"):
        Tokenizer.from_file(damaged)


def test_from_file_refuses_a_tokenizer_of_others(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    TOKENIZER.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    vocab = content["model"]["vocab"]
    vocab["<pad>"] = vocab.pop("⟨pad⟩")
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(
        ModelFormatError, match=r"is a tokenizer but not one of sumfit's: ids 0 to 3"
    ):
        Tokenizer.from_file(path)
