"""Rules about the documents of other dialects than v3 and v2.

They are read by their writers' own rules, which the parsers know; most have one writer, and nobody writes them anew.
So a document is checked member by member where that is cheap, and otherwise as far as its parser gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from omnizarr.errors import OmnizarrError, UnsafeError, UnsupportedError
from omnizarr.format.dialects import DRAFT, N5, ZARR0, ZARR1, Dialect
from omnizarr.format.document import describe
from omnizarr.format.draft import is_entry_point
from omnizarr.format.names import ATTRIBUTES_JSON, ATTRS, DRAFT_GROUP, META, ZATTR, ZMETA
from omnizarr.format.parsed import Meta
from omnizarr.format.v0_pickle import is_pickle
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.validate.document import Document
from omnizarr.tools.validate.report import Codes, Cure

_V1: Final = ("zarr_format", "shape", "chunks", "dtype", "compression", "compression_opts", "fill_value", "order")
_V0: Final = ("shape", "chunks", "dtype", "fill_value", "cname", "clevel", "shuffle")
_N5: Final = ("dimensions", "blockSize", "dataType")
_DRAFT: Final = ("shape", "data_type", "chunk_grid")
_DRAFT_KNOWN: Final = frozenset(
    (
        *_DRAFT,
        *("chunk_memory_layout", "compressor", "chunk_codecs", "codecs", "fill_value", "extensions", "attributes"),
        *("storage_transformers", "dimension_separator", "dimension_names"),
    )
)

Make = Callable[[str], Document]


def check_old(own: Dialect, make: Make, path: str, texts: Mapping[str, bytes]) -> Meta | None:
    """Check the documents of a node of a dialect, and return what they say if they can be used.

    Args:
        own: The dialect.
        make: Returns the document of a name.
        path: The node's path.
        texts: The documents by name.
    """
    look, codes = _CHECKS[own.name]
    main = look(make, texts)
    try:
        return own.parse(path + "/" if path else "", texts, main.limits)
    except OmnizarrError as error:
        if not main.errors:
            main.fail(codes, error)
        return None


def _missing(doc: Document, value: Mapping[str, JSON], names: tuple[str, ...], rule: str) -> None:
    for name in names:
        if name not in value:
            doc.add(rule, f"the member {name!r} is missing", "/")


def _attributes(main: Document, make: Make, name: str, texts: Mapping[str, bytes]) -> None:
    if name in texts:
        doc = make(name)
        doc.object(texts[name], bare="all")
        main.errors += doc.errors


def _is_cut_off(data: bytes) -> bool:
    text = data.strip()
    return text[:1] == b"{" and text[-1:] != b"}"


def _check_v1(make: Make, texts: Mapping[str, bytes]) -> Document:
    doc = make(META)
    if _is_cut_off(texts[META]):
        doc.add("OZ404", "the document ends in the middle", hint="What wrote it failed; erase the array.")
        return doc
    value = doc.object(texts[META], bare="all")
    if value is not None:
        _missing(doc, value, _V1, "OZ402")
        version = value.get("zarr_format", 1)
        if version != 1 or isinstance(version, bool):
            doc.add("OZ401", f"zarr_format is {describe(version)}, not 1", "/zarr_format")
        if value.get("order") == "F" and value.get("compression") != "blosc":
            doc.add("OZ405", "the order is 'F', but only Blosc kept to it: the data are in order C", "/order")
    _attributes(doc, make, ATTRS, texts)
    if ATTRS not in texts:
        key = make(ATTRS).key
        doc.add("OZ406", f"there is no {key!r}", cures=(Cure("put", key, value=b"{}"),))
    return doc


def _check_v0(make: Make, texts: Mapping[str, bytes]) -> Document:
    doc, data = make(ZMETA), texts[ZMETA]
    if is_pickle(data):
        doc.add("OZ414", "the metadata are a pickle of zarr 0.3", hint="oz convert writes it in a newer format.")
    elif _is_cut_off(data):
        doc.add("OZ413", "the document ends in the middle", hint="What wrote it failed; erase the array.")
        return doc
    else:
        value = doc.object(data, bare="all")
        if value is not None:
            _missing(doc, value, _V0, "OZ411")
    _attributes(doc, make, ZATTR, texts)
    return doc


def _check_n5(make: Make, texts: Mapping[str, bytes]) -> Document:
    doc = make(ATTRIBUTES_JSON)
    value = doc.object(texts[ATTRIBUTES_JSON], bare="attributes")
    if value is None:
        return doc
    if any(name in value for name in _N5):
        _missing(doc, value, _N5, "OZ421")
    if not doc.path and "n5" not in value:
        doc.add("OZ423", "the root does not say which version of N5 it follows", "/")
    return doc


def _check_draft(make: Make, texts: Mapping[str, bytes]) -> Document:
    name = next(name for name in DRAFT.nodes if name in texts)
    doc = make(name)
    value = doc.object(texts[name], bare="none")
    if value is None or name == DRAFT_GROUP:
        return doc
    _missing(doc, value, _DRAFT, "OZ433")
    for field, member in value.items():
        if field not in _DRAFT_KNOWN and not (isinstance(member, dict) and member.get("must_understand") is False):
            doc.add("OZ435", f"the member {field!r} is not known to any draft", f"/{field}")
    return doc


def check_entry_point(doc: Document, data: bytes) -> None:
    """Check the `zarr.json` at the top of a draft's hierarchy."""
    value = doc.object(data, bare="none")
    if value is None:
        return
    if not is_entry_point(value.get("zarr_format")):
        doc.add("OZ431", f"zarr_format is {describe(value.get('zarr_format'))}", "/zarr_format")
    # From November 2022 on the suffix stood in the encoding.
    late = isinstance(value.get("metadata_encoding"), dict)
    for name in ("metadata_encoding", "extensions", *(() if late else ("metadata_key_suffix",))):
        if name not in value:
            doc.add("OZ431", f"the member {name!r} is missing", "/")


class _Pickled(Codes):
    """The rules of v0: whatever is wrong with a pickle is one of its own."""

    def of(self, error: OmnizarrError) -> str:
        if isinstance(error, UnsafeError) or "pickle" in error.message:
            return "OZ415"
        return "OZ412" if isinstance(error, UnsupportedError) else super().of(error)


_CHECKS: Final[dict[str, tuple[Callable[[Make, Mapping[str, bytes]], Document], Codes]]] = {
    ZARR1.name: (_check_v1, Codes("OZ403", "OZ403", "OZ409")),
    ZARR0.name: (_check_v0, _Pickled("OZ412", "OZ412", "OZ415")),
    N5.name: (_check_n5, Codes("OZ422", "OZ424", "OZ429")),
    DRAFT.name: (_check_draft, Codes("OZ434", "OZ436", "OZ439")),
}
