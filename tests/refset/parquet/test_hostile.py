"""Files that are damaged or made to do harm: an error that names the file, and no memory taken."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnizarr.errors import CorruptError, LimitError, MetadataError, OmnizarrError, UnsafeError, UnsupportedError
from omnizarr.limits import Limits
from omnizarr.model.keys import v2_keys
from omnizarr.refset.model import Chunks, References
from omnizarr.refset.parquet_place import place_of
from omnizarr.refset.parquet_reading import open_parquet, read_parquet, records_of
from omnizarr.refset.parquet_writing import write_parquet
from tests.refset.parquet.sets import zarray

KEY = "a/refs.0.parq"


def metadata(count=4, record_size=4, **entries):
    found = {"a/.zarray": json.loads(zarray([count], [1])), **entries}
    return json.dumps({"metadata": found, "record_size": record_size}).encode()


def a_file(**options):
    """Make a record file of four rows."""
    sink = pa.BufferOutputStream()
    table = pa.table(
        {"path": ["u", "v", "u", None], "offset": [1, 2, 3, 0], "size": [4] * 4, "raw": [None] * 3 + [b"x"]}
    )
    pq.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


def ours():
    place: dict[str, bytes] = {}
    rows = Chunks.ranges((4,), [0, 1, 0, 1], [1, 2, 3, 4], 4)
    write_parquet(References({"a/.zarray": zarray([4], [1])}, {"a": rows}, ["u", "v"]), place, record_size=4)
    return place[KEY]


def refused(data, count=4, record_size=4, limits=None):
    """Read a set with this record file both ways; the error that both raise."""
    place = {".zmetadata": metadata(count, record_size), KEY: data}
    options = {} if limits is None else {"limits": limits}
    with pytest.raises(OmnizarrError) as lazily:
        open_parquet(place, **options).exists("a/0")
    with pytest.raises(OmnizarrError) as whole:
        read_parquet(place, **options)
    assert type(lazily.value) is type(whole.value)
    assert lazily.value.key == whole.value.key == KEY
    return lazily.value


@pytest.mark.parametrize("data", [b"", b"PAR1", b"x" * 100, b"PAR1" + b"\xff" * 4 + b"PAR1", b"PAR1\0\0\0\0PAR1"])
def test_no_parquet_at_all(data):
    assert isinstance(refused(data), CorruptError)


@pytest.mark.parametrize("made", [a_file(), ours()])
def test_cut_short(made):
    for n in range(len(made)):
        assert isinstance(refused(made[:n]), (CorruptError, UnsupportedError))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([a_file(), a_file(data_page_version="2.0"), a_file(compression="none"), ours()]), st.data())
def test_any_bytes_changed(made, data):
    """Whatever is changed: right or wrong values or an error of ours, never another, and never much memory."""
    changed = bytearray(made)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(made) - 1))] = data.draw(st.integers(0, 255))
    place = {".zmetadata": metadata(), KEY: bytes(changed)}
    try:
        read_parquet(place)
        store = open_parquet(place, allow=["*"])
        store.list_prefix("")
    except OmnizarrError as error:
        assert error.key == KEY or error.path is not None  # noqa: PT017 - either is fine


def test_lists_that_claim_to_be_long():
    """A footer of a few bytes whose lists have thousands of millions of items."""
    for field in (b"\x29", b"\x49"):
        footer = field + b"\xfc\xff\xff\xff\xff\x07"
        assert isinstance(refused(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"), CorruptError)


def test_nesting_without_end():
    footer = b"\x1c" * 5000
    assert isinstance(refused(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"), CorruptError)


@pytest.mark.parametrize(
    "table",
    [
        {"url": ["u"], "start": [1]},
        {"offset": [1], "size": [1]},
        {"path": [1], "offset": [1], "size": [1]},
        {"path": ["u"], "offset": ["1"], "size": [1]},
        {"path": [["u"]], "offset": [1], "size": [1]},
        {"path": ["u"], "offset": [-1], "size": [1]},
        {"path": ["u"], "offset": [1], "size": [0.5]},
        {"path": [{"path": "u"}], "offset": [1], "size": [1]},
    ],
)
def test_another_schema(table):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(table), sink)
    assert isinstance(refused(sink.getvalue().to_pybytes()), CorruptError)


def test_compression_that_is_not_to_be_had():
    assert isinstance(refused(a_file(compression="brotli")), UnsupportedError)


def test_text_that_is_none():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"path": [b"\xff\xfe"], "offset": [1], "size": [1]}), sink)
    assert isinstance(refused(sink.getvalue().to_pybytes()), CorruptError)


def test_base64_that_is_none():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"raw": [b"base64:*"]}), sink)
    assert isinstance(refused(sink.getvalue().to_pybytes()), CorruptError)


def growth(action):
    """Return the kilobytes by which memory is larger than before, while an action runs, at most."""
    status = Path("/proc/self/status")
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        pytest.skip("only Linux tells")

    def now(name):
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(name))

    reset.write_text("5")
    before = now("VmRSS:")
    action()
    return now("VmHWM:") - before


def test_a_page_that_unpacks_to_much():
    """A few kilobytes of zstd that stand for 64 MB: refused before they are unpacked."""
    sink = pa.BufferOutputStream()
    table = pa.table({"raw": [bytes(64 << 20)]})
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_statistics=False)
    data = sink.getvalue().to_pybytes()
    assert len(data) < 100_000
    errors = []
    assert growth(lambda: errors.append(refused(data, limits=Limits(max_entry_bytes=4 << 20)))) < 20_000
    assert isinstance(errors[0], LimitError)


def test_rows_that_are_nothing_but_a_claim():
    """A page of a few bytes stands for very many nulls."""
    n = 1 << 25
    sink = pa.BufferOutputStream()
    table = pa.table({"path": pa.nulls(n, pa.string())})
    pq.write_table(table, sink, row_group_size=n, data_page_size=1 << 40, write_batch_size=n, use_dictionary=False)
    place = {".zmetadata": metadata(n, n), KEY: sink.getvalue().to_pybytes()}
    del table

    def ask():
        try:
            assert not open_parquet(place).exists("a/0")
        except LimitError as error:
            assert error.key == KEY  # noqa: PT017 - either is fine

    assert growth(ask) < 300_000


def test_a_grid_beyond_counting():
    document = {"a/.zarray": json.loads(zarray([10**18, 10**18], [1, 1]))}
    place = {".zmetadata": json.dumps({"metadata": document, "record_size": 10}).encode()}
    with pytest.raises(LimitError):
        open_parquet(place)


def test_a_grid_that_only_claims_to_be_large():
    place = {".zmetadata": metadata(10**18, 10**15), KEY: a_file()}
    store = open_parquet(place)
    assert store.list_prefix("") == ["a/.zarray", "a/0", "a/1", "a/2", "a/3"]
    assert store.get("a/900000000000000000") is None
    assert len(read_parquet(place).arrays["a"]) == 4


@pytest.mark.parametrize("name", ["../a", "/etc", "a//b", "a/../../b", "a\\b", "c:x"])
def test_arrays_that_lie_elsewhere(tmp_path, name):
    place = {".zmetadata": metadata(**{f"{name}/.zarray": json.loads(zarray([1], [1]))})}
    with pytest.raises(UnsafeError):
        open_parquet(place)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b'{"metadata": []}',
        b'{"metadata": {}}',
        b'{"record_size": 3}',
        b'{"metadata": {"a/.zarray": 5}, "record_size": 3}',
        b'{"metadata": {"a/.zarray": ["u", 1, 2]}, "record_size": 3}',
        b'{"metadata": {"a/0": "base64:*"}, "record_size": 3}',
        b'{"metadata": {"a/.zarray": {"shape": [1]}}, "record_size": 3}',
        b'{"metadata": {"a/.zarray": {"zarr_format": 2, "shape": [-1], "chunks": [1]}}, "record_size": 3}',
    ],
)
def test_metadata_that_is_none(text):
    with pytest.raises(MetadataError):
        open_parquet({".zmetadata": text})


def test_a_link_out_of_the_folder(tmp_path):
    (tmp_path / "s" / "a").mkdir(parents=True)
    (tmp_path / "elsewhere.parq").write_bytes(a_file())
    (tmp_path / "s" / ".zmetadata").write_bytes(metadata())
    (tmp_path / "s" / "a" / "refs.0.parq").symlink_to(tmp_path / "elsewhere.parq")
    with pytest.raises(UnsafeError):
        open_parquet(tmp_path / "s").exists("a/0")


def test_what_is_kept_is_bounded(tmp_path):
    """Many records read one after the other take no more memory than a few."""
    n = 2_000_000
    rows = Chunks.ranges((n,), np.arange(n) % 5000, np.arange(n) + 1, 7)
    names = [f"{'x' * 60}/{i}" for i in range(5000)]
    write_parquet(References({"a/.zarray": zarray([n], [1])}, {"a": rows}, names), tmp_path / "s")
    place = place_of(tmp_path / "s")
    records = records_of(place, place.metadata())
    made = records.references()
    records.add_to(made, "a", v2_keys(), [n])
    store = made.store("", [], {}, 1)
    kept = []
    for i in range(0, n, 10_000):
        with pytest.raises(UnsafeError):
            store.get(f"a/{i}")
        kept.append(records.kept())
    assert 16 << 20 < max(kept) < 36 << 20


@pytest.mark.parametrize("sizes", [(1, 1), (1, 1 << 20), (64, 300)])
@pytest.mark.parametrize(
    "options", [{"use_dictionary": False}, {}, {"data_page_version": "2.0"}, {"row_group_size": 70}]
)
def test_pages_of_few_rows(sizes, options):
    """A page for each row, dictionaries before them or not: every row is found in any order, and all at once."""
    n = 1000
    raws = [None if i % 7 == 0 else b"%d" % (i // 2) for i in range(n)]
    table = pa.table({"path": pa.nulls(n, pa.string()), "offset": [0] * n, "size": [0] * n, "raw": raws})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_batch_size=sizes[0], data_page_size=sizes[1], **options)
    place = {".zmetadata": metadata(n, n), KEY: sink.getvalue().to_pybytes()}
    for step in (1, n - 1, 777):
        store = open_parquet(place)
        for i in (i * step % n for i in range(n)):
            assert store.get(f"a/{i}") == raws[i]
    found = read_parquet(place).arrays["a"]
    assert found.numbers.tolist() == [i for i in range(n) if raws[i] is not None]
    assert found.inline == b"".join(raw for raw in raws if raw is not None)
