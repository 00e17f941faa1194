"""Times in one unit, against cftime's and xarray's idea of them."""

from __future__ import annotations

from datetime import datetime

import cftime
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnizarr.errors import MetadataError
from omnizarr.refs.combining.assembling import combine
from omnizarr.refs.combining.calendars import CALENDARS, since
from omnizarr.refs.combining.times import encoded, moved_to, unified

ORIGINS = ["1970-01-01", "2000-02-28 12:00", "1850-1-1", "1999-12-31T23:59:30", "2000-01-01 00:00:00 +01:00"]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(CALENDARS),
    st.integers(1, 3000),
    st.integers(1, 12),
    st.integers(1, 28),
    st.sampled_from(["days", "hours", "minutes", "seconds"]),
)
def test_reference_dates(calendar, year, month, day, unit):
    text = f"{unit} since {year:04d}-{month:02d}-{day:02d} 06:00"
    expected = cftime.date2num(
        cftime.datetime(year, month, day, 6, calendar=calendar), "seconds since 1970-01-01", calendar
    )
    assert since(text, calendar).origin == int(expected) * 10**9


@pytest.mark.parametrize(
    ("units", "calendar"),
    [
        ("days since 2001-02-30", None),
        ("days since 2001-13-01", None),
        ("months since 2001-01-01", None),
        ("days since yesterday", None),
        ("days since 2001-01-01", "lunar"),
    ],
)
def test_units_that_are_none(units, calendar):
    with pytest.raises(MetadataError):
        since(units, calendar)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["days", "hours", "minutes", "seconds"]),
            st.sampled_from(ORIGINS),
            st.sampled_from(["i4", "i8", "f8"]),
            st.lists(st.integers(-1000, 1000), min_size=1, max_size=4),
        ),
        min_size=2,
        max_size=4,
    )
)
def test_one_unit_is_exact(files):
    values = [np.array(numbers, dtype) for _, _, dtype, numbers in files]
    attributes = [{"units": f"{unit} since {origin}"} for unit, origin, _, _ in files]
    done = unified(values, attributes, [str(n) for n in range(len(files))])
    if done is None:
        assert len({one["units"] for one in attributes}) == 1
        return
    assert len({one.dtype for one in done.values}) == 1
    for before, said, after in zip(values, attributes, done.values, strict=True):
        wanted = cftime.num2date(before, said["units"], only_use_cftime_datetimes=True)
        found = cftime.num2date(after, done.attributes["units"], only_use_cftime_datetimes=True)
        assert list(wanted) == list(found)


def test_the_unit_of_the_first_stays_where_it_can():
    values = [np.array([0, 1], "i4"), np.array([0, 1], "i4")]
    done = unified(values, [{"units": f"days since 2000-01-0{n}", "calendar": "noleap"} for n in (1, 3)], ["a", "b"])
    assert done is not None
    assert done.attributes == {"units": "days since 2000-01-01", "calendar": "noleap"}
    assert [one.tolist() for one in done.values] == [[0, 1], [2, 3]]
    assert done.values[0].dtype == "i4"


def test_finer_units_and_wider_types():
    values = [np.array([2_000_000_000], "i4"), np.array([1], "i4")]
    done = unified(values, [{"units": "hours since 1970-01-01"}, {"units": "seconds since 1970-01-01"}], ["a", "b"])
    assert done is not None
    assert done.attributes["units"] == "seconds since 1970-01-01"
    assert [one.tolist() for one in done.values] == [[7_200_000_000_000], [1]]


def test_halves_of_a_day():
    values = [np.array([0.5]), np.array([0.5])]
    done = unified(values, [{"units": "days since 2000-01-01"}, {"units": "days since 2000-01-02"}], ["a", "b"])
    assert done is not None
    assert [one.tolist() for one in done.values] == [[0.5], [1.5]]


def test_calendars_that_differ():
    values = [np.array([0]), np.array([0])]
    units = [{"units": "days since 2000-01-01", "calendar": one} for one in ("noleap", "360_day")]
    with pytest.raises(MetadataError, match=r"calendar of a\.nc is 'noleap', that of b\.nc '360_day'"):
        unified(values, units, ["a.nc", "b.nc"])
    alike = [{"units": "days since 2000-01-01", "calendar": one} for one in ("gregorian", "proleptic_gregorian")]
    done = unified(values, alike, ["a.nc", "b.nc"])
    assert done is not None
    assert [one.tolist() for one in done.values] == [[0], [0]]


def test_dates_become_numbers():
    values, attributes = encoded([datetime(2000, 1, 1, 6), datetime(2000, 1, 1, 12, 30)])  # noqa: DTZ001 - as users have
    assert attributes["units"] == "minutes since 1970-01-01"
    assert cftime.num2date(values, attributes["units"])[1] == cftime.datetime(2000, 1, 1, 12, 30)


def test_given_units_must_be_exact():
    target = {"units": "days since 2000-01-01"}
    assert moved_to(np.array([24]), {"units": "hours since 2000-01-02"}, {"units": "hours since 2000-01-01"}, "a") == 48
    with pytest.raises(MetadataError, match="cannot be counted exactly"):
        moved_to(np.array([1]), {"units": "hours since 2000-01-02"}, target, "a.nc")


@pytest.mark.parametrize("level", [None, 1])
def test_files_that_count_from_their_own_start(kit, tmp_path, level):
    """Bounds have no units of their own, other times have; both must follow."""

    def one(start):
        units = f"hours since 2000-01-{start + 1:02d}"
        hours = np.arange(2, dtype="i4") * 12
        variables = {
            "time": kit.Var(("time",), hours, attributes={"units": units, "bounds": "time_bnds"}, level=level),
            "time_bnds": kit.Var(("time", "two"), np.stack([hours - 6, hours + 6], 1), (1, 2), level=level),
            "made": kit.Var(("time",), hours + 1, (2,), {"units": units}, level),
            "v": kit.Var(("time",), np.arange(2.0) + start, (2,), level=level),
        }
        return kit.make(tmp_path, f"d{start}.nc", variables)

    group = kit.opened(combine([one(1), one(0), one(4)], concat="time"))
    assert group["time"].attrs["units"] == "hours since 2000-01-02"
    hours = np.array([-24, -12, 0, 12, 72, 84])
    np.testing.assert_array_equal(group["time"][...], hours)
    np.testing.assert_array_equal(group["time_bnds"][...], np.stack([hours - 6, hours + 6], 1))
    np.testing.assert_array_equal(group["made"][...], hours + 1)
    assert group["made"].attrs["units"] == "hours since 2000-01-02"
    assert group["v"][...].tolist() == [0, 1, 1, 2, 4, 5]
