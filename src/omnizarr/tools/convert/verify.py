"""Comparing two arrays bit by bit, region by region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from omnizarr.array.index import Selection
from omnizarr.array.io import Access
from omnizarr.errors import CorruptError
from omnizarr.model.array import ArrayMeta
from omnizarr.tools.transfer.regions import Cut, Region, choose

if TYPE_CHECKING:
    import numpy.typing as npt

_ENOUGH: Final = 64 << 20
_VARIABLE: Final = 320
"""What a value of variable length is taken to need."""


def check_equal(source: Access, old: ArrayMeta, target: Access, new: ArrayMeta, *, memory: int, place: str) -> None:
    """Raise if two arrays hold different bits anywhere.

    Args:
        source: The array as it was.
        old: Its metadata.
        target: The array as it has become.
        new: Its metadata.
        memory: Bytes that may be used.
        place: Where the second one is, for the message.

    Raises:
        CorruptError: They differ.
    """
    if 0 in old.shape:
        return
    element = _VARIABLE if old.dtype.vlen else old.dtype.itemsize
    # Both are in memory at once, perhaps in another byte order again.
    most = max(1, memory // (4 * element))
    cut = choose(new.shape, new.grid, old.cells.longest, most, min(most, _ENOUGH // element))
    if cut is None:
        cut = Cut(new.shape, new.grid.edges, (1,) * new.ndim)
    for region in cut.regions():
        if not are_equal(_values(source, region), _values(target, region)):
            start = tuple(at for at, _ in region)
            size = tuple(length for _, length in region)
            message = f"the values from {start} on, of shape {size}, are not what they were"
            raise CorruptError(message, path=place, hint="Nothing was erased. Check the disk, and try again.")


def _values(access: Access, region: Region) -> npt.NDArray[Any]:
    counts = tuple(length for _, length in region)
    found = access.read(Selection([(start, 1, length) for start, length in region], counts, counts, (), None))
    return found if isinstance(found, np.ndarray) and region else access.boxed(found)


def are_equal(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Whether two arrays hold the same bits, whatever their byte order; of objects, whether they are equal.

    >>> are_equal(np.array([1.5, np.nan], ">f4"), np.array([1.5, np.nan], "<f4"))
    True
    >>> are_equal(np.array([0.0]), np.array([-0.0]))
    False
    """
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "OT" or other.dtype.kind in "OT":
        pairs = zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
        return all(_same(left, right) for left, right in pairs)
    if one.dtype.names is not None:
        if one.dtype.names != other.dtype.names:
            return False
        return all(are_equal(one[name], other[name]) for name in one.dtype.names)
    return _native(one) == _native(other)


def _same(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.dtype == right.dtype and are_equal(left, right)
    # Equal, or a NaN both.
    return type(left) is type(right) and (left == right or repr(left) == repr(right))


def _native(array: npt.NDArray[Any]) -> bytes:
    if array.dtype.subdtype is None and array.dtype != array.dtype.newbyteorder("="):
        # Swapped as bits: as numbers, NaNs could change.
        array = array.byteswap()
    return array.tobytes()
