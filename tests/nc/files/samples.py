"""A dataset with everything that netCDF-4 has, and a comparison of datasets."""

import numpy as np

from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.tree import Attr, same_values
from omnizarr.nc.types import ATOMIC, BYTE, CHAR, FLOAT, INT, STRING, Compound, Enum, Field, Opaque, Vlen, zeros


def rich():
    """All atomic and user types, as variables and attributes; groups; unlimited dimensions; scalars; odd names."""
    source = MemorySource(name="rich")
    root = source.root
    t, x, y = root.add_dim("t", 2, unlimited=True), root.add_dim("x", 3), root.add_dim("y", 4)
    types = user_types(root)
    for one in ATOMIC:
        add(source, root.add_var(f"v_{one.name}", one, (x,)), numbers(one, (3,)))
        root.attrs[f"a_{one.name}"] = attribute(f"a_{one.name}", one, 2)
    for name, one in types.items():
        add(source, root.add_var(f"v_{name}", one, (t,)), numbers(one, (2,)))
        root.attrs[f"a_{name}"] = attribute(f"a_{name}", one, 2)
    root.attrs["empty text"] = Attr.of_text("empty text", "")
    root.attrs["no numbers"] = Attr("no numbers", INT, np.zeros(0, "i4"))
    root.attrs["é"] = Attr.of_text("é", "ö\n\"'\\")
    add(source, root.add_var("x", FLOAT, (x,)), np.arange(3, dtype="f4"))  # a coordinate
    add(source, root.add_var("y", INT, (x, y)), np.arange(12, dtype="i4").reshape(3, 4))  # a name, and no coordinate
    add(
        source, root.add_var("t", INT, (t, x)), np.arange(6, dtype="i4").reshape(2, 3)
    )  # a coordinate of two dimensions
    add(source, root.add_var("scalar", STRING), np.array("one", object))
    filled = root.add_var("filled", FLOAT, (t, y))
    filled.attrs["_FillValue"] = Attr.of_values("_FillValue", FLOAT, [-1.5])
    source.write(filled, [slice(1, 2, 1), slice(0, 4, 1)], np.full((1, 4), 7, "f4"))
    group = root.add_group("inner group")
    z = group.add_dim("z", 2)
    group.add_dim("x", 5)  # hides the root's
    add(source, group.add_var("deep", BYTE, (z, group.dims["x"], x)), np.arange(30, dtype="i1").reshape(2, 5, 3))
    below = group.add_group("below")
    add(source, below.add_var("u", types["colour"], (y, z)), np.array([[0, 1], [2, 1], [0, 0], [1, 2]], "i1"))
    below.attrs["kind"] = attribute("kind", types["colour"], 1)
    return source


def user_types(root):
    colour = root.add_type(Enum("colour", BYTE, (("red", 0), ("green", 1), ("blue", 2))))
    key = root.add_type(Opaque("key", 5))
    row = root.add_type(Vlen("row", INT))
    words = root.add_type(Vlen("words", STRING))
    point = root.add_type(Compound("point", (Field("c", colour), Field("xy", FLOAT, (2,)), Field("k", key))))
    named = root.add_type(Compound("named", (Field("s", STRING), Field("r", row), Field("p", point), Field("n", CHAR))))
    points = root.add_type(Vlen("points", named))
    return {one.name: one for one in (colour, key, row, words, point, named, points)}


def add(source, var, values):
    source.write(var, everything(var), values)


def attribute(name, one, count):
    return Attr.of_text(name, b"ab"[:count]) if one == CHAR else Attr(name, one, numbers(one, (count,)))


def numbers(one, shape, first=1):
    """Return values of a type that are all different."""
    values = zeros(shape, one)
    if isinstance(one, Compound):
        for number, field in enumerate(one.fields):
            values[field.name] = numbers(field.type, shape + field.shape, first + number)
        return values
    for number, index in enumerate(np.ndindex(shape)):
        values[index] = element(one, number + first)
    return values


def element(one, number):
    if one == STRING:
        return [None, "", "text", "ünï"][number % 4]
    if one == CHAR:
        return bytes([96 + number])
    if isinstance(one, Enum):
        return number % 3
    if isinstance(one, Opaque):
        return np.void(bytes([number]) * one.size)
    if isinstance(one, Vlen):
        return numbers(one.base, (number % 3,), number)
    return number * 1.25 if one.numpy.kind == "f" else number


def assert_same(found, expected, *, order=True, types=True):
    """Compare two datasets: dimensions, types, attributes, values."""
    groups = list(zip(found.root.walk(), expected.root.walk(), strict=True))
    for one, other in groups:
        assert one.path == other.path
        assert [(d.name, d.size, d.unlimited) for d in one.dims.values()] == [
            (d.name, d.size, d.unlimited) for d in other.dims.values()
        ], one.path
        if types:
            assert list(one.types.values()) == list(other.types.values())
        assert_same_attributes(one.attrs, other.attrs)
        assert list(one.vars) == list(other.vars) if order else set(one.vars) == set(other.vars)
        for name, var in one.vars.items():
            assert var.type == other.vars[name].type, var.path
            assert [dim.path for dim in var.dims] == [dim.path for dim in other.vars[name].dims], var.path
            assert_same_attributes(var.attrs, other.vars[name].attrs)
            values, right = (s.read(v, everything(v)) for s, v in ((found, var), (expected, other.vars[name])))
            assert same_values(values, right), (var.path, values, right)
            assert values.flags.writeable


def assert_same_attributes(one, other):
    assert list(one) == list(other)
    for name in one:
        assert one[name] == other[name], (one[name], other[name])
