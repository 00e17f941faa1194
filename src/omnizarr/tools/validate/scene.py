"""All that lies in a store below a path, sorted into documents and other keys before any rule is asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from omnizarr.errors import OmnizarrError
from omnizarr.format.dialects import DIALECTS, DRAFT, ZARR1
from omnizarr.format.draft import is_entry_point
from omnizarr.format.names import ATTRS, META, ZARR_JSON, ZMETADATA, join
from omnizarr.hierarchy.draft_view import DraftView, find_draft
from omnizarr.limits import Limits
from omnizarr.store.file import FileStore
from omnizarr.store.protocol import Store
from omnizarr.tools.validate.document import lenient
from omnizarr.tools.validate.report import Codes, Sink, words

_NAMES: Final = frozenset(
    (ZMETADATA, *(name for one in DIALECTS.values() if one is not DRAFT for name in one.documents))
)
_BATCH: Final = 512


class Scene:
    """What is there."""

    __slots__ = ("draft", "entry", "keys", "limits", "others", "start", "store", "texts")

    def __init__(self, store: Store, start: str, limits: Limits) -> None:
        self.store = store
        """Where nodes are: for a draft, the view of it."""
        self.start = start
        """The path below which all of this is."""
        self.limits = limits
        self.texts: dict[str, dict[str, bytes]] = {}
        """Documents by the path of their node and their name."""
        self.others: list[str] = []
        """All keys that are no documents."""
        self.keys = 0
        self.draft: DraftView | None = None
        self.entry: bytes | None = None
        """The entry point of a draft."""

    def key(self, path: str, name: str) -> str:
        """Return the key of a document in the store that the user named."""
        if self.draft is None or name not in DRAFT.documents:
            return join(path, name)
        candidates = [self.draft.start + one for one in self.draft.layout.candidates(path, name)]
        found = self.draft.inner.get_many(candidates)
        return next((key for key, data in zip(candidates, found, strict=True) if data is not None), candidates[0])

    def chunk(self, path: str, inner: str) -> str:
        """Return the key of a chunk in the store that the user named."""
        key = join(path, inner)
        return key if self.draft is None else f"{self.draft.start}{self.draft.layout.data}{key}"


def survey_scene(store: Store, start: str, limits: Limits, sink: Sink, tick: Callable[[int], None]) -> Scene:
    """List a store below a path and read its documents; those that cannot be read are told of."""
    scene = Scene(store, start, limits)
    prefix = start + "/" if start else ""
    documents: list[str] = []
    for key in store.list_prefix(prefix):
        scene.keys += 1
        (documents if key.rpartition("/")[2] in _NAMES else scene.others).append(key)
        if not scene.keys % 10_000:
            tick(scene.keys)
    for key, data in zip(documents, _read(store, documents, sink), strict=True):
        if data is not None:
            path, _, name = key.rpartition("/")
            scene.texts.setdefault(path, {})[name] = data
    for path in list(scene.texts):
        _drop_lookalikes(scene, path)
    scene.others += _unlisted(store, prefix)
    _find_draft(scene, sink)
    return scene


def _read(store: Store, keys: Sequence[str], sink: Sink) -> list[bytes | None]:
    values: list[bytes | None] = []
    for at in range(0, len(keys), _BATCH):
        batch = keys[at : at + _BATCH]
        try:
            values += store.get_many(batch)
        except OmnizarrError:
            values += [_read_one(store, key, sink) for key in batch]
    return values


def _read_one(store: Store, key: str, sink: Sink) -> bytes | None:
    try:
        return store.get(key)
    except OmnizarrError as error:
        sink.add("OZ110", (key.rpartition("/")[0], key), error.message, hint=error.hint)
        return None


def _drop_lookalikes(scene: Scene, path: str) -> None:
    """Take names that any file may have for documents only where they look like them."""
    texts = scene.texts[path]
    if META not in texts or not ZARR1.claims(texts[META]):
        for name in (META, ATTRS):
            if texts.pop(name, None) is not None:
                scene.others.append(join(path, name))
    if not texts:
        del scene.texts[path]


def _unlisted(store: Store, prefix: str) -> list[str]:
    """Return what unfinished writes and copies have left in the file system, which a store never lists."""
    while (see_through := getattr(store, "see_through", None)) is not None:
        store, prefix = see_through(prefix)
    if not isinstance(store, FileStore):
        return []
    top, found = store.path(prefix[:-1]) if prefix else store.root, []
    for folder, folders, names in os.walk(top):
        left = [name for name in folders if name.startswith(".") and name.endswith(".partial")]
        folders[:] = [name for name in folders if name not in left]
        for name in (*left, *names):
            if name.startswith(".") and name.endswith(".partial"):
                inner = os.path.relpath(os.path.join(folder, name), top)  # noqa: PTH118 - as `os.walk` gives
                found.append(prefix + inner.replace(os.sep, "/"))
    return found


def _find_draft(scene: Scene, sink: Sink) -> None:
    """Turn the scene into that of a draft's hierarchy, if there is one."""
    root = scene.texts.get(scene.start, {})
    data = root.get(ZARR_JSON)
    if root and (data is None or len(root) > 1 or not _is_entry_point(data)):
        return
    try:
        found = find_draft(scene.store, scene.start, scene.limits)
    except OmnizarrError as error:
        message, pointer = words(error)
        rule = Codes("OZ431", "OZ436", "OZ431").of(error)
        sink.add(rule, (scene.start, join(scene.start, ZARR_JSON)), message, pointer=pointer)
        return
    if found is None or found[1]:
        return
    view = found[0]
    scene.draft, scene.store, scene.start, scene.entry = view, view, "", data
    scene.texts = {}
    _walk(scene, view, "")
    scene.others = list(view.list_prefix(""))


def _is_entry_point(data: bytes) -> bool:
    try:
        value = lenient(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, Mapping) and is_entry_point(value.get("zarr_format"))


def _walk(scene: Scene, view: DraftView, path: str) -> None:
    values = view.get_many([join(path, name) for name in DRAFT.documents])
    texts = {name: value for name, value in zip(DRAFT.documents, values, strict=True) if value is not None}
    if texts:
        scene.texts[path] = texts
    for prefix in view.list_dir(path + "/" if path else "")[1]:
        _walk(scene, view, prefix[:-1])


def nearest(path: str, nodes: Iterable[str] | Mapping[str, object]) -> str | None:
    """Return the nearest path above or at a path that is among nodes."""
    while path not in nodes:
        if not path:
            return None
        path = path.rpartition("/")[0]
    return path
