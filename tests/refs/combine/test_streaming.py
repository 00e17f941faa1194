"""Sets combined while they are written, and sets that grow in place: the same as combining all at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import MetadataError
from omnizarr.refs.combining.appending import append
from omnizarr.refs.combining.assembling import combine
from omnizarr.refs.combining.streaming import combine_to
from omnizarr.refset.parquet_reading import open_parquet, read_parquet
from omnizarr.refset.parquet_writing import write_parquet

numbers = itertools.count()


def year(kit, start, length=6, chunk=2, *, level=1, axis=0, units="days since 2000-01-01"):
    """One file of a field with many chunks, along time and two others."""
    shape, chunks, dims = [8, 9], [1, 1], ["y", "x"]
    shape.insert(axis, length)
    chunks.insert(axis, chunk)
    dims.insert(axis, "time")
    values = (np.arange(np.prod(shape)).reshape(shape) + 10_000 * start).astype("i4")
    variables = {
        "time": kit.Var(("time",), np.arange(start, start + length), attributes={"units": units}, level=level),
        "v": kit.Var(tuple(dims), values, tuple(chunks), level=level),
        "x": kit.Var(("x",), np.arange(9.0)),
        "area": kit.Var(("y", "x"), np.arange(72.0).reshape(8, 9), (1, 1)),
    }
    return kit.make(None, f"y{start}", variables)[0], kit.make(None, f"y{start}", variables)[1], values


def same(a, b, *, grown=()):
    """Whether two groups hold the same; coordinates that have grown in place keep the length of their chunks."""
    assert sorted(a) == sorted(b)
    for name in a:
        assert name in grown or a[name].metadata.grid == b[name].metadata.grid
        assert a[name].metadata.dims == b[name].metadata.dims
        assert dict(a[name].attrs) == dict(b[name].attrs)
        np.testing.assert_array_equal(a[name][...], b[name][...])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("chunk", [2, 4])
def test_written_as_it_comes(kit, tmp_path, axis, chunk):
    parts = [year(kit, start, chunk=chunk, axis=axis) for start in (6, 0, 12)]
    brought: list[str] = []

    def loader(name, references):
        def load():
            brought.append(name)
            return references

        return name, load

    combine_to([loader(name, one) for name, one, _ in parts], tmp_path / "a.parq", concat="time", record_size=50)
    assert len(brought) >= 6
    whole = combine([(name, one) for name, one, _ in parts], concat="time")
    group = oz.open(open_parquet(tmp_path / "a.parq"))
    same(group, kit.opened(whole))
    expected = np.concatenate([parts[n][2] for n in (1, 0, 2)], axis)
    np.testing.assert_array_equal(group["v"][...], expected)


def test_a_set_that_changes_meanwhile(kit, tmp_path):
    name, one, _ = year(kit, 0)
    _, other, _ = year(kit, 6)
    other.urls = ["other"]
    answers = iter([one, other])
    with pytest.raises(MetadataError, match="y0: the set is another one than before"):
        combine_to([(name, lambda: next(answers))], tmp_path / "a.parq", concat="time")


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.sampled_from([2, 4, 6, 3]), min_size=2, max_size=4),
    record=st.sampled_from([7, 100, 100_000]),
    first=st.integers(1, 3),
)
def test_growing_is_combining(kit, tmp_path, lengths, record, first):
    starts = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    parts = [year(kit, start, length) for start, length in zip(starts, lengths, strict=False)]
    sets = [(name, one) for name, one, _ in parts]
    place = tmp_path / f"{next(numbers)}.parq"
    first = min(first, len(sets) - 1)
    write_parquet(combine(sets[:first], concat="time"), place, record_size=record)
    for one in sets[first:]:
        append(place, [one], "time")
    group = oz.open(open_parquet(place))
    np.testing.assert_array_equal(group["v"][...], np.concatenate([values for _, _, values in parts]))
    same(group, kit.opened(combine(sets, concat="time")), grown=("time",))


def test_growing_along_another_axis(kit, tmp_path):
    parts = [year(kit, start, axis=1) for start in (0, 6)]
    write_parquet(combine([(parts[0][0], parts[0][1])], concat="time"), tmp_path / "a.parq", record_size=10)
    append(tmp_path / "a.parq", [(parts[1][0], parts[1][1])], "time")
    group = oz.open(open_parquet(tmp_path / "a.parq"))
    np.testing.assert_array_equal(group["v"][...], np.concatenate([values for *_, values in parts], 1))


def test_only_the_end_grows(kit, tmp_path):
    parts = [(name, one) for name, one, _ in (year(kit, 6), year(kit, 0), year(kit, 6))]
    write_parquet(combine([parts[0]], concat="time"), tmp_path / "a.parq")
    before = {path: path.read_bytes() for path in (tmp_path / "a.parq").rglob("*") if path.is_file()}
    with pytest.raises(MetadataError, match="does not lie behind"):
        append(tmp_path / "a.parq", [parts[1]], "time")
    with pytest.raises(MetadataError, match=r"same place|does not lie behind"):
        append(tmp_path / "a.parq", [parts[2]], "time")
    with pytest.raises(MetadataError, match="v: codecs"):
        append(tmp_path / "a.parq", [year(kit, 12, level=None)[:2]], "time")
    assert {path: path.read_bytes() for path in (tmp_path / "a.parq").rglob("*") if path.is_file()} == before


def test_other_units_are_counted_in_those_that_are_there(kit, tmp_path):
    write_parquet(combine([year(kit, 0)[:2]], concat="time"), tmp_path / "a.parq")
    append(tmp_path / "a.parq", [year(kit, 0, units="days since 2000-01-11")[:2]], "time")
    group = oz.open(open_parquet(tmp_path / "a.parq"))
    assert group["time"][...].tolist() == [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15]
    assert len(read_parquet(tmp_path / "a.parq").arrays["v"]) == 6 * 72


def test_json_grows_too(kit, tmp_path):
    place = tmp_path / "a.json"
    oz.refs.write(combine([year(kit, 0)[:2]], concat="time"), place)
    append(place, [year(kit, 6)[:2]], "time")
    group = kit.opened(oz.refs.read(place))
    same(group, kit.opened(combine([year(kit, start)[:2] for start in (0, 6)], concat="time")))


def test_sets_are_read_from_their_places(kit, tmp_path):
    for start in (6, 0):
        oz.refs.write(year(kit, start)[1], tmp_path / f"{start}.json.zst")
    group = kit.opened(combine([tmp_path / "6.json.zst", tmp_path / "0.json.zst"], concat="time"))
    assert group["time"][...].tolist() == list(range(12))
