"""A network is one file: what names another is refused before anything opens it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from sumfit.errors import ModelFormatError
from sumfit.models.onnx_files import check_self_contained
from sumfit.models.session import open_session
from sumfit.runtime import ModelDirectory, load_backend


def external(name: str = "secret", location: str = "../secret") -> Any:
    """A tensor whose numbers are in another file."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[4])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def network(*nodes: Any, initializer: Any = (), sparse: Any = (), functions: Any = ()) -> Any:
    info = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"]), *nodes],
        "g",
        [given],
        [info],
        initializer=list(initializer),
        sparse_initializer=list(sparse),
    )
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=9)


def nested(depth: int) -> Any:
    """A node whose graph holds a node whose graph ... holds the tensor."""
    node = helper.make_node("Constant", [], ["c"], value=external())
    for _ in range(depth):
        graph = helper.make_graph([node], "inner", [], [])
        node = helper.make_node("If", ["x"], ["z"], then_branch=graph)
    return node


def sparse() -> Any:
    numbers = numpy_helper.from_array(np.array([0], dtype=np.int64), "at")
    return helper.make_sparse_tensor(external(), numbers, [4])


def in_list() -> Any:
    node = helper.make_node("Identity", ["x"], ["z"])
    attribute = node.attribute.add()
    attribute.name, attribute.type = "values", onnx.AttributeProto.TENSORS
    attribute.tensors.append(external())
    return node


def function() -> Any:
    node = helper.make_node("Constant", [], ["c"], value=external())
    return helper.make_function("own", "F", [], ["c"], [node], [helper.make_opsetid("", 17)])


@pytest.mark.parametrize(
    "model",
    [
        network(initializer=[external()]),
        network(helper.make_node("Constant", [], ["c"], value=external())),
        network(nested(1)),
        network(nested(5)),
        network(sparse=[sparse()]),
        network(in_list()),
        network(functions=[function()]),
    ],
    ids=["initializer", "attribute", "branch", "deep", "sparse", "list", "function"],
)
def test_numbers_in_another_file_are_refused_wherever_they_hang(model: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    (tmp_path / "m").mkdir()
    file = tmp_path / "m" / "model.onnx"
    file.write_bytes(model.SerializeToString())
    with pytest.raises(ModelFormatError, match=r"in another file, and a network is one file\); x"):
        check_self_contained(file, remedy="x")
    with pytest.raises(ModelFormatError, match=r"in another file"):
        open_session(file, n_threads=1, remedy="copy it again")


def test_a_model_whose_network_reads_another_file_does_not_load(
    tiny_model: Path, tmp_path: Path
) -> None:
    import shutil

    place = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    (place / "manifest.json").unlink(missing_ok=True)
    file = place / "model.fp32.onnx"
    model = onnx.load(str(file))
    onnx.save(model, str(file), save_as_external_data=True, size_threshold=0, location="w.bin")
    with pytest.raises(ModelFormatError, match=r"model\.fp32\.onnx does not load .* another file"):
        load_backend(ModelDirectory.open(place))


def test_a_whole_network_is_accepted(tiny_model: Path) -> None:
    check_self_contained(tiny_model / "model.fp32.onnx", remedy="")
    assert open_session(tiny_model / "model.fp32.onnx", n_threads=1, remedy="").get_inputs()


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_damage_hides_a_reference(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever protobuf still reads with such a tensor is refused."""
    file = tmp_path_factory.getbasetemp() / "mutated.onnx"
    content = bytearray(network(nested(1), initializer=[external()]).SerializeToString())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    try:
        parsed = onnx.ModelProto.FromString(bytes(content))
        is_external = any(tensor.external_data for tensor in parsed.graph.initializer)
    except Exception:
        is_external = False
    try:
        check_self_contained(file, remedy="")
        assert not is_external
    except ModelFormatError:
        pass


@pytest.mark.parametrize("content", [b"", b"\x00", b"no network", b"\x3a\xff\xff\xff\xff\x0f"])
def test_what_is_no_network_is_a_model_error(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(content)
    with pytest.raises(ModelFormatError, match="does not load as a network"):
        open_session(file, n_threads=1, remedy="copy it again")


def test_deep_nesting_is_refused_not_a_crash(tmp_path: Path) -> None:
    body = b""
    for _ in range(5000):  # graph in attribute in node in graph ...
        for tag in (b"\x32", b"\x2a", b"\x0a"):
            size, number = len(body), b""
            while size > 0x7F:
                number += bytes([size & 0x7F | 0x80])
                size >>= 7
            body = tag + number + bytes([size]) + body
        if len(body) > 60_000:
            break
    file = tmp_path / "deep.onnx"
    size = len(body)
    number = bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14])
    file.write_bytes(b"\x3a" + number + body)
    with pytest.raises(ModelFormatError, match="nested too deeply"):
        check_self_contained(file, remedy="")
