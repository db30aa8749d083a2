"""The manifest of a model directory: damage is told before a file is used, and named."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit.cli.app import run
from sumfit.errors import ModelFormatError
from sumfit.models.manifest import MANIFEST, ModelFiles, write_manifest
from sumfit.runtime import ModelDirectory, default_model_path, load_backend


@pytest.fixture
def model(tiny_model: Path, tmp_path: Path) -> Path:
    place = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    (place / "README.md").write_text("A card.\n")
    (place / "extra").mkdir()
    (place / "extra" / "scorer.bin").write_bytes(bytes(range(256)))
    write_manifest(place)
    return place


def use(place: Path) -> None:
    """Whatever loading a model reads."""
    directory = ModelDirectory.open(place)
    load_backend(directory)
    assert directory.lexicon is not None


def test_it_lists_every_file_with_its_digest(model: Path) -> None:
    files = json.loads((model / MANIFEST).read_text())["files"]
    assert set(files) == {
        "README.md",
        "config.json",
        "extra/scorer.bin",
        "lexicon.txt.xz",
        "model.fp32.onnx",
        "tokenizer.json",
    }
    unpacked = lzma.decompress((model / "lexicon.txt.xz").read_bytes())
    assert files["lexicon.txt.xz"]["unpacked_bytes"] == len(unpacked)
    use(model)
    ModelFiles(model).check_whole()


NAMES = ["config.json", "extra/scorer.bin", "lexicon.txt.xz", "model.fp32.onnx", "tokenizer.json"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", ["cut", "longer", "changed", "swapped", "missing", "folder"])
def test_every_kind_of_damage_names_the_file(model: Path, name: str, damage: str) -> None:
    file = model / name
    data = bytearray(file.read_bytes())
    if damage == "cut":
        file.write_bytes(data[:-1])
    elif damage == "longer":
        file.write_bytes(data + b"\0")
    elif damage == "changed":
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    elif damage == "swapped":
        shutil.copyfile(model / ("config.json" if "config" not in name else MANIFEST), file)
    else:
        file.unlink()
    if damage == "folder":
        file.mkdir()
    with pytest.raises(ModelFormatError, match=rf"{name}.*(copy the model again)"):
        use(model)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_changed_byte_is_overlooked(
    data: st.DataObject, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = Path(shutil.copytree(tiny_model, tmp_path_factory.mktemp("one") / "model"))
    write_manifest(place)
    file = place / data.draw(st.sampled_from([n for n in NAMES if "/" not in n]))
    content = bytearray(file.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    with pytest.raises(ModelFormatError, match=file.name):
        use(place)
    shutil.rmtree(place)


def test_the_card_may_be_edited_and_own_changes_be_listed_anew(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (model / "README.md").write_text("Another card.\n")
    use(model)
    values = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(values | {"name": "mine"}))
    with pytest.raises(ModelFormatError, match=r"run: sumfit export .* --only-manifest"):
        use(model)
    assert run(["export", str(model), "--only-manifest"]) == 0
    assert capsys.readouterr().out == f"{model / MANIFEST}\n"
    assert ModelDirectory.open(model).config.name == "mine"


def test_a_file_that_is_not_listed_is_not_read(model: Path) -> None:
    shutil.copyfile(model / "model.fp32.onnx", model / "model.onnx")
    with pytest.raises(ModelFormatError, match=r"model\.onnx is not in manifest\.json, so it was"):
        use(model)
    (model / "model.onnx").unlink()
    (model / "notes.txt").write_text("nobody reads this")
    use(model)
    with pytest.raises(ModelFormatError, match=r"notes\.txt is not in manifest\.json"):
        ModelFiles(model).check_whole()


def test_a_model_of_an_earlier_version_has_no_manifest(model: Path) -> None:
    (model / MANIFEST).unlink()
    assert not ModelFiles(model).has_manifest
    use(model)
    with pytest.raises(ModelFormatError, match=r"has no manifest\.json"):
        ModelFiles(model).check_whole()


@pytest.mark.parametrize("has_manifest", [True, False])
@pytest.mark.parametrize("name", ["tokenizer.json", "lexicon.txt.xz", "model.fp32.onnx"])
def test_a_link_out_of_the_directory_is_not_followed(
    model: Path, tmp_path: Path, name: str, has_manifest: bool
) -> None:
    shutil.move(model / name, tmp_path / "outside")
    (model / name).symlink_to(tmp_path / "outside")
    if not has_manifest:
        (model / MANIFEST).unlink()
    with pytest.raises(ModelFormatError, match=rf"{name} leads to .*outside, and a model reads no"):
        use(model)
    with pytest.raises(ModelFormatError, match=r"is no plain file, and a model reads nothing"):
        write_manifest(model)


def test_links_within_the_directory_and_to_it_are_followed(model: Path, tmp_path: Path) -> None:
    shutil.move(model / "model.fp32.onnx", model / "extra" / "net")
    (model / "model.fp32.onnx").symlink_to(Path("extra") / "net")
    (tmp_path / "named").symlink_to(model)
    (model / MANIFEST).unlink()
    use(tmp_path / "named")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
def test_a_pipe_in_place_of_a_file_is_refused_at_once(model: Path) -> None:
    (model / "lexicon.txt.xz").unlink()
    os.mkfifo(model / "lexicon.txt.xz")
    for _ in range(2):
        with pytest.raises(ModelFormatError, match="is no plain file"):
            use(model)
        (model / MANIFEST).unlink(missing_ok=True)


BAD_ENTRY = {"bytes": 1, "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "Expecting"),
        (b"[]", "holds no JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{}", "its format is None"),
        ({"format": "sumfit-manifest-2"}, "its format is 'sumfit-manifest-2'"),
        ({"files": {}}, "1 to 1,000 files"),
        ({"files": {"../config.json": BAD_ENTRY}}, "no path inside"),
        ({"files": {"/etc/passwd": BAD_ENTRY}}, "no path inside"),
        ({"files": {"a\\..\\b": BAD_ENTRY}}, "no path inside"),
        ({"files": {"c:": BAD_ENTRY}}, "no path inside"),
        ({"files": {"a": 3}}, "must be an object"),
        ({"files": {"a": {"bytes": 1, "sha256": "0"}}}, "no sha256 of 64 digits"),
        ({"files": {"a": {"bytes": -1, "sha256": "0" * 64}}}, "-1 is no number of bytes"),
        ({"files": {"a": {"bytes": True, "sha256": "0" * 64}}}, "True is no number of bytes"),
        ({"files": {"a": {**BAD_ENTRY, "unpacked_bytes": "1"}}}, "'1' is no number of bytes"),
    ],
)
def test_a_damaged_manifest_is_an_error(model: Path, content: Any, reason: str) -> None:
    if isinstance(content, dict):
        content = json.dumps({"format": "sumfit-manifest-1", **content}).encode()
    (model / MANIFEST).write_bytes(content)
    with pytest.raises(ModelFormatError, match=rf"manifest\.json is no manifest .*{reason}"):
        use(model)


def test_a_folder_of_a_model_is_checked_by_the_models_manifest(model: Path) -> None:
    files = ModelFiles(model / "extra")
    assert files.path("scorer.bin").is_file()
    (model / "extra" / "scorer.bin").write_bytes(bytes(256))
    with pytest.raises(ModelFormatError, match=r"scorer\.bin is not the file that"):
        ModelFiles(model / "extra").path("scorer.bin")


@pytest.mark.parametrize("content", [b'{"name": "a web app"}', b"{", b"\xff"])
def test_a_manifest_of_another_kind_beside_a_model_means_nothing(
    model: Path, content: bytes
) -> None:
    (model.parent / MANIFEST).write_bytes(content)
    (model / MANIFEST).unlink()
    use(model)


needs_default = pytest.mark.skipif(
    not (default_model_path() / "config.json").is_file(),
    reason="this checkout has no embedded model",
)


@needs_default
def test_the_manifest_of_the_default_model_is_up_to_date() -> None:
    ModelFiles(default_model_path()).check_whole()


@needs_default
def test_checking_the_default_model_takes_a_moment() -> None:
    """Under 50 ms on an idle processor with SHA instructions; ten times that on any."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        ModelFiles(default_model_path()).check_whole()
        times.append(time.process_time() - begin)
    assert min(times) < 0.5
