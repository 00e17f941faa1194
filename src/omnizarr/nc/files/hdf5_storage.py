"""How a dataset of HDF5 is laid out: chunks, filters, byte order, and whether it is filled."""

from __future__ import annotations

from typing import Any, Final

from omnizarr.nc.files.hdf5_types import Id
from omnizarr.nc.filters import DEFLATE, FLETCHER32, QUANTIZE, SHUFFLE, SZIP
from omnizarr.nc.tree import Attr, Filter, Storage
from omnizarr.nc.types import CHAR, STRING, Atomic, Type

_SZIP_MASKS: Final = 4 | 32  # the coding that the caller asked for; HDF5 adds bits of its own


def read_storage(h5py: Any, dataset: Any, tid: Id, kind: Type, attrs: dict[str, Attr]) -> Storage:  # noqa: ANN401 - without types
    """Return the layout of a dataset."""
    h5d, plist, storage = h5py.h5d, dataset.get_create_plist(), Storage()
    layout = plist.get_layout()
    if layout == h5d.CHUNKED:
        storage.chunks = tuple(int(n) for n in plist.get_chunk())
    else:
        storage.kind = "compact" if layout == h5d.COMPACT else "contiguous"
    others: list[Filter] = []
    for index in range(plist.get_nfilters()):
        number, _, parameters, _ = plist.get_filter(index)
        if number == DEFLATE:
            storage.deflate = int(parameters[0]) if parameters else 0
            if not storage.deflate:  # level 0 is a filter all the same
                others.append(Filter(DEFLATE, (0,)))
        elif number == SHUFFLE:
            storage.shuffle = True
        elif number == FLETCHER32:
            storage.fletcher32 = True
        elif number == SZIP and len(parameters) == 4:
            others.append(Filter(SZIP, (int(parameters[0]) & _SZIP_MASKS, int(parameters[1]))))
        else:
            others.append(Filter(int(number), tuple(int(one) for one in parameters)))
    storage.filters = tuple(others)
    storage.no_fill = plist.fill_value_defined() != h5d.FILL_VALUE_USER_DEFINED
    if isinstance(kind, Atomic) and kind not in (CHAR, STRING):
        storage.endian = "little" if tid.get_order() == h5py.h5t.ORDER_LE else "big"
    storage.quantize = next(
        ((name, int(attrs[name].value[0])) for name in QUANTIZE if name in attrs and len(attrs[name].value)), None
    )
    return storage
