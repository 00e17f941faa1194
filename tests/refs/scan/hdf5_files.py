"""One file for each feature of HDF5; each function writes one dataset `v`, or several, with h5py."""

from __future__ import annotations

import ctypes
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np

from .hdf5_types_files import (
    FLOATS,
    RNG,
    WHOLE,
    array_type,
    ascii_text,
    bits,
    complex_numbers,
    compound,
    compound_with_sequences,
    compound_with_text,
    enum,
    fixed_text,
    latin_text,
    nested_compound,
    object_references,
    opaque,
    ragged,
    region_references,
    spaced_text,
    text,
    three_bytes,
    times,
    truth,
    twelve_bits,
    unwritten_text,
    utf8_text,
)

# If netCDF4 is imported first, HDF5 finds the filters that come with it, which do not work with h5py's library.
hdf5plugin.register(force=True)


def plain(dtype, shape=(20, 30)):
    values = RNG.integers(0, 100, shape)

    def make(f):
        f.create_dataset("v", data=values.astype(dtype), chunks=(7, 11))

    return make


def dataset(**options):
    values = options.pop("values", FLOATS)

    def make(f):
        f.create_dataset("v", data=values, **{"chunks": (16, 16), **options})

    return make


def low_level(set_filters, dtype="<f4", values=FLOATS, chunks=(16, 16)):
    """Write through the lower layer, where filters can be in any order."""

    def make(f):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk(chunks)
        set_filters(plist)
        space = h5py.h5s.create_simple(values.shape)
        tid = dtype if isinstance(dtype, h5py.h5t.TypeID) else h5py.h5t.py_create(np.dtype(dtype))
        made = h5py.h5d.create(f.id, b"v", tid, space, plist)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))

    return make


def swift(plist):
    plist.set_fletcher32()
    plist.set_shuffle()
    plist.set_deflate(4)


def checksum_between(plist):
    plist.set_shuffle()
    plist.set_fletcher32()
    plist.set_deflate(4)


def contiguous(f):
    f["v"] = FLOATS


def unallocated(f):
    f.create_dataset("v", (5, 6), "i4", fillvalue=42)


def compact(f):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    values = np.arange(1500, dtype="<i4").reshape(30, 50)
    space = h5py.h5s.create_simple(values.shape)
    made = h5py.h5d.create(f.id, b"v", h5py.h5t.STD_I32LE, space, plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values)


def external(f):
    folder = Path(f.filename).parent
    f.create_dataset(
        "v",
        data=WHOLE,
        external=[(str(folder / "one.raw"), 16, 4000), (str(folder / "two.raw"), 0, h5py.h5f.UNLIMITED)],
    )


def virtual(f):
    folder = Path(f.filename).parent
    layout = h5py.VirtualLayout((4, 40, 50), "f4", maxshape=None)
    for n in range(4):
        with h5py.File(folder / f"part{n}.h5", "w") as part:
            part.create_dataset("x", data=FLOATS + n, chunks=(20, 25), compression="gzip")
        layout[n] = h5py.VirtualSource(f"part{n}.h5", "x", (40, 50))
    f.create_virtual_dataset("v", layout, fillvalue=-1)


def virtual_contiguous(f):
    folder = Path(f.filename).parent
    layout = h5py.VirtualLayout((120, 50), "f4")
    for n in range(3):
        with h5py.File(folder / f"part{n}.h5", "w") as part:
            part["x"] = FLOATS + n
        layout[40 * n : 40 * (n + 1)] = h5py.VirtualSource(f"part{n}.h5", "x", (40, 50))
    f.create_virtual_dataset("v", layout)


def virtual_with_a_hole(f):
    f.create_dataset("x", data=FLOATS, chunks=(20, 25))
    layout = h5py.VirtualLayout((80, 50), "f4")
    layout[40:] = h5py.VirtualSource(".", "x", (40, 50))
    f.create_virtual_dataset("v", layout, fillvalue=9)


def virtual_unaligned(f):
    f.create_dataset("x", data=FLOATS, chunks=(16, 16))
    layout = h5py.VirtualLayout((30, 45), "f4")
    layout[:] = h5py.VirtualSource(f["x"])[3:33, 5:]
    f.create_virtual_dataset("v", layout)


def virtual_strided(f):
    f.create_dataset("x", data=FLOATS, chunks=(16, 16))
    layout = h5py.VirtualLayout((80, 50), "f4")
    layout[::2] = h5py.VirtualSource(f["x"])
    f.create_virtual_dataset("v", layout, fillvalue=1)


def virtual_other_fill(f):
    source = f.create_dataset("x", (40, 50), "f4", chunks=(20, 25), fillvalue=3)
    source[:20] = FLOATS[:20]
    layout = h5py.VirtualLayout((40, 50), "f4")
    layout[:] = h5py.VirtualSource(source)
    f.create_virtual_dataset("v", layout, fillvalue=4)


def holes(f):
    v = f.create_dataset("v", (100, 10), "f8", chunks=(10, 5), fillvalue=-5.5)
    v[20:30] = 1
    v[95:, 7:] = 2


def unlimited(f):
    v = f.create_dataset("v", (33, 10), "i2", chunks=(64, 4), maxshape=(None, 10), compression="gzip")
    v[...] = np.arange(330).reshape(33, 10)


def two_unlimited(f):  # another kind of index
    v = f.create_dataset("v", (33, 10), "i2", chunks=(8, 4), maxshape=(None, None), compression="gzip")
    v[...] = np.arange(330).reshape(33, 10)


def one_chunk(f):
    f.create_dataset("v", data=FLOATS, chunks=FLOATS.shape, compression="gzip")


def shrunk(f):
    v = f.create_dataset("v", data=FLOATS, chunks=(8, 8), maxshape=(None, None))
    v.resize((20, 20))
    v.resize((30, 30))


def deleted_early_allocation(f):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((8, 8))
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((20, 20))
    h5py.h5d.create(f.id, b"v", h5py.h5t.IEEE_F32LE, space, plist)


def masked(masks):
    def make(f):
        v = f.create_dataset("v", (40, 50), "<i4", chunks=(20, 25), compression="gzip", shuffle=True)
        v[...] = WHOLE
        for at, mask in masks.items():
            piece = np.ascontiguousarray(WHOLE[at[0] : at[0] + 20, at[1] : at[1] + 25])
            data = piece.tobytes()
            if not mask & 1:
                data = piece.view("u1").reshape(-1, 4).T.tobytes()
            v.id.write_direct_chunk(at, data, mask)

    return make


def edges_unfiltered(f):
    """Chunks at the edge are not filtered: an option that h5py has no words for."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    library = ctypes.CDLL(next(line.split()[-1] for line in maps if "h5py.libs/libhdf5-" in line))
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((16, 16))
    plist.set_deflate(4)
    library.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    assert library.H5Pset_chunk_opts(plist.id, 2) >= 0
    space = h5py.h5s.create_simple(FLOATS.shape)
    made = h5py.h5d.create(f.id, b"v", h5py.h5t.IEEE_F32LE, space, plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, FLOATS)


def scalar(f):
    f["v"] = np.float64(2.5)


def scalar_text(f):
    f["v"] = "só"


def null(f):
    f["v"] = h5py.Empty("f4")


def no_length(f):
    f.create_dataset("v", (0, 3), "f4", maxshape=(None, 3), chunks=(4, 3))


def no_length_contiguous(f):
    f.create_dataset("v", (0,), "f4")


def links(f):
    f.create_dataset("g/v", data=FLOATS)
    f["v"] = f["g/v"]
    f["soft"] = h5py.SoftLink("/g/v")
    with h5py.File(Path(f.filename).parent / "other.h5", "w") as other:
        other.create_dataset("x", data=WHOLE, chunks=(8, 8), compression="gzip")
    f["away"] = h5py.ExternalLink("other.h5", "/x")


def cycle(f):
    f.create_dataset("g/v", data=FLOATS)
    f["g/again"] = f["/"]
    f["v"] = WHOLE


def groups(f):
    f.create_dataset("a/b/c", data=FLOATS, chunks=(5, 5))
    f["v"] = WHOLE


CASES = {
    **{
        f"type {kind}": plain(kind)
        for kind in ("i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">u8", "f2", ">f2", "f4", ">f4", "f8", ">f8")
    },
    "type long double": dataset(values=FLOATS.astype("g")),
    "bool": truth,
    "enum": enum,
    "complex": complex_numbers,
    "complex 16": dataset(values=FLOATS.astype("c16")),
    "compound with padding": compound,
    "nested compound": nested_compound,
    "compound with text": compound_with_text,
    "compound with sequences": compound_with_sequences,
    "array type": array_type,
    "opaque": opaque,
    "fixed text": fixed_text,
    "fixed text of UTF-8": utf8_text,
    "text filled with spaces": spaced_text,
    "text": text,
    "text of ASCII": ascii_text,
    "text never written": unwritten_text,
    "text that is not UTF-8": latin_text,
    "text as scalar": scalar_text,
    "ragged": ragged,
    "object references": object_references,
    "region references": region_references,
    "times": times,
    "bits": bits,
    "twelve bits": twelve_bits(),
    "twelve bits packed": twelve_bits(plist=True),
    "three bytes": three_bytes,
    "scalar": scalar,
    "null": null,
    "no length": no_length,
    "no length in one piece": no_length_contiguous,
    "contiguous": contiguous,
    "never allocated": unallocated,
    "allocated early": deleted_early_allocation,
    "compact": compact,
    "external": external,
    "virtual": virtual,
    "virtual of contiguous": virtual_contiguous,
    "virtual with a hole": virtual_with_a_hole,
    "virtual unaligned": virtual_unaligned,
    "virtual strided": virtual_strided,
    "virtual with another fill": virtual_other_fill,
    "holes": holes,
    "unlimited": unlimited,
    "two unlimited": two_unlimited,
    "one chunk": one_chunk,
    "shrunk": shrunk,
    "gzip": dataset(compression="gzip"),
    "gzip of level 0": dataset(compression="gzip", compression_opts=0),
    "shuffle": dataset(shuffle=True),
    "shuffle and gzip": dataset(compression="gzip", shuffle=True),
    "shuffle of bytes": dataset(values=WHOLE.astype("i1"), shuffle=True, compression="gzip"),
    "fletcher32": dataset(fletcher32=True),
    "fletcher32 of odd bytes": dataset(values=WHOLE.astype("i1"), chunks=(3, 5), fletcher32=True),
    "all three": dataset(compression="gzip", shuffle=True, fletcher32=True),
    "fletcher32 first": low_level(swift),
    "fletcher32 first, eight bytes": low_level(swift, "<f8", FLOATS.astype("f8")),
    "fletcher32 between": low_level(checksum_between),
    "szip": dataset(compression="szip"),
    "szip of big-endian": dataset(values=WHOLE.astype(">i2"), compression="szip", compression_opts=("ec", 16)),
    "szip of doubles": dataset(values=FLOATS.astype("f8"), compression="szip"),
    "shuffle and szip": dataset(shuffle=True, compression="szip"),
    "lzf": dataset(compression="lzf"),
    "lzf of noise": dataset(values=RNG.integers(0, 255, (40, 50)).astype("u1"), compression="lzf"),
    "lzf and shuffle": dataset(compression="lzf", shuffle=True),
    "scale-offset of integers": dataset(values=WHOLE, scaleoffset=0),
    "scale-offset of given bits": dataset(values=WHOLE, scaleoffset=10),
    "scale-offset of floats": dataset(scaleoffset=3),
    "scale-offset with fill": dataset(values=WHOLE, scaleoffset=0, fillvalue=WHOLE[0, 0]),
    "scale-offset of big-endian": dataset(values=WHOLE.astype(">i4"), scaleoffset=0, compression="gzip"),
    "n-bit of whole types": low_level(lambda plist: plist.set_filter(h5py.h5z.FILTER_NBIT, 0, ())),
    "zstd": dataset(**hdf5plugin.Zstd()),
    "bzip2": dataset(**hdf5plugin.BZip2()),
    "lz4": dataset(**hdf5plugin.LZ4()),
    "lz4 in blocks": dataset(**hdf5plugin.LZ4(nbytes=300)),
    "blosc": dataset(**hdf5plugin.Blosc()),
    "blosc zstd bit": dataset(**hdf5plugin.Blosc("zstd", 3, hdf5plugin.Blosc.BITSHUFFLE)),
    "blosc2": dataset(**hdf5plugin.Blosc2()),
    "bitshuffle": dataset(**hdf5plugin.Bitshuffle()),
    "bitshuffle alone": dataset(**hdf5plugin.Bitshuffle(cname="none")),
    "bitshuffle zstd": dataset(**hdf5plugin.Bitshuffle(cname="zstd")),
    "zfp": dataset(**hdf5plugin.Zfp(reversible=True)),
    "sz3": dataset(**hdf5plugin.SZ3(absolute=0.1)),
    "filters left out everywhere": masked({(r, c): 3 for r in (0, 20) for c in (0, 25)}),
    "one filter left out everywhere": masked({(r, c): 2 for r in (0, 20) for c in (0, 25)}),
    "filters left out of some": masked({(0, 0): 3, (20, 25): 2}),
    "edges unfiltered": edges_unfiltered,
    "links": links,
    "cycle": cycle,
    "groups": groups,
}
"""What writes a file, by name."""
