"""The clauses that rules come from: what they are called, and where they stand."""

from __future__ import annotations

from typing import Final, NamedTuple


class Clause(NamedTuple):
    """A place in a specification, or in what stands for one where nobody wrote one."""

    name: str
    url: str


_V3: Final = "https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#"
_SHARDING: Final = "https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html#"
_V2: Final = "https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#"
_V1: Final = "https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html#"
_RFC8259: Final = "https://www.rfc-editor.org/rfc/rfc8259#section-"
_REPOSITORY: Final = "https://github.com/zarr-developers/zarr-python/tree/"
_DRAFT: Final = "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/core/v3.0.html#"
_N5: Final = "https://github.com/saalfeldlab/n5#file-system-specification"
_ZIP: Final = "https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT"


def _v3(title: str, anchor: str) -> Clause:
    return Clause(f"Zarr v3 core: {title}", _V3 + anchor)


def _v2(title: str, anchor: str) -> Clause:
    return Clause(f"Zarr v2: {title}", _V2 + anchor)


CLAUSES: Final[dict[str, Clause]] = {
    "json-text": Clause("RFC 8259: JSON text", _RFC8259 + "2"),
    "json-utf8": Clause("RFC 8259: character encoding", _RFC8259 + "8.1"),
    "json-objects": Clause("RFC 8259: objects", _RFC8259 + "4"),
    "json-numbers": Clause("RFC 8259: numbers", _RFC8259 + "6"),
    "limits": Clause("RFC 8259: parsers", _RFC8259 + "9"),
    "v3-metadata": _v3("metadata", "metadata"),
    "v3-array": _v3("array metadata", "array-metadata"),
    "v3-format": _v3("zarr_format", "array-metadata-zarr-format"),
    "v3-node-type": _v3("node_type", "array-metadata-node-type"),
    "v3-shape": _v3("shape", "array-metadata-shape"),
    "v3-data-type": _v3("data_type", "array-metadata-data-type"),
    "v3-grid": _v3("chunk_grid", "array-metadata-chunk-grid"),
    "v3-keys": _v3("chunk_key_encoding", "array-metadata-chunk-key-encoding"),
    "v3-fill": _v3("fill_value", "array-metadata-fill-value"),
    "v3-codecs": _v3("codecs", "array-metadata-codecs"),
    "v3-chain": _v3("chunk encoding", "chunk-encoding"),
    "v3-decoding": _v3("decoding procedure", "decoding-procedure"),
    "v3-attributes": _v3("attributes", "array-metadata-attributes"),
    "v3-transformers": _v3("storage_transformers", "array-metadata-storage-transformers"),
    "v3-dims": _v3("dimension_names", "array-metadata-dimension-names"),
    "v3-additional": _v3("additional fields", "additional-fields"),
    "v3-extension": _v3("extension definition", "extension-definition"),
    "v3-short": _v3("short-hand names", "extension-definition-short-hand-name"),
    "v3-understand": _v3("must_understand", "extension-definition-must-understand"),
    "v3-names": _v3("node names", "node-names"),
    "v3-stored": _v3("stored representation", "stored-representation"),
    "v3-storage": _v3("storage", "storage"),
    "shard-settings": Clause("Sharding codec: configuration parameters", _SHARDING + "configuration-parameters"),
    "shard-format": Clause("Sharding codec: binary shard format", _SHARDING + "binary-shard-format"),
    "v2-metadata": _v2("metadata", "metadata"),
    "v2-dtype": _v2("data type encoding", "data-type-encoding"),
    "v2-fill": _v2("fill value encoding", "fill-value-encoding"),
    "v2-chunks": _v2("chunks", "chunks"),
    "v2-filters": _v2("filters", "filters"),
    "v2-paths": _v2("logical storage paths", "logical-storage-paths"),
    "v2-groups": _v2("groups", "groups"),
    "v2-attributes": _v2("attributes", "attributes"),
    "xarray-dims": Clause(
        "Zarr encoding of xarray", "https://docs.xarray.dev/en/stable/internals/zarr-encoding-spec.html"
    ),
    "v1-metadata": Clause("Zarr v1: metadata", _V1 + "metadata"),
    "v1-attributes": Clause("Zarr v1: attributes", _V1 + "attributes"),
    "v0": Clause("zarr 0.4: the writer itself", _REPOSITORY + "v0.4.0"),
    "v0-pickle": Clause("zarr 0.3: the writer itself", _REPOSITORY + "v0.3.0"),
    "n5": Clause("N5: file system specification", _N5),
    "draft": Clause("Zarr v3, draft of 2021: array metadata", _DRAFT + "array-metadata"),
    "draft-entry": Clause("Zarr v3, draft of 2021: entry point metadata", _DRAFT + "entry-point-metadata"),
    "v2-consolidated": Clause(
        "zarr-python: consolidated metadata", "https://zarr.readthedocs.io/en/stable/user-guide/consolidated_metadata/"
    ),
    "file-store": Clause(
        "Zarr v3: file system store", "https://zarr-specs.readthedocs.io/en/latest/v3/stores/filesystem/index.html"
    ),
    "zip": Clause("ZIP file format", _ZIP),
}
"""By a short name that the table of rules uses."""
