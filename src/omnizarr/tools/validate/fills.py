"""Whether a fill value is spelled as the specification has it: reading is more tolerant than that."""

from __future__ import annotations

import re
from typing import Final

from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON

_WORDS: Final = ("NaN", "Infinity", "-Infinity")


def is_plain(value: JSON, dtype: DType, *, v3: bool) -> bool:
    """Whether every reader takes a fill value that Omnizarr could read.

    >>> from omnizarr.model.dtype import DType
    >>> [is_plain(value, DType.of("f4"), v3=True) for value in (0, "NaN", "nan", "0x7fc00000", "1.5")]
    [True, True, False, True, False]
    """
    family = dtype.family
    if family == "bool":
        return isinstance(value, bool) or (not v3 and value in (0, 1))
    if family in ("int", "uint"):
        return type(value) is int
    if family == "float":
        return _is_float(value, dtype.itemsize, v3=v3)
    if family == "complex":
        half = dtype.itemsize // 2
        return isinstance(value, list) and len(value) == 2 and all(_is_float(one, half, v3=v3) for one in value)
    if not v3 and family in ("fixed", "struct"):
        return isinstance(value, str)
    return True


def _is_float(value: JSON, size: int, *, v3: bool) -> bool:
    if isinstance(value, str):
        return value in _WORDS or (v3 and re.fullmatch(rf"0x[0-9a-fA-F]{{{2 * size}}}", value) is not None)
    # NaN and Infinity as bare words are told of where the text is looked at.
    return isinstance(value, int | float) and not isinstance(value, bool)
