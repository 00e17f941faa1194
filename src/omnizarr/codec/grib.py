"""Chunks that are GRIB messages, decoded by eccodes: the codec `grib` of kerchunk, for reading only."""

from __future__ import annotations

import threading
from importlib import import_module
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from omnizarr.codec.adapt import adapt
from omnizarr.codec.lowered import Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.errors import CodecError, CorruptError, MissingDependencyError
from omnizarr.model.codec import Codec

NAME: Final = "grib"
_PLACES: Final = {"latitude": "latitudes", "longitude": "longitudes"}
_RARE: Final = -1.7e300
"""Stands for missing values while they are decoded: the usual 9999 may well be a value."""

# eccodes keeps tables that threads must not fill at the same time.
_lock = threading.Lock()


def lower_grib(codec: Codec, stage: Stage) -> Lowered:
    """Make the codec ready.

    Raises:
        MetadataError: If its settings are wrong.
        MissingDependencyError: If eccodes is not installed.
    """
    options = Options(NAME, codec.configuration)
    options.raw("dtype")  # that of the array tells it, too
    var = options.raw("var")
    options.done()
    decoder = GribDecoder(_PLACES.get(str(var), "values"), stage.dtype, prod(stage.shape))
    return adapt(codec.name, "array-bytes", decoder, stage)._replace(config=dict(codec.configuration))


def eccodes() -> Any:  # noqa: ANN401 - a package without types
    """Return the package eccodes.

    Raises:
        MissingDependencyError: If it is not installed, or not whole.
    """
    try:
        return import_module("eccodes")
    except (ImportError, RuntimeError) as error:
        message = "GRIB data are decoded by eccodes"
        raise MissingDependencyError(f"{message}: {error}", hint="pip install 'omnizarr[grib]'") from None


class GribDecoder:
    """Gives the values of a message, or the places that they belong to."""

    __slots__ = ("_count", "_dtype", "_key")

    def __init__(self, key: str, dtype: np.dtype[Any], count: int) -> None:
        self._key = key
        self._dtype = dtype
        self._count = count
        eccodes()

    def encode(self, buf: object) -> bytes:
        """Refuse."""
        del buf
        raise CodecError("this codec is for reading only", codec=NAME)

    def decode(self, buf: bytes) -> npt.NDArray[Any]:
        """Decode one message; values that are missing are NaN."""
        api = eccodes()
        with _lock:
            try:
                handle = api.codes_new_from_message(bytes(buf))
            except api.CodesInternalError as error:
                raise CorruptError(f"this is no GRIB message: {error}", codec=NAME) from None
            try:
                return self._values(api, handle)
            except api.CodesInternalError as error:
                raise CorruptError(f"eccodes cannot decode the message: {error}", codec=NAME) from None
            finally:
                api.codes_release(handle)

    def _values(self, api: Any, handle: int) -> npt.NDArray[Any]:  # noqa: ANN401 - a package without types
        count = api.codes_get_size(handle, "values")
        if count != self._count:
            raise CorruptError(f"a field of {count} values where {self._count} are expected", codec=NAME)
        if self._key != "values":
            return np.asarray(api.codes_get_array(handle, self._key), self._dtype)
        gaps = api.codes_get(handle, "bitmapPresent") if api.codes_is_defined(handle, "bitmapPresent") else 0
        if gaps:
            api.codes_set(handle, "missingValue", _RARE)
        values = np.asarray(api.codes_get_values(handle))
        if gaps:
            values = np.where(values == _RARE, np.nan, values)
        return values.astype(self._dtype)
