"""Files with one type of HDF5 each; see `hdf5_files`."""

from __future__ import annotations

import h5py
import numpy as np

RNG = np.random.default_rng(7)
FLOATS = RNG.standard_normal((40, 50)).astype("f4")
WHOLE = RNG.integers(-300, 300, (40, 50)).astype("i4")


def truth(f):
    f["v"] = WHOLE > 0


def enum(f):
    dtype = h5py.enum_dtype({"red": 0, "dark green": 7}, basetype=">i2")
    f.create_dataset("v", data=np.array([[0, 7], [7, 0]], ">i2"), dtype=dtype)


def complex_numbers(f):
    f.create_dataset(
        "v", data=(FLOATS + 1j * FLOATS[::-1]).astype("c8"), chunks=(9, 9), compression="gzip", shuffle=True
    )


COMPOUND = np.dtype(
    {
        "names": ["a", "b", "c"],
        "formats": ["u1", "<f8", (">i2", (2, 2))],
        "offsets": [0, 8, 16],
        "itemsize": 32,
    }
)


def compound(f):
    values = np.zeros((6, 7), COMPOUND)
    values["a"], values["b"] = np.arange(42).reshape(6, 7), RNG.standard_normal((6, 7))
    values["c"] = RNG.integers(0, 99, (6, 7, 2, 2))
    f.create_dataset("v", data=values, chunks=(4, 4), compression="gzip", shuffle=True)


def nested_compound(f):
    inner = np.dtype([("x", "<f4"), ("y", "S3")])
    values = np.zeros(5, [("p", inner), ("n", "<i8")])
    values["p"]["x"], values["p"]["y"], values["n"] = np.arange(5), b"abc", np.arange(5)
    f["v"] = values


def compound_with_text(f):
    kind = [("n", "i4"), ("t", h5py.string_dtype()), ("x", ">f4")]
    f["v"] = np.array([(1, "a", 0.5), (3, "é and more", 1)], kind)


def compound_with_sequences(f):
    f.create_dataset("v", (2,), [("n", "i4"), ("s", h5py.vlen_dtype("i4"))])


def array_type(f):
    f.create_dataset("v", (6,), np.dtype(("<f4", (2, 3))), chunks=(4,), compression="gzip", shuffle=True)
    f["v"][...] = np.arange(36, dtype="f4").reshape(6, 2, 3)


def opaque(f):
    f["v"] = np.array([b"\1\0\2", b"abc"], "V3")


def fixed_text(f):
    f.create_dataset("v", data=np.array([[b"one", b"seven"], [b"", b"x\0y"]], "S5"), chunks=(1, 2), compression="gzip")


def utf8_text(f):
    dtype = h5py.string_dtype("utf-8", 4)
    f.create_dataset("v", data=np.array(["é".encode(), b"ab"], dtype), dtype=dtype, fillvalue=b"x")
    f.create_dataset("never", (3,), dtype, fillvalue=np.array("é".encode(), dtype))


def spaced_text(f):
    tid = h5py.h5t.FORTRAN_S1.copy()
    tid.set_size(6)
    tid.set_strpad(h5py.h5t.STR_SPACEPAD)
    made = h5py.h5d.create(f.id, b"v", tid, h5py.h5s.create_simple((2,)))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"one   ", b"three "], "S6"), tid)


def text(f):
    f.create_dataset("v", data=[["a", "éà"], ["", "long " * 30]], dtype=h5py.string_dtype(), chunks=(1, 2))


def ascii_text(f):
    f.create_dataset("v", data=[b"a", b"bc"], dtype=h5py.string_dtype("ascii"))


def unwritten_text(f):
    f.create_dataset("v", (3,), h5py.string_dtype())


def latin_text(f):
    f.create_dataset("v", data=[b"caf\xe9"], dtype=h5py.string_dtype())


def ragged(f):
    v = f.create_dataset("v", (3,), h5py.vlen_dtype("<i4"))
    v[0], v[2] = [1, 2, 3], [7]


def object_references(f):
    f["x"] = 1
    f.create_dataset("v", data=[f["x"].ref], dtype=h5py.ref_dtype)


def region_references(f):
    f["x"] = FLOATS
    f.create_dataset("v", data=[f["x"].regionref[:3]], dtype=h5py.regionref_dtype)


def times(f):
    h5py.h5d.create(f.id, b"v", h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((3,)))


def bits(f):
    made = h5py.h5d.create(f.id, b"v", h5py.h5t.STD_B16LE, h5py.h5s.create_simple((3,)))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, 2, 65535], "<u2"), h5py.h5t.STD_B16LE)


def twelve_bits(plist=None):
    tid = h5py.h5t.STD_I16LE.copy()
    tid.set_precision(12)
    tid.set_offset(2)
    values = RNG.integers(-2000, 2000, (10, 10)).astype("<i2")

    def make(f):
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_chunk((4, 4))
        if plist:
            made.set_filter(h5py.h5z.FILTER_NBIT, 0, ())
        d = h5py.h5d.create(f.id, b"v", tid, h5py.h5s.create_simple((10, 10)), made)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, values)

    return make


def three_bytes(f):
    tid = h5py.h5t.STD_I32LE.copy()
    tid.set_precision(24)
    tid.set_size(3)
    d = h5py.h5d.create(f.id, b"v", tid, h5py.h5s.create_simple((3,)))
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, -2, 70000], "<i4"))
