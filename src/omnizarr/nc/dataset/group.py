"""What datasets and groups have in common: definitions by name, and names by path."""

from __future__ import annotations

import posixpath
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from omnizarr.nc.dataset.attributes import Attributed, put
from omnizarr.nc.dataset.defining import check_name, chosen_type, find_dims, rehomed, set_fill
from omnizarr.nc.dataset.dimension import Dimension
from omnizarr.nc.dataset.errors import BadOptionError, DefinitionError, NotDefinedError, NotThereError
from omnizarr.nc.dataset.given import as_int, as_length, as_text
from omnizarr.nc.dataset.look import COMPLEX_DIM
from omnizarr.nc.dataset.packing import rounding
from omnizarr.nc.dataset.storage import Options, storage_of
from omnizarr.nc.dataset.usertypes import (
    CompoundType,
    EnumType,
    OpaqueType,
    UserType,
    VLType,
    define_compound,
    define_enum,
    define_vlen,
    user_type,
)
from omnizarr.nc.dataset.variable import Variable
from omnizarr.nc.dataset.words import class_text
from omnizarr.nc.kinds import NETCDF4_KINDS
from omnizarr.nc.near import near
from omnizarr.nc.source import check_size
from omnizarr.nc.tree import Attr, Dim, Endian, Group
from omnizarr.nc.types import INT, Opaque, User


class GroupBase(Attributed[Group]):
    """Dimensions, variables, groups and types by name."""

    __slots__ = (
        "__weakref__", "cmptypes", "dimensions", "enumtypes", "groups", "opaquetypes", "parent", "variables", "vltypes",
    )  # fmt: skip

    __orthogonal_indexing__ = True

    dimensions: dict[str, Dimension]
    variables: dict[str, Variable]
    groups: dict[str, Any]
    cmptypes: dict[str, CompoundType]
    vltypes: dict[str, VLType]
    enumtypes: dict[str, EnumType]
    opaquetypes: dict[str, OpaqueType]
    parent: Any

    def _fill_in(self) -> None:
        """Make objects for everything that the tree has here."""
        for name in ("cmptypes", "vltypes", "enumtypes", "opaquetypes"):
            put(self, name, {})
        for kind in self._node.types.values():
            self._add_type(kind)
        put(self, "dimensions", {name: Dimension(self, dim) for name, dim in self._node.dims.items()})  # type: ignore[arg-type]
        put(self, "variables", {name: Variable(self, var) for name, var in self._node.vars.items()})  # type: ignore[arg-type]
        put(self, "groups", {name: self._child(node) for name, node in self._node.groups.items()})

    def _child(self, node: Group) -> Any:  # noqa: ANN401 - a group, which is a class of its own above this one
        raise NotImplementedError

    def _home(self) -> Group:
        return self._node

    def _add_type(self, kind: User) -> UserType:
        shown = user_type(kind)
        if isinstance(shown, CompoundType):
            self.cmptypes[kind.name] = shown
        elif isinstance(shown, VLType):
            self.vltypes[kind.name] = shown
        elif isinstance(shown, EnumType):
            self.enumtypes[kind.name] = shown
        else:
            self.opaquetypes[kind.name] = shown
        return shown

    @property
    def name(self) -> str:
        """The name, "/" for the root."""
        return self._node.name

    @property
    def path(self) -> str:
        """The full name."""
        return self._node.path

    @property
    def data_model(self) -> str:
        """NETCDF4, NETCDF4_CLASSIC or one of NETCDF3_…: what can be defined."""
        return self._handle.model

    @property
    def file_format(self) -> str:
        """As `data_model`."""
        return self._handle.model

    @property
    def disk_format(self) -> str:
        """What lies in the place: NCZARR, ZARR3, HDF5, NETCDF3, …."""
        return self._handle.disk_format

    @property
    def keepweakref(self) -> bool:
        """Whether dimensions and variables keep their dataset alive."""
        return self._handle.keepweakref

    @property
    def auto_complex(self) -> bool:
        """Whether complex numbers are stored as pairs and read back."""
        return self._handle.auto_complex

    def createDimension(self, dimname: str, size: int | None = None) -> Dimension:  # noqa: N802 - the name users know
        """Define a dimension.

        Args:
            dimname: Its name.
            size: Its length; `None` or 0 for one that grows.
        """
        dimname = as_text(dimname, "a dimension", self.path)
        source = self._handle.writable(f"dimension {dimname}")
        check_name(dimname, "dimension", self._node, self._node.dims)
        length = as_length(size, dimname, self.path)
        if not length and self._handle.classic and any(dim.unlimited for dim in self._node.dims.values()):
            raise DefinitionError(f"{dimname}: this format has one unlimited dimension, and it is in use")
        dim = self._node.add_dim(dimname, length, unlimited=not length)
        self.dimensions[dimname] = Dimension(self, dim)  # type: ignore[arg-type]
        source.changed(self._node)
        return self.dimensions[dimname]

    def createCompoundType(self, datatype: object, datatype_name: str) -> CompoundType:  # noqa: N802 - as above
        """Define a compound type from a structured type of NumPy; those within it must be defined already."""
        kind = self._new_type(define_compound(self._node, datatype, datatype_name))
        return self.cmptypes[kind.name]

    def createVLType(self, datatype: object, datatype_name: str) -> VLType:  # noqa: N802 - as above
        """Define a type of sequences of a NumPy type."""
        kind = self._new_type(define_vlen(self._node, datatype, datatype_name))
        return self.vltypes[kind.name]

    def createEnumType(  # noqa: N802 - as above
        self, datatype: object, datatype_name: str, enum_dict: Mapping[str, int]
    ) -> EnumType:
        """Define a type of integers with names."""
        kind = self._new_type(define_enum(self._node, datatype, datatype_name, enum_dict))
        return self.enumtypes[kind.name]

    def createOpaqueType(self, size: int, datatype_name: str) -> OpaqueType:  # noqa: N802 - as above
        """Define a type of bytes, of a fixed number; an addition to what netCDF4 has."""
        length = as_int(size, f"the size of the opaque type {datatype_name}", self.path)
        if length < 1:
            raise BadOptionError(f"an opaque type has at least one byte, not {size}")
        kind = self._new_type(Opaque(datatype_name, length))
        return self.opaquetypes[kind.name]

    def _new_type(self, kind: User) -> User:
        kind = kind._replace(name=as_text(kind.name, "a type", self.path))
        source = self._handle.writable(f"type {kind.name}")
        if self._handle.classic:
            raise DefinitionError(f"type {kind.name}: {self.data_model} has no user types")
        check_name(kind.name, "type", self._node, {**self._node.types, **self._node.vars, **self._node.groups})
        kind = self._node.add_type(kind)
        self._add_type(kind)
        source.changed(self._node)
        return kind

    def createVariable(  # noqa: N802, PLR0917 - the name and the order that users know
        self,
        varname: str,
        datatype: object,
        dimensions: str | Dimension | Sequence[str | Dimension] = (),
        compression: str | None = None,
        zlib: bool = False,
        complevel: int = 4,
        shuffle: bool = True,
        szip_coding: str = "nn",
        szip_pixels_per_block: int = 8,
        blosc_shuffle: int = 1,
        fletcher32: bool = False,
        contiguous: bool = False,
        chunksizes: Sequence[int] | None = None,
        endian: Endian = "native",
        least_significant_digit: float | None = None,
        significant_digits: int | None = None,
        quantize_mode: str = "BitGroom",
        fill_value: Any = None,  # noqa: ANN401 - a scalar of any type
        chunk_cache: int | None = None,
    ) -> Variable:
        """Define a variable.

        Args:
            varname: Its name; with slashes, groups on the way are created.
            datatype: A type of NumPy or its name, `str` for strings, or a user type.
            dimensions: Names of dimensions, or dimensions; none for a single value.
            compression: zlib, zstd, bzip2, szip, blosc_lz, blosc_lz4, blosc_lz4hc, blosc_zlib or blosc_zstd.
            zlib: The same as `compression="zlib"`.
            complevel: How hard to compress, 0 to 9; 0 is not at all.
            shuffle: Whether bytes are shuffled before zlib.
            szip_coding: "nn" or "ec".
            szip_pixels_per_block: 4, 8, 16 or 32.
            blosc_shuffle: 0 for none, 1 by bytes, 2 by bits.
            fletcher32: Whether chunks carry a checksum.
            contiguous: Whether all values are in one piece; on Zarr, one chunk.
            chunksizes: Lengths of a chunk.
            endian: The order of bytes in store.
            least_significant_digit: Round values to this decimal place when they are written.
            significant_digits: Keep only so many digits of values that are written; bits for BitRound.
            quantize_mode: How that is done: BitGroom, BitRound or GranularBitRound.
            fill_value: What elements hold that were never written; `False` to leave that undefined.
            chunk_cache: Remembered only.

        Raises:
            DefinitionError: If the name is in use, or the format cannot hold it.
            BadTypeError: If netCDF has no such type.
            NotDefinedError: If a dimension is not defined.
        """
        home, _, name = posixpath.normpath(as_text(varname, "a variable", self.path)).rpartition("/")
        if least_significant_digit is not None:
            rounding(least_significant_digit, f"{self.path.rstrip('/')}/{varname}")
        group: GroupBase = self.createGroup(home) if home else self
        options: Options = {
            "compression": compression or ("zlib" if zlib else None),
            "complevel": complevel,
            "shuffle": shuffle,
            "szip_coding": szip_coding,
            "szip_pixels_per_block": szip_pixels_per_block,
            "blosc_shuffle": blosc_shuffle,
            "fletcher32": fletcher32,
            "contiguous": contiguous,
            "chunksizes": chunksizes,
            "endian": endian,
            "significant_digits": significant_digits,
            "quantize_mode": quantize_mode,
        }
        variable = group._define(name, datatype, dimensions, options, fill_value)
        if least_significant_digit is not None:
            variable.setncattr("least_significant_digit", least_significant_digit)
        if chunk_cache is not None:
            variable.set_var_chunk_cache(chunk_cache)
        return variable

    def _define(
        self, name: str, datatype: object, dimensions: object, options: Options, fill_value: object
    ) -> Variable:
        source = self._handle.writable(f"variable {name}")
        where = f"{self.path.rstrip('/')}/{name}"
        node = self._node
        check_name(name, "variable", node, ChainMap[str, Any](node.vars, node.groups, node.types), source)
        dims = find_dims(node, dimensions, name)
        kind, dtype, new = chosen_type(node, datatype, self._handle, where)
        if new is not None and self._handle.classic:  # no compounds, so complex numbers are pairs along a dimension
            kind, new = new.fields[0].type, None
            dims = (*dims, self._pairs())
        if self._handle.model.startswith("NETCDF3"):
            if options.get("endian", "native") != "native":
                raise DefinitionError(f"only endian='native' allowed for {self.data_model} files", path=where)
            options = {}
        storage = storage_of(dims, dtype, options, where)
        if options.get("compression") == "szip" and source.kind not in NETCDF4_KINDS:
            raise BadOptionError("szip can be read, but not written", path=where, hint="zstd or zlib can be.")
        if new is not None:
            kind = self._new_type(new)
        var = node.add_var(name, kind, dims, storage)
        storage.no_fill = self._handle.no_fill
        try:
            check_size(var, var.shape)
            set_fill(var, fill_value)
        except BaseException:
            del node.vars[name]
            raise
        if storage.quantize is not None:
            attribute, number = storage.quantize
            var.attrs[attribute] = Attr(attribute, INT, np.array([number], np.int32))
        self.variables[name] = Variable(self, var)  # type: ignore[arg-type]
        source.changed(node)
        source.changed(var)
        return self.variables[name]

    def _pairs(self) -> Dim:
        """Return the dimension of the two parts of complex numbers."""
        if COMPLEX_DIM not in self._node.dims:
            self.createDimension(COMPLEX_DIM, 2)
        return self._node.dims[COMPLEX_DIM]

    def createGroup(self, groupname: str) -> Any:  # noqa: ANN401, N802 - a group; the name users know
        """Define a group, or return the one that is there; with slashes, those on the way, too."""
        here: GroupBase = self
        for name in posixpath.normpath(as_text(groupname, "a group", self.path)).split("/"):
            if name and name != ".":
                here = here.groups[name] if name in here.groups else here._new_group(name)
        return here

    def _new_group(self, name: str) -> Any:  # noqa: ANN401 - a group
        source = self._handle.writable(f"group {name}")
        if self._handle.classic:
            raise DefinitionError(f"group {name}: {self.data_model} has no groups")
        check_name(name, "group", self._node, {**self._node.vars, **self._node.groups, **self._node.types}, source)
        node = self._node.add_group(name)
        self.groups[name] = self._child(node)
        source.changed(self._node)
        source.changed(node)
        return self.groups[name]

    def renameDimension(self, oldname: str, newname: str) -> None:  # noqa: N802 - the name users know
        """Give a dimension another name."""
        self._rename("dimension", oldname, newname, self.dimensions, self._node.dims)

    def renameVariable(self, oldname: str, newname: str) -> None:  # noqa: N802 - as above
        """Give a variable another name."""
        self._rename("variable", oldname, newname, self.variables, self._node.vars)

    def renameGroup(self, oldname: str, newname: str) -> None:  # noqa: N802 - as above
        """Give a group another name."""
        before = f"{self.path.rstrip('/')}/{oldname}"
        self._rename("group", oldname, newname, self.groups, self._node.groups)
        rehomed(self._node, before, f"{self.path.rstrip('/')}/{newname}")

    def _rename(self, what: str, old: str, new: str, shown: dict[str, Any], nodes: dict[str, Any]) -> None:
        old, new = as_text(old, f"a {what}", self.path), as_text(new, f"a {what}", self.path)
        source = self._handle.writable(f"{what} {old}")
        if old not in nodes:
            raise NotDefinedError(f"{old} not a valid {what} name", path=self.path)
        taken = nodes if what == "dimension" else {**self._node.vars, **self._node.groups}
        check_name(new, what, self._node, taken, None if what == "dimension" else source)
        nodes[old].name = new
        for names in (nodes, shown):
            renamed = {new if name == old else name: one for name, one in names.items()}
            names.clear()
            names.update(renamed)
        source.changed(self._node)
        if what != "dimension":
            source.changed(nodes[new])

    def __getitem__(self, elem: str) -> Any:  # noqa: ANN401 - a variable or a group
        names = [name for name in posixpath.normpath(elem).split("/") if name]
        here: Any = self
        for name in names[:-1]:
            if name not in here.groups:
                raise NotThereError(f"{name} not found in {here.path}", hint=near(name, here.groups))
            here = here.groups[name]
        last = names[-1] if names else ""
        if not last:
            return here
        if last in here.groups:
            return here.groups[last]
        if last in here.variables:
            return here.variables[last]
        raise NotThereError(f"{last} not found in {here.path}", hint=near(last, (*here.variables, *here.groups)))

    def __iter__(self) -> NoReturn:
        raise TypeError("Dataset is not iterable. Consider iterating on Dataset.variables.")

    def __contains__(self, key: object) -> NoReturn:
        raise TypeError(
            "Dataset does not support membership operations. Perhaps try 'varname in dataset.variables' or "
            "'dimname in dataset.dimensions'."
        )

    def __repr__(self) -> str:
        lines = [class_text(self)]
        if self.path == "/":
            lines.append(f"root group ({self.data_model} data model, file format {self.disk_format}):")
        else:
            lines.append(f"group {self.path}:")
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        dims = ", ".join(f"{name}({len(dim)})" for name, dim in self.dimensions.items())
        variables = ", ".join(f"{v.dtype} {name}({', '.join(v.dimensions)})" for name, v in self.variables.items())
        lines.append(f"    dimensions(sizes): {dims}")
        lines.append(f"    variables(dimensions): {variables}")
        lines.append(f"    groups: {', '.join(self.groups)}")
        return "\n".join(lines)

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} is not picklable")
