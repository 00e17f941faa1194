"""Reference sets as JSON, version 0 and 1: https://fsspec.github.io/kerchunk/spec.html.

The kernel reads the text straight into columns. What needs a look from here are templates, formulas and documents.
Where the specification is silent: of a key that is there twice the last counts, `[url, null, null]` is all that the URL
names, the version may be text, and a set without one is version 1 if all its references are below `refs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from omnizarr import native
from omnizarr.errors import LimitError, MetadataError, warn
from omnizarr.format.dialects import DIALECTS
from omnizarr.format.document import load
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.keys import Keys
from omnizarr.refset.grids import ChunkGrid, grids
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.templates.gen import formulas
from omnizarr.refset.templates.scope import Templates

_NAMES: Final = frozenset(name for one in DIALECTS.values() for name in one.documents)


class JsonOptions(NamedTuple):
    """How a set is read."""

    template_overrides: Mapping[str, str] | None = None
    """Texts in place of templates of the set, by name."""

    target: str | None = None
    """What is meant by references whose URL is null."""

    most_expanded: int | None = None
    """Most references that formulas may make where they are expanded; `None` for what the limits say."""

    limits: Limits = DEFAULT_LIMITS


class Loaded(NamedTuple):
    """A set in the kernel, whose references have found their arrays."""

    inner: native.JsonSet
    grids: dict[str, ChunkGrid]
    stamps: dict[str, Stamp]


def read_json(data: bytes, options: JsonOptions = JsonOptions()) -> References:  # noqa: B008 - it never changes
    """Read a set from the bytes of its file, packed by gzip or zstd or not at all.

    Formulas (`gen`) are expanded, as columns have no place for them; `open_set` does not expand them.

    Args:
        data: The bytes.
        options: How to read them.

    Raises:
        MetadataError: If the text is no set; the error names the key.
        UnsafeError: If a template has more than expressions, or a key would lead out of a store.
        LimitError: If it asks for more than is allowed.

    >>> text = b'{"version": 1, "templates": {"u": "a.nc"}, "refs": {"x": ["{{u}}", 10, 20], "y": "data"}}'
    >>> made = read_json(text)
    >>> made.others, made.documents
    ({'x': ('a.nc', 10, 20)}, {'y': b'data'})
    """
    return references_of(load_json(data, options, expand=True))


def references_of(loaded: Loaded) -> References:
    """Take the columns of a set out of the kernel."""
    inner, known, stamps = loaded
    urls = inner.urls()
    made = References(documents=inner.documents(), urls=urls, stamps=stamps)
    for key, url, part in inner.others():
        made.others[key] = (urls[url],) if part is None else (urls[url], *part)
    for i, (path, grid) in enumerate(known.items()):
        numbers, ids, offsets, lengths, inline = inner.columns(i)
        made.arrays[path] = Chunks(grid.counts, ids, offsets, lengths, numbers, inline)
    return made


def load_json(data: bytes, options: JsonOptions = JsonOptions(), *, expand: bool = False) -> Loaded:  # noqa: B008 - as above
    """Read a set into the kernel.

    Args:
        data: The bytes of its file.
        options: How to read them.
        expand: Whether formulas become references.
    """
    most = options.limits.max_set_bytes
    if len(data) > most:
        raise LimitError(f"the set has {len(data)} bytes; {most} are allowed")
    text = native.unpacked(data, most)
    inner = native.JsonSet.read(data if text is None else text, options.target)
    strange = inner.strange()
    if "refs" in strange:
        raise MetadataError("references are no object", key="refs")
    if strange:
        warn(f"members of a reference set that mean nothing: {', '.join(map(repr, strange[:5]))}")
    members = {name: _value(name, raw, options.limits) for name, raw in inner.members().items()}
    return _filled(inner, members, options, expand=expand)


def load_mapping(given: Mapping[str, Any], options: JsonOptions = JsonOptions(), *, expand: bool = False) -> Loaded:  # noqa: B008 - as above
    """Read a set that is a mapping in memory, as `json.load` would give it; values may be bytes as well."""
    import json  # noqa: PLC0415 - few sets come so

    inner = native.JsonSet()
    one = _is_one(given)
    refs: Mapping[str, Any] = given.get("refs", {}) if one else given
    if one and given.get("version", 1) not in (0, 1, "1"):
        raise MetadataError(f"there is no version {given['version']!r} of reference sets", key="version")
    if not isinstance(refs, Mapping):
        raise MetadataError("references are no object", key="refs")
    for key, value in refs.items():
        if isinstance(value, (bytes, bytearray, memoryview)):
            inner.push_inline(key, bytes(value))
        else:
            _push(inner, key, value, json.dumps, options)
    members = {name: given[name] for name in ("templates", "gen", "omnizarr") if name in given} if one else {}
    return _filled(inner, members, options, expand=expand)


def _is_one(given: Mapping[str, Any]) -> bool:
    """Whether a mapping is of version 1, which need not have references."""
    if isinstance(given.get("refs"), Mapping):
        return True
    version = given.get("version")
    if isinstance(version, int):  # no reference is a number
        return version != 0
    # A file of version 0 may be called "gen", and is no list of objects.
    formulas = given.get("gen") if "version" in given and "refs" not in given else None
    return isinstance(formulas, list) and all(isinstance(one, Mapping) for one in cast("list[object]", formulas))


def _push(inner: native.JsonSet, key: str, value: object, dumps: Any, options: JsonOptions) -> None:  # noqa: ANN401 - json.dumps
    """Add what is not bytes by way of its text, so that one reader decides what is right."""
    try:
        text = dumps({key: list(value) if isinstance(value, tuple) else value})
    except (TypeError, ValueError, RecursionError):
        raise MetadataError(f"{type(value).__name__} is no reference", key=str(key)) from None
    read = native.JsonSet.read(text.encode("utf-8", "surrogatepass"), options.target)
    read.place([])
    urls = read.urls()
    for name, data in read.documents().items():
        inner.push_inline(name, data)
    for name, url, part in read.others():
        inner.push_part(name, urls[url], part)


def _value(name: str, raw: bytes, limits: Limits) -> object:
    return load(raw, name, limits)


def _filled(inner: native.JsonSet, members: Mapping[str, object], options: JsonOptions, *, expand: bool) -> Loaded:
    try:
        _fill_in(inner, _templates(members.get("templates"), options.template_overrides), members.get("gen"))
    except UnicodeEncodeError as error:
        text = f"half of a pair of surrogates stands alone in a template or formula: {error.object[:100]!r}"
        raise MetadataError(text) from None
    if expand:
        most = options.most_expanded
        inner.expand(options.limits.max_set_references if most is None else most)
    # Chunks of an array that cannot be understood stay references under their keys.
    found = grids(inner.texts(_NAMES), options.limits, {})
    inner.place([(path, template_of(grid.keys), grid.counts) for path, grid in found.items()])
    return Loaded(inner, found, _stamps(members.get("omnizarr")))


def _fill_in(inner: native.JsonSet, templates: dict[str, str], gen: object) -> None:
    """Put templates in the place of their names, and add what formulas say."""
    if templates:
        known = Templates(templates)
        new = {number: known.text(url, inner.key_of(number)) for number, url in inner.templated()}
        if new:
            inner.replace_urls(new)
    for one in formulas(gen, Templates(templates)) if gen is not None else ():
        inner.add_formula(*one)


def template_of(keys: Keys) -> tuple[str, str, str, str, bool]:
    """Return a template of keys as the kernel wants it."""
    return keys.prefix, keys.separator, keys.suffix, keys.scalar, keys.reversed


def _templates(given: object, overrides: Mapping[str, str] | None) -> dict[str, str]:
    if given is not None and not isinstance(given, dict):
        raise MetadataError("templates are no object", key="templates")
    texts: dict[str, Any] = {**(given or {}), **(overrides or {})}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise MetadataError("a template is no text", key=f"templates.{name}")
    return texts


def _stamps(given: object) -> dict[str, Stamp]:
    """Return what sources were like, which only sets of our own say."""
    sources = given.get("sources") if isinstance(given, dict) else None
    found: dict[str, Stamp] = {}
    for url, state in sources.items() if isinstance(sources, dict) else ():
        if not isinstance(state, dict):
            raise MetadataError("what a source was like is no object", key=f"omnizarr.sources.{url}")
        size, modified, etag = (state.get(part) for part in Stamp._fields)
        known = (
            (size is None or _is_count(size))
            and (modified is None or _is_count(modified))
            and (etag is None or isinstance(etag, str))
        )
        if not known:
            raise MetadataError("what a source was like cannot be understood", key=f"omnizarr.sources.{url}")
        found[str(url)] = Stamp(size, modified, etag)
    return found


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
