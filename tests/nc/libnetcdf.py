"""The netCDF C library of the netCDF4 wheel, called directly: datasets as plain values, written and read.

Run as a program, in a process of its own, because the library crashes on much that is wrong:

    python libnetcdf.py read FOLDERS.pickle RESULT.pickle
    python libnetcdf.py write SPECS.pickle

`random_specs.py` says what such plain values look like. Results are written one by one, so that those before a crash
are there.
"""

from __future__ import annotations

import ctypes as c
import pickle
import resource
import sys
from pathlib import Path
from typing import Any

import netCDF4  # which says where the plugins of filters are
import numpy as np

CHAR, STRING = 2, 12
DTYPES = {1: "i1", 2: "S1", 3: "i2", 4: "i4", 5: "f4", 6: "f8", 7: "u1", 8: "u2", 9: "u4", 10: "i8", 11: "u8"}
GLOBAL, NETCDF4, NOFILL = -1, 0x1000, 1
NAME = 1024

_LIBS = Path(netCDF4.__file__).parents[1]
LIB = c.CDLL(str(next(iter([*_LIBS.glob("netcdf4.libs/libnetcdf-*"), *_LIBS.glob("netCDF4.libs/libnetcdf-*")]))))
LIB.nc_strerror.restype = c.c_char_p


class NetcdfError(Exception):
    """What the library says."""


def call(name: str, *arguments: Any) -> None:
    code = getattr(LIB, name)(*arguments)
    if code:
        raise NetcdfError(f"{name}{arguments[:4]}: {code} {LIB.nc_strerror(code).decode()}")


def _number(name: str, *arguments: Any, kind: Any = c.c_int) -> int:
    value = kind()
    call(name, *arguments, c.byref(value))
    return value.value


def _ids(name: str, ncid: int, *last: Any) -> list[int]:
    count = c.c_int()
    call(name, ncid, c.byref(count), None, *last)
    ids = (c.c_int * max(1, count.value))()
    call(name, ncid, c.byref(count), ids, *last)
    return list(ids[: count.value])


def _text(name: str, *arguments: Any) -> str:
    buffer = c.create_string_buffer(NAME)
    call(name, *arguments, buffer)
    return buffer.value.decode()


def _pointers(values: list[str | None]) -> Any:
    return (c.c_char_p * max(1, len(values)))(*(None if one is None else one.encode() for one in values))


# Reading


def read(folder: str) -> dict[str, Any]:
    ncid = c.c_int()
    call("nc_open", f"file://{folder}#mode=nczarr,file".encode(), 0, c.byref(ncid))
    try:
        return _read_group(ncid.value, "/", {})
    finally:
        LIB.nc_close(ncid.value)


def _read_group(ncid: int, path: str, dims: dict[int, str]) -> dict[str, Any]:
    unlimited = _ids("nc_inq_unlimdims", ncid)
    found = []
    for dimid in _ids("nc_inq_dimids", ncid, 0):
        name = _text("nc_inq_dimname", ncid, dimid)
        dims[dimid] = f"{path.rstrip('/')}/{name}"
        found.append((name, _number("nc_inq_dimlen", ncid, dimid, kind=c.c_size_t), dimid in unlimited))
    groups = []
    variables = [_read_var(ncid, varid, dims) for varid in _ids("nc_inq_varids", ncid)]
    for inner in _ids("nc_inq_grps", ncid):
        name = _text("nc_inq_grpname", inner)
        groups.append(_read_group(inner, f"{path.rstrip('/')}/{name}", dims))
    attrs = _read_attrs(ncid, GLOBAL, _number("nc_inq_natts", ncid))
    return {"name": path.rpartition("/")[2], "dims": found, "attrs": attrs, "vars": variables, "groups": groups}


def _read_attrs(ncid: int, varid: int, count: int) -> list[tuple[str, int, Any]]:
    found = []
    for index in range(count):
        name = _text("nc_inq_attname", ncid, varid, index)
        kind, length = c.c_int(), c.c_size_t()
        call("nc_inq_att", ncid, varid, name.encode(), c.byref(kind), c.byref(length))
        value: Any
        if kind.value == STRING:
            texts = (c.c_char_p * max(1, length.value))()
            call("nc_get_att", ncid, varid, name.encode(), texts)
            value = [None if one is None else one.decode("utf-8", "surrogateescape") for one in texts[: length.value]]
        else:
            value = np.empty(length.value, DTYPES[kind.value])
            call("nc_get_att", ncid, varid, name.encode(), c.c_void_p(value.ctypes.data))
            value = value.tobytes() if kind.value == CHAR else value
        found.append((name, kind.value, value))
    return found


def _read_var(ncid: int, varid: int, dims: dict[int, str]) -> dict[str, Any]:
    name = _text("nc_inq_varname", ncid, varid)
    kind = _number("nc_inq_vartype", ncid, varid)
    rank = _number("nc_inq_varndims", ncid, varid)
    dimids = (c.c_int * max(1, rank))()
    call("nc_inq_vardimid", ncid, varid, dimids)
    shape = tuple(_number("nc_inq_dimlen", ncid, dimid, kind=c.c_size_t) for dimid in dimids[:rank])
    size = int(np.prod(shape, dtype=int))
    values: Any
    start, count = (c.c_size_t * max(1, rank))(), (c.c_size_t * max(1, rank))(*(shape or (1,)))
    if kind == STRING:
        texts = (c.c_char_p * max(1, size))()
        if size:
            call("nc_get_vara", ncid, varid, start, count, texts)
        values = np.empty(size, object)
        values[:] = [(one or b"").decode("utf-8", "surrogateescape") for one in texts[:size]]
        values = values.reshape(shape)
    else:
        values = np.empty(shape, DTYPES[kind])
        if size:
            call("nc_get_vara", ncid, varid, start, count, c.c_void_p(values.ctypes.data))
    attrs = _read_attrs(ncid, varid, _number("nc_inq_varnatts", ncid, varid))
    return {"name": name, "type": kind, "dims": [dims[one] for one in dimids[:rank]], "attrs": attrs, "values": values}


# Writing


def write(folder: str, spec: dict[str, Any]) -> None:
    ncid = c.c_int()
    call("nc_create", f"file://{folder}#mode=nczarr,file".encode(), NETCDF4, c.byref(ncid))
    jobs: list[tuple[int, int, dict[str, Any]]] = []
    try:
        _define(ncid.value, "/", spec, {}, jobs)
        for group, varid, var in jobs:
            _put(group, varid, var)
    finally:
        call("nc_close", ncid.value)


def _define(ncid: int, path: str, spec: dict[str, Any], dims: dict[str, int], jobs: list[Any]) -> None:
    for name, size, unlimited in spec["dims"]:
        dims[f"{path.rstrip('/')}/{name}"] = _number(
            "nc_def_dim", ncid, name.encode(), c.c_size_t(0 if unlimited else size)
        )
    _put_attrs(ncid, GLOBAL, spec["attrs"])
    for var in spec["vars"]:
        dimids = (c.c_int * max(1, len(var["dims"])))(*(dims[one] for one in var["dims"]))
        varid = _number("nc_def_var", ncid, var["name"].encode(), var["type"], len(var["dims"]), dimids)
        _store_as(ncid, varid, var)
        _put_attrs(ncid, varid, var["attrs"])
        jobs.append((ncid, varid, var))
    for inner in spec["groups"]:
        below = _number("nc_def_grp", ncid, inner["name"].encode())
        _define(below, f"{path.rstrip('/')}/{inner['name']}", inner, dims, jobs)


def _store_as(ncid: int, varid: int, var: dict[str, Any]) -> None:
    storage = var["storage"]
    if storage["chunks"]:
        call("nc_def_var_chunking", ncid, varid, 0, (c.c_size_t * len(storage["chunks"]))(*storage["chunks"]))
    if storage["endian"]:
        call("nc_def_var_endian", ncid, varid, {"little": 1, "big": 2}[storage["endian"]])
    if storage["shuffle"] or storage["deflate"]:
        call(
            "nc_def_var_deflate", ncid, varid, int(storage["shuffle"]), int(storage["deflate"] > 0), storage["deflate"]
        )
    for number, parameters in storage["filters"]:
        call(
            "nc_def_var_filter",
            ncid,
            varid,
            number,
            c.c_size_t(len(parameters)),
            (c.c_uint * len(parameters))(*parameters),
        )
    if storage["fletcher32"]:
        call("nc_def_var_fletcher32", ncid, varid, 1)


def _put_attrs(ncid: int, varid: int, attrs: list[tuple[str, int, Any]]) -> None:
    for name, kind, value in attrs:
        data: Any = value
        if kind == STRING:
            data = _pointers(value)
        elif kind != CHAR:
            data = c.c_void_p(np.ascontiguousarray(value).ctypes.data)
        call("nc_put_att", ncid, varid, name.encode(), kind, c.c_size_t(len(value)), data)


def _put(ncid: int, varid: int, var: dict[str, Any]) -> None:
    values = var["values"]
    if values is None or not values.size:
        return
    rank = values.ndim
    start, count = (c.c_size_t * max(1, rank))(), (c.c_size_t * max(1, rank))(*(values.shape or (1,)))
    data = (
        _pointers(list(values.flat)) if var["type"] == STRING else c.c_void_p(np.ascontiguousarray(values).ctypes.data)
    )
    call("nc_put_vara", ncid, varid, start, count, data)


def main() -> None:
    limit = 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    jobs = pickle.loads(Path(sys.argv[2]).read_bytes())
    if sys.argv[1] == "write":
        for folder, spec in jobs:
            print(folder, flush=True)  # the last one is that of a crash
            write(folder, spec)
        return
    with Path(sys.argv[3]).open("wb") as file:
        for folder in jobs:
            print(folder, flush=True)
            try:
                result: Any = read(folder)
            except NetcdfError as error:
                result = str(error)
            pickle.dump(result, file)
            file.flush()


if __name__ == "__main__":
    main()
