"""Objects as bytes, one by one: what the kernel moves where the elements of an array are Python objects.

The kernel knows byte strings of any length. An object travels as one of them: a value in JSON or MessagePack, the dense
elements of an array, or nothing at all for a missing value and a byte 1 before one that is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.model.dtype import DType

if TYPE_CHECKING:
    import numpy.typing as npt

_OBJECT: Final = np.dtype(object)

Pack = Callable[[Any], bytes]
Unpack = Callable[[bytes], Any]


def packer(dtype: DType) -> Pack:
    """Return what turns one object of an array into bytes.

    It raises a TypeError, ValueError or OverflowError where it cannot.
    """
    return _codecs(dtype)[0]


def unpacker(dtype: DType) -> Unpack:
    """Return the inverse of `packer`."""
    return _codecs(dtype)[1]


def empty_item(dtype: DType) -> bytes:
    """Give the bytes of what stands in where no fill value is given: None, or an array without elements."""
    return packer(dtype)(None) if dtype.item in ("json", "msgpack") else b""


def pack_all(values: npt.NDArray[Any], dtype: DType) -> npt.NDArray[Any]:
    """Turn each object of an array into bytes.

    Raises:
        TypeError: One of them cannot be stored; also ValueError and OverflowError.
    """
    return _each(packer(dtype), values)


def unpack_all(values: npt.NDArray[Any], dtype: DType) -> npt.NDArray[Any]:
    """Turn each byte string of an array into the object that it stands for."""
    return _each(unpacker(dtype), values)


def _each(change: Callable[[Any], Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    made = np.empty(values.size, _OBJECT)
    for at, value in enumerate(values.reshape(-1)):
        made[at] = change(value)  # one by one: NumPy would take lists of equal length for another dimension
    return made.reshape(values.shape)


@lru_cache(maxsize=64)
def _codecs(dtype: DType) -> tuple[Pack, Unpack]:
    if dtype.item == "json":
        return _json()
    if dtype.item == "msgpack":
        return _msgpack()
    inner = dtype.inner
    if inner is None:
        raise UnsupportedError(f"the type {dtype.name!r} does not say what its elements hold")
    return _arrays(inner) if dtype.item == "array" else _optional(inner)


def _json() -> tuple[Pack, Unpack]:
    module = import_module("json")  # most programs never need it
    # ASCII, so that lone surrogates survive.
    dump = module.JSONEncoder(separators=(",", ":"), default=_plain).encode
    load = module.JSONDecoder(strict=False).decode

    def unpack(data: bytes) -> Any:  # noqa: ANN401 - whatever JSON says
        return load(data.decode("ascii"))

    return lambda value: dump(value).encode("ascii"), unpack


def _plain(value: object) -> object:
    """Give the Python number for one of NumPy's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def _msgpack() -> tuple[Pack, Unpack]:
    module = msgpack_module()

    def pack(value: object) -> bytes:
        made: bytes = module.packb(value, use_bin_type=True, default=_plain)
        return made

    def unpack(data: bytes) -> Any:  # noqa: ANN401 - whatever was stored
        return module.unpackb(data, raw=False, strict_map_key=False)

    return pack, unpack


def msgpack_module() -> Any:  # noqa: ANN401 - a package that need not be installed
    """Import the package for MessagePack.

    Raises:
        UnsupportedError: It is not installed.
    """
    try:
        return import_module("msgpack")
    except ImportError:
        raise UnsupportedError(
            "objects stored as MessagePack need a package that is not installed",
            codec="msgpack2",
            hint="pip install omnizarr[msgpack]",
        ) from None


def _arrays(inner: DType) -> tuple[Pack, Unpack]:
    dtype = inner.numpy

    def pack(value: Any) -> bytes:  # noqa: ANN401 - any array
        array = _cast(value, dtype)
        if array.ndim != 1:
            raise TypeError(f"an array of one dimension is needed, not of {array.ndim}")
        return array.tobytes()

    def unpack(data: bytes) -> npt.NDArray[Any]:
        return np.frombuffer(data, dtype).copy()  # so that users may change it

    return pack, unpack


def _optional(inner: DType) -> tuple[Pack, Unpack]:
    pack_inner, unpack_inner = scalar_codec(inner)
    nested = inner.item == "optional"

    def pack(value: object) -> bytes:
        if value is None:
            return b""
        if nested and isinstance(value, tuple):  # (None,) is there, and its own value is missing
            (value,) = value
        return b"\1" + pack_inner(value)

    def unpack(data: bytes) -> Any:  # noqa: ANN401 - any value of the inner type
        if not data:
            return None
        value = unpack_inner(data[1:])
        return (value,) if nested and (value is None or isinstance(value, tuple)) else value

    return pack, unpack


def scalar_codec(inner: DType) -> tuple[Pack, Unpack]:
    """Return what turns one element of any type into its bytes, and back."""
    if inner.vlen == "object":
        return _codecs(inner)
    if inner.vlen == "string":
        return lambda value: _checked(value, str).encode(), lambda data: data.decode()
    if inner.vlen:
        return lambda value: bytes(_checked(value, bytes)), bytes
    dtype = inner.numpy

    def pack(value: object) -> bytes:
        array = _cast(value, dtype)
        if array.ndim:
            raise TypeError(f"one element is needed, not an array of shape {array.shape}")
        return array.tobytes()

    return pack, lambda data: np.frombuffer(data, dtype)[0]


def _cast(value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:  # noqa: ANN401 - whatever NumPy takes
    """Give a value the type as NumPy's assignment does; a number of Python's that does not fit is an OverflowError."""
    return np.asarray(value).astype(dtype) if isinstance(value, np.ndarray | np.generic) else np.asarray(value, dtype)


def _checked(value: object, wanted: type[Any]) -> Any:  # noqa: ANN401 - of the type that was asked for
    if isinstance(value, wanted):
        return value
    raise TypeError(f"a {wanted.__name__} is needed, not a {type(value).__name__}")
