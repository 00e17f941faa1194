"""Rules about `.zarray`, `.zgroup` and `.zattrs`: all that is wrong with them, and what is tolerated.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from omnizarr.errors import OmnizarrError, UnsafeError, UnsupportedError
from omnizarr.format import check, fill_json
from omnizarr.format.check import part
from omnizarr.format.codec_config import check_config
from omnizarr.format.document import describe
from omnizarr.format.flow import Flow
from omnizarr.format.names import ZARRAY, ZATTRS, ZGROUP, join
from omnizarr.format.parsed import Meta, parse_v2
from omnizarr.format.v2 import DIMENSIONS, parse_dims
from omnizarr.format.v2_codecs import parse_codecs
from omnizarr.format.v2_dtype import OBJECTS, parse_dtype, render_dtype
from omnizarr.format.v2_objects import objects_of
from omnizarr.model.codec import FROM_NUMCODECS, KINDS, is_unsafe
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.validate.document import Document
from omnizarr.tools.validate.fills import is_plain
from omnizarr.tools.validate.report import Codes

_REQUIRED: Final = ("shape", "chunks", "dtype")
_ASSUMED: Final[dict[str, JSON]] = {"compressor": None, "fill_value": None, "filters": None, "order": "C"}
_KNOWN: Final = frozenset(("zarr_format", "dimension_separator", *_REQUIRED, *_ASSUMED))
_REFUSED: Final = Codes("OZ399", "OZ399", "OZ399")
_STRINGS: Final = ("vlen-utf8", "vlen-bytes")


def check_v2(make: Callable[[str], Document], path: str, texts: Mapping[str, bytes]) -> Meta | None:
    """Check the documents of a node, and return what they say if they can be used.

    Args:
        make: Returns the document of a name.
        path: The node's path.
        texts: The documents by name; where there are those of an array and of a group, only the array counts.
    """
    name = ZARRAY if ZARRAY in texts else ZGROUP
    main = make(name)
    value = main.object(texts[name])
    errors = main.errors
    attributes: dict[str, JSON] | None = {}
    if ZATTRS in texts:
        doc = make(ZATTRS)
        attributes = doc.object(texts[ZATTRS], bare="attributes", rule="OZ325")
        errors += doc.errors
    if value is not None:
        before = main.errors
        if _has_version(main, value) and name == ZARRAY:
            _array(main, value)
            _dims(main, join(path, ZATTRS), value.get("shape"), attributes or {})
        elif name == ZGROUP:
            for field in value.keys() - {"zarr_format"}:
                main.add("OZ304", f"a group has no member {field!r}", f"/{part(field)}")
        errors += main.errors - before
    try:
        return parse_v2(path + "/" if path else "", texts, main.limits)
    except OmnizarrError as error:
        if not errors:
            main.fail(_REFUSED, error)
        return None


def _has_version(doc: Document, value: Mapping[str, JSON]) -> bool:
    version = value.get("zarr_format")
    if version != 2 or isinstance(version, bool):
        doc.add("OZ301", f"zarr_format is {describe(version)}, not 2", "/zarr_format")
        return False
    if not isinstance(version, int):
        cures = doc.edit("/zarr_format", 2)
        doc.add("OZ328", f"zarr_format is {describe(version)}, not an integer", "/zarr_format", cures=cures)
    return True


def _array(doc: Document, value: dict[str, JSON]) -> None:
    for field in _REQUIRED:
        if field not in value:
            doc.add("OZ302", f"the member {field!r} is missing", "/")
    for field, assumed in _ASSUMED.items():
        if field not in value:
            message = f"the member {field!r} is missing; {describe(assumed)} is assumed"
            doc.add("OZ303", message, "/", cures=doc.edit(f"/{field}", assumed))
    for field in value.keys() - _KNOWN:
        doc.add("OZ304", f"an array has no member {field!r}", f"/{part(field)}")
    shape = doc.attempt("OZ305", check.shape, value["shape"], doc.key, doc.limits) if "shape" in value else None
    chunks = _chunks(doc, value["chunks"], shape) if "chunks" in value and shape is not None else None
    order = value.get("order", "C")
    if order not in ("C", "F"):
        doc.add("OZ311", f"the order is {describe(order)}, not 'C' or 'F'", "/order")
    _separator(doc, value)
    dtype = _dtype(doc, value) if "dtype" in value else None
    _codecs(doc, value, chunks, dtype)
    if dtype is not None and value.get("fill_value") is not None:
        _fill(doc, value["fill_value"], dtype)


def _chunks(doc: Document, value: JSON, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    chunks = doc.attempt("OZ306", check.chunk_shape, value, shape, "/chunks", doc.key)
    for at, length in enumerate(chunks or ()):
        if length == 0:
            doc.add("OZ307", "a chunk of length 0", f"/chunks/{at}", cures=doc.edit(f"/chunks/{at}", 1))
    return chunks


def _separator(doc: Document, value: Mapping[str, JSON]) -> None:
    pointer = "/dimension_separator"
    separator = value.get("dimension_separator", ".")
    if separator is None:
        message = "dimension_separator is null; '.' is assumed"
        doc.add("OZ323", message, pointer, cures=doc.edit(pointer, "."))
    elif separator not in (".", "/"):
        doc.add("OZ322", f"dimension_separator is {describe(separator)}, not '.' or '/'", pointer)


def _dtype(doc: Document, value: Mapping[str, JSON]) -> DType | None:
    given, objects = value["dtype"], None
    if isinstance(given, str) and given in OBJECTS:
        try:
            objects = objects_of(value.get("filters"), doc.key)
        except UnsafeError as error:
            doc.fail(Codes("OZ319", "OZ319", "OZ319"), error)
        except UnsupportedError as error:
            doc.fail(Codes("OZ317", "OZ321" if error.codec is None else "OZ317", "OZ319"), error)
        except OmnizarrError as error:
            doc.fail(Codes("OZ318", "OZ317", "OZ319"), error)
        if objects is None:
            return None
    dtype = doc.attempt(Codes("OZ308", "OZ309", "OZ308"), parse_dtype, given, "/dtype", doc.key, objects)
    if dtype is not None and isinstance(given, str):
        plain = doc.attempt("OZ308", render_dtype, dtype, "")
        if plain not in (None, given) and not _is_same(given, plain):
            doc.add("OZ310", f"{given!r} should be {plain!r}", "/dtype", cures=doc.edit("/dtype", plain))
    return dtype


def _is_same(given: str, plain: JSON) -> bool:
    """Whether two spellings of a type differ only in a byte order that does not matter."""
    return isinstance(plain, str) and given[:1] in "<>|" and given[1:] == plain[1:]


def _codecs(doc: Document, value: Mapping[str, JSON], chunks: tuple[int, ...] | None, dtype: DType | None) -> None:
    filters, before = value.get("filters"), doc.errors
    steps: list[tuple[JSON, str]] = []
    if isinstance(filters, list):
        steps = [(item, f"/filters/{at}") for at, item in enumerate(filters)]
        if not filters:
            doc.add("OZ315", "a list without filters", "/filters", cures=doc.edit("/filters", None))
    elif filters is not None:
        doc.add("OZ314", f"the filters are {describe(filters)}, not a list or null", "/filters")
    if value.get("compressor") is not None:
        steps.append((value["compressor"], "/compressor"))
    for item, pointer in steps:
        _codec(doc, item, pointer, dtype)
    if doc.errors > before or chunks is None or dtype is None:
        return
    order = "F" if value.get("order") == "F" else "C"
    flow = Flow(chunks, dtype, doc.key, doc.limits)
    codes = Codes("OZ320", "OZ320", "OZ319")
    doc.attempt(codes, check.chunk_bytes, chunks, dtype, "/chunks", doc.key, doc.limits)
    doc.attempt(codes, parse_codecs, filters, value.get("compressor"), order, flow)


def _codec(doc: Document, item: JSON, pointer: str, dtype: DType | None) -> None:
    name = item.get("id") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(name, str) or not name:
        what = describe(name) if isinstance(item, dict) else describe(item)
        doc.add("OZ316", f"an object with an id is needed, not {what}", pointer)
        return
    settings = {field: member for field, member in item.items() if field != "id"}
    if name == "zstd" and type(settings.get("level")) is int:
        del settings["level"]  # numcodecs takes any number for the nearest level that there is
    is_plain_crc = name == "crc32c" and settings.get("location", "end") == "end"
    full = name if name in FROM_NUMCODECS and (name != "crc32c" or is_plain_crc) else f"numcodecs.{name}"
    if is_unsafe(name):
        doc.add("OZ319", f"the codec {name!r} would run code that the stored data hold", pointer)
        return
    doc.attempt("OZ318", check_config, "numcodecs.blosc" if name == "blosc" else full, settings, pointer, doc.key)
    if full not in KINDS and not _is_installed(name):
        doc.add("OZ317", f"the codec {name!r} is not known", pointer)
    if name in _STRINGS and dtype is not None and not dtype.vlen:
        message = f"{dtype.name} has one length, but is stored by {name!r}, as zarr-python 3.0 did by mistake"
        doc.add("OZ327", message, pointer, hint="Rewrite the array: oz convert.")


def _is_installed(name: str) -> bool:
    try:
        registry = import_module("numcodecs.registry")  # optional, and slow to import
    except ImportError:
        return False
    return name in registry.codec_registry or name in registry.entries


def _fill(doc: Document, value: JSON, dtype: DType) -> None:
    fill = doc.attempt("OZ312", fill_json.parse_v2, value, dtype, doc.key)
    if fill is None or is_plain(value, dtype, v3=False):
        return
    try:
        plain = fill_json.render_v2(fill, dtype)
    except OmnizarrError:  # a NaN that v2 has no word for
        return
    message = f"the fill value of {dtype.name} is {describe(value)}, which should be {plain!r}"
    doc.add("OZ313", message, "/fill_value", cures=doc.edit("/fill_value", plain))


def _dims(doc: Document, key: str, shape: JSON, attributes: Mapping[str, JSON]) -> None:
    names = attributes.get(DIMENSIONS)
    if DIMENSIONS not in attributes or not isinstance(shape, list):
        return
    if parse_dims(names, len(shape)) is None:
        message = f"{DIMENSIONS} is {describe(names)}, but there are {len(shape)} dimensions"
        doc.add("OZ326", message, f"/{DIMENSIONS}", hint=f"It stands in {key!r}.")
