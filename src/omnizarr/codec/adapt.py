"""Codecs written in Python, put behind the kernel's step for them: dense bytes in, dense bytes out.

The kernel hands such a step the bytes of one whole chunk, from any of its threads, and takes bytes back. The classes
here turn them into the arrays that the codecs of numcodecs, and those found by entry point, expect.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from omnizarr.codec.lowered import Lowered
from omnizarr.codec.made_for import check_made_for
from omnizarr.codec.stage import Stage
from omnizarr.errors import CodecError, CorruptError, UnsupportedError
from omnizarr.model.codec import Kind
from omnizarr.model.small import is_small

if TYPE_CHECKING:
    import numpy.typing as npt

Bytes = bytes | memoryview

_MOST_SHAPES = 256
"""So many shapes of chunks are remembered for each codec; most arrays have one."""


class PythonCodec(Protocol):
    """What a codec written in Python must offer: the contract of numcodecs.

    A codec found by entry point also has `kind`: "array" (array to array), "array-bytes" or "bytes". Array codecs are
    handed arrays of the chunk's type and shape; so is a "bytes" codec that comes first, later ones are handed bytes.
    """

    def encode(self, buf: Any, /) -> Any:  # noqa: ANN401 - numcodecs promises no more
        """Encode one chunk."""
        ...

    def decode(self, buf: Any, /) -> Any:  # noqa: ANN401 - numcodecs promises no more
        """Decode one chunk."""
        ...


def adapt(name: str, kind: Kind, codec: PythonCodec, stage: Stage) -> Lowered:
    """Return the kernel's step for a codec written in Python.

    Args:
        name: The codec's name, for messages.
        kind: "array", "array-bytes" or "bytes".
        codec: The codec itself.
        stage: What reaches it when encoding.

    Raises:
        UnsupportedError: If it is an array codec and the elements have no fixed size.
    """
    if stage.vlen and kind != "bytes":
        raise UnsupportedError(f"the codec does not take the {stage.vlen} type", codec=name)
    adapter: ArrayAdapter | PackAdapter | StreamAdapter
    if kind == "array":
        dtype, shape = _emitted(name, codec, stage)
        adapter = ArrayAdapter(name, codec, stage, dtype, shape)
        after = stage.to_array(dtype, shape)
    elif kind == "array-bytes":
        adapter = PackAdapter(codec, stage.dtype)
        after = stage.to_bytes(None, typed=False)
    else:
        # Codecs of version 2 are shown the elements wherever the bytes still are that, and some look at their type.
        adapter = StreamAdapter(codec, shown(stage.dtype) if stage.typed and not stage.vlen else None)
        after = stage.to_bytes(None, typed=False)
    step = {"codec": adapter, "name": name, "kind": kind, "encoded_size": after.size, "decoded_size": stage.size}
    return Lowered({}, ("python", step), after)


def shown(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that a codec of bytes is shown: one without a buffer of its own is shown as plain bytes."""
    if dtype.names is not None:
        return np.dtype(f"V{dtype.itemsize}")
    return np.dtype(f"u{dtype.itemsize}") if is_small(dtype) else dtype


def check_type(name: str, codec: PythonCodec, stage: Stage) -> None:
    """Refuse an array codec of numcodecs that was made for elements of another type.

    Such a codec looks at the bytes as if they were of its own type, and what it gives back is no value of either.

    Raises:
        MetadataError: If the type that reaches the codec is not the one that it was made for.
    """
    if stage.vlen:
        return
    made_for = getattr(codec, "decode_dtype", getattr(codec, "dtype", None))
    if name.endswith("packbits"):
        made_for = np.dtype(bool)
    if isinstance(made_for, np.dtype):
        check_made_for(name, made_for, stage)


def _emitted(name: str, codec: PythonCodec, stage: Stage) -> tuple[np.dtype[np.generic], tuple[int, ...]]:
    """Find out what an array codec makes of a chunk, by letting it encode a small one."""
    count = prod(stage.shape)
    few = min(count, 16)
    probe = _encode_zeros(name, codec, stage.dtype, (few,))
    if probe.size == few:
        return probe.dtype, stage.shape
    # The size changes with the count of elements (packbits), so only a chunk of the real shape tells.
    whole = _encode_zeros(name, codec, stage.dtype, stage.shape)
    return whole.dtype, whole.shape


def _encode_zeros(
    name: str, codec: PythonCodec, dtype: np.dtype[np.generic], shape: tuple[int, ...]
) -> npt.NDArray[np.generic]:
    try:
        return np.asarray(codec.encode(np.zeros(shape, dtype)))
    except (TypeError, ValueError, LookupError, RuntimeError, ArithmeticError) as error:
        raise UnsupportedError(f"the codec does not take the type {dtype}: {error}", codec=name) from error


class ArrayAdapter:
    """An array-to-array codec."""

    __slots__ = ("_codec", "_dtype", "_encoded_dtype", "_encoded_shapes", "_name")

    def __init__(
        self, name: str, codec: PythonCodec, stage: Stage, dtype: np.dtype[np.generic], shape: tuple[int, ...]
    ) -> None:
        self._name = name
        self._codec = codec
        self._dtype = stage.dtype
        self._encoded_dtype = dtype
        # A codec that changes the number of elements is only known for the shapes that it was tried with.
        self._encoded_shapes = None if shape == stage.shape else {stage.shape: shape}

    def encode(self, data: Bytes, shape: tuple[int, ...]) -> Bytes:
        """Encode the dense bytes of an array."""
        encoded = _dense(self._codec.encode(_array(data, self._dtype, shape)))
        expected = self._encoded_dtype.itemsize * prod(self._after(shape))
        if len(encoded) != expected:
            raise CodecError(f"the codec made {len(encoded)} bytes where {expected} were expected", codec=self._name)
        return encoded

    def decode(self, data: Bytes, size: int | None, shape: tuple[int, ...]) -> Bytes:
        """Decode to the `size` dense bytes of an array."""
        encoded = self._after(shape)
        expected = self._encoded_dtype.itemsize * prod(encoded)
        if len(data) != expected:
            raise CorruptError(f"{len(data)} bytes where {expected} were expected", codec=self._name)
        del size  # the kernel checks it
        return _dense(self._codec.decode(_array(data, self._encoded_dtype, encoded)))

    def _after(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of what the codec makes of an array of a shape."""
        if self._encoded_shapes is None:
            return shape
        known = self._encoded_shapes.get(shape)
        if known is None:
            known = _encode_zeros(self._name, self._codec, self._dtype, shape).shape
            if len(self._encoded_shapes) < _MOST_SHAPES:
                self._encoded_shapes[shape] = known
        return known


class PackAdapter:
    """A codec that makes bytes of an array."""

    __slots__ = ("_codec", "_dtype")

    def __init__(self, codec: PythonCodec, dtype: np.dtype[np.generic]) -> None:
        self._codec = codec
        self._dtype = dtype

    def encode(self, data: Bytes, shape: tuple[int, ...]) -> Bytes:
        """Encode the dense bytes of an array."""
        return _dense(self._codec.encode(_array(data, self._dtype, shape)))

    def decode(self, data: Bytes, size: int | None, shape: tuple[int, ...]) -> Bytes:
        """Decode to the `size` dense bytes of an array."""
        del size, shape  # the kernel checks the size
        return _dense(self._codec.decode(bytes(data)))


class StreamAdapter:
    """A codec of bytes; it is shown their elements if `dtype` is given."""

    __slots__ = ("_codec", "_dtype")

    def __init__(self, codec: PythonCodec, dtype: np.dtype[np.generic] | None) -> None:
        self._codec = codec
        self._dtype = dtype

    def encode(self, data: Bytes) -> Bytes:
        """Encode the bytes of one chunk."""
        if self._dtype is None:
            return _dense(self._codec.encode(bytes(data)))
        return _dense(self._codec.encode(np.frombuffer(data, self._dtype)))

    def decode(self, data: Bytes, size: int | None) -> Bytes:
        """Decode the bytes of one chunk, `size` of which must come out where that is known."""
        del size  # the kernel checks it
        return _dense(self._codec.decode(bytes(data)))


def _array(data: Bytes, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
    return np.frombuffer(data, dtype).reshape(shape)


def _dense(result: Any) -> Bytes:  # noqa: ANN401 - numcodecs returns bytes or any array
    """Return the C-order bytes of what a codec gave back."""
    if isinstance(result, bytes):
        return result
    array = np.ascontiguousarray(result)
    if array.dtype.hasobject:
        raise TypeError("the codec returned Python objects instead of bytes")
    return array.reshape(-1).view(np.uint8).data if array.size else b""
