"""Datasets as JSON and NcML, names and times."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.nc.dump import calendars
from omnizarr.nc.dump.calendars import calendar_of
from omnizarr.nc.dump.names import escaped
from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.run import dump
from omnizarr.nc.dump.times import parse_units
from omnizarr.nc.source import MemorySource
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import CHAR, DOUBLE, FLOAT, INT, STRING, Compound, Enum, Field, Opaque, Vlen


@pytest.fixture
def source():
    source = MemorySource(name="x.nc")
    root = source.root
    n = root.add_dim("n", 2, unlimited=True)
    kinds = [
        root.add_type(Enum("answer", INT, (("no", 0), ("yes", 1)))),
        root.add_type(Opaque("key", 2)),
        root.add_type(Compound("point", (Field("x", FLOAT, (2,)), Field("name", STRING)))),
        root.add_type(Vlen("track", INT)),
    ]
    enum, opaque, compound, vlen = (root.add_var(kind.name[0], kind, (n,)) for kind in kinds)
    enum.handle = np.array([1, 5], "i4")
    opaque.handle = np.array([b"\1\2", b"\0\0"], "V2")
    compound.handle = np.array([((0.1, np.nan), "é"), ((1, 2), None)], kinds[2].numpy)
    vlen.handle = np.empty(2, object)
    vlen.handle[:] = [np.array([1, 2], "i4"), np.array([], "i4")]
    text = root.add_var("text", CHAR, (n, root.add_dim("len", 3)))
    text.handle = np.array([list(b"ab\0"), list(b"cde")], "u1").view("S1")
    root.attrs["title"] = Attr.of_text("title", 'a "b" <c>')
    root.attrs["range"] = Attr.of_values("range", FLOAT, [0.1, np.inf])
    inner = root.add_group("g")
    inner.add_dim("n", 1)
    inner.add_var("v", DOUBLE, (n,)).handle = np.array([0.1, -0.0])
    return source


def printed(source, form, **options):
    text = io.BytesIO()
    dump(source, text, Options(**options), form)
    return text.getvalue().decode()


def test_json(source):
    found = json.loads(printed(source, "json"))
    assert found["name"] == "x"
    assert found["kind"] == "memory"
    assert found["dimensions"] == {"n": {"size": 2, "unlimited": True}, "len": {"size": 3, "unlimited": False}}
    assert found["types"]["answer"] == {"class": "enum", "base": "int", "members": {"no": 0, "yes": 1}}
    assert found["types"]["point"]["fields"]["x"] == {"type": "float", "shape": [2]}
    assert found["attributes"]["range"] == {"type": "float", "value": [0.1, "Infinity"]}
    values = {name: var["data"] for name, var in found["variables"].items()}
    assert values == {
        "a": [1, 5],
        "k": ["0102", "0000"],
        "p": [{"x": [0.1, "NaN"], "name": "é"}, {"x": [1.0, 2.0], "name": None}],
        "t": [[1, 2], []],
        "text": ["ab", "cde"],
    }
    assert found["groups"]["g"]["variables"]["v"] == {"type": "double", "dimensions": ["/n"], "data": [0.1, -0.0]}


def test_json_of_parts(source):
    found = json.loads(printed(source, "json", variables=("g/v[1]",)))
    assert "data" not in found["variables"]["a"]
    assert found["groups"]["g"]["variables"]["v"]["slices"] == [[1, 2, 1]]
    assert found["groups"]["g"]["variables"]["v"]["data"] == [-0.0]
    assert "data" not in json.loads(printed(source, "json", data="none"))["groups"]["g"]["variables"]["v"]


@pytest.mark.parametrize("shape", [(), (0, 3), (7, 50_000), (250_000,), (3, 1, 120_000), (300, 2, 500)])
def test_json_of_many_values_is_nested_by_dimension(shape):
    source = MemorySource()
    dims = tuple(source.root.add_dim(f"d{i}", size) for i, size in enumerate(shape))
    values = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
    source.root.add_var("v", INT, dims).handle = values
    found = json.loads(printed(source, "json"))["variables"]["v"]["data"]
    assert found == values.tolist()


def test_ncml_has_groups_and_user_types(source):
    text = printed(source, "ncml", data="none")
    assert '<attribute name="title" value="a &quot;b&quot; &lt;c&gt;" />' in text
    assert '<attribute name="range" type="float" value="0.1 Infinity" />' in text
    assert '<variable name="p" shape="n" type="point" />' in text
    assert '  <group name="g">\n    <dimension name="n" length="1" />\n' in text


def test_kinds(source):
    assert printed(source, "kind") == "memory\n"


@pytest.mark.parametrize(
    ("name", "wanted"), [("a-b.c+d@e%f_g", "a-b.c+d@e%f_g"), ("0", "\\0"), ("a\x7f", "a\\%7f"), ("é(x)", "é\\(x\\)")]
)
def test_names(name, wanted):
    assert escaped(name) == wanted


@pytest.mark.parametrize("calendar", ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"])
@given(day=st.integers(-690_000, 3_000_000), second=st.integers(0, 86_399))
def test_times_are_those_of_cftime(calendar, day, second):
    cftime = pytest.importorskip("cftime")
    axis = parse_units("seconds since 1900-03-01 06:00:00", calendar_of(calendar))
    value = day * 86_400 + second
    kwargs = {"has_year_zero": True}
    found = axis.moment(value)
    hour = round(found.hour * 3600)
    if hour == 86_400:
        return
    origin = cftime.datetime(1900, 3, 1, 6, calendar=calendar, **kwargs)
    wanted = cftime.num2date(value, f"seconds since {origin.isoformat()}", calendar=calendar, **kwargs)
    assert (found.year, found.month, found.day) == (wanted.year, wanted.month, wanted.day)
    assert hour == wanted.hour * 3600 + wanted.minute * 60 + wanted.second


@given(st.integers(-5_000_000, 5_000_000))
def test_days_come_back_from_dates(day):
    for name in ("noleap", "all_leap", "360_day", "julian", "proleptic_gregorian"):
        calendar = calendar_of(name)
        assert calendar.hours(calendar.moment(day * 24.0)) == day * 24.0
    assert calendars.CLIMATE.moment(day * 24.0).year == 0
