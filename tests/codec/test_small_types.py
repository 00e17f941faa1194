"""Types with fewer bits than a byte: whatever a writer put into the others, values are values of the type."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.codec.compile import compile_chain
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType

DIRTY = np.arange(240, dtype=np.uint8).reshape(12, 20)
CODECS = [[], ["zstd"], [oz.codec.blosc(shuffle="noshuffle")], [oz.codec.blosc(), "crc32c"]]


def stored(codecs, store, **options):
    """Bytes of all kinds under an array of booleans."""
    raw = oz.create_array(store, data=DIRTY, codecs=codecs, **options)
    document = (
        raw.store.get("zarr.json").replace(b'"uint8"', b'"bool"').replace(b'"fill_value": 0', b'"fill_value": false')
    )
    raw.store.put("zarr.json", document)
    return oz.open_array(store, mode="r+")


LAYOUTS = [{}, {"chunks": (5, 7)}, {"chunks": (5, 20)}, {"chunks": (3, 5), "shards": (6, 10)}]
SELECTIONS = [np.s_[...], np.s_[3:9], np.s_[:, 4:5], np.s_[2:7, 3:11], np.s_[::2, ::3], np.s_[5, 7], np.s_[[1, 7], :]]


@pytest.mark.parametrize("codecs", CODECS, ids=str)
@pytest.mark.parametrize(
    "options", [{}, {"chunks": (5, 7)}, {"chunks": (5, 20)}, {"chunks": (3, 5), "shards": (6, 10)}]
)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("where", ["memory", "files"])
def test_every_byte_but_zero_is_true(tmp_path, codecs, options, order, where):
    array = stored(codecs, {} if where == "memory" else tmp_path / "a", order=order, **options)
    for selection in SELECTIONS:
        got = np.asarray(array[selection])
        assert got.dtype == bool
        assert set(np.unique(got.view(np.uint8))) <= {0, 1}
        np.testing.assert_array_equal(got, DIRTY[selection] != 0)


def test_a_cached_chunk_and_a_partial_write():
    array = stored(["zstd"], {}, chunks=(6, 10))
    array[0, 0] = True
    assert array[0, 0]
    assert np.asarray(array[0, :5]).view(np.uint8).tolist() == [1, 1, 1, 1, 1]
    cached = oz.open_array(array.store, cache_bytes=1 << 20)
    for _ in range(2):
        assert np.asarray(cached[:]).view(np.uint8).max() == 1


def small(name):
    if name in ("bool", "uint8"):
        return DType.of(name)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    return DType(np.dtype(getattr(ml_dtypes, name)), name)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("bool", {"bits": 1, "signed": False}),
        ("int2", {"bits": 2, "signed": False}),  # ml_dtypes has zeros above the bits that count
        ("int4", {"bits": 4, "signed": False}),
        ("uint2", {"bits": 2, "signed": False}),
        ("uint4", {"bits": 4, "signed": False}),
        ("float4_e2m1fn", {"bits": 4, "signed": False}),
        ("float6_e2m3fn", {"bits": 6, "signed": False}),
        ("float6_e3m2fn", {"bits": 6, "signed": False}),
        ("uint8", None),
        ("float8_e5m2", None),
    ],
)
def test_steps_by_type(name, step):
    chain = compile_chain((Codec("bytes"),), small(name), (4,))
    expected = [] if step is None else [("clean", step)]
    assert chain.steps == [*expected, ("bytes", {"swap": 0})]


@pytest.mark.parametrize(("name", "bits"), [("int2", 2), ("uint4", 4), ("float6_e3m2fn", 6), ("float8_e5m2", 8)])
def test_packbits_by_type(name, bits):
    chain = compile_chain((Codec("packbits"),), small(name), (16,))
    assert chain.stage.size == 2 * bits
    ((_, step),) = chain.steps
    assert (step["first"], step["last"], step["extend"]) == (0, bits - 1, 2 if name == "int2" else None)


def test_signs_fill_a_byte_that_numpy_takes_for_a_number():
    chain = compile_chain((Codec("bytes"),), DType(np.dtype(np.int8), "int4"), (4,))
    assert chain.steps[0] == ("clean", {"bits": 4, "signed": True})
