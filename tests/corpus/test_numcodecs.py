"""The fixtures of numcodecs: each chunk that one of its codecs made is read as a Zarr v2 array, and the reverse."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import UnsafeError

HERE = Path(os.environ.get("OMNIZARR_CORPUS", Path(__file__).parent / "outside")) / "numcodecs.tar.xz"
FILTERS = {
    *("astype", "categorize", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle"),
    *("json2", "msgpack2", "vlen-array", "vlen-bytes", "vlen-utf8"),
}
LOSSY = {"astype", "fixedscaleoffset", "quantize", "zfpy"}
CODECS = (
    *("adler32", "astype/f", "astype/i", "base64", "blosc", "bz2", "categorize/O", "categorize/U", "crc32", "crc32c"),
    *("delta/bool", "delta/float32", "delta/float64", "delta/int32", "delta/uint16"),
    *("fixedscaleoffset", "gzip", "json2", "lz4", "lzma", "msgpack2", "packbits", "pcodec", "quantize", "shuffle"),
    *("vlen-array", "vlen-bytes", "vlen-utf8", "zfpy", "zlib", "zstd"),
)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@lru_cache(1)
def files() -> Mapping[str, bytes]:
    with tarfile.open(HERE) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}


def expected(folder: str, number: str) -> np.ndarray:
    raw = files().get(f"{folder}/array.{number}.npy")
    if raw is not None:
        return np.load(io.BytesIO(raw), allow_pickle=False)
    found = json.loads(files()[f"{folder}/array.{number}.json"])
    flat = np.empty(len(found["items"]), object)
    for at, item in enumerate(found["items"]):
        flat[at] = _item(item)
    array = flat.reshape(found["shape"])
    return np.asarray(array, order=found["order"])


def _item(item: Any) -> Any:
    if isinstance(item, dict) and "hex" in item:
        return bytes.fromhex(item["hex"])
    if isinstance(item, dict) and "array" in item:
        return np.array(item["array"])
    return item


def document(config: dict[str, Any], values: np.ndarray) -> tuple[dict[str, Any], str]:
    order = "F" if values.flags.f_contiguous and not values.flags.c_contiguous else "C"
    is_filter = config["id"] in FILTERS or config["id"] in ("json", "msgpack")
    return {
        "zarr_format": 2,
        "shape": values.shape,
        "chunks": values.shape,
        "dtype": values.dtype.str,
        "fill_value": None,
        "order": order,
        "filters": [config] if is_filter else None,
        "compressor": None if is_filter else config,
    }, ".".join("0" * values.ndim)


def cases(codec: str) -> list[tuple[dict[str, Any], str, str]]:
    found = []
    for name in sorted(files()):
        folder, _, last = name.rpartition("/")
        if folder.startswith(f"{codec}/codec.") and last.startswith("encoded."):
            config = json.loads(files()[f"{folder}/config.json"])
            found.append((config, last.removeprefix("encoded.").removesuffix(".dat"), name))
    assert found
    return found


def same(got: np.ndarray, wanted: np.ndarray) -> bool:
    if got.shape != wanted.shape:
        return False
    if wanted.dtype != object:
        return got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()
    return all(map(_same_item, got.reshape(-1), wanted.reshape(-1)))


def _same_item(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, np.ndarray):
        return np.array_equal(got, wanted)
    return type(got) is type(wanted) and (got == wanted or (isinstance(got, float) and isnan(got) and isnan(wanted)))


@pytest.mark.parametrize("codec", CODECS)
def test_what_numcodecs_wrote(codec: str) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    for config, number, name in cases(codec):
        values = expected(codec, number)
        zarray, key = document(config, values)
        array = oz.open_array({".zarray": json.dumps(zarray).encode(), key: files()[name]})
        if config["id"] in LOSSY:
            decoded = np.asarray(numcodecs.get_codec(dict(config)).decode(files()[name]))
            values = decoded.view(values.dtype).reshape(-1).reshape(values.shape, order=zarray["order"])
        got = np.asarray(array[...])
        assert same(got.astype(object) if values.dtype == object else got, values), name


@pytest.mark.parametrize("codec", CODECS)
def test_numcodecs_reads_what_we_write(codec: str) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    for config, number, name in cases(codec):
        if config["id"] == "json" or config.get("cname") == "snappy" or config.get("delta_spec") in ("none", "no_op"):
            continue  # these are beyond the numcodecs of today
        values = expected(codec, number)
        zarray, key = document(config, values)
        store = {".zarray": json.dumps(zarray).encode()}
        oz.open_array(store, "r+")[...] = values
        decoded = numcodecs.get_codec(dict(config)).decode(store[key])
        flat = np.asarray(decoded)
        if values.dtype != object:
            flat = np.ascontiguousarray(flat).reshape(-1).view(values.dtype)
        got = flat.reshape(values.shape, order=zarray["order"])
        if config["id"] in LOSSY:
            again = np.asarray(oz.open_array(store)[...])
            assert same(got, again), name
        else:
            assert same(got, values), name


@pytest.mark.parametrize("number", range(5))
def test_pickles_are_refused(number: int) -> None:
    config = json.loads(files()[f"pickle/codec.{number:02}/config.json"])
    zarray, key = document(config, np.empty((2, 2), object))
    for place in ({"filters": [config], "compressor": None}, {"filters": None, "compressor": config}):
        with pytest.raises(UnsafeError, match="pickle"):
            oz.open_array({".zarray": json.dumps({**zarray, "dtype": "<i4", **place}).encode(), key: b"x"})
    with pytest.raises(UnsafeError, match="pickle"):
        oz.open_array({".zarray": json.dumps({**zarray, "filters": [config]}).encode(), key: b"x"})
