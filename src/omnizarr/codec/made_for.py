"""Whether elements are of the type that an array codec of numcodecs was made for."""

from __future__ import annotations

import numpy as np

from omnizarr.codec.stage import Stage
from omnizarr.errors import MetadataError


def check_made_for(name: str, made_for: np.dtype[np.generic], stage: Stage) -> None:
    """Refuse an array codec of numcodecs that was made for elements of another type.

    Such a codec looks at the bytes as if they were of its own type, and what it gives back is no value of either.

    Raises:
        MetadataError: If the type that reaches the codec is not the one that it was made for.
    """
    if _alike(made_for, stage.dtype):
        return
    raise MetadataError(
        f"the codec was made for the type {made_for.str}, but {stage.dtype.str} reaches it",
        codec=name,
        hint="Give the codec the type of the array, or of what the codec before it emits.",
    )


def _alike(made_for: np.dtype[np.generic], given: np.dtype[np.generic]) -> bool:
    # Points and spans of time are counts, and are often stored by codecs made for integers.
    if given.kind in "mM" and made_for.kind == "i":
        return made_for.itemsize == given.itemsize
    # Another byte order counts: the codec looks at the bytes, and would take them for other numbers.
    return made_for == given
