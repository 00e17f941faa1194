"""Coordinates from names, attributes, data, lists and functions."""

from __future__ import annotations

import re
from datetime import date, datetime

import numpy as np
import pytest

from omnizarr.errors import MetadataError
from omnizarr.refs.combining.assembling import combine
from omnizarr.refs.combining.selectors import compiled


def one(kit, number, name):
    variables = {
        "v": kit.Var(("x",), np.arange(3.0) + number, (2,)),
        "x": kit.Var(("x",), np.arange(3.0)),
        "when": kit.Var((), np.array(number * 10.0)),
        "crs": kit.Var((), np.array(0, "i4")),
    }
    made = kit.make(None, name, variables, start=number, label=f"run{number}")
    made[1].documents["v/.zattrs"] = b'{"_ARRAY_DIMENSIONS": ["x"], "grid_mapping": "crs", "level": %d}' % number
    return made


NAMES = ["out/a_20010203.nc", "out/a_20010201.nc", "out/a_20010205.nc"]


@pytest.mark.parametrize(
    ("selector", "values", "order"),
    [
        ([5, 1, 3], [1, 3, 5], [1, 2, 0]),
        (["c", "a", "b"], ["c", "a", "b"], [0, 1, 2]),
        ("INDEX", [0, 1, 2], [0, 1, 2]),
        ("attr:start", [0, 1, 2], [0, 1, 2]),
        ("attr:label", ["run0", "run1", "run2"], [0, 1, 2]),
        ("attr:v:level", [0, 1, 2], [0, 1, 2]),
        ("data:when", [0, 10, 20], [0, 1, 2]),
        ("a_{:d}.nc", [20010201, 20010203, 20010205], [1, 0, 2]),
        (re.compile(r"(\d\d)\.nc"), [1, 3, 5], [1, 0, 2]),
        ("a_{date:%Y%m%d}.nc", [11354, 11356, 11358], [1, 0, 2]),
        (lambda name, references: -len(references.arrays) - int(name[-4]), [-9, -7, -5], [2, 0, 1]),
        ([date(2001, 2, 3), date(2001, 2, 1), date(2001, 2, 5)], [11354, 11356, 11358], [1, 0, 2]),
        (np.array(["2001-02-03", "2001-02-01", "2001-02-05"], "M8[D]"), [11354, 11356, 11358], [1, 0, 2]),
    ],
)
def test_new_dimensions(kit, selector, values, order):
    made = combine([one(kit, n, name) for n, name in enumerate(NAMES)], concat={"run": selector})
    group = kit.opened(made)
    assert group["run"][...].tolist() == values
    assert group["v"].metadata.dims == ("run", "x")
    np.testing.assert_array_equal(group["v"][...], np.arange(3.0) + np.array(order)[:, None])
    assert group["x"].shape == (3,)
    assert group["crs"].shape == ()  # what describes others stays as it is
    assert group["when"][...].tolist() == [n * 10.0 for n in order]
    if values[0] == 11354:
        assert group["run"].attrs["units"] == "days since 1970-01-01"


def test_a_scalar_of_the_same_name_becomes_the_coordinate(kit):
    sets = [one(kit, n, name) for n, name in enumerate(NAMES)]
    group = kit.opened(combine(sets, concat="when"))
    assert group["when"][...].tolist() == [0, 10, 20]
    assert group["v"].shape == (3, 3)


def test_values_for_a_dimension_of_length_one(kit):
    sets = [kit.make(None, f"f{n}", {"v": kit.Var(("t", "x"), np.full((1, 3), float(n)))}) for n in range(3)]
    group = kit.opened(combine(sets, concat={"t": [datetime(2000, 1, 3 - n) for n in range(3)]}))  # noqa: DTZ001
    assert group["v"][:, 0].tolist() == [2, 1, 0]
    assert group["t"][...].tolist() == [10957, 10958, 10959]
    long = [kit.make(None, "long", {"v": kit.Var(("t",), np.zeros(2))})]
    with pytest.raises(MetadataError, match="which have more along it"):
        combine(long, concat={"t": [1]})


def test_without_coordinates_sets_follow_in_the_order_given(kit):
    sets = [kit.make(None, f"f{n}", {"v": kit.Var(("t",), np.full(2, float(n)))}) for n in (2, 0, 1)]
    group = kit.opened(combine(sets, concat="t"))
    assert group["v"][...].tolist() == [2, 2, 0, 0, 1, 1]
    assert "t" not in group


@pytest.mark.parametrize(
    "selector",
    ["attr:none", [1, 2], ["a", 1, 2], "b_{:d}", "no field", "a_{:%Q}", "{a}{b}", "a_{date:%Y%d%m}1.nc", [1, 1, None]],
)
def test_values_that_are_not_there(kit, selector):
    with pytest.raises(MetadataError):
        combine([one(kit, n, name) for n, name in enumerate(NAMES)], concat={"run": selector})


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("t_{}_x", "t_ab_x", "ab"),
        ("{name}.nc", "/folder.d/abc.nc", "abc"),
        ("v{:g}", "v-1.5e3.nc", "-1.5e3"),
        ("{:%Y-%jT%H}", "x2001-365T06.nc", "2001-365T06"),
        ("r{run}", "d/r12", "12"),
    ],
)
def test_patterns(pattern, name, found):
    match = compiled(pattern)[0].search(name)
    assert match is not None
    assert match[1] == found
