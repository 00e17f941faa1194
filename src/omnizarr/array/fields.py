"""Names of fields in a selection, as in `a["x"]`, `a[0:3, "x"]` and `a[["x", "y"]]`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnizarr.array.masked import is_masked
from omnizarr.array.values import to_integers
from omnizarr.errors import SelectionError, ShapeError
from omnizarr.model.structs import fields_of


class Fields(NamedTuple):
    """A selection that names fields, taken apart."""

    rest: object
    """The selection without the names; an ellipsis where nothing is left."""

    names: str | list[str]
    """One field, or several; NumPy gives a plain array for the one and a structured array for the others."""

    def pick(self, values: Any) -> Any:  # noqa: ANN401 - an array or a scalar, as NumPy gives
        """Return the fields of values that were read, without the memory of the others."""
        chosen = values[self.names]
        if isinstance(self.names, str):
            return chosen.copy() if isinstance(chosen, np.ndarray) else chosen
        wanted = np.dtype([(name, values.dtype[name]) for name in self.names])
        made = np.asarray(chosen).astype(wanted)
        return made if isinstance(values, np.ndarray) else made[()]

    def put(self, values: Any, value: object, path: str) -> Any:  # noqa: ANN401 - as above
        """Return values that were read, with other fields.

        Raises:
            ShapeError: If the fields cannot hold the values, or if some of them are masked.
        """
        whole = np.array(values)
        if is_masked(value) and np.ma.is_masked(value):
            raise ShapeError(
                f"values for {self.names!r} are masked, and a field alone has no fill value",
                path=path,
                hint="Write value.filled(x) with an x of your choice.",
            )
        try:
            if isinstance(self.names, str) and whole.dtype[self.names].kind in "iu":
                value = to_integers(value, whole.dtype[self.names])
            whole[self.names] = value
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ShapeError(f"the values cannot be stored in {self.names!r}: {error}", path=path) from error
        return whole


def split_fields(selection: object, dtype: np.dtype[Any]) -> Fields | None:
    """Take the names of fields out of a selection; `None` if there are none, or the type has no fields.

    Raises:
        SelectionError: There is no such field.
    """
    if dtype.names is None:
        return None
    rest: list[object] = []
    names: list[str] = []
    one = True
    for item in selection if isinstance(selection, tuple) else (selection,):
        if isinstance(item, str):
            names.append(item)
        elif isinstance(item, list) and item and all(isinstance(name, str) for name in item):
            names += item
            one = False
        else:
            rest.append(item)
    if not names:
        return None
    if len(set(names)) < len(names):
        raise SelectionError("a field is named twice")
    for name in names:
        if name not in dtype.names:
            known = ", ".join(repr(field.name) for field in fields_of(dtype))
            raise SelectionError(f"there is no field {name!r}", hint=f"The fields are {known}.")
    return Fields(tuple(rest) if rest else ..., names[0] if one and len(names) == 1 else names)
