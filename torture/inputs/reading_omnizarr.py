"""Reading by Omnizarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import omnizarr as oz
from omnizarr.native import CloudStore
from omnizarr.nc.cdl import parser as cdl
from omnizarr.nc.source import everything
from omnizarr.store.http import HttpStore
from torture.inputs.case import Case
from torture.inputs.network import serving
from torture.inputs.readers import NotRunError

QUICK = {"pause": 0.001, "stall": 0.3, "patience": 0.5}


def read(case: Case, folder: Path) -> Any:  # noqa: PLR0911 - one for each act
    """Do what a case asks for."""
    place = folder / case.where
    if case.act in ("array", "zip", "references"):
        array = oz.open_array(place, path=case.path or None, **case.options)
        return array[case.select if case.select is not None else ...]
    if case.act == "get":
        return oz.FileStore(place).get(case.path)
    if case.act == "tree":
        return _tree(oz.open(place, path=case.path or None, **case.options))
    if case.act == "http":
        with serving(case, folder) as url:
            store = HttpStore(url)
            # The usual settings would wait much longer for a server that fails.
            store.native = CloudStore("http", {"url": url}, "", url, options=QUICK, allow=[url + "/"])
            return oz.open_array(store)[...]
    if case.act == "http-list":
        with serving(case, folder) as url:
            store = HttpStore(url)
            return store.list_dir("c/"), list(store.list_prefix("c/"))
    if case.act == "netcdf":
        return _netcdf(case, place)
    if case.act == "cdl":
        source = cdl.load(place)
        var = source.root.vars.get(case.path)
        return None if var is None else source.read(var, everything(var))
    raise NotRunError


def _netcdf(case: Case, place: Path) -> Any:
    with oz.Dataset(place) as dataset:
        dataset.set_auto_maskandscale(False)
        variable = dataset.variables.get(case.path)
        if variable is None:
            raise oz.errors.NotFoundError("there is no such variable", path=case.path)
        for name in variable.ncattrs():
            variable.getncattr(name)
        return variable[...]


def _tree(node: Any) -> list[Any]:
    if isinstance(node, oz.Array):
        return [node[...]]
    return [value for name in node for value in _tree(node[name])]
