"""Random datasets, written by us and read by the C library, and the other way round: everything equal.

What the C library itself loses is put right first, each loss by name. Forty each way; as many as
OMNIZARR_RANDOM_DATASETS says, if it is set.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.source import everything
from omnizarr.nc.tree import Attr, Filter, Group, Storage, Var
from omnizarr.nc.types import BY_CODE, default_fill
from tests.nc.random_specs import CHAR, DOUBLE, FLOAT, STRING, make

pytest.importorskip("netCDF4")
COUNT = int(os.environ.get("OMNIZARR_RANDOM_DATASETS", "40"))
FIRST = int(os.environ.get("OMNIZARR_RANDOM_FIRST", "0"))
FOREIGN = "big" if sys.byteorder == "little" else "little"
PROGRAM = Path(__file__).with_name("libnetcdf.py")

# Text that netcdf-c 4.10.1 takes for JSON, and of which it then writes something else.
CHANGED_BY_NETCDF_C = {
    " lead": "lead", "trail ": "trail", " 12 ": "12", '"abc"': "abc", "\\u00e9": "u00e9",
}  # fmt: skip
# Text for which it writes a dataset that cannot be closed (the empty one), or leaves the attribute out.
NEVER_WRITTEN_BY_NETCDF_C = {"", "\\"}


def run_library(*words: str) -> None:
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), *words], capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, (ran.returncode, ran.stdout[-200:], ran.stderr[-2000:])


# A dataset as plain values → as ours, and back


def our_tree(spec: dict[str, Any], into: Group | None = None) -> Group:
    group = Group() if into is None else into
    for name, size, unlimited in spec["dims"]:
        group.add_dim(name, size, unlimited=unlimited)
    group.attrs.update({one[0]: our_attr(*one) for one in spec["attrs"]})
    for one in spec["vars"]:
        dims = tuple(group.find_dim(path) for path in one["dims"])
        assert None not in dims
        group.add_var(one["name"], BY_CODE[one["type"]], dims, our_storage(one["storage"])).attrs.update(
            {attr[0]: our_attr(*attr) for attr in one["attrs"]}
        )
    for inner in spec["groups"]:
        our_tree(inner, group.add_group(inner["name"]))
    return group


def our_attr(name: str, kind: int, value: Any) -> Attr:
    return Attr.of_text(name, value) if kind == CHAR else Attr.of_values(name, BY_CODE[kind], value)


def our_storage(given: dict[str, Any]) -> Storage:
    return Storage(
        chunks=given["chunks"] and tuple(given["chunks"]),
        endian=given["endian"] or "native",
        shuffle=given["shuffle"],
        deflate=given["deflate"],
        fletcher32=given["fletcher32"],
        filters=tuple(Filter(*one) for one in given["filters"]),
    )


def write_ours(spec: dict[str, Any], folder: str) -> None:
    source = create_source(folder, our_tree(spec), "nczarr")

    def put(part: dict[str, Any], group: Group) -> None:
        for one in part["vars"]:
            if one["values"] is not None:
                var = group.vars[one["name"]]
                source.write(var, tuple(slice(0, n, 1) for n in one["values"].shape), one["values"])
        for inner in part["groups"]:
            put(inner, group.groups[inner["name"]])

    put(spec, source.root)
    source.close()


def read_ours(folder: str) -> dict[str, Any]:
    source = open_source(folder)

    def var_of(var: Var) -> dict[str, Any]:
        return {
            "name": var.name,
            "type": var.type.code,
            "dims": [dim.path for dim in var.dims],
            "attrs": [attr_of(one) for one in var.attrs.values()],
            "values": source.read(var, everything(var)),
        }

    def attr_of(attr: Attr) -> tuple[str, int, Any]:
        return attr.name, attr.type.code, list(attr.value) if attr.type.code == STRING else attr.value

    def group_of(group: Group) -> dict[str, Any]:
        return {
            "name": group.name.strip("/"),
            "dims": [(dim.name, dim.size, dim.unlimited) for dim in group.dims.values()],
            "attrs": [attr_of(one) for one in group.attrs.values()],
            "vars": [var_of(one) for one in group.vars.values()],
            "groups": [group_of(one) for one in group.groups.values()],
        }

    found = group_of(source.root)
    source.close()
    return found


# What should be there


def expected(spec: dict[str, Any], attr_rule: Any, sizes: dict[str, int], *, swapped: bool = False) -> dict[str, Any]:
    """Return what a reader should see: fill values where nothing was written, and what is lost, lost.

    The C library shows fill values of chunks that are not there in the wrong byte order (`swapped`), if elements are
    not stored in the machine's.
    """
    return {
        "name": spec["name"],
        "dims": spec["dims"],
        "attrs": [found for one in spec["attrs"] if (found := attr_rule(one)) is not None],
        "vars": [expected_var(one, attr_rule, sizes, swapped=swapped) for one in spec["vars"]],
        "groups": [expected(one, attr_rule, sizes, swapped=swapped) for one in spec["groups"]],
    }


def expected_var(var: dict[str, Any], attr_rule: Any, sizes: dict[str, int], *, swapped: bool) -> dict[str, Any]:
    attrs = [found for one in var["attrs"] if (found := attr_rule(one)) is not None]
    shape = tuple(sizes[one] for one in var["dims"])
    kind = BY_CODE[var["type"]]
    values = np.empty(shape, kind.numpy)
    own = next((value for name, _, value in attrs if name == "_FillValue"), None)
    values[...] = default_fill(kind) if own is None else own[:1] if kind.code == CHAR else own[0]
    if swapped and var["storage"]["endian"] == FOREIGN:
        values = values.byteswap()
    if var["values"] is not None and var["values"].size:
        values[tuple(slice(0, n) for n in var["values"].shape)] = var["values"]
    return {"name": var["name"], "type": var["type"], "dims": var["dims"], "attrs": attrs, "values": values}


def as_netcdf_c_reads(attr: tuple[str, int, Any]) -> tuple[str, int, Any]:
    """Empty text comes back as one NUL."""
    name, kind, value = attr
    return (name, kind, b"\0") if kind == CHAR and not value else attr


def as_netcdf_c_writes(attr: tuple[str, int, Any]) -> tuple[str, int, Any] | None:
    """Floats are printed with six digits; text that looks like JSON is written as that."""
    name, kind, value = attr
    if kind in (FLOAT, DOUBLE):
        return name, kind, np.array([float(f"{float(one):g}") for one in value]).astype(value.dtype)
    if kind == CHAR:
        text = value.decode()
        return name, kind, CHANGED_BY_NETCDF_C.get(text, text).encode()
    return attr


def without_what_netcdf_c_cannot_write(spec: dict[str, Any]) -> dict[str, Any]:
    def kept(attrs: list[Any]) -> list[Any]:
        return [one for one in attrs if one[1] != CHAR or one[2].decode() not in NEVER_WRITTEN_BY_NETCDF_C]

    return {
        **spec,
        "attrs": kept(spec["attrs"]),
        "vars": [{**var, "attrs": kept(var["attrs"])} for var in spec["vars"]],
        "groups": [without_what_netcdf_c_cannot_write(one) for one in spec["groups"]],
    }


def sizes_of(spec: dict[str, Any], path: str = "") -> dict[str, int]:
    found = {f"{path}/{name}": size for name, size, _ in spec["dims"]}
    for inner in spec["groups"]:
        found |= sizes_of(inner, f"{path}/{inner['name']}")
    return found


def grown(spec: dict[str, Any], sizes: dict[str, int], path: str = "") -> dict[str, Any]:
    dims = [(name, sizes[f"{path}/{name}"], unlimited) for name, _, unlimited in spec["dims"]]
    return {**spec, "dims": dims, "groups": [grown(one, sizes, f"{path}/{one['name']}") for one in spec["groups"]]}


def lengths_written(spec: dict[str, Any], path: str = "") -> dict[str, int]:
    """Return how long dimensions are that grow only by writing."""
    found = {f"{path}/{name}": 0 if unlimited else size for name, size, unlimited in spec["dims"]}
    reached: dict[str, int] = {}
    for var in spec["vars"]:
        if var["values"] is not None and var["values"].size:
            for dim, size in zip(var["dims"], var["values"].shape, strict=True):
                reached[dim] = max(reached.get(dim, 0), size)
    for inner in spec["groups"]:
        for dim, size in lengths_written(inner, f"{path}/{inner['name']}").items():
            reached[dim] = max(reached.get(dim, 0), size)
    return {**found, **{dim: max(size, found.get(dim, 0)) for dim, size in reached.items()}}


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """List where two datasets differ; floats that are NaN are equal."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        return [text for key in one for text in differences(one[key], other[key], f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        named = [f"[{part['name']}]" if isinstance(part, dict) else f"[{i}]" for i, part in enumerate(one)]
        return [text for a, b, name in zip(one, other, named, strict=True) for text in differences(a, b, where + name)]
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return [text for a, b in zip(one, other, strict=True) for text in differences(a, b, f"{where}({one[0]})")]
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        same = one.shape == other.shape and one.dtype == other.dtype
        same = same and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return [] if same else [f"{where}: {one!r} ≠ {other!r}"]
    return [] if type(one) is type(other) and one == other else [f"{where}: {one!r} ≠ {other!r}"]


@pytest.fixture(scope="module")
def ours(tmp_path_factory) -> dict[str, dict[str, Any]]:
    """Datasets that we have written, by folder."""
    top = tmp_path_factory.mktemp("ours")
    specs = {str(top / str(number)): make(number) for number in range(FIRST, FIRST + COUNT)}
    for folder, spec in specs.items():
        write_ours(spec, folder)
    return specs


def test_ours_read_by_the_library(ours, tmp_path):
    (tmp_path / "jobs").write_bytes(pickle.dumps(list(ours)))
    run_library("read", str(tmp_path / "jobs"), str(tmp_path / "results"))
    found = []
    with (tmp_path / "results").open("rb") as file:
        for folder, spec in ours.items():
            seen = pickle.load(file)
            wanted = expected(spec, as_netcdf_c_reads, sizes_of(spec), swapped=True)
            found += [f"{folder}: {seen}"] if isinstance(seen, str) else differences(wanted, seen, folder)
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])


def test_ours_read_by_us(ours):
    found = []
    for folder, spec in ours.items():
        found += differences(expected(spec, lambda one: one, sizes_of(spec)), read_ours(folder), folder)
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])


def test_the_librarys_read_by_us(tmp_path):
    made = [without_what_netcdf_c_cannot_write(make(number)) for number in range(FIRST, FIRST + COUNT)]
    specs = {str(tmp_path / str(number)): spec for number, spec in enumerate(made, FIRST)}
    (tmp_path / "jobs").write_bytes(pickle.dumps(list(specs.items())))
    run_library("write", str(tmp_path / "jobs"))
    found = []
    for folder, spec in specs.items():
        sizes = lengths_written(spec)
        found += differences(expected(grown(spec, sizes), as_netcdf_c_writes, sizes), read_ours(folder), folder)
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])
