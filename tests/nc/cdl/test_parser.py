"""What CDL means where ncgen cannot be asked, or gets it wrong."""

from __future__ import annotations

import numpy as np
import pytest

from omnizarr.nc.cdl.constants import nearest_float
from omnizarr.nc.cdl.parser import parse
from omnizarr.nc.tree import Filter
from omnizarr.nc.types import BYTE, CHAR, INT, INT64, UINT64


def _values(declared: str, given: str, dims: str = "d = 2; u = unlimited; w = unlimited; n = 3;") -> np.ndarray:
    return parse(f"netcdf x {{ dimensions: {dims} variables: {declared}; data: v = {given}; }}").root.vars["v"].handle


def test_rows_of_characters_keep_apart():
    assert _values("char v(u, w)", '{"ab"}, {"cde"}').tolist() == [[b"a", b"b", b""], [b"c", b"d", b"e"]]
    assert _values("char v(u, n)", '"a", "b", "cd"').shape == (3, 3)
    assert _values("char v(n)", "'a', 'b', \"c\"").tolist() == [b"a", b"b", b"c"]


def test_what_is_left_out_is_filled():
    assert _values("string v(d)", '"a"').tolist() == ["a", ""]
    assert _values("int v(u, w)", "{1, 2}, {}, {3}").tolist() == [[1, 2], [-2147483647] * 2, [3, -2147483647]]
    assert _values("int v(d)", "").tolist() == [-2147483647] * 2
    assert _values("int v(d)", ", 5").tolist() == [5, -2147483647]


def test_fill_values_declared_behind_the_values_count():
    source = parse("netcdf x { variables: int v; data: v = _; group: g { variables: /v:_FillValue = 3; } }")
    assert source.root.vars["v"].handle.tolist() == 3


def test_numbers_between_other_constants():
    assert _values("int v(u)", "1, 2, 'a', 3, 0x04, 5, \"6\", 7, _").tolist() == [1, 2, 97, 3, 4, 5, 6, 7, -2147483647]
    assert _values("double v(u)", "1, inf, -inf, +Infinity, nan, 5")[1:4].tolist() == [np.inf, -np.inf, np.inf]


def test_members_of_enums_by_name_type_and_number():
    text = """netcdf x { types: int enum e {a = 1, a.b = 2, inf = 3}; dimensions: n = 5; variables: e v(n);
      data: v = a, e.a, a.b, inf, 2; }"""
    assert parse(text).root.vars["v"].handle.tolist() == [1, 1, 2, 3, 2]


def test_text_is_unescaped_to_the_byte():
    attrs = parse(
        r"""netcdf x { :a = "\x41\x7e\101\0end\?"; :b = '\0', '\x7F', '\\'; :c = "\q\"" ; :d = ""; :e = ; }"""
    ).root.attrs
    assert attrs["a"].value == b"A~A\0end\x7f"
    assert attrs["b"].type == BYTE
    assert attrs["b"].value.tolist() == [0, 127, 92]
    assert attrs["c"].value == b'q"'
    assert (attrs["d"].type, attrs["d"].value, attrs["e"].value) == (CHAR, b"", b"")


def test_types_of_attributes_follow_their_values():
    attrs = parse("netcdf x { :a = 18446744073709551615; :b = -1b, 3; :c = 1, 2LL; int :d = ; }").root.attrs
    assert (attrs["a"].type, attrs["a"].value.tolist()) == (UINT64, [2**64 - 1])
    assert (attrs["b"].type, attrs["b"].value.tolist()) == (INT, [-1, 3])
    assert attrs["c"].type == INT64
    assert (attrs["d"].type, len(attrs["d"].value)) == (INT, 0)


def test_words_of_the_language_are_names_where_only_names_can_be():
    text = """netcdf x { dimensions: types = 2; string = 1; variables: float data(types); data:units = "m";
      int string(string), group; string:units = "s"; group:a = 1; :compound = 1; data: data = 1, 2; string = 7; }"""
    root = parse(text).root
    assert root.vars["data"].attrs["units"].value == b"m"
    assert root.vars["string"].attrs["units"].value == b"s"
    assert root.vars["group"].attrs["a"].value.tolist() == [1]
    assert root.vars["data"].handle.tolist() == [1, 2]
    assert list(root.attrs) == ["compound"]


def test_storage():
    text = """netcdf x { dimensions: n = 4; variables: int v(n);
      v:_Filter = "307,9|2|1,5|3|32001,0,0,0,0,4,1,1.5f,2LL"; v:_Codecs = "[{\\"id\\": \\"bz2\\"}]"; v:_NoFill = "true";
      v:_QuantizeBitGroomNumberOfSignificantDigits = 3; v:_Netcdf4Dimid = 1; :_Format = "64-bit offset"; }"""
    with pytest.warns(UserWarning, match="_Netcdf4Dimid"):
        source = parse(text)
    stored = source.root.vars["v"].storage
    assert stored.filters == (Filter(307, (9,)), Filter(32001, (0, 0, 0, 0, 4, 1, 0x3FC00000, 2, 0)))
    assert (stored.shuffle, stored.deflate, stored.fletcher32, stored.no_fill) == (True, 5, True, True)
    assert stored.codecs == '[{"id": "bz2"}]'
    assert stored.quantize == ("_QuantizeBitGroomNumberOfSignificantDigits", 3)
    assert list(source.root.vars["v"].attrs) == ["_QuantizeBitGroomNumberOfSignificantDigits"]
    assert source.format == "64-bit offset"


def test_a_byte_order_mark_and_strings_of_python_are_taken():
    assert parse(b"\xef\xbb\xbfnetcdf a\\ b { }").name == "a b"
    assert list(parse("netcdf x { variables: int gro\u0308\u00dfe; }").root.vars) == ["gr\u00f6\u00dfe"]


def test_floats_are_rounded_once():
    # Halfway between two floats as a double, and a little less than that in the text.
    text = "1.000000059604644775390624999999"
    assert nearest_float(text) == 1.0
    assert np.float32(float(text)) == 1.0
    above = "1.000000059604644775390625000001"
    assert nearest_float(above) == float(np.nextafter(np.float32(1), np.float32(2)))
    assert _values("float v(d)", f"{above}f, {text}f").tolist() == [nearest_float(above), 1.0]


@pytest.mark.parametrize("kind", ["float", "double"])
def test_zeros_keep_their_sign_where_they_are_floats(kind):
    # An integer has none, so `-0` is 0, as for ncgen.
    given = "-0., -0.f, -.0, -0e3, -0.0d, 0., -0"
    expected = [True] * 5 + [False] * 2
    assert np.signbit(_values(f"{kind} v(u)", given)).tolist() == expected
    many = np.signbit(_values(f"{kind} v(u)", ", ".join([given] * 100)))  # the kernel reads long lists
    assert many.tolist() == expected * 100
    attributes = parse(f"netcdf x {{ {kind} :a = {given} ; :b = -0.f, -0.f ; }}").root.attrs
    assert np.signbit(attributes["a"].value).tolist() == expected
    assert np.signbit(attributes["b"].value).tolist() == [True, True]
