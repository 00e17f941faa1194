"""Datasets as CDL, each with something that is hard to print."""

# ruff: noqa: E501 - the lines of the texts

from __future__ import annotations

TYPES = """netcdf types {
types:
  byte enum answer { no = 0, yes = 1, maybe = -1 } ;
  uint enum a_long_name_for_an_enum { first_of_many_members = 1, second_of_many_members = 2, third_of_many_members = 4000000000 } ;
  opaque(5) key ;
  int(*) track ;
  string(*) words ;
  compound point { float x ; answer ok ; short grid(2, 3) ; char code(4) ; char lines(2, 3) ; } ;
  compound segment { point from ; double weight ; track path ; } ;
  segment(*) route ;
dimensions:
  n = 3 ; t = UNLIMITED ;
variables:
  answer a(n) ; answer:_FillValue = maybe ;
  a_long_name_for_an_enum e(n) ;
  key k(n) ; k:_FillValue = 0x0102030405 ;
  track tr(n) ;
  words w(n) ;
  point p(n) ;
  segment s ;
  route r(t) ;
  point p2 ; point p2:several = {1, yes, {1,2,3,4,5,6}, {"abcd"}, {"ab", "c"}}, {2.5, no, {6,5,4,3,2,1}, {"x"}, {"", "z"}} ;
  answer :choice = yes, no ; key :keys = 0xFF, 0x0102 ; track :tracks = {1, 2, 3}, {4}, {} ;
data:
  a = yes, no, _ ;
  e = first_of_many_members, third_of_many_members, second_of_many_members ;
  k = 0x0102030405, 0xABCDEF0123, 0x0000000000 ;
  tr = {1, 2, 3}, {}, {-2147483647} ;
  w = {"a", "b,c"}, {""}, {} ;
  p = {1.5, yes, {1,2,3,4,5,6}, {"abcd"}, {"ab", "cde"}}, {NaNf, no, {0,0,0,0,0,0}, {"\\n\\""}, {"", ""}},
      {-Infinityf, maybe, {-1,2,-3,4,-5,6}, {"é"}, {"q", "r"}} ;
  s = {{1, yes, {1,2,3,4,5,6}, {"abcd"}, {"ab", "c"}}, 1e300, {7, 8}} ;
  r = {{{1, yes, {1,2,3,4,5,6}, {"abcd"}, {"ab", "c"}}, 0.1, {7, 8}}}, {} ;
}
""".replace("answer:_FillValue", "answer a:_FillValue").replace("k:_FillValue", "key k:_FillValue")

NUMBERS = """netcdf numbers {
dimensions:
  i = 12 ; d = 9 ; one = 1 ; many = 40 ;
variables:
  byte b(i) ; ubyte ub(i) ; short s(i) ; ushort us(i) ; int n(i) ; uint u(i) ; int64 l(i) ; uint64 ul(i) ;
  float f(d) ; double g(d) ;
  float ff(d) ; ff:_FillValue = NaNf ; ff:range = -1.5e-30f, 3.402823e38f, 0.f, 100000.f, 12345678.f ;
  double gf(d) ; gf:_FillValue = -1.e30 ; gf:range = 1., 1.e100, 0.1, 123456789012345678., NaN, -Infinity ;
  byte bf(i) ; bf:_FillValue = 3b ;
  double scalar ; int single(one) ; int row(many) ; short wide(i, one) ; float formatted(d) ; formatted:C_format = "%8.3f" ;
  int hex(d) ; hex:C_format = "%#lx" ;
  :b = -1b, 127b ; :ub = 255ub ; :s = -7s ; :us = 7us ; :n = 5, 6 ; :u = 5u ; :l = -9223372036854775807ll ;
  :ul = 18446744073709551615ull ; :empty = "" ;
data:
  b = -128, 127, 0, 1, 2, 3, -127, 5, 6, 7, 8, 9 ;
  ub = 255, 127, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ;
  s = -32768, 32767, -32767, 0, 1, 2, 3, 4, 5, 6, 7, 8 ;
  us = 65535, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ;
  n = -2147483648, 2147483647, -2147483647, 0, 1, 2, 3, 4, 5, 6, 7, 8 ;
  u = 4294967295, 4294967294, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ;
  l = -9223372036854775807, 9223372036854775807, -9223372036854775806, 0, 1, 2, 3, 4, 5, 6, 7, 8 ;
  ul = 18446744073709551615, 18446744073709551614, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ;
  f = 0, -0., 0.1, 1e-45, 3.402823e38, NaNf, Infinityf, -Infinityf, 9.96921e36 ;
  g = 0, -0., 0.1, 5e-324, 1.7976931348623157e308, NaN, Infinity, -Infinity, 9.969209968386869e36 ;
  ff = 1, NaNf, 0.3333333333, 1e10, 123456.7, 1234567.8, 0.0001, 0.00001, 16777217 ;
  gf = 1, -1e30, 0.3333333333333333, 1e15, 1e14, 123456789012345.6, 0.0001, 0.00001, 2e22 ;
  bf = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ;
  scalar = 2.5 ; single = 7 ; wide = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ;
  row = 100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000, 900000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ;
  formatted = 1, 2.5, 3.14159, -1e10, NaNf, 0, 9.96921e36, 8, 9 ;
  hex = 1, 255, 3, 4, 5, 6, 7, 8, 9 ;
}
"""

SHAPES = """netcdf shapes {
dimensions:
  t = UNLIMITED ; u = UNLIMITED ; v = UNLIMITED ; x = 3 ; none = UNLIMITED ; y = 25 ;
variables:
  int a(t, x) ; int b(t, u) ; int c(x, u, v) ; int e(none, x) ; int f(none) ; int g(t, y) ; char h(t, u) ;
  string i(t, u) ; char j(t, x, u) ;
data:
  a = 1, 2, 3, 4, 5, 6 ;
  b = {1, 2, 3}, {4, 5} ;
  c = {{1, 2}, {3, 4}}, {{5}}, {{6, 7}, {8, 9}, {10}} ;
  g = 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000, 16000, 17000 ;
  h = {"abc"}, {"d"} ;
  i = {"a", "b"}, {"c"} ;
}
"""

TEXTS = """netcdf texts {
dimensions:
  n = 4 ; len = 12 ; m = 3 ;
variables:
  char c(len) ; char rows(n, len) ; char cube(m, n, m) ; char one ; char number(m) ; number:C_format = "%d" ;
  string s(n) ; string big(n) ; string none(n) ; none:_FillValue = "x" ; string alone ;
  :plain = "some text" ; :quotes = "it's \\"quoted\\" \\\\ back" ; :lines = "one\\ntwo\\n" ; :control = "\\001\\t\\r\\b\\f\\177" ;
  :accents = "é ü 漢字" ; string :several = "a", "b\\nc", "é" ; string :single = "x" ; :nul = "a\\000b" ;
data:
  c = "abc\\n\\td\\"'\\\\" ;
  rows = "first", "second\\nline", "é", "" ;
  cube = "abc", "d", "", "ef", "ghi", "j", "k", "l", "m", "n", "o", "p" ;
  one = "x" ; number = "ab" ;
  s = "plain", "with \\"quotes\\" and 'others'", "", NIL ;
  big = "a string that is rather long, longer than most of them are", "another string, which is about as long as the first one was", "é", "\\001" ;
  none = "x", "y", "", NIL ;
  alone = "one\\ntwo" ;
}
""".replace("none:_FillValue", "string none:_FillValue")

GROUPS = """netcdf groups {
dimensions: x = 2 ; t = UNLIMITED ;
variables: int x(x) ; int \\2m\\ temp\\:a(x) ; int data(x) ; data :units = "m" ;
  :title = "root" ;
data: x = 1, 2 ; \\2m\\ temp\\:a = 3, 4 ; data = 5, 6 ;
group: inner {
  types: byte enum e { a = 1, b = 2 } ; opaque(2) o ;
  dimensions: x = 3 ; z = 1 ;
  variables: int v(x, z) ; int w(/x, t) ; e ev(x) ; double x(x) ;
    :title = "inner" ;
  data: v = 1, 2, 3 ; w = {1}, {2} ; ev = a, b, a ; x = 0.5, 1.5, 2.5 ;
  group: deep {
    types: compound c { e first ; o second ; } ;
    dimensions: y = UNLIMITED ;
    variables: c cv(y) ; int many(y, x) ; c cv:all = {a, 0x01}, {b, 0x02} ;
    data: cv = {a, 0x0102}, {b, 0xFFFE} ;
      many = 100000000, 200000000, 300000000, 400000000, 500000000, 600000000 ;
  }
}
group: empty { }
group: other { variables: inner/e far ; :note = "x" ; data: far = b ; }
}
""".replace("inner/e far", "/inner/e far")

TIMES = """netcdf times {
dimensions: t = 9 ; two = 2 ;
variables:
  double a(t) ; a:units = "days since 1970-01-01" ; a:bounds = "a_bounds" ; a:actual_range = 0., 10.5 ;
    a:many = 1., 2., 3., 4., 5., 6., 7. ; a:_FillValue = 9. ;
  double a_bounds(t, two) ;
  int b(t) ; b:units = "hours since 1900-1-1 6:30:15.5" ; b:calendar = "360_day" ;
  float c(t) ; c:units = "months since 2000-02-29" ; c:calendar = "standard" ;
  double d(t) ; d:units = "seconds since 1582-10-04T12:00:00Z" ;
  double e(t) ; e:units = "days since 1582-10-20" ; e:calendar = "gregorian" ;
  int f(t) ; f:units = "years since 2000-06-15" ; f:calendar = "noleap" ;
  double g(t) ; g:units = "minutes since 2000-2-28 23:00" ; g:calendar = "366_day" ;
  double h(t) ; h:units = "days since 0001-03-01" ; h:calendar = "julian" ;
  double i(t) ; i:units = "weeks since 2000" ; i:calendar = "proleptic_gregorian" ;
  double j(t) ; j:units = "days since 3-1" ; j:calendar = "none" ;
  double k(t) ; k:units = "seasons since 1999-12-01 00:00" ;
  double l(t) ; l:units = "days after tomorrow" ; double m(t) ; m:units = "K" ; double n(t) ; n:units = "fortnights since 2000-1-1" ;
data:
  a = 0, 1, 2.5, 3.25, 4.0001, 1e6, -1, -719529, 9 ;
  a_bounds = 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9.123456 ;
  b = 0, 1, 719, 720, 8640, -1, 100000, 2, 3 ;
  c = 0, 1, 12, -1, -2, 25, 0.5, 1.5, 100 ;
  d = 0, 1, 43199, 43200, 86400, -86400, 1e9, 0.5, 1e10 ;
  e = 0, -5, -6, -15.5, 1, 100000, -100000, 0.25, 3 ;
  f = 0, 1, -1, 100, 4, 5, 6, 7, 8 ;
  g = 0, 1, 59, 60, 1439, 1440, 61, 1e6, 0.1 ;
  h = 0, 1, -60, 365, 366, 1461, 1e5, 7e5, -400000 ;
  i = 0, 1, -1, 52, 0.1, 1000, -100000, 2, 3 ;
  j = 0, 1, 300, 400, -60, -61, 365, 0.5, 306 ;
  k = 0, 1, 2, 3, 4, -1, -4, 5, 6 ;
  l = 1, 2, 3, 4, 5, 6, 7, 8, 9 ; m = 1, 2, 3, 4, 5, 6, 7, 8, 9 ; n = 1, 2, 3, 4, 5, 6, 7, 8, 9 ;
}
"""

STORED = """netcdf stored {
dimensions: x = 100 ; y = 50 ; t = UNLIMITED ;
variables:
  float a(x, y) ; a:_ChunkSizes = 10, 50 ; a:_DeflateLevel = 3 ; a:_Shuffle = "true" ; a:_Fletcher32 = "true" ;
  int b(x) ; b:_Endianness = "big" ; b:_Storage = "contiguous" ; short c(t, x) ; byte d(x) ; d:_NoFill = "true" ;
  double e ; string s(x) ; char ch(x) ; int64 l(x) ; l:_Endianness = "little" ; l:_Storage = "compact" ;
  :title = "x" ;
data: d = 1 ; c = 1, 2, 3 ;
}
"""

CLASSIC = """netcdf classic {
dimensions: t = UNLIMITED ; x = 3 ;
variables: float v(t, x) ; v:units = "K" ; v:range = 1.f, 2.f ; int t(t) ; t:lines = "one\\ntwo" ; char c(t, x) ; double s ;
  :title = "a \\"b\\" <c> & d\\ne\\tf" ; :number = 1.5 ; :shorts = 1s, 2s ;
data: v = 1, 2, 3, 4, 5, 6 ; t = 1, 2 ; c = "abc", "d" ; s = 0.1 ;
}
"""

ALL = {
    name.lower(): text
    for name, text in globals().copy().items()
    if name.isupper() and isinstance(text, str) and name != "ALL"
}
