"""Variables: values by index, masked and scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.errors import SelectionError, warn
from omnizarr.nc.dataset.attributes import put
from omnizarr.nc.dataset.errors import NoAttributeError
from omnizarr.nc.dataset.given import as_text, placed
from omnizarr.nc.dataset.indexing import Selected, select, select_to_write
from omnizarr.nc.dataset.info import VariableInfo
from omnizarr.nc.dataset.masking import shown
from omnizarr.nc.dataset.plan import Plan, plan_of, safe
from omnizarr.nc.dataset.strings import chartostring
from omnizarr.nc.dataset.usertypes import unpacked
from omnizarr.nc.dataset.writing import conformed, prepared, stored
from omnizarr.nc.tree import Var
from omnizarr.nc.types import CHAR, Compound

if TYPE_CHECKING:
    from omnizarr.nc.dataset.dataset import Dataset


class Variable(VariableInfo):
    """Values with named dimensions and attributes, read and written by index.

    An index is as for NumPy, but each array in it selects from its own dimension. Values come as masked arrays.
    """

    __slots__ = ("_plan", "always_mask", "chartostring", "mask", "scale")

    _plan: Plan | None
    mask: bool
    scale: bool
    always_mask: bool
    chartostring: bool

    def __init__(self, group: Dataset, node: Var) -> None:
        super().__init__(group, node)
        for name in ("mask", "scale", "always_mask", "chartostring"):
            put(self, name, True)
        put(self, "_plan", None)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an array, a scalar or text
        source = self._handle.live()
        var, look = self._node, self._look
        try:
            chosen = select(index, self.shape)
        except SelectionError as error:
            placed(error, var.path)
            raise
        key = (*chosen.key, slice(0, 2, 1)) if look.pairs else chosen.key
        data: Any = source.read(var, key)
        dtype: Any = look.dtype
        if look.kind == "primitive" and dtype.kind == "c":
            data = np.ascontiguousarray(data).view(dtype).reshape(chosen.shape)
        elif isinstance(var.type, Compound):
            data = unpacked(var.type, data, as_text=self.chartostring)
        elif look.kind in ("primitive", "enum") and data.dtype != dtype:
            data = data.astype(dtype)
        if chosen.after:
            data = data[chosen.after]
            if isinstance(data, np.ndarray) and data.dtype != object:
                data = np.ascontiguousarray(data) if data.ndim else data
        if look.kind == "string":
            return _texts(data, index)
        if look.kind == "vlen" and isinstance(data, np.ndarray) and not var.dims:
            data = data[()]
        if look.kind not in ("compound", "opaque") and dtype.kind != "c":
            if self._plan is None:
                put(self, "_plan", plan_of(var, dtype, mask=self.mask, scale=self.scale))
            plan: Plan = self._plan  # type: ignore[assignment]
            data = shown(data, plan, mask=self.mask and look.kind != "vlen", always_mask=self.always_mask)
        return self._strings(data, chosen) if var.type == CHAR and self.chartostring else data

    def __setitem__(self, index: Any, data: Any) -> None:  # noqa: ANN401 - whatever NumPy takes
        var, look = self._node, self._look
        data = prepared(self, data, var, look)
        shape = self.shape
        free = tuple(dim.unlimited for dim in var.dims[: len(shape)])
        try:
            chosen = select_to_write(index, shape, free, np.shape(data))
        except SelectionError as error:
            placed(error, var.path)
            raise
        if 0 in chosen.shape and (np.size(data) == 0 or not np.ndim(data)):
            return
        source = self._handle.writable(f"variable {var.path}")
        data = stored(conformed(data, chosen, var), var, look, scale=self.scale)
        source.write(var, (*chosen.key, slice(0, 2, 1)) if look.pairs else chosen.key, data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:  # noqa: ANN401 - NumPy's
        return np.asarray(self[...], dtype)

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    def assignValue(self, val: object) -> None:  # noqa: N802 - the name users know
        """Set the value of a variable without dimensions."""
        if self.shape:
            raise SelectionError("to assign values to a non-scalar variable, use a slice", path=self._node.path)
        self[...] = val

    def getValue(self) -> Any:  # noqa: ANN401, N802 - a scalar; the name users know
        """Return the value of a variable without dimensions."""
        if self.shape:
            raise SelectionError("to retrieve values from a non-scalar variable, use slicing", path=self._node.path)
        return self[...]

    def set_auto_mask(self, mask: object) -> None:
        """Choose whether missing values are masked."""
        put(self, "mask", bool(mask))
        self._stale()

    def set_auto_scale(self, scale: object) -> None:
        """Choose whether `scale_factor`, `add_offset` and `_Unsigned` are applied."""
        put(self, "scale", bool(scale))
        self._stale()

    def set_auto_maskandscale(self, maskandscale: object) -> None:
        """Choose whether values are masked and scaled."""
        self.set_auto_mask(maskandscale)
        self.set_auto_scale(maskandscale)

    def set_always_mask(self, always_mask: object) -> None:
        """Choose whether values of which none is missing come as masked arrays, too."""
        put(self, "always_mask", bool(always_mask))

    def set_auto_chartostring(self, chartostring: object) -> None:
        """Choose whether characters with an `_Encoding` come as strings."""
        put(self, "chartostring", bool(chartostring))

    def setncattr(self, name: str, value: object) -> None:
        """Set an attribute, also one whose name Python objects have themselves.

        Raises:
            NoAttributeError: If it is `_FillValue`, which must be known when the variable is created.
        """
        if as_text(name, "an attribute", self._node.path) == "_FillValue":
            raise NoAttributeError(
                "_FillValue attribute must be set when variable is created (using fill_value keyword to "
                "createVariable)",
                path=self._node.path,
            )
        super().setncattr(name, value)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("valid_min", "valid_max", "valid_range", "missing_value") and self._look.kind == "primitive":
            given = np.array(value)
            with np.errstate(invalid="ignore", over="ignore"):
                cast = given.astype(self.dtype)
            if safe(given, cast):
                value = cast
            else:
                warn(f"WARNING: {name} cannot be safely cast to variable dtype")
        super().__setattr__(name, value)

    def _stale(self) -> None:
        put(self, "_plan", None)

    def _strings(self, data: Any, chosen: Selected) -> Any:  # noqa: ANN401 - an array
        """Join characters along the last dimension, if there is an encoding and the dimension was read as a whole."""
        attr = self._node.attrs.get("_Encoding")
        shape = self.shape
        if attr is None or not shape or not np.ndim(data) or chosen.shape[-1] != shape[-1]:
            return data
        if data.shape[-1] != shape[-1]:
            return data
        return chartostring(data, encoding=self.getncattr("_Encoding"))


def _texts(data: Any, index: object) -> Any:  # noqa: ANN401, ARG001 - an array or text
    """Return strings; the one that is not there is an empty one."""
    if not isinstance(data, np.ndarray):
        return data or ""
    if not data.ndim:
        return data[()] or ""
    absent = np.equal(data, np.array(None, object))
    if absent.any():
        data[absent] = ""
    return data
