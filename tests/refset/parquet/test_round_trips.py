"""What is written is what is read, by ourselves and by others, whatever the sizes of records."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import fsspec
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, MetadataError, UnsupportedError
from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, References, Stamp
from omnizarr.refset.parquet_reading import open_parquet, read_parquet
from omnizarr.refset.parquet_writing import ParquetWriter, write_parquet
from omnizarr.store.fault import FaultStore
from omnizarr.store.memory import MemoryStore
from tests.refset.parquet.sets import FASTPARQUET, GROUP, bytes_of, random_set, read_by_fsspec, source, tree, zarray

pytestmark = FASTPARQUET

SIZES = [1, 3, 10, 10_000]


def all_keys(references):
    """List the keys that chunks may have, also of those that are missing."""
    for path, chunks in references.arrays.items():
        for index in np.ndindex(chunks.counts or (1,)):
            yield f"{path}/{'.'.join(map(str, index))}"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(8))
def test_ours_to_ours(tmp_path, seed, size):
    references = random_set(seed, tmp_path)
    write_parquet(references, tmp_path / "set.parq", record_size=size, categorical_threshold=seed % 3)
    expected = bytes_of(references)
    store = open_parquet(tmp_path / "set.parq", allow=[str(tmp_path)])
    assert {key: store.get(key) for key in all_keys(references)} == {
        key: expected.get(key) for key in all_keys(references)
    }
    documents = references.documents
    assert sorted(store.list_prefix("")) == sorted([*documents, *expected])
    assert {key: store.get(key) for key in documents} == documents
    again = read_parquet(tmp_path / "set.parq")
    assert again.documents == documents
    assert bytes_of(again) == expected
    for path, chunks in again.arrays.items():
        assert chunks.counts == references.arrays[path].counts


@pytest.mark.parametrize("engine", ["fastparquet", "pyarrow"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.peers
def test_ours_to_fsspec(tmp_path, seed, size, engine):
    references = random_set(seed + 100, tmp_path, missing=False)
    write_parquet(references, tmp_path / "set.parq", record_size=size, categorical_threshold=seed)
    expected = bytes_of(references)
    assert read_by_fsspec(tmp_path / "set.parq", expected, engine) == expected
    assert {
        key: json.loads(data)
        for key, data in read_by_fsspec(tmp_path / "set.parq", references.documents, engine).items()
    } == {key: json.loads(data) for key, data in references.documents.items()}


@pytest.mark.parametrize("kind", ["zip", "memory", "dict"])
def test_other_places_than_folders(tmp_path, kind):
    references = random_set(7, tmp_path)
    place = {"zip": str(tmp_path / "set.zip"), "memory": MemoryStore(), "dict": {}}[kind]
    write_parquet(references, place, record_size=3)
    store = open_parquet(place, allow=["*"])
    assert {key: store.get(key) for key in bytes_of(references)} == bytes_of(references)
    assert bytes_of(read_parquet(place)) == bytes_of(references)


@pytest.mark.peers
def test_sets_of_version_3_and_keys_with_slashes(tmp_path):
    url = source(tmp_path)
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 6],
        "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes"}],
    }
    rows = Chunks.ranges((2, 2), 0, [0, 6, 12, 18], 6)
    documents = {
        "zarr.json": b'{"zarr_format":3,"node_type":"group"}',
        "v/zarr.json": json.dumps(document).encode(),
        "w/.zarray": zarray([4, 6], [2, 3], separator="/"),
    }
    write_parquet(References(documents, {"v": rows, "w": rows}, [url]), tmp_path / "s.parq", record_size=3)
    store = open_parquet(tmp_path / "s.parq", allow=[str(tmp_path)])
    data = np.frombuffer(Path(url).read_bytes()[:24], "u1")
    expected = data.reshape(2, 2, 2, 3).swapaxes(1, 2).reshape(4, 6)
    np.testing.assert_array_equal(oz.open(store)["v"][...], expected)
    assert store.get("w/1/0") == data[12:18].tobytes()
    assert sorted(store.list_prefix("v/")) == ["v/c/0/0", "v/c/0/1", "v/c/1/0", "v/c/1/1", "v/zarr.json"]


def test_a_whole_read_through_the_engine(tmp_path):
    values = np.arange(60_000, dtype="<u2").reshape(300, 200)
    (tmp_path / "a.bin").write_bytes(b"head" + values.tobytes())
    rows = Chunks.ranges((300, 1), 0, 4 + 400 * np.arange(300), 400)
    documents = {".zgroup": GROUP, "v/.zarray": zarray(values.shape, (1, 200), dtype="<u2")}
    write_parquet(References(documents, {"v": rows}, ["a.bin"]), tmp_path / "s.parq", record_size=70)
    array = oz.open(open_parquet(tmp_path / "s.parq"))["v"]
    np.testing.assert_array_equal(array[...], values)
    np.testing.assert_array_equal(array[250::7, 3:5], values[250::7, 3:5])


def test_pages_beyond_the_first(tmp_path):
    """Records longer than a page, with categories and without, each sort of row on both sides of each border."""
    n = 70_000
    urls = np.arange(n, dtype="u4") // 3 % 900
    offsets, lengths = np.arange(n, dtype="u8") * 3, np.full(n, 7, "u8")
    urls[16_380:16_390] = MISSING
    urls[32_760:32_780] = INLINE
    offsets[32_760:32_780] = np.arange(20)
    lengths[32_760:32_780] = 2
    rows = Chunks((n,), urls, offsets, lengths, None, bytes(range(30)))
    names = [f"s3://bucket/some/where/{i}.nc" for i in range(900)]
    references = References({"a/.zarray": zarray([n], [1])}, {"a": rows}, names)
    for size, threshold in [(100_000, 10), (100_000, 1e9), (50_000, 10)]:
        write_parquet(references, tmp_path / "s", record_size=size, categorical_threshold=threshold, overwrite=True)
        again = read_parquet(tmp_path / "s")
        there = urls != MISSING
        found = again.arrays["a"]
        np.testing.assert_array_equal(found.numbers, np.flatnonzero(there))
        there &= urls != INLINE
        mine = found.urls != INLINE
        assert np.array(again.urls)[found.urls[mine]].tolist() == np.array(names)[urls[there]].tolist()
        np.testing.assert_array_equal(found.offsets[mine], offsets[there])
        np.testing.assert_array_equal(found.lengths, lengths[urls != MISSING])
        assert found.inline == b"".join(bytes([i, i + 1]) for i in range(20))
        store = open_parquet(tmp_path / "s")
        assert store.get("a/32761") == b"\x01\x02"
        assert not store.exists("a/16385")


def test_stamps_are_kept_beside_the_set(tmp_path):
    path = source(tmp_path)
    stamps = {f"s3://x/{i}\t\\.nc": Stamp(i, None, f'"{i}"') for i in range(500)}
    stamps[path] = Stamp(4000, 5)
    rows = Chunks.ranges((2,), 0, [1, 2], 3)
    references = References({"a/.zarray": zarray([2], [1])}, {"a": rows}, [path, *stamps], stamps)
    references.urls = [path]
    write_parquet(references, tmp_path / "s")
    assert read_parquet(tmp_path / "s").stamps == stamps
    store = open_parquet(tmp_path / "s", allow=[str(tmp_path)])
    with pytest.raises(oz.errors.OmnizarrError, match=r"changed|stale"):
        store.get("a/0")


@pytest.mark.peers
def test_others_pass_over_the_stamps(tmp_path):
    references = random_set(1, tmp_path, missing=False)
    references.stamps = {url: Stamp(4000) for url in references.urls}
    write_parquet(references, tmp_path / "s")
    expected = bytes_of(references)
    assert read_by_fsspec(tmp_path / "s", expected) == expected
    mapper = fsspec.implementations.reference.LazyReferenceMapper(str(tmp_path / "s"))
    assert ".omnizarr-sources.tsv.zst" not in mapper.ls("", detail=False)


def test_a_set_is_not_there_before_it_is_whole(tmp_path):
    references = random_set(3, tmp_path)
    with ParquetWriter(tmp_path / "s", record_size=2) as writer:
        numbers = writer.numbers(references.urls)
        for path, chunks in references.arrays.items():
            with writer.array(path) as array:
                array.append(chunks, numbers)
        assert ".zmetadata" not in tree(tmp_path / "s")
        writer.finish(references.documents)
    assert bytes_of(read_parquet(tmp_path / "s")) == bytes_of(references)


def test_pieces_of_any_size(tmp_path):
    """Pieces with URLs of their own, dense and sparse, that end within records."""
    rng = np.random.default_rng(5)
    pieces, total = [], 0
    for i in range(40):
        n = int(rng.integers(0, 30))
        rows = np.flatnonzero(rng.random(n) < 0.7) if i % 2 else None
        m = n if rows is None else len(rows)
        offsets = rng.integers(0, 1 << 40, m)
        pieces.append((Chunks.ranges((n,), i % 2, offsets, 5, numbers=rows), [f"u{i}", f"v{i % 3}"], total))
        total += n
    with ParquetWriter(tmp_path / "s", record_size=17) as writer:
        with writer.array("a") as array:
            for chunks, urls, _ in pieces:
                array.append(chunks, writer.numbers(urls))
        writer.finish({"a/.zarray": zarray([total], [1])})
    found = read_parquet(tmp_path / "s")
    rows = found.arrays["a"]
    got = [
        (int(number), found.urls[url], int(offset))
        for number, url, offset in zip(rows.numbers, rows.urls, rows.offsets, strict=True)
    ]
    assert got == [
        (start + int(number), urls[i % 2], int(offset))
        for i, (chunks, urls, start) in enumerate(pieces)
        for number, offset in zip(
            range(len(chunks)) if chunks.numbers is None else chunks.numbers, chunks.offsets, strict=True
        )
    ]


def test_huge_sparse_grids_cost_nothing(tmp_path):
    rows = Chunks.ranges((10**12,), 0, [1, 2, 3], 5, numbers=[0, 10**11, 10**12 - 1])
    references = References({"a/.zarray": zarray([10**12], [1])}, {"a": rows}, ["u"])
    write_parquet(references, tmp_path / "s")
    assert len([name for name in tree(tmp_path / "s") if "refs" in name]) == 3
    again = read_parquet(tmp_path / "s").arrays["a"]
    np.testing.assert_array_equal(again.numbers, rows.numbers)
    assert open_parquet(tmp_path / "s").list_prefix("a/") == ["a/.zarray", "a/0", f"a/{10**11}", f"a/{10**12 - 1}"]


def test_what_is_there_is_not_replaced_unasked(tmp_path):
    first, second = random_set(1, tmp_path), random_set(2, tmp_path)
    write_parquet(first, tmp_path / "s")
    with pytest.raises(ExistsError):
        write_parquet(second, tmp_path / "s")
    assert bytes_of(read_parquet(tmp_path / "s")) == bytes_of(first)
    write_parquet(second, tmp_path / "s", overwrite=True)
    assert bytes_of(read_parquet(tmp_path / "s")) == bytes_of(second)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("all of it")
    with pytest.raises(ExistsError):
        write_parquet(second, tmp_path / "other", overwrite=True)


def test_what_has_no_place_is_refused(tmp_path):
    rows = Chunks.ranges((2,), 0, [1, 2], 3)
    references = References({}, {"a": rows}, ["u"])
    with pytest.raises(MetadataError, match="document"):
        write_parquet(references, tmp_path / "1")
    references.documents["a/.zarray"] = zarray([3], [1])
    with pytest.raises(MetadataError, match="chunks"):
        write_parquet(references, tmp_path / "2")
    references.documents["a/.zarray"] = zarray([2], [1])
    references.others["readme"] = ("u", 1, 2)
    with pytest.raises(UnsupportedError, match="chunk"):
        write_parquet(references, tmp_path / "3")
    references.others["readme"] = b"base64:\xff"
    write_parquet(references, tmp_path / "4")
    assert open_parquet(tmp_path / "4").get("readme") == b"base64:\xff"
    references.arrays["a"] = Chunks.ranges((2,), 0, [2**63, 2], WHOLE - 1)
    with pytest.raises(ValueError, match="parquet"):
        write_parquet(references, tmp_path / "5")


class Unlisted(FaultStore):
    """A store that does not say what it has, as servers do not."""

    def list_dir(self, prefix):
        raise UnsupportedError("nothing is listed", key=prefix)


def test_places_that_do_not_list_what_they_have(tmp_path):
    references = random_set(9, tmp_path)
    place = MemoryStore()
    write_parquet(references, place, record_size=3)
    expected = bytes_of(references)
    assert bytes_of(read_parquet(Unlisted(place))) == expected
    store = open_parquet(Unlisted(place), allow=["*"])
    assert sorted(store.list_prefix("")) == sorted([*references.documents, *expected])


def test_stores_of_sets_travel(tmp_path):
    references = random_set(7, tmp_path)
    write_parquet(references, tmp_path / "s", record_size=3)
    store = pickle.loads(pickle.dumps(open_parquet(tmp_path / "s", allow=[str(tmp_path)])))
    assert {key: store.get(key) for key in bytes_of(references)} == bytes_of(references)
