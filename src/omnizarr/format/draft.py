"""The documents of the drafts of Zarr v3, from 2019 to February 2023; read only.

Written by zarr-python 2.12 to 2.18 with `ZARR_V3_EXPERIMENTAL_API`, by zarrita and by xtensor-zarr. What the drafts
say is mostly v2 in other words, so the documents are put into the words of v2 and read as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from omnizarr.errors import MetadataError, UnsupportedError, warn
from omnizarr.format import v2, v3
from omnizarr.format.check import mapping, missing, part, sizes
from omnizarr.format.document import describe, load_object
from omnizarr.format.names import DRAFT_ARRAY, DRAFT_ARRAY_2019, DRAFT_GROUP
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.grid import RegularGrid
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys

FORMAT: Final = "zarr3-draft"

_URIS: Final = ("spec/protocol/core/3.0", "spec/core/3.0", "zarr.dev/v3")
_NODE: Final = ("#array", "#group")
_KNOWN: Final = frozenset(
    (
        *("shape", "data_type", "chunk_grid", "chunk_memory_layout", "compressor", "chunk_codecs", "codecs"),
        *("fill_value", "extensions", "attributes", "storage_transformers", "dimension_separator", "dimension_names"),
    )
)
_REPLACED: Final = ("extensions", "chunk_memory_layout", "compressor")


def is_entry_point(version: JSON) -> bool:
    """Whether a `zarr_format` is that of a hierarchy's `zarr.json`, whose nodes are documented elsewhere."""
    return isinstance(version, str) and any(uri in version for uri in _URIS) and not version.endswith(_NODE)


def parse_entry_point(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Return what the keys of documents end in according to an entry point; `None` if it is none.

    Raises:
        MetadataError: The document is not JSON.
        UnsupportedError: It needs an extension, or another encoding of documents than JSON.
    """
    doc = load_object(data, key, limits)
    if not is_entry_point(doc.get("zarr_format")):
        return None
    extensions = doc.get("extensions") or []
    if not isinstance(extensions, list):
        raise MetadataError(
            f"a list of extensions is needed, not {describe(extensions)}", pointer="/extensions", key=key
        )
    for at, extension in enumerate(extensions):
        if isinstance(extension, dict) and extension.get("must_understand") is not False:
            message = f"the hierarchy needs the extension {describe(extension.get('extension'))}"
            raise UnsupportedError(message, pointer=f"/extensions/{at}", key=key)
    encoding = doc.get("metadata_encoding")
    suffix = doc.get("metadata_key_suffix", ".json")
    if isinstance(encoding, dict):  # from November 2022 on
        suffix = encoding.get("metadata_key_suffix", ".json")
        if encoding.get("type") != "json":
            message = f"documents are encoded as {describe(encoding.get('type'))}, not as JSON"
            raise UnsupportedError(message, pointer="/metadata_encoding", key=key)
    if not isinstance(suffix, str) or "/" in suffix:
        raise MetadataError(f"keys cannot end in {describe(suffix)}", pointer="/metadata_key_suffix", key=key)
    return suffix


def parse(start: str, texts: Mapping[str, bytes], limits: Limits = DEFAULT_LIMITS) -> ArrayMeta | GroupMeta:
    """Read the document of a node, by the name that the view of the store gives it.

    Raises:
        MetadataError: The document is malformed.
        UnsupportedError: It needs something that Omnizarr does not have.
    """
    for name in (DRAFT_ARRAY, DRAFT_ARRAY_2019):
        if name in texts:
            doc = load_object(texts[name], start + name, limits)
            return _parse_array(doc, start + name, "c" if name == DRAFT_ARRAY else "", limits)
    key = start + DRAFT_GROUP
    doc = load_object(texts[DRAFT_GROUP], key, limits)
    attributes = mapping(doc.get("attributes") or {}, "/attributes", key)
    return GroupMeta(attributes, FORMAT, {name: value for name, value in doc.items() if name not in _KNOWN})


def parse_node(doc: dict[str, JSON], key: str, limits: Limits = DEFAULT_LIMITS) -> ArrayMeta | GroupMeta | None:
    """Read a `zarr.json` of February 2023: the final layout, with field names that were soon to change.

    Returns:
        The node, or `None` if the document is the entry point of an older draft.

    Raises:
        MetadataError: The document is malformed.
        UnsupportedError: It needs something that Omnizarr does not have.
    """
    version = doc["zarr_format"]
    if is_entry_point(version):
        return None
    if not isinstance(version, str) or not version.endswith(_NODE):
        raise MetadataError(f"zarr_format is {describe(version)}, not 3", pointer="/zarr_format", key=key)
    final: dict[str, JSON] = {
        **{name: value for name, value in doc.items() if name not in _REPLACED},
        "zarr_format": 3,
        "node_type": version.rpartition("#")[2],
    }
    if final["node_type"] == "group":
        return v3.parse_group(final, key)._replace(format=FORMAT)
    final["chunk_grid"], separator = _final_grid(doc, key)
    final.setdefault("chunk_key_encoding", {"name": "default", "configuration": {"separator": separator}})
    codecs = [_final_codec(item, f"/codecs/{at}", key) for at, item in enumerate(_codec_list(doc, key))]
    names = [codec["name"] for codec in codecs]
    if not {"bytes", "endian", "vlen-utf8", "vlen-bytes", "sharding_indexed"}.intersection(cast("list[str]", names)):
        at = next((at for at, name in enumerate(names) if name != "transpose"), len(names))
        # Until July 2023 it was understood: little-endian.
        codecs.insert(at, {"name": "bytes", "configuration": {"endian": "little"}})
    layout = doc.get("chunk_memory_layout")
    if layout == "F":
        rank = len(cast("list[JSON]", doc.get("shape") or []))
        codecs.insert(0, {"name": "transpose", "configuration": {"order": list(reversed(range(rank)))}})
    final["codecs"] = cast("list[JSON]", codecs)
    return v3.parse_array(final, key, limits)._replace(format=FORMAT)


def _final_grid(doc: Mapping[str, JSON], key: str) -> tuple[JSON, JSON]:
    grid = dict(mapping(doc.get("chunk_grid"), "/chunk_grid", key))
    name = grid.pop("type", grid.pop("name", None))
    separator = grid.pop("separator", "/")
    settings = grid.pop("configuration", None)
    return {"name": name, "configuration": settings if settings is not None else grid}, separator


def _codec_list(doc: Mapping[str, JSON], key: str) -> list[JSON]:
    codecs = doc.get("codecs", [])
    if not isinstance(codecs, list):
        raise MetadataError(f"a list of codecs is needed, not {describe(codecs)}", pointer="/codecs", key=key)
    compressor = doc.get("compressor")
    return [*codecs, compressor] if compressor is not None else codecs


def _final_codec(item: JSON, pointer: str, key: str) -> dict[str, JSON]:
    if isinstance(item, str):
        return {"name": item, "configuration": {}}
    codec = mapping(item, pointer, key)
    name = codec.get("name", codec.get("type", codec.get("codec")))
    if not isinstance(name, str):
        raise MetadataError(f"a codec needs a name, not {describe(name)}", pointer=pointer, key=key)
    settings = codec.get("configuration")
    if settings is None:
        settings = {field: value for field, value in codec.items() if field not in ("name", "type", "codec")}
    return {"name": _codec_name(name), "configuration": mapping(settings, f"{pointer}/configuration", key)}


def _parse_array(doc: dict[str, JSON], key: str, lead: str, limits: Limits) -> ArrayMeta:
    for field in ("shape", "data_type", "chunk_grid"):
        if field not in doc:
            missing(field, key)
    grid = mapping(doc["chunk_grid"], "/chunk_grid", key)
    if grid.get("type", "regular") != "regular":
        message = f"the chunk grid {describe(grid.get('type'))} is not supported"
        raise UnsupportedError(message, pointer="/chunk_grid", key=key)
    attributes = dict(mapping(doc.get("attributes") or {}, "/attributes", key))
    # zarr-python had no place for filters, so it put them among the attributes.
    filters = attributes.pop("filters", None) if _are_filters(attributes.get("filters")) else None
    like_v2: dict[str, JSON] = {
        "zarr_format": 2,
        "shape": doc["shape"],
        "chunks": grid.get("chunk_shape"),
        "dtype": _dtype(doc["data_type"], key),
        "fill_value": _fill(doc.get("fill_value")),
        "order": doc.get("chunk_memory_layout", "C"),
        **_codecs(doc, filters, key),
    }
    meta = v2.parse_array(like_v2, attributes, key, limits)
    separator = grid.get("separator", doc.get("dimension_separator", "/" if lead else "."))
    if separator not in ("/", "."):
        message = f"the separator is {describe(separator)}, not '/' or '.'"
        raise MetadataError(message, pointer="/chunk_grid/separator", key=key)
    unknown = {name: value for name, value in doc.items() if name not in _KNOWN}
    for name, value in unknown.items():
        if not isinstance(value, dict) or value.get("must_understand") is not False:
            warn(f"{key}: the field /{part(name)} is not known to any draft")
    # The writer took the first chunk's key for arrays without dimensions.
    keys = Keys(lead, separator, "", f"{lead}0")
    return _sharded(meta._replace(format=FORMAT, keys=keys, extra=unknown), doc.get("storage_transformers"), key)


def _are_filters(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) and "id" in item for item in value)


def _codecs(doc: Mapping[str, JSON], filters: JSON, key: str) -> dict[str, JSON]:
    """Put a compressor, or the lists of codecs of 2019 and of 2022, into the words of v2."""
    listed = doc.get("codecs", doc.get("chunk_codecs"))
    if listed is None:
        found = doc.get("compressor")
        return {"filters": filters, "compressor": None if found is None else _v2_codec(found, "/compressor", key)}
    if not isinstance(listed, list):
        field = "codecs" if "codecs" in doc else "chunk_codecs"
        raise MetadataError(f"a list of codecs is needed, not {describe(listed)}", pointer=f"/{field}", key=key)
    steps = [_v2_codec(item, f"/codecs/{at}", key) for at, item in enumerate(listed)]
    steps = [step for step in steps if step["id"] not in ("bytes", "endian")]
    own = filters if isinstance(filters, list) else []
    return {"filters": [*own, *steps[:-1]] or None, "compressor": steps[-1] if steps else None}


def _v2_codec(item: JSON, pointer: str, key: str) -> dict[str, JSON]:
    codec = _final_codec(item, pointer, key)
    return {"id": codec["name"], **mapping(codec["configuration"], pointer, key)}


def _codec_name(name: str) -> str:
    """Take the name out of a URI such as `https://purl.org/zarr/spec/codec/gzip/1.0`."""
    if "/" not in name:
        return name
    parts = [one for one in name.split("/") if one] or [name]
    at = next((at for at, one in enumerate(parts) if one in ("codec", "codecs")), len(parts) - 2)
    return parts[at + 1] if at + 1 < len(parts) else parts[-1]


def _dtype(value: JSON, key: str) -> JSON:
    if isinstance(value, str):
        return "|b1" if value == "bool" else value
    described = mapping(value, "/data_type", key)
    found = described.get("type")
    if found is None:
        found = described.get("fallback")
    # A type without fields was written as one field without a name; with a shape it is a field after all.
    match found:
        case [["", inner]]:
            found = inner
        case _:
            pass
    if found is None:
        message = f"the data type {describe(described.get('extension'))} is not known, and has no fallback"
        raise UnsupportedError(message, pointer="/data_type", key=key)
    return found


def _fill(value: JSON) -> JSON:
    return "Infinity" if value == "+Infinity" else value


def _sharded(meta: ArrayMeta, transformers: JSON, key: str) -> ArrayMeta:
    """Turn the storage transformer for shards into the codec that it became."""
    if not transformers:
        return meta
    pointer = "/storage_transformers/0"
    first = transformers[0] if isinstance(transformers, list) else None
    transformer = mapping(first, pointer, key)
    extension = transformer.get("extension")
    if len(cast("list[JSON]", transformers)) > 1 or not isinstance(extension, str) or "/sharding/" not in extension:
        message = f"the storage transformer {describe(extension)} is not supported"
        raise UnsupportedError(message, pointer=pointer, key=key)
    if transformer.get("type") != "indexed":
        message = f"shards of the type {describe(transformer.get('type'))} are not supported"
        raise UnsupportedError(message, pointer=pointer, key=key)
    settings = mapping(transformer.get("configuration"), f"{pointer}/configuration", key)
    counts = sizes(settings.get("chunks_per_shard"), f"{pointer}/configuration/chunks_per_shard", key, 1)
    chunks = meta.grid.longest  # v2 has no chunks but those of one shape
    if len(counts) != len(chunks):
        message = f"there are {len(counts)} counts of chunks for {len(chunks)} dimensions"
        raise MetadataError(message, pointer=f"{pointer}/configuration", key=key)
    shard = tuple(chunk * count for chunk, count in zip(chunks, counts, strict=True))
    sharding = Codec(
        "sharding_indexed",
        {
            "chunk_shape": list(chunks),
            "codecs": [codec.to_json() for codec in meta.codecs],
            # The draft had no checksum.
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_location": "end",
        },
    )
    return meta._replace(grid=RegularGrid(shard), codecs=(sharding,))
