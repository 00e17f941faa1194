"""Variables and dimensions of many datasets, joined."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.nc.dataset.dates import date2num
from omnizarr.nc.dataset.errors import BadOptionError, NoAttributeError
from omnizarr.nc.dataset.indexing import select
from omnizarr.nc.dataset.variable import Variable
from omnizarr.nc.dataset.words import class_text

if TYPE_CHECKING:
    from omnizarr.nc.dataset.many import MFDataset


class MFDimension:
    """A dimension along which datasets are joined."""

    __slots__ = ("lengths", "name")

    def __init__(self, name: str, lengths: list[int]) -> None:
        self.name = name
        self.lengths = lengths

    @property
    def size(self) -> int:
        """The length of all datasets together."""
        return sum(self.lengths)

    def __len__(self) -> int:
        return self.size

    def isunlimited(self) -> bool:
        """Say that it is as long as there are datasets."""
        return True

    def __repr__(self) -> str:
        return f"{class_text(self)!r} (unlimited): name = {self.name!r}, size = {self.size}"


class MFVariable:
    """A variable that goes through many datasets, joined along its first dimension. Attributes are the master's."""

    def __init__(self, group: MFDataset, master: Variable, parts: list[Variable], dimension: MFDimension) -> None:
        self._group = group
        self._master = master
        self._parts = parts
        self._dimension = dimension

    @property
    def name(self) -> str:
        """The name."""
        return self._master.name

    @property
    def dtype(self) -> Any:  # noqa: ANN401 - a NumPy type, or `str`
        """The NumPy type of values as they are stored."""
        return self._master.dtype

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return self._master.dimensions

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions."""
        return (self._dimension.size, *self._master.shape[1:])

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._master.ndim

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self.shape))

    def group(self) -> MFDataset:
        """Return the dataset."""
        return self._group

    def typecode(self) -> Any:  # noqa: ANN401 - as `dtype`
        """Return `dtype`."""
        return self.dtype

    def ncattrs(self) -> list[str]:
        """Return the names of all attributes."""
        return self._master.ncattrs()

    def getncattr(self, name: str, encoding: str = "utf-8") -> Any:  # noqa: ANN401 - of any type
        """Return the value of an attribute."""
        return self._master.getncattr(name, encoding)

    def set_auto_chartostring(self, val: object) -> None:
        """Choose whether characters with an `_Encoding` come as strings."""
        for part in self._parts:
            part.set_auto_chartostring(val)

    def set_auto_maskandscale(self, val: object) -> None:
        """Choose whether values are masked and scaled."""
        for part in self._parts:
            part.set_auto_maskandscale(val)

    def set_auto_mask(self, val: object) -> None:
        """Choose whether missing values are masked."""
        for part in self._parts:
            part.set_auto_mask(val)

    def set_auto_scale(self, val: object) -> None:
        """Choose whether `scale_factor` and `add_offset` are applied."""
        for part in self._parts:
            part.set_auto_scale(val)

    def set_always_mask(self, val: object) -> None:
        """Choose whether values of which none is missing come as masked arrays, too."""
        for part in self._parts:
            part.set_always_mask(val)

    def set_ncstring_attrs(self, val: object) -> None:
        """Do nothing: nothing is written."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of any type
        if name.startswith("__") or name in ("_master", "_parts"):
            raise NoAttributeError(f"there is no attribute {name!r}")
        return self._master.getncattr(name)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an array or a scalar
        chosen = select(index, self.shape)
        first, *rest = chosen.key
        wanted = np.arange(first.start, first.stop, first.step) if isinstance(first, slice) else first
        pieces: list[Any] = []
        places: list[Any] = []
        start = 0
        for part, length in zip(self._parts, self._dimension.lengths, strict=True):
            here = np.flatnonzero((wanted >= start) & (wanted < start + length))
            if here.size or (part is self._parts[-1] and not pieces):
                pieces.append(part[(_as_slice(wanted[here] - start), *rest)])
                places.append(here)
            start += length
        masked = any(np.ma.isMaskedArray(piece) for piece in pieces)
        joined: Any = np.ma if masked else np
        data: Any = joined.concatenate(pieces)
        order = np.concatenate(places)
        if not np.array_equal(order, np.arange(order.size)):
            data = data[np.argsort(order)]
        data = data[chosen.after[: data.ndim]]
        return data.filled() if np.ma.isMaskedArray(data) and not np.ma.getmaskarray(data).any() else data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:  # noqa: ANN401 - NumPy's
        return np.asarray(self[...], dtype)

    def __repr__(self) -> str:
        lines = [class_text(self), f"{self.dtype} {self.name}{self.dimensions}"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        lines.append(f"unlimited dimensions = {(self._dimension.name,)}")
        lines.append(f"current size = {self.shape!r}")
        return "\n".join(lines)


class MFTime(MFVariable):
    """A time variable of many datasets, with the units of all made the same.

    Args:
        time: The variable of an `MFDataset`.
        units: The units of the result; by default those of the master.
        calendar: The calendar of all; by default the one that they all have to say.

    Raises:
        BadOptionError: If no calendar is given, and the datasets do not agree on one.
    """

    def __init__(self, time: MFVariable, units: str | None = None, calendar: str | None = None) -> None:
        super().__init__(time._group, time._master, time._parts, time._dimension)  # noqa: SLF001 - its base
        if calendar is None:
            calendars = {getattr(part, "calendar", None) for part in self._parts}
            if len(calendars) != 1 or None in calendars:
                raise BadOptionError(
                    "MFTime requires that the time variable in all files have the same calendar attribute if no "
                    "default calendar is provided."
                )
            (calendar,) = calendars
        self.calendar = calendar
        self.units = units or time.units
        day = dt.datetime(1900, 1, 1)  # noqa: DTZ001 - cftime takes no time zones
        number = date2num(day, self.units, self.calendar)
        deltas = [
            np.full(length, number - date2num(day, part.units, self.calendar))
            for part, length in zip(self._parts, self._dimension.lengths, strict=True)
        ]
        self._delta = np.concatenate(deltas).astype(time.dtype)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an array or a scalar
        return super().__getitem__(index) + self._delta[index]


def _as_slice(indices: np.ndarray[Any, Any]) -> slice | np.ndarray[Any, Any]:
    """Return indices as a slice if they are evenly spaced."""
    if indices.size < 2:
        return slice(int(indices[0]), int(indices[0]) + 1) if indices.size else slice(0, 0)
    step = int(indices[1] - indices[0])
    if step > 0 and bool((np.diff(indices) == step).all()):
        return slice(int(indices[0]), int(indices[-1]) + 1, step)
    return indices
