"""The languages of nccopy's -c and -F, and its lists of names."""

import pytest

from omnizarr.errors import MetadataError, NotFoundError
from omnizarr.nc.picking import pick_groups, pick_variables
from omnizarr.nc.specs import parse_chunks, parse_filters
from omnizarr.nc.tree import Filter, Group
from omnizarr.nc.types import INT


def test_chunks():
    assert parse_chunks(["time/10,lat/", "t:1,0x10", "u:contiguous", "v:", "w:Compact", "t:9"]) == (
        {"time": 10, "lat": None},
        {"t": (1, 16), "u": "contiguous", "v": "contiguous", "w": "compact"},
        False,
    )
    assert parse_chunks(["/"]).none
    assert parse_chunks("//").none
    assert parse_chunks([""]) == ({}, {}, False)
    assert parse_chunks("/g/x/5").dims == {"/g/x": 5}
    assert parse_chunks(r"a\,b/5").dims == {"a,b": 5}


@pytest.mark.parametrize("spec", ["time", "time/0", "time/-1", "time/x", "t:1,x", "t:0", "/5"])
def test_chunks_that_are_none(spec):
    with pytest.raises(MetadataError):
        parse_chunks(spec)


def test_filters():
    assert parse_filters(["a|b,307,9", "*,shuffle|deflate,5", "c,none", "none", "d,ZSTD,3u"]) == [
        (("a", "b"), (Filter(307, (9,)),)),
        (("*",), (Filter(2), Filter(1, (5,)))),
        (("c",), ()),
        (("*",), ()),
        (("d",), (Filter(32015, (3,)),)),
    ]


@pytest.mark.parametrize("spec", ["a", "a,", ",1", "a,what", "a,1,x", "a,-1", "a,70000", "a,1,4294967296"])
def test_filters_that_are_none(spec):
    with pytest.raises(MetadataError):
        parse_filters(spec)


def test_names_mean_paths_or_the_ends_of_paths():
    root = Group()
    root.add_var("t", INT)
    for name in ("a", "b"):
        root.add_group(name).add_var("t", INT)
    root.groups["a"].add_group("c").add_var("u", INT)
    picked = {name: sorted(var.path for var in pick_variables(root, [name])) for name in ("t", "/t", "a/t", "u")}
    assert picked == {"t": ["/a/t", "/b/t", "/t"], "/t": ["/t"], "a/t": ["/a/t"], "u": ["/a/c/u"]}
    assert len(pick_groups(root, ["a"])) == 2
    assert len(pick_groups(root, ["/"])) == 1
    with pytest.raises(NotFoundError, match="tt"):
        pick_variables(root, ["tt"])
    with pytest.raises(NotFoundError, match="/a/b"):
        pick_groups(root, ["/a/b"])
