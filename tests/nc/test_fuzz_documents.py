"""Damaged documents: opening and reading gives values or an error of ours, never another exception, and never hangs."""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from omnizarr.errors import OmnizarrError, OmnizarrWarning
from omnizarr.format.lenient import load
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.tree import Attr, Group, Storage
from omnizarr.nc.types import BY_NAME, Compound, Enum, Field, Opaque, Vlen

COUNT = int(os.environ.get("OMNIZARR_FUZZED_DOCUMENTS", "500"))
CORPUS = Path(__file__).parents[1] / "corpus/nczarr-generations.zip"
LONGEST = 10
LARGEST = 100_000

FIRST_GENERATION = {
    ".nczarr": {"zarr_format": 2, "nczarr_version": "1.0.0"},
    ".nczgroup": {"dims": {"x": 4, "y": 3}, "vars": ["f", "s"], "groups": ["g"]},
    ".nczattr": {"types": {"title": "2", "gi": "4"}},
    ".zgroup": {"zarr_format": 2},
    ".zattrs": {"title": "t", "gi": [7]},
    "f/.nczvar": {"dimrefs": ["/x", "/y"], "storage": "chunked"},
    "f/.nczattr": {"types": {"u": "2"}},
    "f/.zattrs": {"u": "m"},
    "f/.zarray": {
        "zarr_format": 2, "shape": [4, 3], "dtype": "<f4", "chunks": [4, 3], "fill_value": [-1.5], "order": "C",
        "compressor": None, "filters": None,
    },
    "s/.nczvar": {"dimrefs": [], "storage": "scalar"},
    "s/.zarray": {
        "zarr_format": 2, "shape": [1], "dtype": "<U1", "chunks": [1], "fill_value": "", "order": "C",
        "compressor": None, "filters": None,
    },
    "g/.nczgroup": {"dims": {}, "vars": [], "groups": []},
    "g/.zgroup": {"zarr_format": 2},
}  # fmt: skip


def tree(*, plain: bool) -> Group:
    root = Group()
    x, t = root.add_dim("x", 4), root.add_dim("t", 2, unlimited=True)
    root.attrs["title"] = Attr.of_text("title", "a title")
    root.attrs["numbers"] = Attr.of_values("numbers", BY_NAME["short"], [1, 2])
    root.attrs["words"] = Attr.of_values("words", BY_NAME["string"], ["a", "é"])
    for name in ("int", "double", "char", "ubyte"):
        var = root.add_var(f"v_{name}", BY_NAME[name], (t, x), Storage(chunks=(1, 2)))
        var.attrs["units"] = Attr.of_text("units", "m")
    root.add_var("packed", BY_NAME["int64"], (x,), Storage(deflate=1, shuffle=True, fletcher32=True))
    root.add_var("scalar", BY_NAME["float"])
    root.vars["v_int"].attrs["_FillValue"] = Attr.of_values("_FillValue", BY_NAME["int"], [-1])
    group = root.add_group("g")
    group.add_var("text", BY_NAME["string"], (x, group.add_dim("x", 3)))
    if not plain:
        kinds = [
            Enum("answer", BY_NAME["byte"], (("no", 0), ("yes", 1))),
            Opaque("key", 3),
            Compound("point", (Field("x", BY_NAME["float"]), Field("rgb", BY_NAME["ubyte"], (3,)))),
            Vlen("track", BY_NAME["int"]),
        ]
        for kind in kinds:
            root.add_var(f"of_{kind.name}", root.add_type(kind), (x,))
    return root


def written(kind: str, **options: Any) -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    source = create_source(store, tree(plain=kind.startswith("zarr") or bool(options)), kind, **options)
    var = source.root.vars["v_int"]
    source.write(var, (slice(0, 2, 1), slice(0, 4, 1)), np.arange(8, dtype="i4").reshape(2, 4))
    source.write(source.root.vars["packed"], (slice(0, 4, 1),), np.arange(4))
    source.close()
    return store


@pytest.fixture(scope="module")
def bases() -> list[dict[str, bytes]]:
    made = [written("nczarr"), written("nczarr3"), written("zarr"), written("zarr3")]
    first = {key: json.dumps(value).encode() for key, value in FIRST_GENERATION.items()}
    made.append({**first, "f/0.0": np.arange(12, dtype="f4").tobytes(), "s/0": b"q"})
    with ZipFile(CORPUS) as archive:
        for version in ("4.8.0", "4.9.0", "4.9.2", "4.10.1"):
            start = f"netcdf-c-{version}/"
            names = [name for name in archive.namelist() if name.startswith(start) and not name.endswith("/")]
            made.append({name[len(start) :]: archive.read(name) for name in names})
    return made


def is_document(key: str) -> bool:
    return key.rpartition("/")[2].startswith((".z", ".n", "zarr.json"))


ODD_VALUES: list[Any] = [
    None, True, 0, -1, 1, 2.5, 1e400, -0.0, 10**30, 2**63, -(2**63), 2**64, "", "x", "/", "//", "..", "\0", "é", "|J0",
    "|S0", "<i4", ">U1", "|O", "<M8[s]", "|V3", [], [[]], [None], [0], [-1], [10**9] * 3, [1] * 70, ["x"], ["/x", "/x"],
    {}, {"": {}}, {"size": -1, "unlimited": 1}, {"types": 5}, {"types": {"title": 7}}, {"id": "zlib", "level": 99},
    {"id": "nonsense"}, {"name": "answer", "class": "enum"},
    [{"class": "compound", "name": "p", "fields": [["a", "/p"]]}],
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Go through all containers of a document, with each of their keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from places(inner)


def mutated(data: bytes, rng: np.random.Generator) -> bytes | None:
    way = int(rng.integers(11))
    raw = bytearray(data)
    at = int(rng.integers(len(raw)))
    if way == 0:
        raw[at] ^= 1 << int(rng.integers(8))
    elif way == 1:
        raw = raw[:at]
    elif way == 2:
        raw[at:at] = rng.bytes(int(rng.integers(1, 5)))
    elif way == 3:
        return None
    elif way == 4:
        raw += data[: int(rng.integers(len(data)))]
    elif way == 5:
        deep = int(rng.choice([50, 2_000, 100_000]))
        raw = bytearray([b"[" * deep, b'{"a":' * deep, b"[" * deep + b"]" * deep][int(rng.integers(3))])
    else:
        document = load(data, "")
        for _ in range(int(rng.integers(1, 4))):
            found = list(places(document))
            if not found:
                break
            holder, key = found[int(rng.integers(len(found)))]
            odd = ODD_VALUES[int(rng.integers(len(ODD_VALUES)))]
            if way == 6:
                del holder[key]
            elif way == 7 and isinstance(holder, dict):
                holder[str(odd)[:20]] = holder.pop(key)
            else:
                holder[key] = json.loads(json.dumps(odd))
        return json.dumps(document, ensure_ascii=bool(rng.integers(2))).encode("utf-8", "surrogatepass")
    return bytes(raw)


def look_at_all(store: dict[str, bytes], **options: Any) -> int:
    """Open, and read every variable; return how many could be read."""
    read = 0
    try:
        source = open_source(store, **options)
    except OmnizarrError:
        return 0
    for group in source.root.walk():
        for var in group.vars.values():
            small = int(np.prod([float(n) for n in var.shape])) <= LARGEST
            key = tuple(slice(0, n if small else min(n, 2), 1) for n in var.shape)
            try:
                values = source.read(var, key)
            except OmnizarrError:
                continue
            assert values.shape == tuple(part.stop for part in key)
            read += 1
    source.close()
    return read


def test_the_bases_are_whole(bases):
    assert [look_at_all(base) for base in bases[:5]] == [11, 11, 7, 7, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OmnizarrWarning)
        assert all(look_at_all(base) > 5 for base in bases[5:])


def stop(_signal: int, _frame: object) -> None:
    raise TimeoutError


@pytest.mark.parametrize("part", range(5))
def test_damaged_documents(part, bases):
    wrong, read = [], 0
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for number in range(part, COUNT, 5):
            rng = np.random.default_rng([7, number])
            base = dict(bases[number % len(bases) if number % 2 else 0])
            documents = sorted(filter(is_document, base))
            key = documents[int(rng.integers(len(documents)))]
            changed = mutated(base[key], rng)
            if changed is None:
                del base[key]
            else:
                base[key] = changed
            signal.alarm(LONGEST)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", OmnizarrWarning)
                    read += look_at_all(base, **({"pure": True} if rng.integers(4) == 0 else {}))
            except Exception as error:  # noqa: BLE001 - this is what is looked for
                wrong.append(f"{number} {key} {changed and changed[:300]!r}: {type(error).__name__}: {error}"[:900])
            finally:
                signal.alarm(0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not wrong, f"{len(wrong)} of {COUNT // 5}:\n" + "\n".join(wrong[:8])
    assert read > COUNT // 5


@pytest.mark.parametrize("codec", [{"id": []}, {"id": {}}, {"id": None}, {}, "zlib", [], 5])
@pytest.mark.parametrize("kind", ["nczarr", "zarr"])
def test_codecs_without_a_name(codec, kind):
    store = written(kind)
    for change in ({"compressor": codec}, {"filters": [codec]}):
        store["packed/.zarray"] = json.dumps({**json.loads(store["packed/.zarray"]), **change}).encode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OmnizarrWarning)
            assert look_at_all(store) >= len([key for key in store if key.endswith(".zarray")]) - 1


@pytest.mark.parametrize("number", [128, -129, 2**63, 10**30])
def test_members_that_do_not_fit_their_enum(number):
    store = written("nczarr")
    attributes = json.loads(store[".zattrs"])
    attributes["_nczarr_group"]["user_types"][0]["members"][0][1] = number
    store[".zattrs"] = json.dumps(attributes).encode()
    with pytest.warns(OmnizarrWarning, match=f"is {number}, which no byte is"):
        assert look_at_all(store) == 10  # its variable cannot be read


def test_elements_that_do_not_fit_their_type():
    store = written("nczarr")
    attributes = json.loads(store[".zattrs"])
    for one in attributes["_nczarr_group"]["user_types"]:
        if one["name"] == "point":
            one["fields"] = one["fields"][:1]
    store[".zattrs"] = json.dumps(attributes).encode()
    source = open_source(store)
    with pytest.raises(OmnizarrError, match="point"):
        source.read(source.root.vars["of_point"], (slice(0, 4, 1),))
