"""Sets put together, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnizarr.errors import MetadataError, OmnizarrWarning, UnsupportedError
from omnizarr.model.grid import RectilinearGrid, RegularGrid
from omnizarr.refs.combining.assembling import combine
from omnizarr.refset.model import INLINE, References, Stamp

DAYS = "days since 2000-01-01"


def day(kit, folder, start, length=4, chunk=(2, 3), *, level=None, units=DAYS, width=6, **attributes):
    """One file: a field over time and x, and their coordinates."""
    values = (np.arange(length * width).reshape(length, width) + 1000 * start).astype("f4")
    variables = {
        "time": kit.Var(("time",), np.arange(start, start + length, dtype="i4"), attributes={"units": units}),
        "x": kit.Var(("x",), np.arange(width, dtype="f8"), attributes={"units": "m"}),
        "t": kit.Var(("time", "x"), values, chunk, {"units": "K", **attributes}, level),
    }
    return kit.make(folder, f"day{start}_{length}.nc", variables, title="days", history=f"made of {start}")


def field(*days):
    """What `day` writes for several starts and lengths, one after the other."""
    return np.concatenate([np.arange(n * 6, dtype="f4").reshape(n, 6) + np.float32(1000 * start) for start, n in days])


@pytest.mark.parametrize("place", ["inline", "file"])
@pytest.mark.parametrize("level", [None, 1])
def test_whole_chunks_stay_version_2(kit, tmp_path, place, level):
    folder = tmp_path if place == "file" else None
    sets = [day(kit, folder, start, level=level) for start in (8, 0, 4)]
    made = combine(sets, concat="time")
    group = kit.opened(made)
    assert group["t"].metadata.format == "zarr2"
    assert group["t"].metadata.grid == RegularGrid((2, 3))
    assert group["t"].metadata.dims == ("time", "x")
    np.testing.assert_array_equal(group["t"][...], field((0, 4), (4, 4), (8, 4)))
    np.testing.assert_array_equal(group["time"][...], np.arange(12))
    np.testing.assert_array_equal(group["x"][...], np.arange(6))
    assert dict(group.attrs) == {"title": "days"}
    assert (made.arrays["time"].urls == INLINE).all()
    if folder is not None:
        assert sorted(made.stamps) == sorted(name for name, _ in sets)


@pytest.mark.parametrize("level", [None, 1])
def test_a_last_chunk_that_is_not_full(kit, tmp_path, level):
    """The silent corruption of others: a middle chunk that holds less than it stores."""
    sets = [day(kit, tmp_path, 0, 3, level=level), day(kit, tmp_path, 3, 4, level=level), day(kit, tmp_path, 7, 5)]
    sets[2] = day(kit, tmp_path, 7, 5, level=level)
    group = kit.opened(combine(sets, concat="time"))
    grid = group["t"].metadata.grid
    assert isinstance(grid, RectilinearGrid)
    assert (grid.stored is None) == (level is None)  # what is not compressed is cut instead
    np.testing.assert_array_equal(group["t"][...], field((0, 3), (3, 4), (7, 5)))
    np.testing.assert_array_equal(group["t"][2:9:2, 1::3], field((0, 3), (3, 4), (7, 5))[2:9:2, 1::3])
    assert group["x"].metadata.format == group.metadata.format == "zarr3"  # one format for all


def test_chunks_of_another_shape(kit, tmp_path):
    sets = [day(kit, tmp_path, 0, 4, (4, 3), level=1), day(kit, tmp_path, 4, 4, (1, 3), level=9)]
    group = kit.opened(combine(sets, concat="time"))
    assert group["t"].metadata.grid == RectilinearGrid((((4, 1), (1, 4)), 3))
    np.testing.assert_array_equal(group["t"][...], field((0, 4), (4, 4)))


def test_chunks_that_differ_along_another_dimension(kit, tmp_path):
    sets = [day(kit, tmp_path, 0), day(kit, tmp_path, 4, chunk=(2, 2)), day(kit, tmp_path, 8)]
    with pytest.raises(MetadataError, match=r"chunks along 'x'[\s\S]*day0_4.nc.*day8_4.nc[\s\S]*day4_4.nc"):
        combine(sets, concat="time")


files = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4), st.sampled_from([None, 1])), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=files, axis=st.integers(0, 2), data=st.data())
def test_any_lengths_and_chunks_along_any_axis(kit, files, axis, data):
    level = files[0][2]
    rng = np.random.default_rng(0)
    parts, sets, at = [], [], 0
    for number, (length, chunk, _) in enumerate(files):
        shape, chunks = [3, 4, 2], [2, 3, 2]
        shape[axis], chunks[axis] = length, chunk
        values = rng.integers(0, 100, shape).astype("i2")
        coordinate = np.arange(at, at + length)
        at += length + 1
        dims = tuple("abc")
        variables = {
            "v": kit.Var(dims, values, tuple(chunks), {}, level),
            dims[axis]: kit.Var((dims[axis],), coordinate),
        }
        parts.append(values)
        sets.append(kit.make(None, f"f{number}", variables))
    order = data.draw(st.permutations(range(len(sets))))
    group = kit.opened(combine([sets[n] for n in order], concat=dims[axis]))
    expected = np.concatenate(parts, axis)
    np.testing.assert_array_equal(group["v"][...], expected)
    cut = tuple(data.draw(st.slices(n)) for n in expected.shape)
    np.testing.assert_array_equal(group["v"][cut], expected[cut])


def test_places_that_overlap(kit):
    sets = [day(kit, None, 0, 4), day(kit, None, 3, 4)]
    with pytest.raises(MetadataError, match=r"day0_4.nc and day3_4.nc overlap along 'time': 0 … 3 and 3 … 6"):
        combine(sets, concat="time")
    group = kit.opened(combine(sets, concat="time", keep="last"))
    np.testing.assert_array_equal(group["time"][...], np.arange(7))
    np.testing.assert_array_equal(group["t"][...], np.concatenate([field((0, 4))[:3], field((3, 4))]))
    with pytest.raises(UnsupportedError, match="within a chunk"):
        combine(sets, concat="time", keep="first")
    sets = [day(kit, None, 0, 4), day(kit, None, 2, 4)]
    group = kit.opened(combine(sets, concat="time", keep="first"))
    np.testing.assert_array_equal(group["t"][...], np.concatenate([field((0, 4)), field((2, 4))[2:]]))


def test_the_same_place_twice(kit):
    sets = [day(kit, None, 0), day(kit, None, 4), day(kit, None, 4)]
    sets[2] = "other.nc", sets[2][1]
    with pytest.raises(MetadataError, match=r"t: day4_4.nc, other.nc have the same place"):
        combine(sets, concat="time")
    group = kit.opened(combine(sets, concat="time", keep="first"))
    np.testing.assert_array_equal(group["t"][...], field((0, 4), (4, 4)))


def test_one_set_within_another_is_not_cut_in_two(kit):
    with pytest.raises(MetadataError, match="overlap"):
        combine([day(kit, None, 0, 6), day(kit, None, 2, 2)], concat="time", keep="last")


@pytest.mark.parametrize("values", [[0, 2, 1, 3], [0, 1, 1, 2]])
def test_coordinates_that_turn_back(kit, values):
    name, one = day(kit, None, 0)
    other = kit.make(None, "odd.nc", {"time": kit.Var(("time",), np.array(values, "i4"), attributes={"units": DAYS})})
    one.arrays["time"] = other[1].arrays["time"]
    with pytest.raises(MetadataError, match=r"day0_4.nc: the coordinate 'time' neither rises nor falls"):
        combine([(name, one)], concat="time")
    assert kit.opened(combine([(name, one)], concat="time", sort=False))["time"][...].tolist() == values


def test_falling_coordinates_stay_so(kit):
    def tile(top):
        return kit.make(None, f"tile{top}", {
            "lat": kit.Var(("lat",), np.arange(top, top - 4, -1.0)),
            "v": kit.Var(("lat",), np.arange(top, top - 4, -1.0) * 2, (2,)),
        })  # fmt: skip

    group = kit.opened(combine([tile(10), tile(90), tile(50)], concat="lat"))
    assert group["lat"][...].tolist() == [90, 89, 88, 87, 50, 49, 48, 47, 10, 9, 8, 7]
    np.testing.assert_array_equal(group["v"][...], group["lat"][...] * 2)


def test_differences_are_told_all_at_once(kit):
    sets = [
        day(kit, None, 0, scale_factor=0.1),
        day(kit, None, 4, scale_factor=0.1, _FillValue=-1),
        day(kit, None, 8, scale_factor=0.2),
        day(kit, None, 12, scale_factor=0.1, level=3),
    ]
    with pytest.raises(MetadataError) as caught:
        combine(sets, concat="time")
    text = str(caught.value)
    assert "t: scale_factor\n    0.1  day0_4.nc, day4_4.nc, day12_4.nc\n    0.2  day8_4.nc" in text
    assert "t: _FillValue\n    none  day0_4.nc, day8_4.nc, day12_4.nc\n    -1    day4_4.nc" in text
    assert "t: codecs" in text


def test_levels_of_compression_do_not_matter(kit):
    group = kit.opened(combine([day(kit, None, 0, level=1), day(kit, None, 4, level=9)], concat="time"))
    np.testing.assert_array_equal(group["t"][...], field((0, 4), (4, 4)))


@pytest.mark.parametrize("change", ["dtype", "dims", "byteorder"])
def test_types_and_dimensions_must_agree(kit, change):
    first, (name, second) = day(kit, None, 0), day(kit, None, 4)
    values = field((4, 4)).astype({"dtype": "f8", "byteorder": ">f4"}.get(change, "f4"))
    dims = ("time", "y") if change == "dims" else ("time", "x")
    other = kit.make(None, name, {"t": kit.Var(dims, values, (2, 3), {"units": "K"})})[1]
    second.documents.update({key: text for key, text in other.documents.items() if key.startswith("t/")})
    second.arrays["t"] = other.arrays["t"]
    with pytest.raises(MetadataError, match="dimensions" if change == "dims" else "t: dtype"):
        combine([first, (name, second)], concat="time")


def test_attributes_that_differ(kit):
    sets = [day(kit, None, 0, note="a", same=1), day(kit, None, 4, note="b", same=1)]
    assert "note" not in kit.opened(combine(sets, concat="time"))["t"].attrs
    assert kit.opened(combine(sets, concat="time"))["t"].attrs["same"] == 1
    assert kit.opened(combine(sets, concat="time", attributes="override"))["t"].attrs["note"] == "a"
    with pytest.raises(MetadataError, match=r"note\n    a  day0_4.nc\n    b  day4_4.nc"):
        combine(sets, concat="time", attributes="no_conflicts")


def test_variables_that_should_be_the_same(kit, tmp_path):
    sets = [day(kit, tmp_path, 0), day(kit, tmp_path, 4)]
    name, odd = kit.make(tmp_path, "odd.nc", {"x": kit.Var(("x",), np.arange(6.0) + 1, attributes={"units": "m"})})
    with pytest.raises(MetadataError, match=r"x: values, though not concatenated[\s\S]*odd.nc"):
        combine([*sets, (name, odd)], concat="time")
    for choice in ({"compat": "override"}, {"identical": ["x"]}):
        group = kit.opened(combine([*sets, (name, odd)], concat="time", **choice))
        np.testing.assert_array_equal(group["x"][...], np.arange(6))


def test_variables_of_different_files(kit):
    def one(name, start):
        time = kit.Var(("time",), np.arange(start, start + 2), attributes={"units": DAYS})
        return kit.make(None, f"{name}{start}", {"time": time, name: kit.Var(("time",), np.arange(2.0) + start)})

    names = [("a", 0), ("b", 0), ("a", 2), ("b", 2)]
    group = kit.opened(combine([one(*pair) for pair in names], concat="time"))
    assert group["a"][...].tolist() == group["b"][...].tolist() == [0, 1, 2, 3]
    with pytest.warns(OmnizarrWarning, match=r"b \(1 places\)"):
        group = kit.opened(combine([one(*pair) for pair in names[:3]], concat="time"))
    assert group["a"][...].tolist() == [0, 1, 2, 3]
    assert group["b"][:2].tolist() == [0, 1]
    with pytest.raises(MetadataError, match="no set has some places"):
        combine([one(*pair) for pair in names[:3]], concat="time", missing="error")


def test_a_hypercube_with_a_hole(kit):
    def one(run, start):
        values = np.full((2, 3), run * 100 + start, "f4")
        time = kit.Var(("time",), np.arange(start, start + 2), attributes={"units": DAYS})
        variables = {"time": time, "v": kit.Var(("time", "x"), values, (1, 3), fill=-9.0)}
        return kit.make(None, f"r{run}_{start}.nc", variables, run=run)

    places = [(1, 0), (1, 2), (3, 0), (2, 2), (2, 0)]
    for selector in ("attr:run", "/r{:d}_", [run for run, _ in places], lambda name, _: int(name[1])):
        given_sets = [one(*place) for place in places]
        if selector == "/r{:d}_":
            given_sets = [("x/" + name, references) for name, references in given_sets]
        made = combine(given_sets, concat={"run": selector, "time": None}, missing="fill")
        group = kit.opened(made)
        assert group["run"][...].tolist() == [1, 2, 3]
        assert group["v"].metadata.dims == ("run", "time", "x")
        expected = np.full((3, 4, 3), -9.0, "f4")
        for run, start in places:
            expected[run - 1, start : start + 2] = run * 100 + start
        np.testing.assert_array_equal(group["v"][...], expected)


def test_stamps_that_contradict_each_other(kit):
    (_, one), (_, two) = day(kit, None, 0), day(kit, None, 4)
    for references, size in ((one, 1), (two, 2)):
        references.urls, references.stamps = ["a.nc"], {"a.nc": Stamp(size)}
    with pytest.raises(MetadataError, match="changed between two scans"):
        combine([one, two], concat="time")


def test_groups_of_files(kit):
    def one(start):
        time = kit.Var(("time",), np.arange(start, start + 2), attributes={"units": DAYS})
        name, made = kit.make(None, f"f{start}", {"g/time": time, "g/v": kit.Var(("time",), np.arange(2.0) + start)})
        made.documents["g/.zgroup"] = made.documents[".zgroup"]
        return name, made

    group = kit.opened(combine([one(2), one(0)], concat="time"))
    assert group["g/v"][...].tolist() == group["g/time"][...].tolist() == [0, 1, 2, 3]


def test_nothing_to_combine():
    with pytest.raises(MetadataError, match="no sets"):
        combine([], concat="time")
    with pytest.raises(MetadataError, match="nothing says what the values of a new one are"):
        combine([References({".zgroup": b'{"zarr_format": 2}'})], concat="time")
    with pytest.raises(MetadataError, match="keep is 'all'"):
        combine([References()], keep="all")
