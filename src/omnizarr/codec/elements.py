"""How elements are made of bits, by the name of their type: what codecs need that look inside."""

from __future__ import annotations

from typing import Final, NamedTuple

from omnizarr.codec.stage import Stage, byte_order, swap_unit


class Element(NamedTuple):
    """One element: numbers of equal size, of whose bytes not all bits may count."""

    size: int
    """Bytes of one number."""

    bits: int
    """Bits that count, from the lowest on."""

    components: int = 1
    signed: bool = False
    fraction: int | None = None
    """Bits of a float's fraction; `None` for all that are not floats."""

    big: bool = False
    """Whether numbers lie in memory with their highest byte first."""


_NARROW: Final = {
    "bool": Element(1, 1),
    "int2": Element(1, 2, signed=True),
    "int4": Element(1, 4, signed=True),
    "uint2": Element(1, 2),
    "uint4": Element(1, 4),
    "float4_e2m1fn": Element(1, 4, fraction=1),
    "float6_e2m3fn": Element(1, 6, fraction=3),
    "float6_e3m2fn": Element(1, 6, fraction=2),
    "bfloat16": Element(2, 16, fraction=7),
    "float16": Element(2, 16, fraction=10),
    "float32": Element(4, 32, fraction=23),
    "float64": Element(8, 64, fraction=52),
}
_COMPLEX: Final = {"complex64": "float32", "complex128": "float64"}


def element_of(stage: Stage) -> Element | None:
    """Say how the elements that reach a codec are made; `None` where they are no numbers.

    >>> import numpy as np
    >>> element_of(Stage(np.dtype(">c8"), (3,), 24))
    Element(size=4, bits=32, components=2, signed=False, fraction=23, big=True)
    """
    if stage.vlen:
        return None
    name = stage.name or stage.dtype.name
    name = _COMPLEX.get(name, name)
    components = 1
    if name.startswith("complex_"):
        components, name = 2, name.removeprefix("complex_")
    elif stage.dtype.kind == "c":
        components = 2
    size = stage.dtype.itemsize // components
    found = _NARROW.get(name)
    if found is None:
        if size not in (1, 2, 4, 8) or not (stage.dtype.kind in "iumM" or name.startswith("float8_")):
            return None
        found = Element(size, 8 * size, signed=stage.dtype.kind in "imM")
    big = swap_unit(stage.dtype) > 1 and byte_order(stage.dtype) == "big"
    return found._replace(components=components, big=big)
