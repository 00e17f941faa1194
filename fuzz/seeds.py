"""`python -m fuzz.seeds FOLDER`: inputs for the kernel that only other libraries can make, such as files of HDF5."""

from __future__ import annotations

import io
import struct
import sys
from pathlib import Path

import numpy as np


def hdf5() -> list[bytes]:
    """Files with each kind of index of chunks, behind what the target wants to know of the dataset."""
    import h5py  # noqa: PLC0415 - not installed everywhere

    made = []
    for libver in ("earliest", "latest"):
        for shape, chunks, most in (
            ((7, 5), (2, 3), None),
            ((6,), (2,), (None,)),
            ((4, 6), (2, 2), (None, None)),
            ((3, 4, 2), (1, 2, 2), None),
            ((4, 4), (4, 4), None),
        ):
            for options in ({}, {"compression": "gzip"}):
                file = io.BytesIO()
                with h5py.File(file, "w", libver=libver) as target:
                    values = np.arange(np.prod(shape), dtype="i2").reshape(shape)
                    data = target.create_dataset("a", data=values, chunks=chunks, maxshape=most, **options)
                    address = h5py.h5o.get_info(data.id).addr
                front = struct.pack(f"<B{len(shape)}H{len(chunks)}HI", len(shape), *shape, *chunks, address)
                made.append(front + file.getvalue())
    return made


def parquet() -> list[bytes]:
    """Record files as pyarrow writes them, with every encoding and compression that there is."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    table = pa.table(
        {"path": ["u", "v", "u", None], "offset": [1, 2, 3, 0], "size": [4] * 4, "raw": [None] * 3 + [b"x"]}
    )
    made = []
    for compression in ("none", "snappy", "gzip", "zstd", "lz4"):
        for options in ({}, {"use_dictionary": False}, {"data_page_version": "2.0"}, {"data_page_size": 1}):
            sink = pa.BufferOutputStream()
            pq.write_table(table, sink, compression=compression, **options)
            made.append(struct.pack("<BH", 0, 3) + sink.getvalue().to_pybytes())
    return made


def main() -> None:
    """Write the inputs into folders named after the targets."""
    for name, make in (("hdf5", hdf5), ("parquet", parquet)):
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            made = make()
        except ImportError as error:
            print(f"no more seeds of {name}: {error}")
            continue
        for i, data in enumerate(made):
            (folder / f"made{i}").write_bytes(data)


if __name__ == "__main__":
    main()
