"""Between arrays of strings and arrays of characters with one more dimension."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from omnizarr.nc.dataset.errors import BadOptionError

Array = np.ndarray[Any, Any]

_RAW: Final = ("none", "None", "bytes")


def stringtoarr(string: str | bytes, NUMCHARS: int, dtype: str = "S") -> Array:  # noqa: N803 - the name users know
    """Return a string as characters, padded with NUL.

    Args:
        string: The string.
        NUMCHARS: How many characters to return.
        dtype: "S" for bytes or "U" for text.

    >>> stringtoarr("abc", 4)
    array([b'a', b'b', b'c', b''], dtype='|S1')
    """
    if dtype not in ("S", "U"):
        raise BadOptionError(f"dtype must be 'S' or 'U', not {dtype!r}")
    characters = np.zeros(NUMCHARS, f"{dtype}1")
    characters[: len(string)] = tuple(string) if isinstance(string, str) else [bytes([one]) for one in string]
    return characters


def stringtochar(a: Array, encoding: str | None = None, n_strlen: int | None = None) -> Array:
    """Return an array of strings as characters, with one more dimension.

    Args:
        a: Strings, of NumPy type `S` or `U`.
        encoding: How text becomes bytes: by default ascii for `S` and utf-8 for `U`; "none" or "bytes" takes `S` as is.
        n_strlen: The length of the new dimension; by default as many bytes as an element of `a` takes.

    >>> stringtochar(np.array(["ab", "c"], "S3")).tolist()
    [[b'a', b'b', b''], [b'c', b'', b'']]
    """
    kind = a.dtype.kind
    if kind not in "SU":
        raise BadOptionError("type must be string or unicode ('S' or 'U')")
    if encoding is None:
        encoding = "ascii" if kind == "S" else "utf-8"
    length = a.dtype.itemsize if n_strlen is None else n_strlen
    if kind == "S":
        encoded = np.asarray(a)
        if encoding == "ascii":
            encoded.tobytes().decode("ascii")  # raises where a byte is not
    else:
        encoded = np.empty(a.shape, f"S{max(length, 1)}")
        encoded[...] = _encoded(a, "utf-8" if encoding in _RAW else encoding, length)
    wide = np.zeros(a.shape, f"S{max(length, 1)}")
    wide[...] = encoded
    return wide.reshape((*a.shape, 1)).view("S1")[..., :length].copy()


def _encoded(a: Array, encoding: str, length: int) -> Array:
    """Encode text, cut to a length."""
    out = np.empty(a.shape, f"S{max(length, 1)}")
    flat = out.reshape(-1)
    for at, text in enumerate(np.asarray(a).reshape(-1)):
        flat[at] = str(text).encode(encoding)[:length]
    return out


def chartostring(b: Array, encoding: str | None = None) -> Array:
    """Return an array of characters as strings, with one dimension less.

    Args:
        b: Characters, of NumPy type `S1` or `U1`.
        encoding: How bytes become text: by default ascii for `S1` and utf-8 for `U1`; "none" or "bytes" gives `S`.

    >>> chartostring(np.array([[b"a", b"b"], [b"c", b""]])).tolist()
    ['ab', 'c']
    """
    kind = b.dtype.kind
    if kind not in "SU":
        raise BadOptionError("type must be string or unicode ('S' or 'U')")
    if np.ma.isMaskedArray(b):
        b = b.filled("" if kind == "U" else b"")
    b = np.ascontiguousarray(b)
    length = b.shape[-1]
    joined = b.view(f"{kind}{max(length, 1)}") if length else np.zeros((*b.shape[:-1], 1), f"{kind}1")
    joined = joined.reshape(b.shape[:-1])
    if encoding in _RAW or kind == "U":
        return joined.copy()
    return np.char.decode(joined, encoding or "ascii").astype(f"U{max(length, 1)}")
