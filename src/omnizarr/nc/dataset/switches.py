"""Switches of all variables of a dataset or group, those in groups below included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from omnizarr.nc.dataset.attributes import put
from omnizarr.nc.dataset.group import GroupBase
from omnizarr.nc.dataset.variable import Variable


class Switches(GroupBase):
    """Methods that call those of the same name of every variable."""

    __slots__ = ()

    def set_auto_chartostring(self, value: object) -> None:
        """Choose whether characters with an `_Encoding` come as strings."""
        for variable in self._all_variables():
            variable.set_auto_chartostring(value)

    def set_auto_maskandscale(self, value: object) -> None:
        """Choose whether values are masked and scaled."""
        for variable in self._all_variables():
            variable.set_auto_maskandscale(value)

    def set_auto_mask(self, value: object) -> None:
        """Choose whether missing values are masked."""
        for variable in self._all_variables():
            variable.set_auto_mask(value)

    def set_auto_scale(self, value: object) -> None:
        """Choose whether `scale_factor`, `add_offset` and `_Unsigned` are applied."""
        for variable in self._all_variables():
            variable.set_auto_scale(value)

    def set_always_mask(self, value: object) -> None:
        """Choose whether values of which none is missing come as masked arrays, too."""
        for variable in self._all_variables():
            variable.set_always_mask(value)

    def set_ncstring_attrs(self, value: object) -> None:
        """Choose whether text of new attributes is always stored as strings, here and in all groups below."""
        put(self, "_ncstring_attrs__", bool(value))
        for variable in self.variables.values():
            variable.set_ncstring_attrs(value)
        for group in self.groups.values():
            group.set_ncstring_attrs(value)

    def _all_variables(self) -> Iterator[Variable]:
        yield from self.variables.values()
        for group in self.groups.values():
            yield from group._all_variables()  # noqa: SLF001 - of this class

    def set_fill_on(self) -> None:
        """Let elements of new variables that are never written hold the fill value. So it is by default."""
        self._handle.writable("filling")
        self._handle.no_fill = False

    def set_fill_off(self) -> None:
        """Leave undefined what elements of new variables hold that are never written."""
        self._handle.writable("filling")
        self._handle.no_fill = True

    def get_variables_by_attributes(self, **kwargs: Any) -> list[Variable]:  # noqa: ANN401 - of any type
        """Return the variables whose attributes have given values, or for whose values functions return `True`.

        A function is given `None` where a variable has no such attribute.
        """
        return [
            variable
            for variable in self.variables.values()
            if kwargs and all(_matches(variable, name, wanted) for name, wanted in kwargs.items())
        ]


def _matches(variable: Variable, name: str, wanted: Callable[[Any], object] | object) -> bool:
    value = getattr(variable, name, None)
    if callable(wanted):
        return wanted(value) is True
    return value is not None and bool(value == wanted)
