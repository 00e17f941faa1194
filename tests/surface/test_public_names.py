"""The public names: a change to any of them is a change for users."""

from __future__ import annotations

import subprocess
import sys

import pytest

import omnizarr as oz


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_package_offers_these_names():
    assert set(oz.__all__) == {
        "Array", "CloudStore", "Dataset", "FileStore", "Group", "Limits", "MFDataset", "MemoryStore", "OmnizarrError",
        "OmnizarrWarning", "ZipStore", "__version__", "at", "census", "codec", "consolidate", "convert", "copy",
        "create_array", "create_group", "detect", "diff", "errors", "explain", "from_dask", "info", "open",
        "open_array", "open_group", "refs", "to_dask", "validate",
    }  # fmt: skip
    for name in oz.__all__:
        if name != "__version__":
            assert getattr(oz, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = oz.nonsense


def test_arrays_offer_these_names():
    assert public(oz.Array) == {
        "append", "attrs", "basename", "blocks", "chunks", "close", "codecs", "dims", "dtype", "fill_value", "format",
        "itemsize", "lazy", "metadata", "name", "nbytes", "nbytes_stored", "nchunks", "nchunks_stored", "ndim",
        "nshards", "oindex", "order", "path", "read", "read_only", "refresh", "resize", "shape", "shards", "size",
        "store", "to_dask", "vindex",
    }  # fmt: skip


def test_groups_offer_these_names():
    assert public(oz.Group) == {
        "arrays", "attrs", "basename", "close", "consolidate", "copy", "create_array", "create_group", "format", "get",
        "groups", "items", "keys", "members", "metadata", "move", "name", "path", "read_only", "refresh",
        "require_array", "require_group", "store", "tree", "values",
    }  # fmt: skip


def test_codecs_offer_these_names():
    assert set(oz.codec.__all__) == {
        "adler32", "bitround", "blosc", "bytes_", "bz2", "cast_value", "conditional", "crc32", "crc32c", "delta",
        "fletcher32", "gzip", "lz4", "lzma", "packbits", "pcodec", "reshape", "scale_offset", "shuffle", "transpose",
        "zfp", "zlib", "zstd",
    }  # fmt: skip


def test_importing_loads_no_heavy_module():
    heavy = [
        "asyncio",
        "difflib",
        "importlib.metadata",
        "inspect",
        "numcodecs",
        "subprocess",
        "tempfile",
        "urllib.request",
    ]
    code = f"""
import sys, numpy
before = set(sys.modules)
import omnizarr
print(*(set({heavy}) & (set(sys.modules) - before)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
