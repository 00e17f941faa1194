"""Many datasets as one, joined along a dimension."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from omnizarr.errors import StoreError
from omnizarr.nc.dataset.attributes import put
from omnizarr.nc.dataset.dataset import Dataset
from omnizarr.nc.dataset.errors import BadOptionError
from omnizarr.nc.dataset.many_variable import MFDimension, MFVariable
from omnizarr.nc.dataset.places import Opened
from omnizarr.nc.dataset.variable import Variable
from omnizarr.nc.dataset.words import class_text


class MFDataset(Dataset):
    """Many datasets, read as if they were one: variables that begin with one dimension are joined along it.

    Args:
        files: Places of datasets, or a text with wildcards.
        check: Raise if a variable is not the same in all of them, but for its length.
        aggdim: The dimension to join along; by default the unlimited one.
        exclude: Names of variables that are not joined but taken from the first.
        master_file: The one of `files` that says which variables and attributes there are; by default the first.

    Examples:
        >>> import omnizarr as oz
        >>> places = [{}, {}]
        >>> for at, place in enumerate(places):
        ...     with oz.Dataset(place, "w") as ds:
        ...         _ = ds.createDimension("x", None)
        ...         ds.createVariable("x", "i4", ("x",))[0:2] = [at * 2, at * 2 + 1]
        >>> with oz.MFDataset(places) as ds:
        ...     ds.variables["x"][:]
        array([0, 1, 2, 3], dtype=int32)
    """

    __slots__ = ("_files",)

    _files: list[Dataset]

    def __init__(
        self,
        files: str | Sequence[Any],
        check: bool = False,
        aggdim: str | None = None,
        exclude: Collection[str] = (),
        master_file: Any = None,  # noqa: ANN401 - a place
    ) -> None:
        places = _places(files)
        if master_file is not None and not any(place is master_file or place == master_file for place in places):
            raise BadOptionError("master_file not in files list")
        master_at = places.index(master_file) if master_file is not None else 0
        parts = [Dataset(place) for place in places]
        master = parts[master_at]
        try:
            along = _along(master, aggdim)
            joined = [
                variable
                for name, variable in master.variables.items()
                if name not in exclude and variable.dimensions[:1] == (along,)
            ]
            _check(joined, parts if check else [])
        except BaseException:
            for part in parts:
                part.close()
            raise
        put(self, "_files", parts)
        self._begin(master._handle, Opened(master._handle.source))  # noqa: SLF001 - datasets belong together
        lengths = [len(part.dimensions[along]) for part in parts]
        dimension = MFDimension(along, lengths)
        dimensions: dict[str, Any] = {**master.dimensions, along: dimension}
        variables: dict[str, Any] = dict(master.variables)
        for variable in joined:
            name = variable.name
            variables[name] = MFVariable(self, variable, [part.variables[name] for part in parts], dimension)
        put(self, "dimensions", dimensions)
        put(self, "variables", variables)

    @property
    def file_format(self) -> list[str]:  # type: ignore[override] # as netCDF4 has it
        """The data model of each dataset."""
        return [part.data_model for part in self._files]

    @property
    def data_model(self) -> list[str]:  # type: ignore[override] # as netCDF4 has it
        """The data model of each dataset."""
        return [part.data_model for part in self._files]

    @property
    def disk_format(self) -> list[str]:  # type: ignore[override] # as netCDF4 has it
        """What each dataset is stored as."""
        return [part.disk_format for part in self._files]

    def isopen(self) -> bool:
        """Say whether all datasets are open."""
        return all(part.isopen() for part in self._files)

    def close(self) -> None:
        """Close all datasets."""
        for part in self._files:
            if part.isopen():
                part.close()

    def __repr__(self) -> str:
        lines = [class_text(self), f"root group ({self.data_model[0]} data model, file format {self.disk_format[0]}):"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        lines.append(f"    dimensions = {tuple(self.dimensions)}")
        lines.append(f"    variables = {tuple(self.variables)}")
        lines.append(f"    groups = {tuple(self.groups)}")
        return "\n".join(lines)

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("MFDataset is not picklable")

    def __del__(self) -> None:
        if getattr(self, "_files", None):
            self.close()


def _places(files: str | Sequence[Any]) -> list[Any]:
    if isinstance(files, (str, os.PathLike)):
        text = os.fspath(files)
        if text.startswith("http"):
            raise BadOptionError("cannot use wildcards for remote datasets")
        places: list[Any] = sorted(glob.glob(text))  # noqa: PTH207 - a text with folders in it
    else:
        places = list(files)
    if not places:
        raise StoreError("no files specified (file list is empty)")
    return places


def _along(master: Dataset, wanted: str | None) -> str:
    names = [
        name for name, dim in master.dimensions.items() if (dim.isunlimited() if wanted is None else name == wanted)
    ]
    if not names:
        raise StoreError(f"master dataset {master.filepath()} does not have a aggregation dimension")
    return names[-1]


def _check(joined: list[Variable], parts: list[Dataset]) -> None:
    if not joined:
        raise StoreError("master dataset does not have any variables to aggregate")
    for part in parts:
        for variable in joined:
            other = part.variables.get(variable.name)
            if other is None:
                raise StoreError(f"aggregation variable {variable.name} not defined in {part.filepath()}")
            for what, mine, its in (
                ("dimensions", variable.dimensions, other.dimensions),
                ("shape", variable.shape[1:], other.shape[1:]),
                ("data type", variable.dtype, other.dtype),
            ):
                if mine != its:
                    raise StoreError(
                        f"variable {variable.name} : {what} mismatch between {mine} and {its} in {part.filepath()}"
                    )
