"""Datasets and groups."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module  # h5py is an extra
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from omnizarr.errors import ExistsError, NotFoundError, StoreError
from omnizarr.nc.dataset.attributes import put
from omnizarr.nc.dataset.errors import BadOptionError
from omnizarr.nc.dataset.forgotten import close_with
from omnizarr.nc.dataset.handle import Handle
from omnizarr.nc.dataset.places import FORMATS, Opened, open_place
from omnizarr.nc.dataset.switches import Switches
from omnizarr.nc.kinds import NETCDF4_KINDS
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Group as Node
from omnizarr.store.cloud.at import located


class Dataset(Switches):
    """A dataset of the netCDF model, in Zarr of any dialect or in a netCDF file; also its root group.

    Args:
        filename: A path, a URL, a mapping, a store. A name that ends with `.nc` is a netCDF file, else it is Zarr.
        mode: "r" to read; "w" to create, replacing what is there; "x" to create only if nothing is there;
            "a" or "r+" to change what is there, or create it. A trailing "s" has no effect.
        clobber: Whether "w" may replace what is there.
        format: What to create: NETCDF4, NETCDF4_CLASSIC, NETCDF3_CLASSIC, NETCDF3_64BIT_OFFSET or NETCDF3_64BIT_DATA,
            which on Zarr say what may be defined; or NCZARR, NCZARR3, ZARR or ZARR3.
        diskless: Keep the new dataset in memory.
        persist: Write it to its place when it is closed, after all.
        keepweakref: Let dimensions and variables not keep their dataset alive.
        memory: With "r", the bytes of a netCDF file or of a zip archive of Zarr. With "w", any number: `close` returns
            the bytes of the dataset.
        encoding: Of the name; ignored.
        parallel: Not supported, since nothing here needs MPI.
        auto_complex: Store complex numbers as compounds, and show such compounds as complex numbers.
        storage_options: Credentials and settings of an object store, as for `omnizarr.open`.
        options: How Zarr is written, where it is created: `xarray`, `also`, `target`, `separator`, `consolidated`.

    Example:
        >>> import numpy as np
        >>> import omnizarr as oz
        >>> with oz.Dataset({}, "w") as ds:
        ...     _ = ds.createDimension("time", None)
        ...     t = ds.createVariable("t", "f4", ("time",))
        ...     t.units = "K"
        ...     t[0:3] = [280, 281.5, 283]
        ...     print(t[1:].tolist(), t.units, len(ds.dimensions["time"]))
        [281.5, 283.0] K 3
    """

    __slots__ = ("_closing", "_finish")

    _closing: Any
    _finish: Any

    def __init__(  # noqa: PLR0917 - the order that users know
        self,
        filename: Any,  # noqa: ANN401 - paths, mappings, stores
        mode: str = "r",
        clobber: bool = True,
        format: str = "NETCDF4",  # noqa: A002 - the name users know
        diskless: bool = False,
        persist: bool = False,
        keepweakref: bool = False,
        memory: Any = None,  # noqa: ANN401 - bytes, or a number of them
        encoding: str | None = None,  # noqa: ARG002 - what netCDF4 takes
        parallel: bool = False,
        comm: object = None,  # noqa: ARG002 - as above
        info: object = None,  # noqa: ARG002 - as above
        auto_complex: bool = False,
        *,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - each has a type of its own
    ) -> None:
        if parallel:
            raise BadOptionError("parallel mode is that of MPI, which is not supported", hint="Leave it out.")
        where = located(filename, storage_options)
        opened = open_place(
            where,
            mode,
            clobber=clobber,
            format=format,
            diskless=diskless,
            persist=persist,
            memory=memory,
            options=options,
        )
        handle = Handle(opened.source, model=opened.model, keepweakref=keepweakref, auto_complex=auto_complex)
        if isinstance(filename, (str, os.PathLike)):
            handle.name = str(filename)
        self._begin(handle, opened)

    def _begin(self, handle: Handle, opened: Opened) -> None:
        put(self, "_handle", handle)
        put(self, "_finish", opened.after)
        put(self, "_closing", close_with(self, handle, opened.after))
        put(self, "_node", opened.source.root)
        put(self, "_ncstring_attrs__", False)
        put(self, "parent", None)
        self._fill_in()

    @classmethod
    def from_source(cls, source: Source) -> Self:
        """Return the dataset over an open source."""
        self = cls.__new__(cls)
        self._begin(Handle(source), Opened(source))
        return self

    def _child(self, node: Node) -> Group:
        return Group(self, node)

    def close(self) -> memoryview | None:
        """Bring everything to the place and close it. A dataset created with `memory` returns its bytes.

        Raises:
            ClosedError: If it was closed already.
        """
        source = self._handle.live()
        self._handle.is_open = False
        self._closing.detach()
        source.close()
        finish = self._finish
        put(self, "_finish", None)
        return finish() if finish is not None else None

    def isopen(self) -> bool:
        """Say whether the dataset is open."""
        return self._handle.is_open

    def sync(self) -> None:
        """Bring everything to the place; it stays open."""
        self._handle.live().sync()

    def filepath(self, encoding: str | None = None) -> str:  # noqa: ARG002 - what netCDF4 takes
        """Return where the dataset is."""
        self._handle.live()
        return self._handle.name

    @staticmethod
    def fromcdl(
        cdlfilename: str | os.PathLike[str],
        ncfilename: str | os.PathLike[str] | None = None,
        mode: str = "a",
        format: str = "NETCDF4",  # noqa: A002 - the name users know
    ) -> Dataset:
        """Create a dataset from a text in CDL, and open it.

        Args:
            cdlfilename: The file with the text.
            ncfilename: What to create; by default the same name with the ending `.nc`.
            mode: How to open it then.
            format: What to create, as for `Dataset`.
        """
        from omnizarr.nc.dataset.cdl import create_from_cdl  # noqa: PLC0415 - few need the parser

        if format not in FORMATS:
            raise BadOptionError("illegal format requested", hint=f"One of: {', '.join(FORMATS)}.")
        text = Path(cdlfilename)
        target = Path(ncfilename) if ncfilename is not None else text.with_suffix(".nc")
        if not text.exists():
            raise NotFoundError(f"there is no file {text}")
        if target.exists():
            raise ExistsError(f"{target} exists already")
        create_from_cdl(text, target, format)
        return Dataset(target, mode)

    def tocdl(
        self, coordvars: bool = False, data: bool = False, outfile: str | os.PathLike[str] | None = None
    ) -> str | None:
        """Return the dataset as a text in CDL, special attributes included.

        Args:
            coordvars: Include the values of coordinate variables.
            data: Include all values.
            outfile: Write the text there instead of returning it.
        """
        from omnizarr.nc.dataset.cdl import cdl_of  # noqa: PLC0415 - few need the printer

        self.sync()
        text = cdl_of(self._handle.live(), coordinates=coordvars, data=data)
        if outfile is None:
            return text
        Path(outfile).write_text(text, encoding="utf-8")
        return None

    def has_blosc_filter(self) -> bool:
        """Say whether blosc can be used."""
        return self._has_filter(32001)

    def has_zstd_filter(self) -> bool:
        """Say whether zstd can be used."""
        return self._has_filter(32015)

    def has_bzip2_filter(self) -> bool:
        """Say whether bzip2 can be used."""
        return self._has_filter(307)

    def has_szip_filter(self) -> bool:
        """Say whether szip can be used."""
        return self._has_filter(4)

    def _has_filter(self, number: int) -> bool:
        """Say whether a filter can be used here: in Zarr all but szip, in netCDF-4 what HDF5 has."""
        if self._handle.source.kind not in NETCDF4_KINDS:
            return number != 4
        h5z: Any = import_module("h5py").h5z
        return bool(h5z.filter_avail(number))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle.is_open:
            self.close()


class Group(Dataset):
    """A group of a dataset, made by `createGroup`. It has all that a dataset has, but is not closed."""

    __slots__ = ()

    def __init__(self, parent: Dataset, name: str | Node) -> None:
        node: Node = parent.createGroup(name)._node if isinstance(name, str) else name  # noqa: SLF001 - of this class
        put(self, "_handle", parent._handle)  # noqa: SLF001 - groups and datasets belong together
        put(self, "_closing", None)
        put(self, "_finish", None)
        put(self, "_node", node)
        put(self, "_ncstring_attrs__", parent._ncstring_attrs__)  # noqa: SLF001 - as above
        put(self, "parent", parent)
        self._fill_in()

    def close(self) -> memoryview | None:
        """Raise: only the whole dataset is closed."""
        raise StoreError("cannot close a `Group` (only applies to Dataset)", path=self.path)
