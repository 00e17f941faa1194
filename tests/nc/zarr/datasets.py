"""Datasets with something of everything, and what netcdf-c makes of what was written."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from omnizarr.nc.source import Source, everything
from omnizarr.nc.tree import Attr, Group, Storage, same_values
from omnizarr.nc.types import (
    BYTE,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    NUMERIC,
    SHORT,
    STRING,
    UBYTE,
    Compound,
    Enum,
    Field,
    Opaque,
    Vlen,
    zeros,
)

MEMORY = 6 << 30

ORACLE = """
import base64, json, sys
import netCDF4, numpy as np
def plain(value):
    if isinstance(value, str): return ["text", value]
    if isinstance(value, list): return ["strings", value]
    array = np.asarray(value)
    if array.dtype.kind == "O": return ["strings", array.tolist()]
    return [array.dtype.str, list(array.shape), base64.b64encode(array.tobytes()).decode()]
def group(one):
    made = {"dims": {n: [len(d), d.isunlimited()] for n, d in one.dimensions.items()}, "vars": {}, "groups": {}}
    made["attrs"] = {n: plain(one.getncattr(n)) for n in one.ncattrs()}
    for name, var in one.variables.items():
        var.set_auto_maskandscale(False)
        var.set_auto_chartostring(False)
        attrs = {n: plain(var.getncattr(n)) for n in var.ncattrs()}
        made["vars"][name] = {"dims": list(var.dimensions), "attrs": attrs, "values": plain(var[...]),
                              "chunks": var.chunking(), "filters": var.filters(), "string": var.dtype is str}
    made["groups"] = {n: group(g) for n, g in one.groups.items()}
    return made
for place in sys.argv[1:]:
    with netCDF4.Dataset(place) as dataset:
        print(json.dumps(group(dataset)), flush=True)
"""


def bounded() -> None:
    """Keep a child process, which may be broken C, from taking all memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def read_by_netcdf4(places: dict[str, Path], mode: str = "nczarr,file") -> dict[str, Any]:
    """Return what netCDF4-python reads of datasets, by name; one process for all of them, since it starts slowly."""
    urls = [f"file://{place}#mode={mode}" for place in places.values()]
    done = subprocess.run(
        [sys.executable, "-c", ORACLE, *urls], capture_output=True, text=True, timeout=120, preexec_fn=bounded
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (list(places)[len(lines) :][:1], done.stderr[-2000:])
    return dict(zip(places, map(json.loads, lines), strict=True))


def simple() -> Group:
    """Return definitions of all that netcdf-c knows in Zarr."""
    root = Group()
    x, t = root.add_dim("x", 4), root.add_dim("t", 0, unlimited=True)
    for attr in attributes():
        root.attrs[attr.name] = attr
    for kind in NUMERIC:
        var = root.add_var(f"v_{kind.name}", kind, (t, x))
        var.attrs["range"] = Attr.of_values("range", kind, [1, 2])
    root.add_var("c", CHAR, (x,))
    root.add_var("s", STRING, (x,))
    root.add_var("scalar", INT)
    filled = root.add_var("filled", SHORT, (x,))
    filled.attrs["_FillValue"] = Attr.of_values("_FillValue", SHORT, [-5])
    group = root.add_group("g")
    z = group.add_dim("z", 3)
    group.add_var("w", DOUBLE, (x, z), Storage(endian="big"))
    group.add_group("empty").attrs["n"] = Attr.of_values("n", BYTE, [1])
    return root


def with_types() -> Group:
    """Return the same with types that a dataset defines."""
    root = simple()
    x = root.dims["x"]
    answer = root.add_type(Enum("answer", UBYTE, (("no", 0), ("yes", 1))))
    key = root.add_type(Opaque("key", 5))
    point = root.add_type(Compound("point", (Field("x", FLOAT), Field("c", CHAR), Field("a", answer), Field("k", key))))
    nested = root.add_type(Compound("nested", (Field("p", point), Field("m", INT, (2, 2)))))
    track = root.add_type(Vlen("track", DOUBLE))
    tracks = root.groups["g"].add_type(Vlen("tracks", track))
    person = root.add_type(Compound("person", (Field("name", STRING), Field("t", track), Field("n", STRING, (2,)))))
    for kind in (answer, key, point, nested, track, person):
        root.add_var(f"u_{kind.name}", kind, (x,))
    root.groups["g"].add_var("u_tracks", tracks, (x,))
    root.attrs["reply"] = Attr("reply", answer, np.array([1, 0], "u1"))
    root.vars["u_answer"].attrs["_FillValue"] = Attr("_FillValue", answer, np.array([1], "u1"))
    return root


def attributes() -> list[Attr]:
    made = [Attr.of_values(f"a_{kind.name}", kind, [1]) for kind in NUMERIC]
    made += [Attr.of_values(f"e_{kind.name}", kind, [kind.fill, 0]) for kind in NUMERIC]
    texts = ["123", "1.5", "true", '{"a": 1}', "[1, 2]", "é €", 'say "hi"', "a\\b\n\tc", "NaN", " "]
    made += [Attr.of_text(f"t{i}", text) for i, text in enumerate(texts)]
    made.append(Attr.of_values("strings", STRING, ["a", "é", "x" * 200]))
    made.append(Attr.of_values("odd", DOUBLE, [np.nan, np.inf, -np.inf, 0.1, 1e300]))
    return made


def fill(source: Source) -> None:
    """Write values to every variable; along the unlimited dimension three of them."""
    rng = np.random.default_rng(5)
    for group in source.root.walk():
        for var in group.vars.values():
            shape = tuple(3 if dim.unlimited else dim.size for dim in var.dims)
            if var.name != "filled":
                source.write(var, tuple(slice(0, n, 1) for n in shape), some_values(var.type, shape, rng))
    source.write(source.root.vars["filled"], (np.array([0, 2]),), np.array([7, 9], "i2"))


def some_values(kind: Any, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return values of a type."""
    made = zeros(shape, kind)
    for index in np.ndindex(shape):
        made[index] = _value(kind, rng)
    return made


def _value(kind: Any, rng: np.random.Generator) -> Any:  # noqa: PLR0911 - one for each sort of type
    if kind == STRING:
        return "é" * int(rng.integers(0, 5)) + "x"
    if kind == CHAR:
        return bytes([rng.integers(65, 90)])
    if isinstance(kind, Vlen):
        count = int(rng.integers(0, 4))
        made = zeros((count,), kind.base)
        for at in range(count):
            made[at] = _value(kind.base, rng)
        return made
    if isinstance(kind, Compound):
        made = zeros((1,), kind)
        for field in kind.fields:
            for index in np.ndindex(field.shape):
                made[field.name][(0, *index)] = _value(field.type, rng)
        return made[0]
    if isinstance(kind, Opaque):
        return np.void(rng.bytes(kind.size))
    if isinstance(kind, Enum):
        return kind.members[int(rng.integers(0, len(kind.members)))][1]
    return rng.integers(0, 100) if kind.numpy.kind != "f" else rng.normal()


def assert_same(one: Source, other: Source) -> None:
    """Assert that two datasets hold the same."""
    _assert_same(one, one.root, other, other.root)


def _assert_same(one: Source, group: Group, other: Source, twin: Group) -> None:
    assert [(d.name, d.size, d.unlimited) for d in group.dims.values()] == [
        (d.name, d.size, d.unlimited) for d in twin.dims.values()
    ]
    assert group.types == twin.types
    assert list(group.attrs.values()) == list(twin.attrs.values())
    assert list(group.vars) == list(twin.vars)
    assert list(group.groups) == list(twin.groups)
    for var, same in zip(group.vars.values(), twin.vars.values(), strict=True):
        assert (var.type, [dim.path for dim in var.dims]) == (same.type, [dim.path for dim in same.dims]), var.path
        assert list(var.attrs.values()) == list(same.attrs.values()), var.path
        assert var.storage.no_fill == same.storage.no_fill, var.path
        assert same_values(one.read(var, everything(var)), other.read(same, everything(same))), var.path
    for name in group.groups:
        _assert_same(one, group.groups[name], other, twin.groups[name])
