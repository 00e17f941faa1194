"""Text from a list of labels, stored as the labels' numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CodecError, CorruptError, MetadataError, UnsupportedError

LABELS = ["a", "bb", "é"]


def store_of(dtype: str = "|O", data: bytes = b"\1\2\0\3", **config: Any) -> dict[str, bytes]:
    codec = {"id": "categorize", "labels": LABELS, "dtype": dtype, "astype": "|u1", **config}
    document = {
        "zarr_format": 2,
        "shape": [2, 2],
        "chunks": [2, 2],
        "dtype": dtype,
        "fill_value": "" if dtype != "|O" else 0,
        "order": "C",
        "filters": [codec],
        "compressor": None,
    }
    return {".zarray": json.dumps(document).encode(), "0.0": data}


@pytest.mark.parametrize("dtype", ["|O", "<U2", ">U2"])
def test_text(dtype: str) -> None:
    store = store_of(dtype)
    array = oz.open_array(store, "r+")
    assert array[...].tolist() == [["a", "bb"], ["", "é"]]
    array[0, 0] = "é"
    assert store["0.0"] == b"\3\2\0\3"


def test_bytes_of_fixed_length() -> None:
    # As zarr-python 2.0 and 2.1 allowed.
    assert oz.open_array(store_of("|S2"))[...].tolist() == [[b"a", b"bb"], [b"", "é".encode()]]


def test_trap_12_order_is_that_of_memory() -> None:
    store = store_of()
    store[".zarray"] = store[".zarray"].replace(b'"order": "C"', b'"order": "F"')
    assert oz.open_array(store)[...].tolist() == [["a", ""], ["bb", "é"]]


@pytest.mark.parametrize("dtype", ["|O", "<U5"])
def test_other_text_is_refused(dtype: str) -> None:
    array = oz.open_array(store_of(dtype), "r+")
    with pytest.raises(CodecError, match="other"):
        array[0, 0] = "other"
    assert array[0, 0] == "a"


@pytest.mark.parametrize("dtype", ["|O", "<U5"])
@pytest.mark.parametrize("data", [b"\1\2\3\4", b"\1\2\3", b"\1\2\3\0\0", b""])
def test_damage(dtype: str, data: bytes) -> None:
    with pytest.raises(CorruptError):
        oz.open_array(store_of(dtype, data))[...]


@pytest.mark.parametrize(
    "config",
    [
        {"labels": "ab"},
        {"labels": [1]},
        {"labels": None},
        {"astype": "<f4"},
        {"astype": "?"},
        {"labels": [str(n) for n in range(300)]},
        {"other": 1},
    ],
    ids=lambda config: str(config)[:30],
)
def test_wrong_options(config: dict[str, Any]) -> None:
    with pytest.raises((MetadataError, UnsupportedError)):
        oz.open_array(store_of(**config))[...]


def test_a_label_that_is_empty() -> None:
    array = oz.open_array(store_of(labels=["", "x"], data=b"\0\1\2\2"), "r+")
    assert array[...].tolist() == [["", ""], ["x", "x"]]


def test_many_labels_and_shards() -> None:
    labels = [f"label {n}" for n in range(1000)]
    codec = {"id": "categorize", "labels": labels, "dtype": "|O", "astype": "<u2"}
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(50, 20), chunks=(7, 6), dtype=object, codecs=[codec, "zstd"], format="zarr2")
    values = np.array(labels, object).reshape(50, 20)
    array[...] = values
    assert oz.open_array(store)[...].tolist() == values.tolist()
    assert oz.open_array(store)[3:30:4, ::-3].tolist() == values[3:30:4, ::-3].tolist()


def test_what_may_follow() -> None:
    codecs = [{"id": "categorize", "labels": LABELS, "dtype": "|O", "astype": "<u4"}, {"id": "pcodec", "level": 8}]
    with pytest.raises(UnsupportedError, match="numbers of labels"):
        oz.create_array({}, shape=4, dtype=object, codecs=codecs, format="zarr2")
