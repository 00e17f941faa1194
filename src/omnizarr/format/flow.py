"""What flows through a chain of codecs while it is checked: the kind, shape and type of the data between two steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from omnizarr.errors import MetadataError
from omnizarr.format.check import product
from omnizarr.format.v2_dtype import parse_dtype
from omnizarr.limits import Limits
from omnizarr.model.codec import Codec, Kind
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON


class Flow:
    """The state before the next step of a chain; None where a foreign step made it unknown."""

    __slots__ = ("depth", "dtype", "foreign", "key", "limits", "nbytes", "shape", "stage")

    def __init__(self, shape: tuple[int, ...], dtype: DType, key: str, limits: Limits, depth: int = 0) -> None:
        self.shape: tuple[int, ...] | None = shape
        self.dtype: DType | None = dtype
        self.nbytes: int | None = None
        """Length in bytes after the array→bytes step, as long as it does not depend on the data."""
        self.stage = 0
        """0 while it is an array, 1 once it is bytes."""
        self.foreign = False
        """Whether a step of unknown kind was passed, which may have turned the array into bytes."""
        self.key = key
        self.limits = limits
        self.depth = depth

    def enter(self, kind: Kind | None, codec: Codec, pointer: str) -> None:
        """Check that a step of this kind may come next, and go past it.

        Raises:
            MetadataError: It may not.
        """
        if kind is None:
            self.foreign = True
            self.shape = self.dtype = self.nbytes = None
        elif kind == "bytes":
            if not self.stage and not self.foreign:
                self.fail(codec, pointer, "comes before any array→bytes codec")
            self.stage = 1
        else:
            if self.stage:
                self.fail(codec, pointer, "comes after an array→bytes codec")
            if kind == "array-bytes":
                self.stage = 1

    def fail(self, codec: Codec, pointer: str, message: str) -> NoReturn:
        """Complain of a step.

        Raises:
            MetadataError: Always.
        """
        raise MetadataError(f"the codec {codec.name!r} {message}", pointer=pointer, key=self.key, codec=codec.name)

    def finish(self, pointer: str) -> None:
        """Check that the array has become bytes.

        Raises:
            MetadataError: No step did that.
        """
        if not self.stage and not self.foreign:
            raise MetadataError("no codec turns the array into bytes", pointer=pointer, key=self.key)

    def through_bytes(self) -> None:
        """Pass the `bytes` step: the length follows from shape and type."""
        self.nbytes = None
        if self.shape is not None and self.dtype is not None and not self.dtype.is_vlen:
            self.nbytes = product(self.shape) * self.dtype.itemsize

    def through_filter(self, codec: Codec, pointer: str) -> None:
        """Pass a step of numcodecs that changes each element, and perhaps their type.

        Raises:
            MetadataError: The settings do not fit the elements.
        """
        name, configuration = codec.name.removeprefix("numcodecs."), codec.configuration
        if name == "packbits":
            self.shape, self.dtype = None, DType.of("u1")
            return
        if name == "categorize":
            self.dtype = self._setting(configuration, "astype", pointer) or DType.of("u1")
            return
        source = self._setting(configuration, "decode_dtype" if name == "astype" else "dtype", pointer)
        target = self._setting(configuration, "encode_dtype" if name == "astype" else "astype", pointer)
        if name == "delta" and source is None:
            self.fail(codec, pointer, "needs the setting 'dtype'")
        if source is not None and self.shape is not None and self.dtype is not None and not self.dtype.is_vlen:
            size = product(self.shape) * self.dtype.itemsize
            if size % source.itemsize:
                self.fail(codec, f"{pointer}/dtype", f"sees elements of {source.itemsize} bytes in {size} bytes")
            if source.itemsize != self.dtype.itemsize:
                self.shape = (size // source.itemsize,)
        self.dtype = target or source or self.dtype

    def _setting(self, configuration: Mapping[str, JSON], name: str, pointer: str) -> DType | None:
        value = configuration.get(name)
        return None if value is None else parse_dtype(value, f"{pointer}/{name}", self.key)
