"""For each rule a store that breaks it, and as little else as possible."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.tools.validate import bases
from tests.tools.validate.bases import Tree, dump


class Broken(NamedTuple):
    """A way to break a rule."""

    base: Callable[[], Tree]
    spoil: Callable[[Tree], None]
    also: frozenset[str] = frozenset()
    """Rules that cannot but be broken, too."""

    decode: bool = False

    def tree(self) -> Tree:
        tree = self.base()
        self.spoil(tree)
        return tree


BROKEN: dict[str, Broken] = {}


def case(rule: str, base: Callable[[], Tree], *also: str, decode: bool = False) -> Any:
    def take(spoil: Callable[[Tree], None]) -> Callable[[Tree], None]:
        assert rule not in BROKEN
        BROKEN[rule] = Broken(base, spoil, frozenset(also), decode)
        return spoil

    return take


def doc(key: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Tree], None]:
    def spoil(tree: Tree) -> None:
        value = json.loads(tree[key])
        change(value)
        tree[key] = dump(value)

    return spoil


def put(key: str, value: bytes) -> Callable[[Tree], None]:
    return lambda tree: tree.__setitem__(key, value)


def drop(key: str) -> Callable[[Tree], None]:
    return lambda tree: tree.__delitem__(key)


def member(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda document: document.__setitem__(name, value)


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda document: document.__delitem__(name)


def text(old: bytes, new: bytes, key: str) -> Callable[[Tree], None]:
    def spoil(tree: Tree) -> None:
        assert old in tree[key]
        tree[key] = tree[key].replace(old, new, 1)

    return spoil


A3, A2, B2 = "a/zarr.json", "a/.zarray", "g/b/.zarray"

# Documents as texts.
case("OZ101", bases.v3)(text(b'"x"', b'"\xff"', A3))
case("OZ102", bases.v3)(lambda tree: tree.update({A3: b"\xef\xbb\xbf" + tree[A3]}))
case("OZ103", bases.v3)(lambda tree: tree.update({A3: tree[A3].rstrip()[:-1]}))
case("OZ104", bases.v2)(text(b'"zarr_format"', b'"order": "C", "zarr_format"', A2))
case("OZ105", bases.v3)(doc(A3, member("attributes", {"x": float("nan")})))
case("OZ106", bases.v2)(doc(B2, member("fill_value", float("nan"))))
case("OZ107", bases.v3)(put(A3, b"[1]"))
case("OZ108", bases.v3)(put(A3, b"[" * 200 + b"]" * 200))
case("OZ109", bases.v3)(put(A3, b""))

# v3.
case("OZ201", bases.v3)(doc(A3, member("zarr_format", 4)))
case("OZ202", bases.v3)(doc(A3, member("zarr_format", 3.0)))
case("OZ203", bases.v3)(doc(A3, member("node_type", "matrix")))
case("OZ204", bases.v3)(doc(A3, without("fill_value")))
case("OZ205", bases.v3)(doc(A3, member("extensions", [])))
case("OZ206", bases.v3)(doc(A3, member("shape", [4, -6])))
case("OZ207", bases.v3)(doc(A3, member("data_type", 7)))
case("OZ208", bases.v3)(doc(A3, member("data_type", "decimal128")))
case("OZ209", bases.v3)(doc(A3, member("fill_value", 2**40)))
case("OZ210", bases.v3)(doc(A3, member("fill_value", "0")))
case("OZ211", bases.v3)(doc(A3, member("chunk_grid", {"name": "regular", "configuration": {"chunk_shape": [2]}})))


@case("OZ212", bases.v3)
def zero_chunk(tree: Tree) -> None:
    for key in [key for key in tree if key.startswith("a/c/")]:
        del tree[key]
    doc(A3, member("shape", [0, 6]))(tree)
    doc(A3, lambda value: value["chunk_grid"]["configuration"].update(chunk_shape=[0, 3]))(tree)


case("OZ213", bases.v3)(doc(A3, member("chunk_grid", {"name": "hexagonal"})))
case("OZ214", bases.v3)(doc(A3, member("chunk_key_encoding", {"name": "default", "configuration": {"separator": "-"}})))
case("OZ215", bases.v3)(doc(A3, member("chunk_key_encoding", {"name": "fanout"})))
case("OZ216", bases.v3)(doc(A3, member("attributes", [1])))
case("OZ217", bases.v3)(doc(A3, member("dimension_names", None)))
case("OZ218", bases.v3)(doc(A3, member("dimension_names", ["y", 1])))
case("OZ219", bases.v3)(doc(A3, member("dimension_names", ["y"])))
case("OZ220", bases.v3)(doc(A3, member("dimension_names", ["x", "x"])))
case("OZ221", bases.v3)(doc(A3, member("storage_transformers", {})))
case("OZ222", bases.v3)(doc(A3, member("storage_transformers", [{"name": "concat"}])))
case("OZ223", bases.v3)(doc(A3, lambda value: value["chunk_grid"].update(must_understand=False)))
case("OZ224", bases.v3)(doc(A3, member("codecs", "bytes")))
case("OZ225", bases.v3)(doc(A3, member("codecs", [{"configuration": {}}])))
case("OZ226", bases.v3, "OZ713")(doc(A3, lambda value: value["codecs"].append({"name": "acme.squash"})))
case("OZ227", bases.v3)(
    doc(A3, lambda value: value["codecs"].append({"name": "transpose", "configuration": {"order": [1, 0]}}))
)
case("OZ228", bases.v3)(doc(A3, member("codecs", [])))
case("OZ229", bases.v3)(doc(A3, lambda value: value["codecs"].append({"name": "gzip", "configuration": {"level": 99}})))
case("OZ230", bases.v3)(doc(A3, member("codecs", [{"name": "numcodecs.pickle"}])))
case("OZ231", bases.v3)(
    doc(A3, lambda value: value["codecs"].insert(0, {"name": "transpose", "configuration": {"order": [0, 0]}}))
)
case("OZ232", bases.v3)(doc(A3, member("codecs", [{"name": "bytes"}])))
case("OZ233", bases.v3)(doc(A3, member("chunk_key_encoding", "default")))
case("OZ234", bases.v3)(doc(A3, lambda value: value["codecs"][0].update(name="endian")))
case("OZ235", bases.sharded)(
    doc("zarr.json", lambda value: value["codecs"][0]["configuration"].update(chunk_shape=[3, 2]))
)
case("OZ236", bases.sharded)(
    doc("zarr.json", lambda value: value["codecs"][0]["configuration"].update(index_location="middle"))
)
case("OZ237", bases.sharded)(doc("zarr.json", lambda value: value["codecs"][0]["configuration"].pop("index_codecs")))
case("OZ238", bases.sharded)(
    doc(
        "zarr.json",
        lambda value: value["codecs"][0]["configuration"]["index_codecs"].append(
            {"name": "gzip", "configuration": {"level": 1}}
        ),
    )
)
case("OZ239", bases.v3, "OZ215")(doc(A3, member("chunk_key_encoding", {"name": "My Keys"})))


@case("OZ299", bases.sharded)
def uneven_shards(tree: Tree) -> None:
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 1, 3], [8]]}}
    doc("zarr.json", member("chunk_grid", grid))(tree)


# The last chunk above cannot be cut, which only shows once all lengths are compared.

# v2.
case("OZ301", bases.v2)(doc(A2, member("zarr_format", 3)))
case("OZ302", bases.v2)(doc(A2, without("chunks")))
case("OZ303", bases.v2)(doc(A2, without("filters")))
case("OZ304", bases.v2)(doc(A2, member("units", "m")))
case("OZ305", bases.v2)(doc(A2, member("shape", "4")))
case("OZ306", bases.v2)(doc(A2, member("chunks", [2, 0])))


@case("OZ307", bases.v2)
def zero_chunk_v2(tree: Tree) -> None:
    for key in [key for key in tree if key.startswith("a/") and key[2:3].isdigit()]:
        del tree[key]
    doc(A2, lambda value: value.update(shape=[0, 6], chunks=[0, 3]))(tree)


case("OZ308", bases.v2)(doc(A2, member("dtype", [["x"]])))
case("OZ309", bases.v2)(doc(A2, member("dtype", "<i3")))
case("OZ310", bases.v2)(doc(A2, member("dtype", "int32")))
case("OZ311", bases.v2)(doc(A2, member("order", "A")))
case("OZ312", bases.v2)(doc(A2, member("fill_value", "much")))
case("OZ313", bases.v2)(doc(B2, member("fill_value", "1.5")))
case("OZ314", bases.v2)(doc(A2, member("filters", "delta")))
case("OZ315", bases.v2)(doc(A2, member("filters", [])))
case("OZ316", bases.v2)(doc(A2, member("compressor", {"name": "zlib"})))
case("OZ317", bases.v2, "OZ713")(doc(A2, member("compressor", {"id": "squash"})))
case("OZ318", bases.v2)(doc(A2, member("compressor", {"id": "zlib", "level": 44})))
case("OZ319", bases.v2)(doc(A2, member("filters", [{"id": "pickle"}])))
case("OZ320", bases.v2)(doc(A2, member("filters", [{"id": "shuffle", "elementsize": 7}])))
case("OZ321", bases.v2)(doc(A2, member("dtype", "|O")))
case("OZ322", bases.v2)(doc(A2, member("dimension_separator", ":")))
case("OZ323", bases.v2)(doc(A2, member("dimension_separator", None)))


@case("OZ324", bases.v2)
def nested(tree: Tree) -> None:
    for key in [key for key in tree if key.startswith("a/") and key[2:3].isdigit()]:
        tree[key.replace(".", "/")] = tree.pop(key)
    doc(A2, without("dimension_separator"))(tree)


case("OZ325", bases.v2)(put("a/.zattrs", b"[]"))
case("OZ326", bases.v2)(doc("a/.zattrs", member("_ARRAY_DIMENSIONS", ["y"])))


@case("OZ327", bases.v2)
def fixed_strings(tree: Tree) -> None:
    for key in [key for key in tree if key.startswith("g/b/") and key[4:5].isdigit()]:
        del tree[key]
    doc(B2, lambda value: value.update(dtype="|S3", fill_value=None, filters=[{"id": "vlen-bytes"}]))(tree)


case("OZ328", bases.v2)(doc(A2, member("zarr_format", 2.0)))

# Older and other formats.
case("OZ401", bases.v1)(doc("meta", member("zarr_format", 7)))
case("OZ402", bases.v1)(doc("meta", without("order")))
case("OZ403", bases.v1)(doc("meta", member("compression", "zip")))
case("OZ404", bases.v1)(lambda tree: tree.update(meta=tree["meta"][:-30]))
case("OZ405", bases.v1)(doc("meta", member("order", "F")))
case("OZ406", bases.v1)(drop("attrs"))
case("OZ411", bases.v0)(doc("__zmeta__", without("cname")))
case("OZ412", bases.v0)(doc("__zmeta__", member("clevel", 44)))
case("OZ413", bases.v0)(lambda tree: tree.update(__zmeta__=tree["__zmeta__"][:-30]))


@case("OZ414", bases.v0)
def pickled(tree: Tree) -> None:
    value = json.loads(tree["__zmeta__"])
    value.update(shape=tuple(value["shape"]), chunks=tuple(value["chunks"]), dtype=np.dtype(value["dtype"]))
    tree["__zmeta__"] = pickle.dumps(value, protocol=0)


case("OZ415", bases.v0, "OZ414")(put("__zmeta__", b"(dp0\nS'shape'\ncos\nsystem\n(S'true'\ntRs."))
case("OZ421", bases.n5)(doc("a/attributes.json", without("dataType")))
case("OZ422", bases.n5)(doc("a/attributes.json", member("blockSize", [3, 0])))
case("OZ423", bases.n5)(doc("attributes.json", without("n5")))
case("OZ424", bases.n5)(doc("a/attributes.json", member("dataType", "object")))
case("OZ431", bases.draft)(doc("zarr.json", without("extensions")))
case("OZ432", bases.draft)(drop("zarr.json"))
case("OZ433", bases.draft)(doc("meta/root/a.array.json", without("shape")))
case("OZ434", bases.draft)(doc("meta/root/a.array.json", member("shape", [4])))
case("OZ435", bases.draft)(doc("meta/root/a.array.json", member("colour", "red")))
case("OZ436", bases.draft)(doc("meta/root/a.array.json", member("chunk_grid", {"type": "hexagonal"})))

# Hierarchies.
case("OZ501", bases.v2)(put("a/.zgroup", b'{"zarr_format": 2}'))
case("OZ502", bases.v3)(
    put(
        "a/.zarray",
        b'{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i4", "fill_value": 0, "order": "C",'
        b' "filters": null, "compressor": null, "dimension_separator": "."}',
    )
)


@case("OZ503", bases.v3)
def node_below(tree: Tree) -> None:
    tree["a/below/zarr.json"] = tree["g/zarr.json"]


case("OZ504", bases.v3)(drop("g/zarr.json"))


@case("OZ505", bases.v3)
def reserved(tree: Tree) -> None:
    tree["__x/zarr.json"] = tree["g/zarr.json"]


@case("OZ506", bases.v3)
def alike(tree: Tree) -> None:
    tree["G/zarr.json"] = tree["g/zarr.json"]


case("OZ507", bases.v2)(put("lost/.zattrs", b'{"a": 1}'))
case("OZ508", bases.v3)(put("old/.zgroup", b'{"zarr_format": 2}'))
case("OZ509", bases.v2)(drop("g/.zgroup"))
case("OZ510", bases.v3)(drop("zarr.json"))

# Keys.
case("OZ601", bases.v3)(put("a/notes.txt", b"hello"))
case("OZ602", bases.v3)(put("g/.DS_Store", b"x"))
case("OZ603", bases.v3)(put("a/c/0/.1f-2.partial", b"half"))
case("OZ604", bases.v2)(put("a/0.0.lock", b""))
case("OZ605", bases.v3)(put("a/c/9/9", b"\0" * 24))
case("OZ606", bases.v3)(put("a/1.1", b"\0" * 24))
case("OZ607", bases.v3)(put("a/c/01/1", b"\0" * 24))
case("OZ608", bases.v3)(put("a/c/5", b"\0" * 24))


@case("OZ609", bases.v2)
def chunk_folder(tree: Tree) -> None:
    del tree["a/1.1"]
    tree["a/1.1/x"] = b"x"


@case("OZ610", bases.v2)
def document_folder(tree: Tree) -> None:
    del tree["a/.zattrs"]
    tree["a/.zattrs/x"] = b"x"


case("OZ611", bases.v3)(put("a/.omnizarr-resize.json", b'{"shape": [40, 40]}'))
case("OZ612", bases.v3)(put(".omnizarr-append.json", b'{"a": [[1, 1], [2, 2]]}'))

# Chunks.
case("OZ701", bases.v3)(put("a/c/0/0", b""))
case("OZ702", bases.v3)(put("a/c/0/0", b"\0" * 23))
case("OZ703", bases.v2, decode=True)(put("a/0.0", b"not zlib"))


@case("OZ704", bases.v3, decode=True)
def checksum(tree: Tree) -> None:
    doc(A3, lambda value: value["codecs"].append({"name": "crc32c"}))(tree)
    from omnizarr.native import Stream

    for key in [key for key in tree if key.startswith("a/c/")]:
        tree[key] = Stream([("crc32c", {})]).encode(tree[key])
    tree["a/c/0/0"] = b"\xff" + tree["a/c/0/0"][1:]


def index(change: Callable[[Any], None]) -> Callable[[Tree], None]:
    """Change the index of the first shard, four pairs of offset and length, and put its checksum right."""

    def spoil(tree: Tree) -> None:
        from omnizarr.native import Stream

        data = tree["c/0/0"]
        entries = np.frombuffer(data[-68:-4], "<u8").reshape(4, 2).copy()
        change(entries)
        tree["c/0/0"] = data[:-68] + Stream([("crc32c", {})]).encode(entries.tobytes())

    return spoil


case("OZ705", bases.sharded)(put("c/0/0", b"\0" * 20))
case("OZ706", bases.sharded)(lambda tree: tree.update({"c/0/0": tree["c/0/0"][:-1] + b"\0"}))
case("OZ707", bases.sharded)(index(lambda entries: entries.__setitem__((0, 0), 10**6)))
case("OZ708", bases.sharded)(index(lambda entries: entries.__setitem__((0, 0), entries[1, 0] + 4)))
case("OZ709", bases.sharded)(index(lambda entries: entries.__setitem__((0, 0), 2**64 - 1)))
case("OZ710", bases.sharded)(index(lambda entries: entries.fill(2**64 - 1)))


@case("OZ714", bases.n5, decode=True)
def block_header(tree: Tree) -> None:
    tree["a/0/0"] = struct.pack(">HHII", 0, 2, 9, 9) + tree["a/0/0"][12:]


# Consolidated metadata.
case("OZ801", bases.v2_consolidated)(put(".zmetadata", b"{"))
case("OZ802", bases.v2_consolidated)(doc(".zmetadata", member("zarr_consolidated_format", 9)))


@case("OZ803", bases.v2_consolidated)
def gone(tree: Tree) -> None:
    for key in [key for key in tree if key.startswith("a/")]:
        del tree[key]


@case("OZ804", bases.consolidated)
def added(tree: Tree) -> None:
    tree["new/zarr.json"] = tree["g/zarr.json"]


case("OZ805", bases.consolidated)(doc(A3, member("attributes", {"changed": True})))
case("OZ806", bases.consolidated)(doc("zarr.json", lambda value: value["consolidated_metadata"].pop("must_understand")))
case("OZ807", bases.v2_consolidated)(
    doc(".zmetadata", lambda value: value["metadata"].update({"../x/.zgroup": {"zarr_format": 2}}))
)


@case("OZ808", bases.v2_consolidated)
def alone(tree: Tree) -> None:
    for key in [key for key in tree if key.rpartition("/")[2] in (".zarray", ".zgroup", ".zattrs")]:
        del tree[key]


ELSEWHERE = {
    "OZ110": "needs a file that cannot be read",
    "OZ399": "a net for what the other rules of v2 might miss",
    "OZ409": "a net, as OZ399",
    "OZ419": "a net, as OZ399",
    "OZ429": "a net, as OZ399",
    "OZ439": "a net, as OZ399",
    "OZ711": "a net for indexes, as OZ399",
    "OZ712": "needs a store that fails",
    "OZ713": "comes with unknown codecs",
    "OZ901": "needs an archive",
    "OZ902": "needs an archive",
    "OZ903": "needs an archive",
}
"""Rules that have no case here, and why."""
