"""What is said of a node: the facts of arrays, the counts of groups, the state of copies, and what is odd."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError
from omnizarr.tools.info.info import info
from omnizarr.tools.info.scan import scan
from omnizarr.tools.nodes import context_of, nodes_of

WRITABLE = ("zarr3", "zarr2", "zarr1", "zarr0")


def remarks(found):
    return {remark.id: remark.message for remark in found.remarks}


@pytest.mark.parametrize("form", WRITABLE)
def test_an_array_of_every_format(tmp_path, form):
    a = oz.create_array(
        tmp_path / "a", shape=(40, 30), dtype="f4", chunks=(10, 10), fill_value=5, format=form, attrs={"units": "K"}
    )
    a[:20, :20] = 1
    found = info(tmp_path / "a")
    assert (found.kind, found.format, found.store, found.name) == ("array", form, "file", "/")
    assert found.what.endswith("array")
    assert "there is" in found.reason
    assert found.attributes == {"units": "K"}
    assert found.group is None
    known = found.array
    assert known is not None
    assert (known.shape, known.dtype, known.chunks, known.shards, known.fill_value) == (
        (40, 30), "float32", (10, 10), None, 5.0,
    )  # fmt: skip
    assert (known.nbytes, known.chunk_nbytes, known.nchunks) == (4800, 400, 12)
    assert known.census is not None
    assert (known.census.present, known.census.chunks, known.census.nbytes) == (4, 12, a.nbytes_stored)
    assert known.ratio == pytest.approx(1600 / a.nbytes_stored)
    assert a.store.exists(known.first_key)
    assert found.remarks == () if form in ("zarr3", "zarr2") else "old-format" in remarks(found)


def test_a_handle_is_as_good_as_a_place():
    group = oz.create_group({})
    a = group.create_array("x/a", shape=(4,), dtype="i4", dims=("time",))
    found = info(a)
    assert (found.name, found.store, found.array.dims) == ("/x/a", "memory", ("time",))
    assert info(group, path="x/a") == found
    assert (info(group).group.arrays, info(group).group.groups) == (1, 1)


def test_shards_are_looked_into_on_request():
    a = oz.create_array(oz.MemoryStore(), shape=(40, 40), dtype="i4", chunks=(10, 10), shards=(20, 20))
    a[:10, :10] = 1
    known = info(a, cells=False).array
    assert (known.shards, known.shard_nbytes, known.census.present, known.census.cells) == ((20, 20), 1600, 1, None)
    for known in (info(a).array, info(a, cells=True).array):
        assert (known.census.cells, known.census.cells_present, known.census.filled) == (16, 1, None)
        assert known.ratio == pytest.approx(400 / a.nbytes_stored)
    assert info(a, decode=True).array.census.filled == 0
    assert info(a, stored=False).array.census is None


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"shape": (4000,), "chunks": (2,), "dtype": "u1"}, "tiny-chunks"),
        ({"shape": (1 << 30,), "chunks": (1 << 29,), "dtype": "u1"}, "huge-chunks"),
        ({"shape": (1 << 40,), "chunks": (1 << 20,), "dtype": "u1"}, "many-keys"),
        ({"shape": (4,), "dtype": "u1"}, "uninitialised"),
        ({"shape": (4,), "dtype": "f4", "codecs": [{"name": "numcodecs.zfpy", "configuration": {"mode": 5,
          "precision": 12}}]}, "unstable-codec"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_odd_layouts_are_remarked_on(options, word):
    group = oz.create_group({})
    a = group.create_array("a", **options)
    assert word in remarks(info(a))
    if word != "uninitialised":
        assert remarks(info(group))[word] == "in a"
    assert remarks(info(group, stored=True))["uninitialised"] == "in a"


def test_odd_keys_are_remarked_on(tmp_path):
    a = oz.create_array(tmp_path / "a", shape=(4,), dtype="u1", chunks=(2,))
    a[:2] = 1
    assert remarks(info(tmp_path / "a")) == {}
    for name in ("zarr.json.bak", "c/9", "c/.1-1.partial"):
        (tmp_path / "a" / name).write_bytes(b"?")
    found = remarks(info(tmp_path / "a"))
    assert sorted(found) == ["outside-keys", "stray-keys", "unfinished-writes"]
    assert found["stray-keys"] == "keys that are neither chunks nor documents (1): zarr.json.bak"
    (tmp_path / "a" / "c" / "0").write_bytes(b"")
    assert "empty" not in remarks(info(tmp_path / "a"))
    assert "'c/0': it has no bytes" in remarks(info(tmp_path / "a", decode=True))["faults"]


def test_an_undefined_fill_is_remarked_on_if_it_is_needed():
    a = oz.create_array({}, shape=(4,), dtype="u1", chunks=(2,), format="zarr2", fill_value=None)
    a[:2] = 1
    assert "undefined-fill" in remarks(info(a))
    a[2:] = 1
    assert remarks(info(a)) == {}


def test_documents_of_two_formats_are_remarked_on(tmp_path):
    oz.create_array(tmp_path / "a", shape=(4,), dtype="u1")[...] = 1
    oz.create_array(tmp_path / "b", shape=(4,), dtype="u1", format="zarr2")
    (tmp_path / "a" / ".zarray").write_bytes((tmp_path / "b" / ".zarray").read_bytes())
    found = info(tmp_path / "a")
    assert "v2 and v3" in remarks(found)["odd-document"]
    assert "counts less" in found.reason
    assert info(tmp_path / "a", format="zarr2").format == "zarr2"


def hierarchy(form, where):
    group = oz.create_group(where, format=form, attrs={"Conventions": "CF-1.10"})
    for i in range(3):
        sub = group.create_group(f"g{i}")
        for j in range(4):
            sub.create_array(f"a{j}", shape=(10, 10 + j), dtype="f4", attrs={"n": i, "text": "two  words"})
    return group


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_a_group_is_counted_as_walking_it_does(form):
    group = hierarchy(form, {})
    found = info(group)
    arrays = [node for _, node in nodes_of(group) if isinstance(node, oz.Array)]
    assert (found.group.arrays, found.group.groups) == (12, 3)
    assert found.group.nbytes == sum(array.nbytes for array in arrays)
    assert (found.group.consolidated, found.group.stale, found.group.chunks) == ("none", (), None)
    assert (found.conventions, found.remarks) == (("CF-1.10",), ())
    arrays[3][...] = 1
    stored = info(group, stored=True).group
    assert (stored.present, stored.chunks, stored.nbytes_stored) == (1, 12, arrays[3].nbytes_stored)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_copies_are_compared_with_the_documents(form):
    store = oz.MemoryStore()
    group = hierarchy(form, store)
    group.consolidate()
    assert info(store).group.consolidated == "in step"
    document, inner = ("zarr.json", "attributes") if form == "zarr3" else (".zattrs", None)
    # The same in other white space and another order is the same.
    value = json.loads(store.get(f"g0/a0/{document}"))
    store.put(f"g0/a0/{document}", json.dumps(dict(reversed(value.items())), indent=7).encode())
    assert info(store).group.consolidated == "in step"
    (value if inner is None else value[inner])["text"] = "two words"
    store.put(f"g0/a0/{document}", json.dumps(value).encode())
    main = "zarr.json" if form == "zarr3" else ".zarray"
    store.put(f"g1/new/{main}", store.get(f"g1/a1/{main}"))
    store.erase_prefix("g2/a3/")
    found = info(store)
    assert found.group.consolidated == "stale"
    expected = {f"g0/a0/{document} differs", f"g1/new/{main} is missing from them", f"g2/a3/{main} is gone"}
    extra = {"g2/a3/.zattrs is gone"} if form == "zarr2" else set()
    assert set(found.group.stale) == expected | extra
    assert f"g0/a0/{document} differs" in remarks(found)["stale-consolidation"]
    oz.consolidate(store)
    assert info(store).group.consolidated == "in step"


def test_copies_that_zarr_python_makes_are_in_step(tmp_path):
    zarr = pytest.importorskip("zarr")
    for form in (2, 3):
        group = zarr.open_group(tmp_path / str(form), mode="w", zarr_format=form)
        sub = group.create_group("g", attributes={"a": 1})
        sub.create_array("x", shape=(4, 4), dtype="f4", attributes={"b": [1, {"c": None}]})
        zarr.consolidate_metadata(tmp_path / str(form))
        assert info(tmp_path / str(form)).group.consolidated == "in step"
        group = zarr.open_group(tmp_path / str(form), mode="r+", use_consolidated=False)
        group["g/x"].attrs["b"] = 2
        assert info(tmp_path / str(form)).group.consolidated == "stale"


def test_copies_alone_are_read(tmp_path):
    group = hierarchy("zarr2", tmp_path / "g")
    group.consolidate()
    for path in [*(tmp_path / "g").rglob(".zarray"), *(tmp_path / "g").rglob(".zgroup")]:
        path.unlink()
    for path in (tmp_path / "g").rglob(".zattrs"):
        path.unlink()
    found = info(tmp_path / "g")
    assert (found.group.consolidated, found.group.arrays, found.group.groups) == ("only", 12, 3)
    assert "no-documents" in remarks(found)


class Distant:
    """A store that the kernel has to call, which stands for one far away."""

    native = None

    def __init__(self, inner):
        self._inner = inner
        self.asked = 0

    def get_many(self, keys):
        self.asked += len(keys)
        return self._inner.get_many(keys)

    def __getattr__(self, name):
        return getattr(self._inner, name)


def test_in_a_distant_store_the_copy_answers_for_all():
    inner = oz.MemoryStore()
    hierarchy("zarr3", inner).consolidate()
    store = Distant(inner)
    group = oz.open_group(store)
    store.asked = 0
    found = scan(context_of(group), "", group.metadata)
    assert (found.consolidated, found.arrays, found.groups) == ("not compared", 12, 3)
    assert store.asked <= 4


def test_nodes_that_cannot_be_read_are_named():
    store = oz.MemoryStore()
    hierarchy("zarr3", store)
    store.put("g1/a2/zarr.json", b"{not json")
    store.put("g2/a0/zarr.json", store.get("g2/a0/zarr.json").replace(b'"float32"', b'"unheard-of"'))
    store.put("g2/folder/readme", b"?")
    found = info(store)
    assert (found.group.arrays, found.group.groups) == (10, 3)
    assert [path for path, _ in found.group.unreadable] == ["g1/a2", "g2/a0"]
    assert "g1/a2" in remarks(found)["unreadable-nodes"]


def test_an_array_with_an_unknown_codec_is_described_all_the_same():
    store = oz.MemoryStore()
    oz.create_group(store).create_array("a", shape=(4,), dtype="u1", codecs=[{"name": "bytes"}, {"name": "crc32c"}])
    store.put("a/zarr.json", store.get("a/zarr.json").replace(b'"crc32c"', b'"unheard-of"'))
    found = info(store, path="a")
    assert (found.array.shape, found.array.census) == ((4,), None)
    assert "unheard-of" in remarks(found)["unreadable-data"]
    assert "unheard-of" in remarks(info(store, stored=True))["unreadable-nodes"]


def test_other_formats_below_a_group(tmp_path):
    group = hierarchy("zarr2", tmp_path / "g")
    oz.create_array(tmp_path / "g" / "old", shape=(4,), dtype="u1", format="zarr1")
    oz.create_array(tmp_path / "g" / "g0" / "new", shape=(4,), dtype="u1", format="zarr3")
    found = info(group)
    assert found.group.arrays == 14
    assert remarks(found)["old-format"] == "in old"


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"Conventions": "CF-1.8, ACDD-1.3"}, ("CF-1.8, ACDD-1.3",)),
        ({"multiscales": []}, ("OME-NGFF",)),
        ({"ome": {"version": "0.5", "multiscales": []}}, ("OME-NGFF 0.5",)),
        ({"_NCProperties": "version=2"}, ("NCZarr",)),
        ({"title": "x"}, ()),
    ],
)
def test_conventions_are_recognised(attributes, words):
    assert info(oz.create_group({}, attrs=attributes)).conventions == words


def test_names_of_dimensions_by_xarray_are_recognised():
    group = oz.create_group({}, format="zarr2")
    group.create_array("a", shape=(2,), dtype="u1", dims=("x",))
    assert info(group).conventions == ("xarray",)
    assert info(group["a"]).conventions == ("xarray",)


def test_nothing_is_not_found(tmp_path):
    with pytest.raises(NotFoundError):
        info(tmp_path / "none")


def test_values_of_every_sort_of_fill():
    for dtype, fill in (("f4", np.nan), ("datetime64[ns]", np.datetime64("NaT")), ("string", "x"), ("c8", 1j)):
        a = oz.create_array({}, shape=(2,), dtype=dtype, fill_value=fill)
        assert str(info(a).array.fill_value) == str(a.fill_value)


def test_characters_have_two_spellings(tmp_path):
    with oz.Dataset(tmp_path / "a.zarr", "w") as dataset:
        dataset.createDimension("n", 3)
        dataset.createVariable("name", "S1", ("n",))[:] = np.array([b"a", b"b", b"c"])
    assert info(tmp_path / "a.zarr").group.consolidated == "in step"
