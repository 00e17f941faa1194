"""Documents of Zarr v2 as Zarr v3 has them: for sets that are to be of v3, and where v2 has no words for something."""

from __future__ import annotations

from dataclasses import replace

from omnizarr.format.dialects import DIALECTS
from omnizarr.format.fill_attribute import as_v3 as attributes_as_v3
from omnizarr.format.fill_attribute import with_mask
from omnizarr.format.names import join
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.hierarchy.nodes import Meta, documents
from omnizarr.model.array import ArrayMeta
from omnizarr.model.fill import Fill
from omnizarr.refset.model import References

_OLD = frozenset((*(name for one in DIALECTS.values() for name in one.documents), ".zmetadata"))


def as_v3(meta: ArrayMeta, *, masks: bool = True) -> ArrayMeta:
    """Return an array as Zarr v3 describes it, with the same keys and chunks.

    Args:
        meta: What it is.
        masks: Whether its fill value says which elements are missing, as xarray reads v2: an attribute says so in v3.
    """
    if meta.format == "zarr3":
        return meta
    named = {name: value for name, value in meta.attributes.items() if name != DIMENSIONS}
    attributes = attributes_as_v3(named, meta.dtype.numpy, meta.fill.bits)
    if masks and meta.dims is not None:
        attributes = with_mask(attributes, meta.dtype.numpy, meta.fill.bits)
    fill = Fill.zero(meta.dtype) if meta.fill.bits is None else meta.fill
    return meta._replace(format="zarr3", attributes=attributes, fill=fill, extra={})


def set_as_v3(references: References) -> References:
    """Return a set whose documents are of Zarr v3; its chunks stay what they are.

    Raises:
        UnsupportedError: If v3 has no form of a data type or codec.

    >>> list(set_as_v3(References({".zgroup": b'{"zarr_format": 2}'})).documents)
    ['zarr.json']
    """
    # Who makes no set of v3 needs nothing of combining, which needs this module.
    from omnizarr.refs.combining.inputs import Reader, formats_of  # noqa: PLC0415 - as it says

    known = Reader().read("the set", references)
    if all(form == "zarr3" for form in formats_of(known)):
        return references
    nodes: dict[str, Meta] = {}
    for path, group in known.groups.items():
        nodes[path] = group if group.format == "zarr3" else group._replace(format="zarr3", extra={})
    nodes.update({path: as_v3(meta) for path, meta in known.arrays.items()})
    texts = {join(path, name): text for path, meta in nodes.items() for name, text in documents(meta).items()}
    kept = {key: text for key, text in references.documents.items() if key.rpartition("/")[2] not in _OLD}
    return replace(references, documents={**texts, **kept})
