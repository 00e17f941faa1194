"""Attributes of the dataset as attributes of Python objects, and the methods for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from omnizarr.errors import StoreError
from omnizarr.nc.dataset.errors import NoAttributeError
from omnizarr.nc.dataset.given import as_text
from omnizarr.nc.dataset.handle import Handle
from omnizarr.nc.dataset.values import from_attr, to_attr
from omnizarr.nc.dataset.words import PRIVATE
from omnizarr.nc.near import listed
from omnizarr.nc.tree import Attr, Group, Var

NodeT = TypeVar("NodeT", Group, Var)

put = object.__setattr__
"""Sets an attribute of the object itself."""


class Attributed(Generic[NodeT]):
    """What datasets, groups and variables have in common.

    There is no `__dict__` of Python: that name gives the attributes in the dataset.
    """

    __slots__ = ("_handle", "_ncstring_attrs__", "_node")

    _handle: Handle
    _node: NodeT
    _ncstring_attrs__: bool

    def ncattrs(self) -> list[str]:
        """Return the names of all attributes."""
        return list(self._node.attrs)

    def getncattr(self, name: str, encoding: str = "utf-8") -> Any:  # noqa: ANN401 - of any type
        """Return the value of an attribute.

        Args:
            name: Its name.
            encoding: Of text that is stored as characters.

        Raises:
            NoAttributeError: If there is none.
        """
        name = self._attr_name(name)
        attr = self._node.attrs.get(name)
        if attr is None:
            raise NoAttributeError(
                f"there is no attribute {name!r}", path=self._node.path, hint=listed(self._node.attrs)
            )
        return from_attr(attr, encoding)

    def setncattr(self, name: str, value: object) -> None:
        """Set an attribute, also one whose name Python objects have themselves.

        Text is stored as characters if it is ASCII, else as a string.
        """
        self._put_attr(name, value, as_string=self._ncstring_attrs__)

    def setncattr_string(self, name: str, value: object) -> None:
        """Set an attribute of text, stored as a string in any case."""
        if self._handle.model != "NETCDF4":
            raise StoreError("file format does not support NC_STRING attributes", path=self._node.path)
        self._put_attr(name, value, as_string=True)

    def setncatts(self, attdict: Mapping[str, object]) -> None:
        """Set many attributes."""
        for name, value in attdict.items():
            self._put_attr(name, value, as_string=False)

    def delncattr(self, name: str) -> None:
        """Remove an attribute.

        Raises:
            NoAttributeError: If there is none.
        """
        name = self._attr_name(name)
        source = self._handle.writable(f"attribute {name}")
        if self._node.attrs.pop(name, None) is None:
            raise NoAttributeError(
                f"there is no attribute {name!r}", path=self._node.path, hint=listed(self._node.attrs)
            )
        self._stale()
        source.changed(self._node)

    def renameAttribute(self, oldname: str, newname: str) -> None:  # noqa: N802 - the name users know
        """Give an attribute another name; it keeps its place.

        Raises:
            NoAttributeError: If there is none of the old name, or one of the new.
        """
        oldname, newname = self._attr_name(oldname), self._attr_name(newname)
        source = self._handle.writable(f"attribute {oldname}")
        attrs = self._node.attrs
        if oldname not in attrs:
            raise NoAttributeError(f"there is no attribute {oldname!r}", path=self._node.path)
        if newname in attrs and newname != oldname:
            raise NoAttributeError(f"there is an attribute {newname!r} already", path=self._node.path)
        renamed = [attr._replace(name=newname) if name == oldname else attr for name, attr in attrs.items()]
        attrs.clear()
        attrs.update({attr.name: attr for attr in renamed})
        self._stale()
        source.changed(self._node)

    def set_ncstring_attrs(self, value: object) -> None:
        """Choose whether text of new attributes is always stored as strings."""
        put(self, "_ncstring_attrs__", bool(value))

    def _home(self) -> Group:
        """Return the group in which user types of attributes are looked for."""
        raise NotImplementedError

    def _stale(self) -> None:
        """Forget what was derived from attributes."""

    def _attr_name(self, name: object) -> str:
        return as_text(name, "an attribute", self._node.path)

    def _put_attr(self, name: str, value: object, *, as_string: bool) -> None:
        name = self._attr_name(name)
        self._store_attr(to_attr(name, value, self._home(), as_string=as_string, model=self._handle.model))

    def _store_attr(self, attr: Attr) -> None:
        source = self._handle.writable(f"attribute {attr.name}")
        self._node.attrs[attr.name] = attr
        self._stale()
        source.changed(self._node)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of any type
        if name == "__dict__":
            return {one: self.getncattr(one) for one in self.ncattrs()}
        if name in PRIVATE or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.getncattr(name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in PRIVATE:
            raise NoAttributeError(
                f"{name!r} is one of the reserved attributes, cannot rebind. Use setncattr instead.",
                path=self._node.path,
            )
        self.setncattr(name, value)

    def __delattr__(self, name: str) -> None:
        if name in PRIVATE:
            raise NoAttributeError(
                f"{name!r} is one of the reserved attributes, cannot delete. Use delncattr instead.",
                path=self._node.path,
            )
        self.delncattr(name)
