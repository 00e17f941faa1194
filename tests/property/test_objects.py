"""Arrays of objects against NumPy as the model, and against damage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import OmnizarrError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
SMALL = st.integers(-(2**31), 2**31 - 1)
LABELS = ["a", "bb", "é"]
CASES: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "json2": ({"id": "json2"}, JSON),
    "json": ({"id": "json"}, JSON),
    "msgpack2": ({"id": "msgpack2"}, st.recursive(st.none() | SMALL | st.binary(max_size=4), st.lists, max_leaves=4)),
    "vlen-array": ({"id": "vlen-array", "dtype": "<i4"}, st.lists(SMALL, max_size=4)),
    "categorize": ({"id": "categorize", "labels": LABELS, "dtype": "|O"}, st.sampled_from(["", *LABELS])),
}


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@st.composite
def boxes(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[slice, ...]:
    found = []
    for length in shape:
        start = draw(st.integers(0, length - 1))
        found.append(slice(start, draw(st.integers(start + 1, length))))
    return tuple(found)


@pytest.mark.parametrize("name", CASES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_writes_and_reads(name: str, data: st.DataObject) -> None:
    if name == "msgpack2":
        pytest.importorskip("msgpack")
    codec, items = CASES[name]
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    chunks = tuple(data.draw(st.integers(1, length)) for length in shape)
    order = data.draw(st.sampled_from(["C", "F"]))
    tail = data.draw(st.sampled_from([[], ["zstd"], ["blosc", "crc32c"]]))
    store: dict[str, bytes] = {}
    array = oz.create_array(
        store, shape=shape, chunks=chunks, dtype=object, codecs=[codec, *tail], format="zarr2", order=order
    )
    model = np.empty(shape, object)
    fill = plain(array.fill_value)
    for at in np.ndindex(*shape):
        model[at] = fill
    for _ in range(data.draw(st.integers(1, 3))):
        box = data.draw(boxes(shape))
        for at in np.ndindex(*model[box].shape):
            model[box][at] = data.draw(items)
        array[box] = model[box]
    box = data.draw(boxes(shape))
    got = oz.open_array(store)[box]
    assert got.shape == model[box].shape
    assert [plain(item) for item in got.reshape(-1).tolist()] == model[box].reshape(-1).tolist()


OPTIONAL = {"name": "zarrs.optional", "configuration": {"name": "string", "configuration": {}}}


def stored(name: str) -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    if name == "optional":
        oz.create_array(store, shape=4, dtype=OPTIONAL, codecs=None)[...] = ["a", None, "", "bcd"]
    elif name == "vlen":
        codec = {"name": "zarrs.vlen", "configuration": {"data_codecs": ["bytes", "gzip"]}}
        oz.create_array(store, shape=4, dtype=str, codecs=[codec])[...] = ["a", "", "é", "bcd"]
    else:
        codec, _ = CASES[name]
        array = oz.create_array(store, shape=4, dtype=object, codecs=[codec], format="zarr2")
        array[...] = {"vlen-array": [[1], [], [2, 3], [4]], "categorize": ["a", "", "é", "bb"]}.get(
            name, ["a", [1, None], {}, {"b": 2}] if name != "msgpack2" else ["a", [1, None], b"x", 2]
        )
    return store


@pytest.mark.parametrize("name", [*CASES, "optional", "vlen"])
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_damage_is_an_error_or_other_values(name: str, data: st.DataObject) -> None:
    if name == "msgpack2":
        pytest.importorskip("msgpack")
    store = stored(name)
    (key,) = (key for key in store if key not in (".zarray", "zarr.json"))
    chunk = bytearray(store[key])
    for _ in range(data.draw(st.integers(1, 3))):
        chunk[data.draw(st.integers(0, len(chunk) - 1))] = data.draw(st.integers(0, 255))
    store[key] = bytes(chunk[: data.draw(st.integers(0, len(chunk)))] if data.draw(st.booleans()) else chunk)
    try:
        got = oz.open_array(store)[...]
    except OmnizarrError:
        return
    assert got.shape == (4,)
