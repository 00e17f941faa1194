"""The type of a new array of Python objects: `dtype=object` says only that there are some, a codec says which."""

from __future__ import annotations

import numpy as np

from omnizarr.codec.chain import as_codecs
from omnizarr.errors import MetadataError, UnsafeError, UnsupportedError
from omnizarr.model.codec import canonical, is_unsafe
from omnizarr.model.dtype import BYTES, JSON_OBJECTS, MSGPACK_OBJECTS, STRING, DType, arrays_of

_TYPES = {
    "vlen-utf8": STRING,
    "vlen-bytes": BYTES,
    "numcodecs.categorize": STRING,
    "numcodecs.json2": JSON_OBJECTS,
    "numcodecs.json": JSON_OBJECTS,
    "numcodecs.msgpack2": MSGPACK_OBJECTS,
    "numcodecs.msgpack": MSGPACK_OBJECTS,
}


def is_object(dtype: object) -> bool:
    """Whether a user asked for Python objects."""
    if isinstance(dtype, np.dtype):
        return dtype.kind == "O"
    return dtype is object or (isinstance(dtype, str) and dtype in ("object", "O", "|O"))


def object_type(codecs: object) -> DType:
    """Return the type of objects that the first codec stores.

    Args:
        codecs: What the user gave for `codecs=`.

    Raises:
        UnsupportedError: If none of them stores objects.
        UnsafeError: If the codec would run code from data.
    """
    for codec in as_codecs(codecs):
        name = canonical(codec.name)
        if is_unsafe(name):
            raise UnsafeError("pickled objects can run any code when read", codec=name, hint='codecs=["json2"], say')
        if name in _TYPES:
            return _TYPES[name]
        if name == "numcodecs.vlen-array":
            return arrays_of(_inner(codec.configuration.get("dtype")))
    return DType.of(object)  # which says what to do instead


def _inner(dtype: object) -> DType:
    if not isinstance(dtype, str):
        hint = 'codecs=[{"id": "vlen-array", "dtype": "<i4"}], say'
        raise MetadataError("the type of the arrays' elements is not given", codec="vlen-array", hint=hint)
    found = DType.of(np.dtype(dtype))
    if found.vlen:
        raise UnsupportedError(f"arrays of {dtype} cannot be stored", codec="vlen-array")
    return found
