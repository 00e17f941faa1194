"""The zmap: a store under its netCDF name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import OmnizarrError, ReadOnlyError
from omnizarr.nc import codes
from omnizarr.nc.zmap import BadKeyError, EmptyKeyError, NoObjectError, ObjectExistsError, OutsideError, Zmap
from omnizarr.nc.zmap_listing import entries

CONTENT = {
    ".zgroup": b'{"zarr_format": 2}',
    ".zattrs": b"{}",
    "g/.zgroup": b'{"zarr_format": 2}',
    "g/v/.zarray": b'{"dtype": "<i4"}',
    "g/v/0.0": b"12345678",
    "g/v/1.0": b"1234",
    "g/c/.zarray": b'{"dtype": ">S1"}',
    "g/c/0": b"abc",
    "notes.txt": b"hello",
}


@pytest.fixture(params=["dict", "folder", "zip"])
def zmap(request, tmp_path):
    where = {} if request.param == "dict" else tmp_path / ("x.zip" if request.param == "zip" else "x")
    with Zmap.create(where) as made:
        for key, data in CONTENT.items():
            made.write(f"/{key}", data)
        yield made


def test_objects(zmap):
    for key, data in CONTENT.items():
        assert zmap.exists(f"/{key}")
        assert zmap.len(f"/{key}") == len(data)
        assert zmap.read(f"/{key}") == data
        assert zmap.read(f"/{key}", 1, 1) == data[1:2]
        assert zmap.read(f"/{key}", 1) == data[1:]
        assert zmap.read(f"/{key}", len(data)) == b""
        with pytest.raises(OutsideError) as caught:
            zmap.read(f"/{key}", 1, len(data))
        assert caught.value.code == codes.NC_EEDGE
    zmap.write("/g/v/0.0", b"new")
    assert zmap.read("/g/v/0.0") == b"new"


@pytest.mark.parametrize("key", ["/", "/g", "/g/v", "/nothing", "/g/v/9.9", "/.zgroup/x"])
def test_keys_without_content(zmap, key):
    assert not zmap.exists(key)
    for action in (zmap.len, zmap.read):
        with pytest.raises(EmptyKeyError) as caught:
            action(key)
        assert caught.value.code == codes.NC_EEMPTY == -139
        assert codes.code_of(caught.value) == -139
        assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize("key", ["", "g", "g/v", "//", "/g//v", "/g/", "/../x", "/./x", "/\ud800"])
def test_what_is_no_key(zmap, key):
    for action in (zmap.exists, zmap.len, zmap.read, zmap.search, lambda one: zmap.write(one, b"")):
        with pytest.raises(BadKeyError) as caught:
            action(key)
        assert caught.value.code == codes.NC_EINVAL


@pytest.mark.parametrize("name", ["a\nb", "a\x7f", "a\x1b[31m"])
def test_control_characters_are_read_where_others_wrote_them_but_not_written(name):
    zmap = Zmap.open({f"{name}/0": b"12"}, "a")
    assert zmap.search() == [name]
    assert list(zmap.walk()) == [f"/{name}/0"]
    assert zmap.read(f"/{name}/0") == b"12"
    assert [entry.key for entry in entries(zmap)] == [f"/{name}/0"]
    assert list(zmap.glob("/*/0")) == [f"/{name}/0"]
    with pytest.raises(BadKeyError, match="control characters"):
        zmap.write(f"/{name}/1", b"")


def test_search_goes_one_level(zmap):
    assert zmap.search() == [".zattrs", ".zgroup", "g", "notes.txt"]
    assert zmap.search("/g") == [".zgroup", "c", "v"]
    assert zmap.search("/g/v") == [".zarray", "0.0", "1.0"]
    assert zmap.search("/g/v/0.0") == zmap.search("/no") == []


def test_an_empty_folder_is_no_key(tmp_path):
    (tmp_path / "x/empty/deep").mkdir(parents=True)
    with pytest.raises(NoObjectError):
        Zmap.open(tmp_path / "x")
    (tmp_path / "x/a").write_bytes(b"")
    assert Zmap.open(tmp_path / "x").search() == ["a"]


def test_walk_and_glob(zmap):
    everything = sorted((f"/{key}" for key in CONTENT), key=lambda key: key.split("/"))
    assert list(zmap.walk()) == everything == list(zmap.glob("/**"))
    assert list(zmap.walk("/g/v/0.0")) == ["/g/v/0.0"]
    assert list(zmap.glob("/g/*/.zarray")) == list(zmap.glob("/**/.zarray")) == ["/g/c/.zarray", "/g/v/.zarray"]
    assert list(zmap.glob("/*")) == ["/.zattrs", "/.zgroup", "/notes.txt"]
    assert list(zmap.glob("/g/v/?.0")) == ["/g/v/0.0", "/g/v/1.0"]


@pytest.mark.parametrize("key", ["/.zgroup/x", "/g", "/g/v", "/g/v/0.0/x/y"])
def test_only_leaves_have_content(zmap, key):
    with pytest.raises(ObjectExistsError) as caught:
        zmap.write(key, b"x")
    assert caught.value.code == codes.NC_EOBJECT


def test_opening_and_creating(tmp_path):
    place = tmp_path / "x"
    with pytest.raises(NoObjectError) as caught:
        Zmap.open(place)
    assert caught.value.code == codes.NC_ENOOBJECT == -141
    with Zmap.create(f"file://{place}#mode=nczarr,file") as made:
        made.write("/a", b"1")
    with pytest.raises(ObjectExistsError):
        Zmap.create(place)
    with Zmap.open(place) as opened:
        assert opened.read_only
        for action in (lambda: opened.write("/b", b""), opened.clear):
            with pytest.raises(ReadOnlyError) as refused:
                action()
            assert codes.NAMES[codes.code_of(refused.value)] == "NC_EPERM"
    with Zmap.open(place, "a") as opened:
        opened.write("/b", b"2")
    with Zmap.create(place, overwrite=True) as made:
        assert made.search() == []
        made.write("/c", b"")
    Zmap.open(place, "a").close(delete=True)
    with pytest.raises(NoObjectError):
        Zmap.open(place)


def test_a_part_of_a_store():
    store = oz.MemoryStore()
    store.put("a/b/c", b"1")
    inner = Zmap(store, "a")
    assert (inner.search(), inner.read("/b/c"), inner.uri) == (["b"], b"1", f"{store.uri}/a")


def test_listing(zmap):
    found = {entry.key: entry for entry in entries(zmap, content=True)}
    assert list(found) == list(zmap.walk())
    assert {entry.kind for entry in found.values()} == {"document", "chunk", "other"}
    assert (found["/g/v/0.0"].type, found["/g/c/0"].type, found["/g/v/0.0"].size) == ("int", "char", 8)
    assert json.loads(found["/.zgroup"].content) == {"zarr_format": 2}
    assert [entry.type for entry in entries(zmap, "/g/v/1.0")] == ["int"]
    with pytest.raises(EmptyKeyError):
        list(entries(zmap, "/nothing"))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b'{"dtype": "|S8"}', "string"),
        (b'{"dtype": "|S1"}', "string"),
        (b'{"dtype": "<M8[s]"}', "<M8[s]"),
        (b'{"dtype": [["a", "<i4"]]}', '[["a", "<i4"]]'),
        (b'{"dtype": "<f8"', ""),
        (b"[" * 100_000, ""),
        (b"[]", None),
    ],
)
def test_types_of_chunks(document, expected):
    found = list(entries(Zmap.open({".zarray": document, "0": b"1"})))
    assert (found[1].kind, found[1].type) == (("other", "") if expected is None else ("chunk", expected))


def test_names_of_numbers():
    assert codes.NAMES[-139] == "NC_EEMPTY"
    assert codes.NAMES[-101] == "NC_EHDFERR"
    assert codes.NAMES[-78] == "NC_EAUTH"
    assert codes.number_of("NC_NOERR") == 0
    assert len(codes.NAMES) == 1 + 46 + 4 + 44
    assert codes.code_of(OmnizarrError("x")) == codes.number_of("NC_EINTERNAL")


KEYS = st.lists(st.sampled_from(["a", "b", ".z", "ü"]), min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))


@given(st.lists(st.tuples(KEYS, st.binary(max_size=3)), max_size=8))
def test_against_a_model(writes):
    model: dict[str, bytes] = {}
    zmap = Zmap.create({})
    for key, data in writes:
        blocked = any(
            key != one and (f"{key}/".startswith(f"{one}/") or f"{one}/".startswith(f"{key}/")) for one in model
        )
        try:
            zmap.write(key, data)
        except ObjectExistsError:
            assert blocked
        else:
            assert not blocked
            model[key] = data
    assert {key: zmap.read(key) for key in zmap.walk()} == model
    for prefix in ("/", "/a", "/a/b"):
        start = prefix.rstrip("/") + "/"
        assert zmap.search(prefix) == sorted(
            {key[len(start) :].split("/")[0] for key in model if key.startswith(start)}
        )
