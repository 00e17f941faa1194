"""From the nodes of a hierarchy to the tree of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, cast

from omnizarr.errors import MetadataError, OmnizarrError, UnsupportedError, warn
from omnizarr.hierarchy.context import Context
from omnizarr.model.array import ArrayMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.tree import Attr, Dim, Endian, Group, Storage, Var
from omnizarr.nc.types import CHAR, STRING, UBYTE, Atomic, Enum, Type, default_fill
from omnizarr.nc.zarr.attributes import FILL, fill_attribute, from_json, from_user_json, types_of
from omnizarr.nc.zarr.elements import to_values
from omnizarr.nc.zarr.filters import codecs_text, from_codecs
from omnizarr.nc.zarr.foreign import Meaning, meaning_of, time_units
from omnizarr.nc.zarr.generations import HIDDEN, RESERVED, member
from omnizarr.nc.zarr.held import Held, native
from omnizarr.nc.zarr.inference import define_dims, inferred, is_scalar, names_of, referred
from omnizarr.nc.zarr.nodes import Hierarchy, Node
from omnizarr.nc.zarr.style import DIMENSIONS_KEY
from omnizarr.nc.zarr.user_types import define_types, named_type
from omnizarr.store.protocol import place_name

_QUANTIZE: Final = "_Quantize"
_ELEMENT_CODECS: Final = ("vlen-utf8", "vlen-bytes", "vlen-array")
"""What says how elements of any length are stored; no filters, to users."""

_CHAR_TYPES: Final = (">S1", "<U1", ">U1", "|U1")


class Builder:
    """Makes the tree of one hierarchy."""

    def __init__(self, hierarchy: Hierarchy, context: Context) -> None:
        self._hierarchy = hierarchy
        self._context = context
        self._marked = hierarchy.generation != ""

    def build(self, name: str) -> Group:
        """Return the tree; a root that is an array is the one variable, of the given name, of a root group."""
        node = self._hierarchy.root
        root = Group()
        if node.is_array:
            alone = Node("", node.path, {}, arrays=[node])
            node.name = name
            self._add_variables(root, alone)
            return root
        self._define(root, node)
        self._add_all_variables(root, node)
        return root

    def _define(self, group: Group, node: Node) -> None:
        group.handle = node
        mark = node.mark("group") if self._marked else None
        define_dims(group, mark)
        define_types(group, member(mark, "user_types"))
        for one in node.groups:
            self._define(group.add_group(one.name), one)

    def _add_all_variables(self, group: Group, node: Node) -> None:
        self._add_variables(group, node)
        self._add_attributes(group.attrs, node, group)
        for one in node.groups:
            self._add_all_variables(group.groups[one.name], one)

    def _add_variables(self, group: Group, node: Node) -> None:
        dims = {one.name: self._dims(one, group) for one in node.arrays if self._is_named(one)}
        for one in node.arrays:
            self._add_variable(group, one, dims.get(one.name))

    def _is_named(self, node: Node) -> bool:
        """Whether the dimensions of an array have names, so that others may be told by them."""
        return not is_scalar(node) and ((self._marked and node.mark("array") is not None) or names_of(node) is not None)

    def _dims(self, node: Node, group: Group) -> tuple[Dim, ...]:
        if is_scalar(node):
            return ()
        found = referred(node, group) if self._marked else None
        return inferred(node, group) if found is None else found

    def _add_variable(self, group: Group, node: Node, dims: tuple[Dim, ...] | None) -> None:
        error, meta, meaning = node.error, node.meta, None
        if meta is not None:
            try:
                meaning = self._meaning(node, meta, group)
            except UnsupportedError as failure:
                error = failure
        if error is not None and error.path is None:
            error.path = place_name(self._context.store, node.path)
        if meaning is None:
            meaning = Meaning(STRING if node.dtype in ("|O", "O", "object") else UBYTE)
        if dims is None:
            dims = self._dims(node, group)
        var = group.add_var(node.name, meaning.type, dims, self._storage(node, meta))
        scalar = bool(node.shape) and not dims
        var.handle = Held(
            self._context,
            node.path,
            meta if meta is None else native(meta),
            meaning.decode,
            error,
            scalar=scalar,
            netcdf=self._hierarchy.writer != "",
            document=node.document,
            node=node,
        )
        self._add_attributes(var.attrs, node, group, var)
        _note_time(var, meta)
        if not self._marked and self._hierarchy.form == "zarr2" and DIMENSIONS_KEY in node.attributes:
            _note_fill(var, meta)

    def _meaning(self, node: Node, meta: ArrayMeta, group: Group) -> Meaning:
        mark = node.mark("array") if self._marked else None
        noted = member(mark, "type")
        if noted is not None:
            kind = named_type(group, noted)
            if kind is None:
                raise UnsupportedError(f"the array is of the type {noted!r}, which is not defined")
            return _of_type(kind, meta)
        text = node.dtype in _CHAR_TYPES if self._marked and self._hierarchy.form == "zarr2" else True
        return meaning_of(meta.dtype, group, node.name, text=text)

    def _storage(self, node: Node, meta: ArrayMeta | None) -> Storage:
        made = Storage()
        kind = member(node.mark("array") if self._marked else None, "storage")
        if kind in ("contiguous", "compact"):
            made.kind = "contiguous" if kind == "contiguous" else "compact"
        codecs = _filters(node, meta)
        known = from_codecs(codecs, meta.dtype.itemsize if meta is not None else 0)
        made.shuffle, made.deflate, made.fletcher32, made.filters = known
        made.codecs = codecs_text(codecs)
        if meta is not None:
            undefined = meta.fill.bits is None and meta.dtype.family not in ("raw", "struct")
            made.no_fill = undefined or bool(member(node.mark("array"), "no_fill"))
            made.endian = _endian(node, meta)
            with suppress(OmnizarrError):
                chunks = meta.chunks
                if all(isinstance(one, int) for one in chunks) and not (node.shape and is_scalar(node)):
                    made.chunks = cast("tuple[int, ...]", chunks)
        for name, value in node.attributes.items():
            if name.startswith(_QUANTIZE) and isinstance(value, int):
                made.quantize = (name, int(value))
        return made

    def _add_attributes(self, attrs: dict[str, Attr], node: Node, group: Group, var: Var | None = None) -> None:
        # An array that is looked at alone has kept its types.
        mark = node.mark("attr") if self._marked or self._hierarchy.root.is_array else None
        types, users = types_of(mark), types_of(mark, "user_types")
        for name, value in node.attributes.items():
            if name in HIDDEN or (name in RESERVED and name not in types and name not in users):
                continue
            made = _attribute(name, value, (types, users), group, var)
            if made is not None:
                attrs[name] = made


def _attribute(
    name: str,
    value: JSON,
    noted: tuple[Mapping[str, JSON], Mapping[str, JSON]],
    group: Group,
    var: Var | None,
) -> Attr | None:
    types, users = noted
    if name in users:
        kind = named_type(group, users[name])
        if kind is not None:
            try:
                return from_user_json(name, value, kind)
            except MetadataError as error:
                warn(str(error))
    if name == FILL and var is not None:
        made = fill_attribute(value, types.get(name), var.type)
        if made is None:
            warn(f"{FILL} of {var.path!r} is left out: it is no value of the type {var.type.name}")
        return made
    return from_json(name, value, types.get(name))


def _of_type(kind: Type, meta: ArrayMeta) -> Meaning:
    if isinstance(kind, (Atomic, Enum)) and kind not in (CHAR, STRING) and meta.dtype.numpy == kind.numpy:
        return Meaning(kind)
    if kind == CHAR and meta.dtype.numpy.str == "|S1":
        return Meaning(kind)
    return Meaning(kind, lambda values: to_values(values, kind))


def _filters(node: Node, meta: ArrayMeta | None) -> list[JSON]:
    """Return filters and compressor, the size that netcdf-c leaves out of shuffle put in."""
    found: list[JSON] = []
    for one in node.codecs:
        if isinstance(one, dict) and one.get("id") == "shuffle" and not one.get("elementsize") and meta is not None:
            found.append({**one, "elementsize": meta.dtype.itemsize if meta.dtype.swap_unit > 1 else 8})
        elif not isinstance(one, dict) or not any(one.get("id") == known for known in _ELEMENT_CODECS):
            found.append(one)
    return found


def _endian(node: Node, meta: ArrayMeta) -> Endian:
    if isinstance(node.dtype, str) and node.dtype[:1] in "<>" and meta.dtype.swap_unit > 1:
        return "big" if node.dtype[0] == ">" else "little"
    return (meta.dtype.byteorder or "native") if meta.dtype.swap_unit > 1 else "native"


def _note_time(var: Var, meta: ArrayMeta | None) -> None:
    """Say what counts of time count, where nobody has."""
    units = time_units(meta.dtype) if meta is not None else None
    if units is None or "units" in var.attrs:
        return
    var.attrs["units"] = Attr.of_text("units", units)
    if "since" in units and "calendar" not in var.attrs:
        var.attrs["calendar"] = Attr.of_text("calendar", "proleptic_gregorian")


def _note_fill(var: Var, meta: ArrayMeta | None) -> None:
    """Say which value stands for none where xarray says it by the fill value of the array alone.

    Zero is what Zarr's libraries put there unasked; NaN and netCDF's own fill values speak for themselves.
    """
    if meta is None or meta.fill.bits is None or FILL in var.attrs or meta.dtype.family not in ("int", "uint", "float"):
        return
    fill = meta.fill.value(meta.dtype)
    if fill not in (0, default_fill(var.type)) and fill == fill:  # noqa: PLR0124 - NaN is not itself
        var.attrs[FILL] = Attr.of_values(FILL, var.type, [fill])
