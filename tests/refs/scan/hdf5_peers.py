"""Sets as other readers want them: the references of version 1, for fsspec."""

from __future__ import annotations

import base64
import itertools

import fsspec
import zarr
import zarr.storage

from omnizarr.refset.grids import array_metas
from omnizarr.refset.model import INLINE


def text(data):
    """Return bytes as references spell them."""
    return "base64:" + base64.b64encode(data).decode()


def as_dict(references):
    """Return a set as the mapping that fsspec takes."""
    found = {key: data.decode() for key, data in references.documents.items()}
    metas = dict(array_metas(references.documents))
    for path, rows in references.arrays.items():
        numbers = rows.numbers if rows.numbers is not None else range(len(rows))
        places = list(itertools.product(*map(range, rows.counts)))
        for row, number in enumerate(numbers):
            key = f"{path}/{metas[path].keys.key(places[int(number)])}"
            start, size, url = int(rows.offsets[row]), int(rows.lengths[row]), int(rows.urls[row])
            inline = rows.inline[start : start + size] if url == INLINE else None
            found[key] = [references.urls[url], start, size] if inline is None else text(inline)
    return {"version": 1, "refs": found}


def zarr_group(references):
    """Open a set with zarr-python, through fsspec."""
    fs = fsspec.filesystem("reference", fo=as_dict(references), remote_protocol="file", asynchronous=True)
    store = zarr.storage.FsspecStore(fs, read_only=True, path="")
    return zarr.open_group(store, mode="r", zarr_format=2, use_consolidated=False)
