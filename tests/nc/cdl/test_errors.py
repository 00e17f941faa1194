"""Errors have a place, and warnings too."""

from __future__ import annotations

import pickle
import warnings

import pytest

from omnizarr.errors import MetadataError, OmnizarrWarning
from omnizarr.nc.cdl.errors import CdlError
from omnizarr.nc.cdl.parser import load, parse


def test_an_error_shows_the_line_and_a_caret(tmp_path):
    file = tmp_path / "temp.cdl"
    file.write_text("netcdf t {\ndimensions:\n\tx = 3 ;\nvariables:\n\tint vär(y) ;\n}\n", encoding="utf-8")
    with pytest.raises(CdlError) as caught:
        load(file)
    assert str(caught.value) == (
        f"{file}:5:10: there is no dimension y\n        int vär(y) ;\n" + " " * 16 + "^\nthere are: x"
    )
    assert (caught.value.line, caught.value.column) == (5, 10)
    assert isinstance(caught.value, MetadataError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "expected 'netcdf', found the end"),
        ("netcdf", "1:7", "expected the name of the dataset"),
        ("netcdf x {", "1:11", "expected a declaration"),
        ("netcdf x { } y", "1:14", "expected nothing more"),
        ("netcdf x { variables: int v }", "1:29", "expected ';'"),
        ("netcdf x { variables: what v; }", "1:23", "no type what"),
        ("netcdf x { variables: int v; int v; }", "1:34", "there is a variable v already"),
        ("netcdf x { dimensions: d = -1; }", "1:28", "from 0 on"),
        ("netcdf x { dimensions: d = 2.5; }", "1:28", "a length or 'unlimited'"),
        ("netcdf x { data: v = 1; }", "1:18", "no variable v"),
        ("netcdf x { variables: int v; data: v = 1 2; }", "1:42", "expected ';', found '2'"),
        ("netcdf x { variables: int v; data: v = {1}; }", "1:40", "does not stand in braces"),
        ("netcdf x { variables: int v; data: v = 1x; }", "1:40", "no number"),
        ("netcdf x { variables: int v; data: v = 99999999999999999999; }", "1:40", "fits no type"),
        ("netcdf x { variables: int v; data: v = 256ub; }", "1:40", "out of range for ubyte"),
        ("netcdf x { variables: int v; data: v = -1u; }", "1:40", "no sign"),
        ("netcdf x { variables: int v; data: v = nothing; }", "1:40", "expected a value of type int"),
        ("netcdf x { variables: int v; data: v = NIL; }", "1:40", "expected a value of type int"),
        ('netcdf x { :a = 1, "b"; }', "1:13", "do not tell its type"),
        ("netcdf x { :a = _; }", "1:17", "no fill value"),
        ('netcdf x { :a = "no end; }', "1:17", "string has no end"),
        ("netcdf x { :a = 'ab'; }", "1:17", "no character in quotes"),
        ("netcdf x { /* no end }", "1:12", "comment has no end"),
        ("netcdf x { data: dimensions: x = 1; }", "1:18", "dimensions: cannot come here"),
        ("netcdf x { types: int enum e {a = 1}; variables: e v; data: v = b; }", "1:65", "has no member b"),
        ("netcdf x { types: float enum e {a = 1}; }", "1:19", "type of integers"),
        ("netcdf x { types: compound c {int a; int a;}; }", "1:42", "a member a already"),
        ("netcdf x { types: compound c {int a;}; c :a = {1, 2}; }", "1:51", "only 1 members"),
        ("netcdf x { types: int(*) t; t :a = 1; }", "1:36", "stands in braces"),
        ("netcdf x { variables: int v; v:_FillValue = 1, 2; }", "1:32", "one value"),
        ('netcdf x { variables: int v; v:_Storage = "odd"; }', "1:43", "one of contiguous, compact, chunked"),
        ("netcdf x { dimensions: d = 2; variables: int v(d); v:_ChunkSizes = 1, 1; }", "1:54", "2 lengths of a chunk"),
        ('netcdf x { :_Format = "odd"; }', "1:13", "no kind of dataset"),
        ("netcdf x { dimensions: d = 99999999999; variables: byte v(d); data: v = 1; }", "1:69", "has 99999999999"),
        ("netcdf x { group: g { } group: g { } }", "1:32", "a group g already"),
        ("netcdf x { variables: int \xff; }", "1:27", "not UTF-8"),
        ("netcdf x { types: compound c { int a(9999999, 99); }; }", "1:28", "more than"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, place, message):
    with pytest.raises(CdlError) as caught:
        parse(text.encode("latin-1"), "x.cdl")
    assert caught.value.message.startswith(f"x.cdl:{place}: "), caught.value.message
    assert message in caught.value.message


def test_nothing_nests_without_end():
    with pytest.raises(CdlError, match="braces inside each other"):
        parse("netcdf x { types: int(*) t; t :a = " + "{" * 100_000)
    with pytest.raises(CdlError, match="groups inside each other"):
        parse("netcdf x { " + "group: g { " * 100_000)


def test_a_long_line_is_cut_around_the_place():
    with pytest.raises(CdlError) as caught:
        parse("netcdf x { dimensions: d = 4; variables: int v(d); data: v = " + "1, " * 5000 + "?; }")
    line, caret = caught.value.message.splitlines()[1:]
    assert len(line) < 120
    assert line[caret.index("^")] == "?"


@pytest.mark.parametrize(
    ("declared", "given", "message"),
    [
        ("byte v(d)", "300, 1", "do not all fit"),
        ("byte v(d)", "'a', 300b", "out of range for byte"),
        ("int v(d)", "1, 2, 3, 4", "4 values for v, which has room for 2"),
        ("int v(d)", "08", "octal"),
        ("float v(d)", "1e300", "do not all fit"),
        ("double v(d)", '"2000-01-02"', "only 2000 of a text is read as double; dates are numbers"),
    ],
)
def test_what_ncgen_changes_silently_is_warned_of(declared, given, message):
    text = f"netcdf x {{ dimensions: d = 2; variables: {declared}; data: v = {given}; }}"
    with pytest.warns(OmnizarrWarning, match=message):
        parse(text)


def test_traditional_bit_patterns_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = parse("netcdf x { dimensions: d = 2; variables: byte v(d); data: v = 255, 128; }")
    assert source.root.vars["v"].handle.tolist() == [-1, -128]
