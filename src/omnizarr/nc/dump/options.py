"""What of a dataset is printed, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Notes: TypeAlias = Literal["", "rows c", "rows f", "values c", "values f"]

FLOAT_DIGITS: Final = 7
DOUBLE_DIGITS: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `ncdump` has letters for.

    Attributes:
        name: The name on the first line; by default the last part of the dataset's path, without its ending (-n).
        data: Whose values are printed: of all variables, of coordinate variables (-c), or of none (-h).
        variables: Names or paths of the only variables whose values are printed, each with an optional slice of it,
            as `temp[0:2,:]` (-v).
        groups: Names or paths of the only groups whose values are printed (-g).
        special: Whether to print how things are stored, as attributes (-s).
        filters: Whether to print all filters as one attribute of that (-F).
        times: What stands between date and time where numbers that mean times are printed as such: a blank (-t) or
            "T" (-i); empty to print the numbers.
        float_digits: Significant digits of floats, or `None` for 7, which an attribute `C_format` may override (-p).
        double_digits: The same of doubles, or `None` for 15.
        width: The length of lines in the data section (-l).
        notes: Whether to say indices of each row (-b) or value (-f), from 0 as in C or from 1 as in Fortran.
    """

    name: str | None = None
    data: Literal["all", "coordinates", "none"] = "all"
    variables: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    special: bool = False
    filters: bool = False
    times: Literal["", " ", "T"] = ""
    float_digits: int | None = None
    double_digits: int | None = None
    width: int = 80
    notes: Notes = ""

    @property
    def digits(self) -> tuple[int, int]:
        """Significant digits of floats and of doubles."""
        return self.float_digits or FLOAT_DIGITS, self.double_digits or DOUBLE_DIGITS
