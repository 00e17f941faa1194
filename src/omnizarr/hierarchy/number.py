"""Arrays without dimensions as numbers of Python."""

from __future__ import annotations

from typing import Any

import numpy as np


class Number:
    """What NumPy's arrays without dimensions can do: `float(a)`, `int(a)`, `complex(a)`.

    Not `operator.index(a)`: what has `__index__` would be taken for one integer where it is an array of indices.
    """

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        raise NotImplementedError

    def __float__(self) -> float:
        return float(self._number("float"))

    def __int__(self) -> int:
        return int(self._number("int"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def _number(self, kind: str) -> Any:  # noqa: ANN401 - an element
        if self.ndim:
            raise TypeError(f"only an array without dimensions can be made a {kind}, and this has {self.ndim}")
        return np.asarray(self)[()]
