"""Every dialect: the names of its documents, and the pair of functions between them and the model.

Nothing outside this package asks what a dialect is like but through this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple

from omnizarr.errors import UnsupportedError
from omnizarr.format import v2, v3
from omnizarr.format.document import dump
from omnizarr.format.names import (
    ATTRIBUTES_JSON,
    ATTRS,
    DRAFT_ARRAY,
    DRAFT_ARRAY_2019,
    DRAFT_GROUP,
    META,
    ZARR_JSON,
    ZARRAY,
    ZATTR,
    ZATTRS,
    ZDATA,
    ZGROUP,
    ZMETA,
)
from omnizarr.format.parsed import Meta, parse_v2, parse_v3_of
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import Keys, default_keys, v2_keys


class Dialect(NamedTuple):
    """What a dialect is like."""

    name: str
    """What users call it: the value of `format=`."""

    documents: tuple[str, ...]
    """Names of the documents of a node, below its path."""

    nodes: tuple[str, ...]
    """Those of them that make a path a node."""

    parse: Callable[[str, Mapping[str, bytes], Limits], Meta | None]
    """From what the documents' keys begin with, and the documents by name, to what they say."""

    render: Callable[[Meta], dict[str, bytes]] | None = None
    """From a node to its documents by name, in the order in which to write them; `None` if it is only read."""

    claims: Callable[[bytes], bool] = lambda _: True
    """Whether a file of the name of a document is one, as far as its first look tells."""

    attributes: str = ""
    """The document that holds attributes and nothing else, if there is one."""

    has_groups: bool = True

    implicit_groups: bool = False
    """Whether a group needs no document."""

    keeps_byte_order: bool = False
    """Whether the type of the elements says their byte order."""

    keys: Callable[[str | None], Keys] = lambda _: v2_keys()
    """From the separator that a user asks for, if any, to the keys of chunks."""

    folder: str = ""
    """A folder that an array has even while it is empty."""


def _render_v3(meta: Meta) -> dict[str, bytes]:
    document = v3.render_array(meta) if isinstance(meta, ArrayMeta) else v3.render_group(meta)
    return {ZARR_JSON: dump(document, ZARR_JSON)}


def _render_v2(meta: Meta) -> dict[str, bytes]:
    name = ZARRAY if isinstance(meta, ArrayMeta) else ZGROUP
    main, attributes = v2.render_array(meta) if isinstance(meta, ArrayMeta) else v2.render_group(meta)
    texts = {ZATTRS: dump(attributes, ZATTRS)} if attributes else {}
    return {**texts, name: dump(main, name)}


def _rare(module: str, name: str) -> Callable[..., Any]:
    """Return a function of a module that is only imported once it is called: most programs never need it."""

    def call(*arguments: object) -> Any:  # noqa: ANN401 - whatever the function returns
        return getattr(import_module(module), name)(*arguments)

    return call


ZARR3: Final = Dialect(
    "zarr3",
    (ZARR_JSON,),
    (ZARR_JSON,),
    parse_v3_of,
    _render_v3,
    keys=lambda separator: default_keys(separator or "/"),
)
ZARR2: Final = Dialect(
    "zarr2",
    (ZARRAY, ZGROUP, ZATTRS),
    (ZARRAY, ZGROUP),
    parse_v2,
    _render_v2,
    attributes=ZATTRS,
    keeps_byte_order=True,
    keys=lambda separator: v2_keys(separator or "."),
)
ZARR1: Final = Dialect(
    "zarr1",
    (META, ATTRS),
    (META,),
    _rare("omnizarr.format.v1", "parse"),
    _rare("omnizarr.format.v1", "render"),
    _rare("omnizarr.format.v1", "is_meta"),
    attributes=ATTRS,
    has_groups=False,
    keeps_byte_order=True,
    keys=_rare("omnizarr.format.v1", "keys"),
)
ZARR0: Final = Dialect(
    "zarr0",
    (ZMETA, ZATTR),
    (ZMETA,),
    _rare("omnizarr.format.v0", "parse"),
    _rare("omnizarr.format.v0", "render"),
    attributes=ZATTR,
    has_groups=False,
    keeps_byte_order=True,
    keys=_rare("omnizarr.format.v0", "keys"),
    folder=ZDATA,
)
N5: Final = Dialect(
    "n5",
    (ATTRIBUTES_JSON,),
    (ATTRIBUTES_JSON,),
    _rare("omnizarr.format.n5", "parse"),
    implicit_groups=True,
)
DRAFT: Final = Dialect(
    "zarr3-draft",
    (DRAFT_ARRAY, DRAFT_ARRAY_2019, DRAFT_GROUP),
    (DRAFT_ARRAY, DRAFT_ARRAY_2019, DRAFT_GROUP),
    _rare("omnizarr.format.draft", "parse"),
)

DIALECTS: Final[dict[str, Dialect]] = {one.name: one for one in (ZARR3, ZARR2, ZARR1, ZARR0, N5, DRAFT)}
"""By name, the one that wins where several have documents first."""

WRITABLE: Final = tuple(one.name for one in DIALECTS.values() if one.render is not None)
"""The names of those that can be written."""


def dialect(name: str) -> Dialect:
    """Return the dialect of a name.

    Raises:
        UnsupportedError: If there is none.
    """
    found = DIALECTS.get(name)
    if found is None:
        raise UnsupportedError(f"the format {name!r} is not known", hint=f"Formats are {', '.join(DIALECTS)}.")
    return found


def render(meta: Meta) -> dict[str, bytes]:
    """Return the documents of a node by name, in the order in which to write them: those that make it a node last.

    Raises:
        UnsupportedError: If its dialect cannot express the node, or is only read.
    """
    own = dialect(meta.format)
    if own.render is None:
        hint = f"Write the data to a new array of the format {', '.join(WRITABLE[:2])}."
        raise UnsupportedError(f"the format {meta.format} can be read but not written", hint=hint)
    return own.render(meta)
