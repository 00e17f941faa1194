"""Texts that say anything: CDL, templates, sets of references, and the addresses of stores."""

from __future__ import annotations

import contextlib
import json

import numpy as np

import omnizarr as oz
from fuzz.target import Target, packed, unpacked
from omnizarr.errors import OmnizarrError
from omnizarr.format.document import load
from omnizarr.nc.cdl.parser import parse
from omnizarr.refset.json_reading import read_json
from omnizarr.refset.model import INLINE, MISSING, Chunks, References
from omnizarr.refset.opening import open_set
from omnizarr.refset.parquet_reading import open_parquet, read_parquet
from omnizarr.refset.parquet_writing import write_parquet
from omnizarr.refset.templates.scope import Templates

_CDL = [
    """netcdf one { // a comment
types:
  byte enum answer { no = 0, yes = 1 } ; opaque(3) key ; int(*) track ;
  compound point { float x ; ubyte rgb(3) ; } ;
dimensions: t = UNLIMITED ; x = 4 ; // (2 currently)
variables:
  int v(t, x) ; v:units = "m\\n", "s" ; v:_FillValue = -1 ; v:valid = 1b, 2s, 3.5f, 4., 5LL, 6ull, NaN ;
  char c(x) ; string s ; answer a ; key k ; track r ; point p(x) ;
  :title = "t" ; :_Format = "netCDF-4" ; v:_ChunkSizes = 1, 2 ; v:_DeflateLevel = 1 ;
data:
  v = 1, 2, _, 0x10, 017, -5, 7, 8 ; c = "ab", "cd" ; s = NIL ; a = yes ; k = 0X0A0B0C ; r = {1, 2, 3} ;
  p = {1.5, {1, 2, 3}}, {2, {0, 0, 0}} ;
group: g { dimensions: y = 2 ; variables: double d(y, x) ; data: d = 1, 2, 3 ; group: h { :a = 1 ; } }
}
""",
    "netcdf e { }",
    'netcdf b { dimensions: n = 2 ; variables: string w(n) ; data: w = "one", "\\x41\\0\\101" ; }',
]


def look_at_cdl(data: bytes) -> None:
    """Parse a text, and read every variable."""
    with contextlib.suppress(OmnizarrError):
        source = parse(data)
        for group in source.root.walk():
            for var in group.vars.values():
                if float(np.prod([float(n) for n in var.shape])) <= 10_000:
                    with contextlib.suppress(OmnizarrError):
                        source.read(var, tuple(slice(0, n, 1) for n in var.shape))


_TEXTS = {"u": "server/path", "f": "{{c}}", "w": "{{u}}/w", "g": "{{ a }}-{{ b }}", "self": "{{self}}"}
_TEMPLATES = [
    "http://{{u}}/{{f(c='text')}}/{{g(b='2', a='1')}}",
    "{{'%03d' % 7}}{{ '%04d'|format(12) }}{{ u ~ 1 ~ 2.5 }}",
    "{{ 'yes' if 2 > 1 else 'no' }}{{ -7 // 2 }}{{ 2 ** 10 }}{{ 6 / 4 }}{{ 1 < 2 < 3 }}{{ not 1 }}",
    "{{ u.__class__ }}{% for i in range(9) %}{{ self }}{# c #}{% endfor %}",
]


def look_at_template(data: bytes) -> None:
    """Expand a text."""
    with contextlib.suppress(OmnizarrError):
        text = Templates(_TEXTS).text(data.decode("utf-8", "surrogateescape"), "k")
        assert len(text) <= 1 << 24


_ARRAY = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "order": "C", "fill_value": 0}
_ARRAY |= {"compressor": None, "filters": None}
_REFERENCES = [
    {
        "version": 1,
        "templates": {"u": "x/{{n}}", "v": "y.nc"},
        "gen": [
            {"key": "b/{{i}}", "url": "{{v}}", "offset": "{{i * 2}}", "length": "2", "dimensions": {"i": {"stop": 2}}},
        ],
        "refs": {
            ".zgroup": {"zarr_format": 2}, "a/.zarray": json.dumps(_ARRAY), "b/.zarray": json.dumps(_ARRAY),
            "a/0": "base64:AAE=", "a/1": "xy", "c": ["{{u(n='1')}}", 0, 10], "d": ["z.nc"],
        },
    },
    {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(_ARRAY), "a/0": "ab", "a/1": ["nowhere.bin", 0, 2]},
]  # fmt: skip


def look_at_references(data: bytes) -> None:
    """Read a set as columns and as a store, and what is in it."""
    with contextlib.suppress(OmnizarrError):
        read_json(data)
    with contextlib.suppress(OmnizarrError):
        document = load(data, "refs.json")
        # What leads to servers is read, but not followed.
        if isinstance(document, dict) and b":" not in data.replace(b'":', b"").replace(b"base64:", b""):
            store = open_set(document)
            for key in list(store.list_prefix(""))[:20]:
                with contextlib.suppress(OmnizarrError):
                    store.get(key)
            group = oz.open(store, mode="r")
            for _, node in group.members(None) if isinstance(group, oz.Group) else ():
                if isinstance(node, oz.Array) and node.size <= 1000:
                    with contextlib.suppress(OmnizarrError):
                        node[...]


def look_at_parquet(data: bytes) -> None:
    """Read a set of record files as columns and as a store."""
    store = unpacked(data)
    with contextlib.suppress(OmnizarrError):
        read_parquet(store)
    with contextlib.suppress(OmnizarrError):
        opened = open_parquet(store)
        for key in list(opened.list_prefix(""))[:20]:
            with contextlib.suppress(OmnizarrError):
                opened.get(key)


def _parquet() -> list[bytes]:
    made = []
    for record_size in (1, 4):
        place: dict[str, bytes] = {}
        urls = np.array([0, 1, INLINE, MISSING], "u4")
        rows = Chunks((4,), urls, np.array([1, 2, 0, 0], "u8"), np.array([4, 4, 3, 0], "u8"), None, b"abc")
        array = json.dumps({**_ARRAY, "chunks": [1]}).encode()
        write_parquet(References({"a/.zarray": array}, {"a": rows}, ["u", "v"]), place, record_size=record_size)
        made.append(packed(place))
    return made


_ADDRESSES = [
    "s3://bucket/key?region=x#mode=nczarr,s3", "https://host:80/a%20b/c.zarr#mode=zarr&x=y", "[mode=nczarr,zip]file:///tmp/x",
    "zip::http://h/a.zip", "C:\\a\\b", "gs://b", "https://b.s3.eu-west-1.amazonaws.com/k", "file:///a#mode=bytes",
    "a//b#",
]  # fmt: skip


def look_at_address(data: bytes) -> None:
    """Explain where an address leads, without going there."""
    with contextlib.suppress(OmnizarrError):
        str(oz.explain(data.decode("utf-8", "surrogateescape")))


TARGETS = [
    Target("CDL", lambda: [text.encode() for text in _CDL], look_at_cdl),
    Target("templates", lambda: [text.encode() for text in _TEMPLATES], look_at_template),
    Target("references in JSON", lambda: [json.dumps(one).encode() for one in _REFERENCES], look_at_references),
    Target("references in Parquet", _parquet, look_at_parquet),
    Target("addresses", lambda: [text.encode() for text in _ADDRESSES], look_at_address),
]
