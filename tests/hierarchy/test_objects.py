"""Arrays of objects as users meet them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, MetadataError, ShapeError, UnsafeError, UnsupportedError

ARRAYS = {"id": "vlen-array", "dtype": "<i4"}


def new(store: dict[str, bytes], shape: Any = (4, 3), codecs: Any = ("json2",), **options: Any) -> oz.Array:
    options = {"chunks": (2, 2)[: len(np.empty(shape).shape)] or "auto", **options}
    return oz.create_array(store, shape=shape, dtype=object, codecs=list(codecs), format="zarr2", **options)


def test_elements() -> None:
    array = new({})
    assert array.dtype == object
    assert array.fill_value is None
    assert array[...].tolist() == [[None] * 3] * 4
    array[0, 0] = [1, 2]
    array[0, 1] = {"a": (1, 2)}
    array[1] = ["x", "y", "z"]
    array[2:, 1:] = [[1, [2]], [3, [4]]]
    array[:, 0] = "w"
    wanted = [["w", {"a": [1, 2]}, None], ["w", "y", "z"], ["w", 1, [2]], ["w", 3, [4]]]
    assert array[...].tolist() == wanted
    assert array[0, 1] == {"a": [1, 2]}
    assert array[::-1, 2].tolist() == [[4], [2], "z", None]
    assert array.oindex[[3, 0], [2, 1]].tolist() == [[[4], 3], [None, {"a": [1, 2]}]]
    assert array.vindex[[3, 0], [2, 1]].tolist() == [[4], {"a": [1, 2]}]
    assert array[np.array(array[...] == "w")].tolist() == ["w"] * 4
    assert array.blocks[1, 1].tolist() == [[[2]], [[4]]]


def test_each_reader_has_objects_of_its_own() -> None:
    array = new({}, fill_value=[0])
    array[0, 0] = [1]
    values = array[...]
    values[0, 0].append(2)
    values[3, 2].append(2)
    assert values[3, 1] == [0]
    assert array[0, 0] == [1]
    assert array[3, 2] == [0]


def test_an_array_as_data() -> None:
    values = np.empty((2, 2), object)
    values[0, 0], values[0, 1], values[1, 0], values[1, 1] = [1], "a", None, {"b": 2}
    array = oz.create_array({}, data=values, dtype=object, codecs=["json2"], format="zarr2")
    assert array[...].tolist() == values.tolist()
    again = oz.create_array({}, data=array, codecs=["json2"], format="zarr2")
    assert again[...].tolist() == values.tolist()
    with pytest.raises(ShapeError):
        oz.create_array({}, data=np.array([object()], object), dtype=object, codecs=["json2"], format="zarr2")


def test_out() -> None:
    array = new({})
    array[...] = [[[i, j] for j in range(3)] for i in range(4)]
    out = np.empty((2, 3), object)
    assert array.read(slice(1, 3), out=out) is out
    assert out.tolist() == [[[1, 0], [1, 1], [1, 2]], [[2, 0], [2, 1], [2, 2]]]
    single = np.empty((), object)
    array.read((2, 1), out=single)
    assert single[()] == [2, 1]


def test_no_dimensions() -> None:
    array = new({}, shape=())
    array[...] = [1, [2]]
    assert array[()] == [1, [2]]
    whole = array[...]
    assert whole.shape == ()
    assert whole[()] == [1, [2]]


def test_resize_and_append() -> None:
    store: dict[str, bytes] = {}
    array = new(store, shape=(3, 2), fill_value=["fill"])
    array[...] = [[1, 2], [3, 4], [5, 6]]
    assert array.append([[[7], [8]]]) == (4, 2)
    array.resize((3, 1))
    array.resize((4, 2))
    fill = ["fill"]
    assert oz.open_array(store)[...].tolist() == [[1, fill], [3, fill], [5, fill], [fill, fill]]


def test_a_chunk_of_fill_values_is_not_stored() -> None:
    store: dict[str, bytes] = {}
    array = new(store, fill_value={"a": 1})
    array[...] = {"a": 1}
    assert list(store) == [".zarray"]
    array[0, 0] = 2
    array[0, 0] = {"a": 1}
    assert list(store) == [".zarray"]


def test_arrays_in_arrays() -> None:
    array = new({}, shape=3, codecs=[ARRAYS, "zstd"])
    assert array[1].tolist() == []
    array[0] = [1, 2]
    array[1:] = [np.arange(3), []]
    assert [one.tolist() for one in array[...]] == [[1, 2], [0, 1, 2], []]
    assert array[0].dtype == np.dtype("<i4")
    array[:] = np.arange(6).reshape(3, 2)
    assert [one.tolist() for one in array[...]] == [[0, 1], [2, 3], [4, 5]]
    for wrong in (5, [[1], [2]], "x"):
        with pytest.raises(ShapeError):
            array[0] = wrong


def test_messagepack() -> None:
    pytest.importorskip("msgpack")
    array = new({}, shape=4, codecs=["msgpack2"], fill_value="none")
    array[:3] = [b"\xff", {"a": [1.5]}, None]
    assert array[...].tolist() == [b"\xff", {"a": [1.5]}, None, "none"]


@pytest.mark.parametrize("codec", ["vlen-utf8", "vlen-bytes"])
def test_text_and_bytes_as_objects(codec: str) -> None:
    array = oz.create_array({}, shape=2, dtype="object", codecs=[codec], format="zarr2")
    values = ["a", "bc"] if codec == "vlen-utf8" else [b"a", b"bc"]
    array[...] = values
    assert array[...].tolist() == values


def test_objects_of_numcodecs_name_the_codec() -> None:
    numcodecs = pytest.importorskip("numcodecs")
    pytest.importorskip("msgpack")
    for codec, value in (
        (numcodecs.JSON(), [1]),
        (numcodecs.MsgPack(), [1]),
        (numcodecs.VLenArray("<i4"), np.array([1, 2], "i4")),
        (numcodecs.Categorize(["a", "b"], dtype=object), "a"),
        (numcodecs.VLenUTF8(), "a"),
    ):
        store: dict[str, bytes] = {}
        array = oz.create_array(store, shape=2, dtype=object, codecs=codec, format="zarr2")
        array[0] = value
        stored = json.loads(store[".zarray"])["filters"]
        assert stored == [json.loads(json.dumps(codec.get_config()))]
        back = codec.decode(store["0"])
        np.testing.assert_array_equal(back[0], value)


def test_what_needs_a_codec() -> None:
    with pytest.raises(UnsupportedError, match="Python objects") as caught:
        oz.create_array({}, shape=2, dtype=object, format="zarr2")
    assert "json2" in str(caught.value.hint)
    with pytest.raises(UnsupportedError, match="Python objects"):
        oz.create_array({}, shape=2, dtype=object, codecs=["json2"])
    with pytest.raises(UnsafeError):
        oz.create_array({}, shape=2, dtype=object, codecs=[{"id": "pickle"}], format="zarr2")
    with pytest.raises(MetadataError):
        oz.create_array({}, shape=2, dtype=object, codecs=["vlen-array"], format="zarr2")
    with pytest.raises(MetadataError):
        oz.create_array({}, shape=2, dtype=object, codecs=["json2", "msgpack2"], format="zarr2")


def test_handles_can_be_pickled_and_shown(tmp_path: Path) -> None:
    group = oz.create_group(tmp_path / "a.zarr", format="zarr2")
    array = group.create_array("a", shape=2, dtype=object, codecs=["json2"])
    array[...] = [[1], {"x": None}]
    assert pickle.loads(pickle.dumps(array))[...].tolist() == [[1], {"x": None}]
    assert "object" in repr(array)
    assert "json2" in array._repr_html_()


@pytest.mark.parametrize(
    ("codec", "values"),
    [("vlen-utf8", ["a", ""]), ("vlen-bytes", [b"a", b""]), (ARRAYS, [np.array([1]), np.array([2, 3])])],
)
def test_trap_51_the_count_and_the_lengths_are_checked(codec: Any, values: list[Any]) -> None:
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=2, dtype=object, codecs=[codec], format="zarr2")
    array[...] = values
    good = store["0"]
    for bad in (b"\3" + good[1:], good[:-1], good + b"\0", good[:4], b"", good[:4] + b"\xff" * 4 + good[8:]):
        with pytest.raises(CorruptError):
            oz.open_array({**store, "0": bad})[...]


def test_trap_51_text_that_is_not_utf8() -> None:
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=1, dtype=str, codecs=None, format="zarr2")[...] = ["ab"]
    store["0"] = store["0"].replace(b"ab", b"\xff\xfe")
    with pytest.raises(CorruptError, match="UTF-8"):
        oz.open_array(store)[...]
    store[".zarray"] = store[".zarray"].replace(b"|O", b"<U2")
    with pytest.raises(CorruptError, match="UTF-8"):
        oz.open_array(store)[...]


@pytest.mark.parametrize(("dtype", "codec"), [("|S3", "vlen-bytes"), ("<U3", "vlen-utf8"), ("|V3", "vlen-bytes")])
def test_trap_46_fixed_width_under_variable_length(dtype: str, codec: str) -> None:
    # As zarr-python 3.0.0 to 3.0.10 wrote it.
    document = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": dtype, "fill_value": None, "order": "C"}
    document |= {"filters": [{"id": codec}], "compressor": None}
    items = b"\2\0\0\0\3\0\0\0abc\3\0\0\0def"
    got = oz.open_array({".zarray": json.dumps(document).encode(), "0": items})[...]
    assert got.dtype == np.dtype(dtype)
    assert got.tobytes() == np.array([b"abc", b"def"] if codec == "vlen-bytes" else ["abc", "def"], dtype).tobytes()
    with pytest.raises(CorruptError):
        oz.open_array({".zarray": json.dumps(document).encode(), "0": items.replace(b"\3\0\0\0d", b"\4\0\0\0dd")})[...]


def test_v3_bytes_with_a_list_as_fill_value() -> None:
    # As zarr-python 3.0 wrote S3.
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=2, dtype=bytes, fill_value=b"ab")
    document = json.loads(store["zarr.json"])
    store["zarr.json"] = json.dumps({**document, "data_type": "bytes", "fill_value": [97, 98]}).encode()
    assert oz.open_array(store)[...].tolist() == [b"ab", b"ab"]


def test_trap_50_settings_left_to_numcodecs() -> None:
    # Names of v3 with `numcodecs.` hold only what the user gave, and types as v2 spells them.
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=4, dtype="i4", codecs=None)
    document = json.loads(store["zarr.json"])
    document["codecs"] = [
        {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}},
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "numcodecs.zlib", "configuration": {}},
    ]
    store["zarr.json"] = json.dumps(document).encode()
    oz.open_array(store, "r+")[...] = [1, 3, 6, 10]
    assert oz.open_array(store)[...].tolist() == [1, 3, 6, 10]
