"""What JSON says of references is what columns and documents say."""

from __future__ import annotations

import base64
import gzip
import json
import random
import warnings
from contextlib import suppress

import numpy as np
import pytest

from omnizarr.errors import CorruptError, LimitError, MetadataError, OmnizarrError, OmnizarrWarning, UnsafeError
from omnizarr.native import packed
from omnizarr.refset.json_reading import JsonOptions, load_mapping, read_json, references_of
from omnizarr.refset.model import INLINE, WHOLE, Stamp

ARRAY = {"zarr_format": 2, "dtype": "<i2", "compressor": None, "filters": None, "fill_value": 0, "order": "C"}


def v2(shape, chunks, **more):
    return json.dumps({**ARRAY, "shape": shape, "chunks": chunks, **more})


def v3(shape, chunks, separator="/"):
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }


def read(refs, **options):
    return read_json(json.dumps(refs).encode(), JsonOptions(**options))


def rows(chunks, urls):
    """Return what a chunk of each number refers to."""
    numbers = range(len(chunks)) if chunks.numbers is None else chunks.numbers.tolist()
    found = {}
    for number, url, offset, length in zip(numbers, chunks.urls, chunks.offsets, chunks.lengths, strict=True):
        if url == INLINE:
            found[number] = chunks.inline[int(offset) : int(offset) + int(length)]
        else:
            found[number] = (urls[url],) if length == WHOLE else (urls[url], int(offset), int(length))
    return found


def test_versions_and_the_order_of_members():
    refs = {"a/0": ["x.nc", 1, 2], "a/.zarray": v2([4], [2]), "a/1": ["x.nc", 3, 4]}
    one = read({"refs": refs, "version": 1})
    for other in (refs, {"version": 1, "refs": refs}, {"refs": refs}, {"version": "1", "refs": refs}):
        made = read(other)
        assert made.documents == one.documents
        assert rows(made.arrays["a"], made.urls) == {0: ("x.nc", 1, 2), 1: ("x.nc", 3, 4)}
        assert made.arrays["a"].numbers is None
    assert read({"version": 0, **refs}).documents == one.documents
    assert read({"version": 0, "refs": refs}).documents == one.documents


@pytest.mark.parametrize(
    ("document", "key", "sample", "scalar"),
    [
        (("a/.zarray", v2([4, 6], [2, 2])), "a/{}.{}", (1, 2), None),
        (("a/.zarray", v2([4, 6], [2, 2], dimension_separator="/")), "a/{}/{}", (1, 2), None),
        (("a/zarr.json", v3([4, 6], [2, 2])), "a/c/{}/{}", (1, 2), None),
        (("a/zarr.json", v3([4, 6], [2, 2], ".")), "a/c.{}.{}", (1, 2), None),
        (("0/1/.zarray", v2([4, 6], [2, 2], dimension_separator="/")), "0/1/{}/{}", (1, 2), None),
        ((".zarray", v2([4, 6], [2, 2])), "{}.{}", (1, 2), None),
        (("a/.zarray", v2([], [])), "a/0", (), "0"),
        (("a/zarr.json", v3([], [])), "a/c", (), "c"),
    ],
)
def test_keys_of_every_dialect_find_their_array(document, key, sample, scalar):
    name, text = document
    path = name.rpartition("/")[0]
    refs = {key.format(*sample): ["x.nc", 5, 6], name: text, "b/.zarray": v2([2], [2]), "b/0": "xy"}
    if scalar is None:
        refs[key.format(9, 9)] = ["x.nc", 7, 8]
    made = read(refs)
    assert rows(made.arrays[path], made.urls) == {(5 if sample else 0): ("x.nc", 5, 6)}
    assert rows(made.arrays["b"], made.urls) == {0: b"xy"}
    outside = {} if scalar is not None else {key.format(9, 9): ("x.nc", 7, 8)}
    assert made.others == outside


def test_arrays_named_by_numbers_are_told_apart():
    slashes = {"dimension_separator": "/"}
    refs = {f"{i}/.zarray": v2([2, 2], [1, 1], **slashes) for i in range(3)}
    refs |= {"g/7/.zarray": v2([3], [1], **slashes), "5/0/.zarray": v2([2], [1], **slashes), "5/0/1": ["z", 9, 9]}
    refs |= {f"{i}/{j}/{k}": ["x", 100 * i + 10 * j + k, 1] for i in range(3) for j in range(2) for k in range(2)}
    refs |= {"g/7/2": ["y", 1, 1], "4/0/1": ["w", 1, 1]}
    made = read(refs)
    for i in range(3):
        assert made.arrays[str(i)].offsets.tolist() == [100 * i, 100 * i + 1, 100 * i + 10, 100 * i + 11]
    assert rows(made.arrays["g/7"], made.urls) == {2: ("y", 1, 1)}
    assert rows(made.arrays["5/0"], made.urls) == {1: ("z", 9, 9)}
    assert made.others == {"4/0/1": ("w", 1, 1)}


def test_any_order_of_chunks_and_the_last_of_twins():
    order = list(range(60))
    random.Random(3).shuffle(order)
    members = [f'"a/{i // 10}.{i % 10}":["u{i % 3}",{i},1]' for i in order]
    members += [
        '"a/.zarray":' + json.dumps(v2([6, 10], [1, 1])),
        '"a/0.7":["last",7,1]',
        '"x":"first"',
        '"x":["second"]',
    ]
    made = read_json(("{" + ",".join(members) + "}").encode())
    chunks = made.arrays["a"]
    assert chunks.numbers is None
    assert chunks.offsets.tolist() == list(range(60))
    assert made.urls[chunks.urls[7]] == "last"
    assert made.others == {"x": ("second",)}
    assert "x" not in made.documents


def test_values_of_every_kind():
    raw = bytes(range(256))
    refs = {
        "a/.zarray": {
            "zarr_format": 2,
            "shape": [16],
            "chunks": [2],
            **ARRAY,
            "fill_value": float("nan"),
            "dtype": "<f2",
        },
        "a/0": ["x.nc"],
        "a/1": ["x.nc", None, None],
        "a/2": "base64:" + base64.b64encode(raw).decode(),
        "a/3": 'é\n"\u2028',
        "a/4": "",
        "a/5": {"b": [1, 2.50, {"c": None}], "d e": "f g"},
        "a/6": [None, 5, 6],
    }
    made = read(refs, target="elsewhere.nc")
    assert rows(made.arrays["a"], made.urls) == {
        0: ("x.nc",),
        1: ("x.nc",),
        2: raw,
        3: 'é\n"\u2028'.encode(),
        4: b"",
        5: b'{"b":[1,2.5,{"c":null}],"d e":"f g"}',
        6: ("elsewhere.nc", 5, 6),
    }
    assert b'"fill_value":NaN' in made.documents["a/.zarray"]


def test_packed_sets_and_a_byte_order_mark():
    text = json.dumps({"version": 1, "refs": {"x": "data"}}).encode()
    for data in (text, b"\xef\xbb\xbf" + text, gzip.compress(text), packed(text, "zstd"), packed(text, "gzip")):
        assert read_json(data).documents == {"x": b"data"}
    with pytest.raises((CorruptError, LimitError)):
        read_json(gzip.compress(text)[:-9])


BAD_VALUES = [
    "null", "5", "true", "1.5", "[]", '["u",1]', '["u",1,2,3]', '["u",-1,2]', '["u",1,-2]', '["u",1.0,2]',
    '["u","1",2]', '["u",1e3,2]', '["u",null,2]', '["u",1,null]', "[5,1,2]", "[null,1,2]", '[["u"],1,2]', '["",1,2]',
    '["u",9223372036854775807,1]', '["u",99999999999999999999,1]', '["u",01,2]', '"base64:A"', '"base64:AA*="',
    r'"\ud800"', r'["\udc00x",1,2]', r'"\x"', '{"a":}', '{"a":' + "[" * 500 + "]" * 500 + "}", '"open', '["u",1,2',
]  # fmt: skip


@pytest.mark.parametrize("value", BAD_VALUES)
@pytest.mark.parametrize("form", ['{{"good":"1","some/key.7":{}}}', '{{"version":1,"refs":{{"some/key.7":{}}}}}'])
def test_what_is_malformed_names_the_key(value, form):
    with pytest.raises(MetadataError) as caught:
        read_json(form.format(value).encode())
    assert caught.value.key == "some/key.7"
    assert "byte" in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "5",
        "{",
        '{"a"}',
        '{"a":"b"',
        '{"a":"b"}x',
        '{"version":2,"refs":{}}',
        '{"refs":{},"refs":{}}',
        "\xff{}",
    ],
)
def test_what_is_no_set(text):
    with pytest.raises(MetadataError):
        read_json(text.encode("latin-1"))


@pytest.mark.parametrize("key", ["../x", "a//b", "/etc/x", "a\\b", "", "a/../b", "a\0b"])
def test_keys_that_lead_out_of_a_store(key):
    with pytest.raises(UnsafeError):
        read({key: "1"})


def test_members_that_mean_nothing_are_told():
    with pytest.warns(OmnizarrWarning, match="extra"):
        made = read({"extra": 5, "version": 1, "refs": {"x": "1"}})
    assert made.documents == {"x": b"1"}


def test_stamps_of_our_own():
    sources = {"x.nc": {"size": 5, "modified": 6, "etag": "e"}, "y.nc": {"size": 7}}
    made = read({"version": 1, "refs": {}, "omnizarr": {"sources": sources}})
    assert made.stamps == {"x.nc": Stamp(5, 6, "e"), "y.nc": Stamp(7)}
    for wrong in ({"x": 5}, {"x": {"size": -1}}, {"x": {"etag": 5}}):
        with pytest.raises(MetadataError):
            read({"version": 1, "refs": {}, "omnizarr": {"sources": wrong}})


def test_mappings_with_bytes_and_templates():
    given = {
        "version": 1,
        "templates": {"u": "a.nc"},
        "refs": {
            "a/.zarray": v2([4], [1]),
            "a/0": b"base64:x",
            "a/1": ("{{u}}", 1, 2),
            "a/2": ["{{u}}"],
            "n": {"b": 1},
        },
    }
    made = references_of(load_mapping(given))
    assert rows(made.arrays["a"], made.urls) == {0: b"base64:x", 1: ("a.nc", 1, 2), 2: ("a.nc",)}
    assert made.documents["n"] == b'{"b":1}'
    for wrong in (5, None, ["u", 1], object()):
        with pytest.raises(MetadataError):
            load_mapping({"version": 1, "refs": {"x": wrong}})


def test_damaged_text_raises_and_nothing_else():
    text = json.dumps(
        {
            "version": 1,
            "templates": {"u": "a.nc"},
            "gen": [{"key": "g{{i}}", "url": "{{u}}", "dimensions": {"i": {"stop": 3}}}],
            "refs": {"a/.zarray": v2([4], [1]), "a/0": ["{{u}}", 1, 2], "a/1": "base64:QUJD", "é": ["b\u00e9", 3, 4]},
        }
    ).encode()
    chosen = np.random.default_rng(5)
    for _ in range(3000):
        data = bytearray(text)
        for _ in range(chosen.integers(1, 4)):
            at = int(chosen.integers(len(data)))
            what = chosen.integers(3)
            if what == 0:
                data[at] = chosen.integers(256)
            elif what == 1:
                del data[at : at + int(chosen.integers(1, 9))]
            else:
                data[at:at] = bytes(chosen.choice(list(b'{}[]",:\\0.e-{{'), 3).astype(np.uint8))
        with suppress(OmnizarrError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_json(bytes(data))


@pytest.mark.parametrize(
    ("given", "member"),
    [
        ({"version": 1, "refs": []}, "refs"),
        ({"version": 1, "refs": None}, "refs"),
        ({"version": 1, "refs": "text"}, "refs"),
        ({"version": 1, "refs": ["a.nc", 0, 8]}, "refs"),
        ({"version": 1, "refs": {}, "gen": {}}, "gen"),
        ({"version": 1, "gen": {}}, "gen"),
        ({"version": 1, "refs": {}, "gen": "text"}, "gen"),
        ({"version": 1, "refs": {}, "templates": []}, "templates"),
    ],
)
def test_members_of_the_wrong_kind(given, member):
    with pytest.raises(MetadataError) as text:
        read_json(json.dumps(given).encode())
    assert text.value.key == member
    with pytest.raises(MetadataError) as mapping:
        load_mapping(given)
    assert mapping.value.key == member


def test_no_formulas():
    assert read_json(b'{"version": 1, "refs": {"a": "x"}, "gen": null}').documents == {"a": b"x"}
    assert read_json(b'{"version": 1, "refs": {"a": "x"}, "gen": []}').documents == {"a": b"x"}
