"""Sets that others have written, and others that read ours."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fsspec.implementations.reference import LazyReferenceMapper
from kerchunk.df import refs_to_dataframe

from omnizarr.refset.parquet_reading import open_parquet, read_parquet
from omnizarr.refset.parquet_writing import write_parquet
from tests.refset.parquet.sets import FASTPARQUET, bytes_of, random_set

pytestmark = [pytest.mark.peers, FASTPARQUET]

SIZES = [1, 3, 10, 10_000]


def as_json(references):
    """Write a set as kerchunk has it in memory."""
    found = {key: data.decode() for key, data in references.documents.items()}
    for path, chunks in references.arrays.items():
        for row in range(len(chunks)):
            index = np.unravel_index(row, chunks.counts) if chunks.counts else (0,)
            url, offset, length = (int(c[row]) for c in (chunks.urls, chunks.offsets, chunks.lengths))
            key = f"{path}/{'.'.join(map(str, index))}"
            if url < len(references.urls):
                found[key] = [references.urls[url]] if length > 1 << 60 else [references.urls[url], offset, length]
            elif url != 0xFFFFFFFF:
                data = chunks.inline[offset : offset + length]
                # Theirs decodes it once on the way in and once when it is read.
                found[key] = data if not data.startswith(b"base64:") else b"other"
    return found


def expected_of(references):
    return {key: b"other" if data.startswith(b"base64:") else data for key, data in bytes_of(references).items()}


def check(folder, references, allow):
    expected = expected_of(references)
    store = open_parquet(folder, allow=[str(allow)])
    assert {key: store.get(key) for key in expected} == expected
    assert bytes_of(read_parquet(folder)) == expected
    assert {key: json.loads(store.get(key)) for key in references.documents} == {
        key: json.loads(data) for key, data in references.documents.items()
    }
    assert sorted(store.list_prefix("")) == sorted([*expected, *references.documents])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(2))
def test_written_by_kerchunk(tmp_path, seed, size):
    references = random_set(seed + 20, tmp_path)
    refs_to_dataframe(as_json(references), str(tmp_path / "k"), record_size=size, categorical_threshold=seed)
    check(tmp_path / "k", references, tmp_path)


@pytest.mark.parametrize("engine", ["fastparquet", "pyarrow"])
@pytest.mark.parametrize("size", [3, 10_000])
@pytest.mark.parametrize("seed", range(2))
def test_written_by_fsspec(tmp_path, seed, size, engine):
    references = random_set(seed + 40, tmp_path)
    mapper = LazyReferenceMapper.create(str(tmp_path / "f"), record_size=size, engine=engine, categorical_threshold=2)
    theirs = as_json(references)
    for key in sorted(theirs):
        mapper[key] = theirs[key]
    mapper.flush()
    check(tmp_path / "f", references, tmp_path)


def test_written_and_changed_by_fsspec(tmp_path):
    """Rows that were deleted later are nulls of every sort."""
    references = random_set(61, tmp_path, missing=False, whole=False)
    write_parquet(references, tmp_path / "f", record_size=4)
    mapper = LazyReferenceMapper(str(tmp_path / "f"))
    expected = bytes_of(references)
    gone = sorted(expected)[::3]
    for key in gone:
        del mapper[key]
        del expected[key]
    mapper.flush()
    store = open_parquet(tmp_path / "f", allow=[str(tmp_path)])
    assert {key: store.get(key) for key in expected} == expected
    assert all(store.get(key) is None for key in gone)


def test_read_by_virtualizarr(tmp_path):
    obstore = pytest.importorskip("obstore")
    parsers = pytest.importorskip("virtualizarr.parsers")
    registry = pytest.importorskip("obspec_utils.registry")
    references = random_set(3, tmp_path, missing=False, whole=False)
    for path in list(references.arrays):
        if "/" in path or not references.arrays[path].counts:
            del (
                references.arrays[path],
                references.documents[f"{path}/.zarray"],
                references.documents[f"{path}/.zattrs"],
            )
    for path, chunks in references.arrays.items():
        names = [f"{path}{i}" for i in range(len(chunks.counts))]
        references.documents[f"{path}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": names}).encode()
        chunks.urls[:] = 0
        chunks.lengths[:] = 5
    assert references.arrays
    write_parquet(references, tmp_path / "v", record_size=3)
    stores = registry.ObjectStoreRegistry({"file://": obstore.store.LocalStore()})
    made = parsers.KerchunkParquetParser()(str(tmp_path / "v"), registry=stores)
    group = made._group
    for path, chunks in references.arrays.items():
        manifest = group.arrays[path].manifest
        assert manifest.shape_chunk_grid == chunks.counts
        assert manifest._offsets.ravel().tolist() == chunks.offsets.tolist()
        assert manifest._lengths.ravel().tolist() == chunks.lengths.tolist()
