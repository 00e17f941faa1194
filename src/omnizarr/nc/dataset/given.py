"""What users give as names and as whole numbers: just that, or an error that says what is wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.errors import OmnizarrError
from omnizarr.nc.dataset.errors import BadNameError, BadOptionError, BadTypeError, TooLargeError
from omnizarr.nc.source import MOST


def as_text(name: object, what: str, where: str) -> str:
    """Return a name as text; bytes are taken for UTF-8, as netCDF4 does.

    Args:
        name: It.
        what: What it is the name of.
        where: The node that has it, or gets it.

    Raises:
        BadNameError: If it is no text.
    """
    if isinstance(name, str):
        return str(name)
    if isinstance(name, bytes):
        try:
            return name.decode()
        except UnicodeDecodeError as error:
            hint = "Decode it first: names of netCDF are UTF-8."
            raise BadNameError(f"the name {name!r} of {what} is not UTF-8", path=where, hint=hint) from error
    raise BadNameError(f"{name!r} cannot be the name of {what}", path=where, hint="A name is text: give a str.")


def as_int(value: Any, what: str, where: str) -> int:  # noqa: ANN401 - whatever is a number
    """Return a number as an integer.

    Raises:
        BadTypeError: If it is none.
    """
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        message = f"{what} has to be a whole number, not {value!r}"
        raise BadTypeError(message, path=where, hint="Give an int.") from error


def as_length(size: Any, name: str, where: str) -> int:  # noqa: ANN401 - whatever is a number
    """Return the length of a dimension; 0 for one that grows.

    Raises:
        BadTypeError: If it is no number.
        BadOptionError: If it is below 0.
        TooLargeError: If no place can hold it.
    """
    length = 0 if size is None else as_int(size, f"the length of dimension {name}", where)
    if length < 0:
        raise BadOptionError(f"dimension {name} cannot have the length {length}", path=where)
    if length > MOST:
        hint = "Choose a smaller one, or None for a dimension that grows."
        raise TooLargeError(
            f"dimension {name} cannot have the length {length}: 2**63 - 1 is the most", path=where, hint=hint
        )
    return length


def as_dtype(given: object, what: str, where: str) -> np.dtype[Any]:
    """Return a type of NumPy.

    Raises:
        BadTypeError: If it is none.
    """
    try:
        made: np.dtype[Any] = np.dtype(given)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError) as error:  # the last for text such as "f4,,"
        hint = "Give a type of NumPy such as 'f4', str for strings, or a type that the dataset defines."
        raise BadTypeError(f"{given!r} is no data type, which {what} needs", path=where, hint=hint) from error
    return made


def placed(error: OmnizarrError, where: str) -> None:
    """Let an error say where it happened, if it does not yet."""
    error.path = error.path or where
