"""From what users assign to just the array that a source stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.errors import SelectionError, ShapeError
from omnizarr.nc.dataset.errors import BadTypeError, IndexTypeError
from omnizarr.nc.dataset.indexing import Selected
from omnizarr.nc.dataset.look import Look
from omnizarr.nc.dataset.packing import packed, rounded, rounding
from omnizarr.nc.dataset.strings import stringtochar
from omnizarr.nc.dataset.usertypes import packed_members
from omnizarr.nc.dataset.values import from_attr
from omnizarr.nc.tree import Var
from omnizarr.nc.types import CHAR, Compound, Enum, Vlen

if TYPE_CHECKING:
    from omnizarr.nc.dataset.variable import Variable

Values = np.ndarray[Any, Any]


def prepared(variable: Variable, data: Any, var: Var, look: Look) -> Any:  # noqa: ANN401 - arrays, masked or not
    """Return what was given as an array, not yet of the variable's type."""
    if look.kind == "string":
        return _strings(data, variable)
    if look.kind == "vlen":
        return _sequences(data, var, look)
    if var.type == CHAR and variable.chartostring and "_Encoding" in var.attrs:
        data = _characters(data, variable)
    if np.ma.isMaskedArray(data) or isinstance(data, np.ndarray):
        pass
    elif (variable.scale and look.dtype.kind in "iu" and "scale_factor" in var.attrs) or "add_offset" in var.attrs:
        data = np.array(data, np.float64)
    elif isinstance(data, np.generic):
        data = np.asarray(data)
    else:
        data = np.array(data, look.dtype)
    if isinstance(var.type, Enum):
        plain = data.filled() if np.ma.isMaskedArray(data) else data
        if not np.all(np.isin(plain, [value for _, value in var.type.members])):
            raise BadTypeError("trying to assign illegal value to Enum variable", path=var.path)
    return data


def conformed(data: Any, chosen: Selected, var: Var) -> Any:  # noqa: ANN401 - arrays, masked or not
    """Return an array of just the shape that was selected, in the order of the dataset."""
    shape = chosen.shape
    if data.shape != shape:
        if data.ndim == len(shape) == 1:
            raise SelectionError(
                f"size of data array does not conform to slice: {data.size} for {shape[0]}", path=var.path
            )
        same = data.ndim and data.size == int(np.prod(shape))
        data = data.reshape(shape) if same else _broadcast(data, shape, var)
    turned = tuple(part if isinstance(part, slice) else slice(None) for part in chosen.after)
    return data[turned] if turned else data


def _broadcast(data: Any, shape: tuple[int, ...], var: Var) -> Any:  # noqa: ANN401 - arrays, masked or not
    try:
        if np.ma.isMaskedArray(data):
            mask = np.broadcast_to(np.ma.getmaskarray(data), shape)
            return np.ma.masked_array(np.broadcast_to(data.data, shape), mask=mask)
        return np.broadcast_to(data, shape)
    except ValueError:
        raise ShapeError(
            f"values of the shape {data.shape} do not fit the selection of the shape {shape}", path=var.path
        ) from None


def stored(data: Any, var: Var, look: Look, *, scale: bool) -> Values:  # noqa: ANN401 - arrays, masked or not
    """Return values packed, quantized and in the type that the source stores."""
    if look.kind in ("string", "vlen"):
        return np.asarray(data)
    if look.dtype.kind == "c":
        plain = np.ascontiguousarray(np.ma.getdata(data), look.dtype)
        if look.pairs:
            return plain.view(var.type.numpy).reshape((*plain.shape, 2))
        return plain.reshape((*plain.shape, 1)).view(var.type.numpy).reshape(plain.shape)
    if "least_significant_digit" in var.attrs and look.dtype.kind == "f":
        data = rounded(data, rounding(from_attr(var.attrs["least_significant_digit"]), var.path))
    if scale and look.kind == "primitive":
        data = packed(data, var, look.dtype)
    elif np.ma.isMaskedArray(data):
        data = data.data
    values = np.asarray(data)
    if isinstance(var.type, Compound):
        return packed_members(var.type, values)
    if values.dtype != var.type.numpy:
        values = values.astype(var.type.numpy)
    return values


def _strings(data: Any, variable: Variable) -> Values:  # noqa: ANN401 - text or arrays
    if np.ma.isMaskedArray(data):
        raise IndexTypeError("masked arrays cannot be assigned by VLEN str slices", path=variable.name)
    if isinstance(data, np.ndarray) and data.dtype.kind not in "SUTO":
        raise IndexTypeError(
            "only numpy string, unicode or object arrays can be assigned to VLEN str var slices", path=variable.name
        )
    array = np.array(data, object)
    if array.ndim == 0:
        return np.array(_text(array[()], variable), object)
    flat = array.reshape(-1)
    for at, one in enumerate(flat.tolist()):
        if type(one) is not str:
            flat[at] = _text(one, variable)
    return flat.reshape(array.shape)


def _text(one: object, variable: Variable) -> str | None:
    if one is None:
        return None
    if isinstance(one, bytes):
        return one.decode(getattr(variable, "_Encoding", "utf-8"))
    if isinstance(one, str):
        return str(one)
    raise IndexTypeError(f"{one!r} is not a string", path=variable.name)


def _sequences(data: Any, var: Var, look: Look) -> Values:  # noqa: ANN401 - arrays of arrays, or one
    """Return an array of sequences; what is not an array of objects is one sequence."""
    base = var.type.base.numpy if isinstance(var.type, Vlen) else look.dtype
    if not isinstance(data, np.ndarray) or data.dtype.kind != "O":
        one = np.empty((), object)
        one[()] = _sequence(packed(np.asarray(data), var, base) if base.kind in "iuf" else data, base, var)
        return one
    out = np.empty(data.shape, object)
    for index in np.ndindex(data.shape):
        out[index] = _sequence(data[index], base, var)
    return out


def _sequence(one: Any, base: np.dtype[Any], var: Var) -> Values:  # noqa: ANN401 - a sequence
    array = np.atleast_1d(np.asarray(one)).reshape(-1)
    if array.size and array.dtype != base and not (base.names is not None or base.hasobject):
        raise IndexTypeError(f"wrong data type: should be {base}, got {array.dtype}", path=var.path)
    return array.astype(base)


def _characters(data: Any, variable: Variable) -> Any:  # noqa: ANN401 - text or arrays
    """Return strings as characters along the last dimension."""
    length = variable.shape[-1]
    encoding = variable.getncattr("_Encoding")
    if isinstance(data, (str, bytes)):
        data = np.asarray(data, f"{'S' if encoding == 'ascii' else 'U'}{max(length, 1)}")
    elif not isinstance(data, np.ndarray):
        data = np.asarray(data)
    if data.dtype.kind in "SU" and data.dtype.itemsize > 1:
        return stringtochar(data, encoding=encoding, n_strlen=length)
    return data
