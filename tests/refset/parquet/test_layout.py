"""The layout, point by point as fsspec, kerchunk and pandas have it."""

from __future__ import annotations

import json
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from fsspec.implementations.reference import LazyReferenceMapper
from kerchunk.df import refs_to_dataframe

from omnizarr.errors import MetadataError
from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, References
from omnizarr.refset.parquet_reading import open_parquet, read_parquet
from omnizarr.refset.parquet_writing import write_parquet
from tests.refset.parquet.sets import FASTPARQUET, GROUP, bytes_of, read_by_fsspec, source, tree, zarray

pytestmark = [pytest.mark.peers, FASTPARQUET]


def a_set(folder, n=5, urls=1, **options):
    path = source(folder)
    names = [path, *(f"{path}.{i}" for i in range(1, urls))]
    rows = Chunks.ranges((n,), np.arange(n) % urls, 10 * np.arange(n) + 1, 10)
    references = References({".zgroup": GROUP, "a/.zarray": zarray([10 * n], [10])}, {"a": rows}, names)
    write_parquet(references, folder / "s", **options)
    return references


def columns(folder, frame, *, shape=4, record_size=4, **options):
    """Write one record file as pandas and pyarrow would, and open the set."""
    (folder / "s" / "a").mkdir(parents=True, exist_ok=True)
    table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    pq.write_table(table, folder / "s" / "a" / "refs.0.parq", **options)
    metadata = {"a/.zarray": json.loads(zarray([shape], [1]))}
    (folder / "s" / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": record_size}))
    return open_parquet(folder / "s", allow=[str(folder)])


def test_the_example_of_the_specification(tmp_path):
    """Two arrays of one number, as the specification makes them through zarr and fsspec."""
    mapper = LazyReferenceMapper.create(str(tmp_path / "theirs"))
    documents = {".zgroup": GROUP, "deep/.zgroup": GROUP}
    documents |= {f"{path}/.zarray": zarray([1], [1], dtype="<f8") for path in ("name", "deep/name")}
    for key, data in documents.items():
        mapper[key] = data
    one = np.ones(1).tobytes()
    mapper["name/0"] = mapper["deep/name/0"] = one
    mapper.flush()
    arrays = {path: Chunks.of_bytes((1,), {0: one}) for path in ("name", "deep/name")}
    write_parquet(References(documents, arrays), tmp_path / "ours", record_size=10_000)
    assert tree(tmp_path / "ours") == tree(tmp_path / "theirs")
    assert tree(tmp_path / "ours") == [".zmetadata", "deep/name/refs.0.parq", "name/refs.0.parq"]
    for folder in (tmp_path / "ours", tmp_path / "theirs"):
        assert read_by_fsspec(folder, ["name/0", "deep/name/0"]) == {"name/0": one, "deep/name/0": one}
        assert bytes_of(read_parquet(folder)) == {"name/0": one, "deep/name/0": one}
        documents_of = {key: json.loads(data) for key, data in read_parquet(folder).documents.items()}
        assert documents_of == {key: json.loads(data) for key, data in documents.items()}


def test_records_are_counted_from_0(tmp_path):
    a_set(tmp_path, 7, record_size=3)
    assert tree(tmp_path / "s") == [".zmetadata", "a/refs.0.parq", "a/refs.1.parq", "a/refs.2.parq"]


def test_metadata_has_objects_and_may_have_text(tmp_path):
    a_set(tmp_path)
    metadata = json.loads((tmp_path / "s" / ".zmetadata").read_bytes())
    assert metadata.keys() == {"metadata", "record_size"}
    assert all(isinstance(value, dict) for value in metadata["metadata"].values())
    assert metadata["record_size"] == 100_000
    expected = read_parquet(tmp_path / "s").documents
    as_text = {key: json.dumps(value) for key, value in metadata["metadata"].items()}
    text = json.dumps({"metadata": as_text, "record_size": 100_000}).replace("/", "\\/")
    (tmp_path / "s" / ".zmetadata").write_text(text)
    again = read_parquet(tmp_path / "s").documents
    assert {key: json.loads(data) for key, data in again.items()} == {
        key: json.loads(data) for key, data in expected.items()
    }


def test_zarr_opens_the_metadata_as_consolidated(tmp_path):
    a_set(tmp_path)
    mapper = LazyReferenceMapper(str(tmp_path / "s"))
    system = fsspec.filesystem("reference", fo=mapper, remote_protocol="file", asynchronous=True)
    group = zarr.open_group(zarr.storage.FsspecStore(system, read_only=True), mode="r", zarr_format=2)
    data = Path(source(tmp_path)).read_bytes()
    np.testing.assert_array_equal(group["a"][...], np.frombuffer(data[1:51], "u1"))


@pytest.mark.parametrize("categorical", [True, False])
def test_files_are_as_fastparquet_writes_them(tmp_path, categorical):
    """Schema, types, compression, rows and what pandas is told, compared with files of kerchunk."""
    references = a_set(tmp_path, 24, urls=2 if categorical else 24, record_size=30)
    theirs = {key: data.decode() for key, data in references.documents.items()}
    theirs |= {f"a/{i}": [references.urls[i % len(references.urls)], 10 * i + 1, 10] for i in range(24)}
    refs_to_dataframe(theirs, str(tmp_path / "k"), record_size=30)
    mine, other = (pq.ParquetFile(tmp_path / name / "a" / "refs.0.parq") for name in ("s", "k"))
    assert str(mine.schema).partition("\n")[2] == str(other.schema).partition("\n")[2]
    assert mine.metadata.num_rows == other.metadata.num_rows == 30
    assert mine.metadata.num_row_groups == 1
    told = [json.loads(file.metadata.metadata[b"pandas"])["columns"] for file in (mine, other)]
    assert told[0] == told[1]
    assert told[0][0]["pandas_type"] == ("categorical" if categorical else "unicode")
    for i in range(4):
        column, wanted = (file.metadata.row_group(0).column(i) for file in (mine, other))
        assert (column.path_in_schema, column.compression) == (wanted.path_in_schema, wanted.compression)
        assert column.has_dictionary_page == wanted.has_dictionary_page
        assert column.statistics.null_count == wanted.statistics.null_count
        assert not column.statistics.has_min_max
    for engine in ("fastparquet", "pyarrow"):
        frames = [pd.read_parquet(tmp_path / name / "a" / "refs.0.parq", engine=engine) for name in ("s", "k")]
        pd.testing.assert_frame_equal(*frames)


def test_whether_paths_are_categories_is_decided_per_file(tmp_path):
    path = source(tmp_path)
    rows = Chunks.ranges((40,), [0] * 11 + [MISSING] * 9 + [*range(2)] * 10, np.arange(40) + 1, 3)
    write_parquet(
        References({"a/.zarray": zarray([40], [1])}, {"a": rows}, [path, path + "2"]), tmp_path / "s", record_size=20
    )
    kinds = []
    for i in range(2):
        file = pq.ParquetFile(tmp_path / "s" / "a" / f"refs.{i}.parq")
        kinds.append(json.loads(file.metadata.metadata[b"pandas"])["columns"][0]["pandas_type"])
    assert kinds == ["categorical", "unicode"]  # 11 rows of one path; 10 rows of each of two


def test_every_file_is_padded(tmp_path):
    a_set(tmp_path, 7, record_size=5)
    assert [pq.read_metadata(tmp_path / "s" / "a" / f"refs.{i}.parq").num_rows for i in range(2)] == [5, 5]
    frame = pd.read_parquet(tmp_path / "s" / "a" / "refs.1.parq", engine="fastparquet")
    assert frame["path"].isna().tolist() == [False, False, True, True, True]
    assert frame["size"].tolist() == [10, 10, 0, 0, 0]


def test_a_file_that_is_shorter_lacks_rows(tmp_path):
    store = columns(tmp_path, {"path": [source(tmp_path)] * 2, "offset": [1, 2], "size": [3, 3]})
    assert len(store.get("a/1")) == 3
    assert store.get("a/2") is None
    assert store.list_prefix("a/") == ["a/.zarray", "a/0", "a/1"]


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
@pytest.mark.parametrize("raw", ["null", "some", "absent"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_columns_as_pyarrow_writes_them(tmp_path, text, raw, version):
    path = source(tmp_path)
    data = {
        "path": pa.array([path, None, path, None]).cast(text),
        "offset": pa.array([5, 0, 0, None], pa.int64()),
        "size": pa.array([7, 0, 0, 0], pa.int64()),
    }
    if raw != "absent":
        data["raw"] = pa.nulls(4) if raw == "null" else pa.array([None, b"", None, b"xyz"])
    store = columns(tmp_path, data, data_page_version=version, compression="zstd")
    whole = Path(path).read_bytes()
    assert store.get("a/0") == whole[5:12]
    assert store.get("a/2") == whole
    assert store.get("a/1") == (b"" if raw == "some" else None)
    assert store.get("a/3") == (b"xyz" if raw == "some" else None)


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4"])
@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BINARY_PACKED", "dictionary"])
def test_other_compressions_and_encodings(tmp_path, compression, encoding):
    n = 3000
    rng = np.random.default_rng(1)
    offsets, sizes = rng.integers(0, 1 << 50, n), rng.integers(1, 1 << 20, n)
    names = [f"s3://bucket/{i // 3 % 50}" for i in range(n)]
    options = {"use_dictionary": True}
    if encoding != "dictionary":
        text = "DELTA_LENGTH_BYTE_ARRAY" if encoding.startswith("DELTA") else "PLAIN"
        options = {"use_dictionary": False, "column_encoding": {"offset": encoding, "size": encoding, "path": text}}
    columns(
        tmp_path,
        {"path": names, "offset": offsets, "size": sizes},
        shape=n,
        record_size=n,
        compression=compression,
        data_page_size=4000,
        row_group_size=1100,
        **options,
    )
    found = read_parquet(tmp_path / "s")
    rows = found.arrays["a"]
    assert rows.numbers is None
    np.testing.assert_array_equal(rows.offsets, offsets)
    np.testing.assert_array_equal(rows.lengths, sizes)
    assert [found.urls[i] for i in rows.urls] == names


def test_integers_of_other_widths(tmp_path):
    path = source(tmp_path)
    for kind in ("int32", "uint64", "float64"):
        store = columns(tmp_path, {"path": [path], "offset": np.array([5], kind), "size": np.array([2], kind)})
        assert len(store.get("a/0")) == 2


def test_columns_may_be_missing(tmp_path):
    assert columns(tmp_path, {"raw": [b"abc", None]}).get("a/0") == b"abc"
    path = source(tmp_path)
    store = columns(tmp_path, {"path": [path]})
    assert store.get("a/0") == Path(path).read_bytes()


def test_columns_are_written_in_the_order_that_fsspec_counts_on(tmp_path):
    a_set(tmp_path)
    assert pq.read_schema(tmp_path / "s" / "a" / "refs.0.parq").names == ["path", "offset", "size", "raw"]


def test_only_offset_and_size_of_0_are_all_of_a_file(tmp_path):
    path = source(tmp_path)
    store = columns(tmp_path, {"path": [path, path], "offset": [0, 9], "size": [0, 0]})
    assert store.get("a/0") == Path(path).read_bytes()
    assert store.get("a/1") == b""
    # A range of nothing at the beginning would be read as all: it is written as no bytes.
    rows = Chunks.ranges((2,), 0, [0, 0], [0, WHOLE])
    write_parquet(References({"a/.zarray": zarray([2], [1])}, {"a": rows}, [path]), tmp_path / "t", record_size=2)
    found = read_by_fsspec(tmp_path / "t", ["a/0", "a/1"])
    assert found["a/0"] == b""
    assert len(found["a/1"]) == 4000
    assert read_parquet(tmp_path / "t").arrays["a"].urls[0] == INLINE


def test_raw_wins_over_path(tmp_path):
    store = columns(tmp_path, {"path": ["/nowhere"], "offset": [1], "size": [2], "raw": [b"x"]})
    assert store.get("a/0") == b"x"


def test_raw_bytes_that_look_like_base64(tmp_path):
    """Every reader decodes them, so that they are written as what decodes to them."""
    data = [b"base64:AAAA", b"base64:not", b"base64:"]
    rows = Chunks.of_bytes((3,), dict(enumerate(data)))
    write_parquet(References({"a/.zarray": zarray([3], [1])}, {"a": rows}), tmp_path / "s", record_size=3)
    keys = ["a/0", "a/1", "a/2"]
    store = open_parquet(tmp_path / "s")
    assert [store.get(key) for key in keys] == data
    assert list(read_by_fsspec(tmp_path / "s", keys).values()) == data


def test_missing_rows_and_files(tmp_path):
    path = source(tmp_path)
    rows = Chunks.ranges((9,), 0, [1, 5], 3, numbers=[0, 8])
    write_parquet(References({"a/.zarray": zarray([9], [1])}, {"a": rows}, [path]), tmp_path / "s", record_size=3)
    assert tree(tmp_path / "s") == [".zmetadata", "a/refs.0.parq", "a/refs.2.parq"]
    store = open_parquet(tmp_path / "s", allow=[str(tmp_path)])
    assert [store.exists(f"a/{i}") for i in range(10)] == [i in (0, 8) for i in range(10)]
    mapper = LazyReferenceMapper(str(tmp_path / "s"))
    assert "a/4" not in mapper


def test_scalars_are_row_0(tmp_path):
    rows = Chunks.of_bytes((), {0: b"\x07"})
    write_parquet(References({"a/.zarray": zarray([], [])}, {"a": rows}), tmp_path / "s", record_size=4)
    assert read_by_fsspec(tmp_path / "s", ["a/0"]) == {"a/0": b"\x07"}
    assert open_parquet(tmp_path / "s").get("a/0") == b"\x07"


def test_rows_follow_the_grid_and_not_the_shape(tmp_path):
    path = source(tmp_path)
    rows = Chunks.ranges((2, 3), 0, np.arange(6) + 1, 1)
    write_parquet(References({"a/.zarray": zarray([3, 5], [2, 2])}, {"a": rows}, [path]), tmp_path / "s", record_size=4)
    store = open_parquet(tmp_path / "s", allow=[str(tmp_path)])
    keys = [f"a/{i}.{j}" for i in range(2) for j in range(3)]
    expected = read_by_fsspec(tmp_path / "s", keys)
    assert {key: store.get(key) for key in keys} == expected
    assert len(set(expected.values())) == 6


def test_data_in_the_metadata_itself(tmp_path):
    document = json.loads(zarray([2], [1]))
    entries = {"a/.zarray": document, "a/0": "x", "a/1": "base64:/w==", "b/.zgroup": None}
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / ".zmetadata").write_text(json.dumps({"metadata": entries, "record_size": 4}))
    store = open_parquet(tmp_path / "s")
    assert (store.get("a/0"), store.get("a/1"), store.get("b/.zgroup")) == (b"x", b"\xff", None)


@pytest.mark.parametrize("size", ["0", "-1", "1.5", '"7"', "null", "1e3", "1" * 30, "true"])
def test_records_of_no_size(tmp_path, size):
    (tmp_path / ".zmetadata").write_text('{"metadata": {}, "record_size": ' + size + "}")
    with pytest.raises(MetadataError, match="record_size"):
        open_parquet(tmp_path)
