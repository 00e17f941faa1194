"""CDL texts, each with a part of the language in it."""

ATOMIC = """
netcdf atomic {
dimensions:
  n = 3, m = 2 ;
variables:
  char c(n) ; byte b(n) ; ubyte ub(n) ; short s(n) ; ushort us(n) ;
  int i(n) ; uint ui(n) ; long l(n) ; int64 i64(n) ; uint64 u64(n) ;
  float f(n) ; real r ; double d(m, n) ; string w(n) ;
  ulong ul ; integer in, scalar ; uinteger uin ;
data:
  c = "abc" ;
  b = -128, 127b, 'A' ;
  ub = 0, 255ub, 1UB ;
  s = -32768, 32767s, 1S ;
  us = 0, 65535us, 1US ;
  i = -2147483648, 2147483647, 1L ;
  ui = 0, 4294967295, 7U ;
  l = 010, 0, 077 ;
  i64 = -9223372036854775808LL, 9223372036854775807, 1ll ;
  u64 = 0, 18446744073709551615ULL, 5ull ;
  f = 1, 0.1f, -1.5e-3f ;
  r = .5 ;
  d = 1e3, -2.25, 3., 1E-300, NaN, -Infinity ;
  w = "one", "", "two\\tthree" ;
  in = +4 ;
}
"""

ATTRIBUTES = """
netcdf attributes {
variables:
  int v ;
    v:units = "m s-1" ;
    v:several = "one ", "and two" ;
    v:bytes = 1b, -2b ;
    v:shorts = 1s, 2s ;
    v:ints = 1, -2, 3 ;
    v:longs = 1LL, 2LL ;
    v:mixed = 1, 2LL ;
    v:unsigned = 1U, 2us ;
    v:big = 4294967295 ;
    v:ubytes = 255ub ;
    v:ulongs = 18446744073709551615ull ;
    v:floats = 1.f, .5f, NaNf, -Infinityf ;
    v:doubles = 1., 2e0, NaN ;
    v:float_and_int = 1, 2.5f ;
    v:letters = 'a', '\\n', '\\101' ;
    string v:words = "a", "b c", "" ;
    float v:typed = 1, 2 ;
    short v:narrow = 5 ;
    char v:text = "xy" ;
    v:_FillValue = -1 ;
    v:twice = 1 ; v:twice = "now text" ;
    v:empty = "" ;
    v:escapes = "tab\\t quote\\" back\\\\ bell\\a octal\\101 line\\nnext" ;
    v:utf8 = "grüße 水" ;
  :title = "the whole" ;
  :history = "a\\n",
             "b\\n" ;
  string :list = "x", "y" ;
data:
  v = _ ;
}
"""

TYPES = """
netcdf types {
types:
  int enum colour {red = 1, green = 2, dark_blue = -3} ;
  ubyte enum tiny {no = 0, yes = 255} ;
  opaque(5) blob ;
  int(*) ints ;
  float(*) floats ;
  compound point { double x, y ; int tag(2, 2) ; char name(4) ; } ;
  compound pair { point a ; point b ; short s ; } ;
  point(*) line ;
  ints(*) deep ;
  compound held { ints values ; blob b ; }
  colour :attribute = green, red ;
  point :origin = {0, 0, {1, 2, 3, 4}, {"o"}} ;
  ints :ragged = {1, 2}, {3} ;
  blob :raw = 0x0102030405 ;
dimensions:
  n = 3 ;
variables:
  colour c(n) ;
    colour c:_FillValue = red ;
  tiny t ;
  blob b(n) ;
  ints i(n) ;
  floats f ;
  point p(n) ;
  pair q ;
  line l(n) ;
  deep d ;
  held h ;
data:
  c = red, dark_blue, green ;
  t = yes ;
  b = 0x0102030405, 0xff, 0xAABBCCDDEEFF ;
  i = {1, 2, 3}, {}, {4} ;
  f = {1.5, NaN} ;
  p = {1, 2, {1, 2, 3, 4}, {"ab"}}, {3, 4, {5}, {"z"}}, {4, 5, {6}, {'x', 'y'}} ;
  q = {{1, 2, {3, 4, 5, 6}, {"p"}}, {7, 8, {9, 10, 11, 12}, {"q"}}, 13} ;
  l = {{1, 2, {3, 4, 5, 6}, {"p"}}}, {}, {{7, 8, {9, 1, 1, 2}, {"q"}}, {1, 1, {1, 1, 1, 1}, {"r"}}} ;
  d = {{1}, {2, 3}} ;
  h = {{1, 2}, 0x0102030405} ;
}
"""

UNLIMITED = """
netcdf unlimited {
dimensions:
  t = UNLIMITED ; // (3 currently)
  x = 2 ;
  u = unlimited ;
variables:
  int first(t) ;
  short two(t, x) ;
    two:_FillValue = 9s ;
  int both(t, u) ;
  float inner(x, u) ;
  double three(t, x, u) ;
  char text(t, x) ;
  char rows(t, u) ;
  string words(t) ;
  int nothing(t) ;
data:
  first = 1, 2, 3 ;
  two = 1, 2, 3 ;
  both = {1, 2}, {3}, {4, 5, 6} ;
  inner = {1, 2, 3, 4}, {5} ;
  three = {1}, {2, 2}, {3}, {4}, {5}, {6} ;
  text = "ab", "c", "de" ;
  rows = {"abcd"}, {"efgh"}, {"i"} ;
  words = "x" ;
}
"""

GROUPS = """
netcdf groups {
  :before = 1 ;
types:
  int(*) ints ;
dimensions:
  x = 2 ;
variables:
  int v(x) ;
data:
  v = 1, 2 ;
group: a {
  types:
    opaque(2) two ;
  dimensions:
    x = 3 ; y = unlimited ;
  variables:
    two o(x) ;
    /ints i(/x) ;
    short v(y, x) ;
      v:units = "m" ;
  :title = "in a" ;
  data:
    o = 0x0102, 0x0304, 0x0506 ;
    i = {1}, {2, 3} ;
    v = 1, 2, 3, 4, 5, 6 ;
  group: b {
    variables:
      two here(y) ;
      int w(x, /x) ;
    data:
      here = 0x0a0b, 0x0c0d ;
      w = 1, 2, 3, 4, 5, 6 ;
  } // group b
} // group a
group: c { }
}
"""

NAMES = """
/* a comment
   over lines */
netcdf names { // and one here
dimensions:
  dim.with-dots+ = 2 ;
  \\2digits = 1 ;
  größe = 2 ;
variables:
  int a\\ b(dim.with-dots+) ;
    a\\ b:c\\:d = 1 ;
  int _under ;
  float \\3d(größe) ;
  byte p\\(q\\) ;
  :x\\,y = "z" ;
data:
  a\\ b = 1, // one
    /* two */ 2 ;
  _under = 5 ;
  \\3d = 1, 2 ;
}
"""

STORED = """
netcdf stored {
dimensions:
  x = 10 ; y = 20 ;
variables:
  int chunked(x, y) ;
    chunked:_Storage = "chunked" ;
    chunked:_ChunkSizes = 5, 10 ;
    chunked:_DeflateLevel = 4 ;
    chunked:_Shuffle = "true" ;
    chunked:_Fletcher32 = "true" ;
    chunked:_Endianness = "big" ;
  float contiguous(x) ;
    contiguous:_Storage = "contiguous" ;
    contiguous:_Endianness = "little" ;
  short compact(x) ;
    compact:_Storage = "compact" ;
    compact:_Endianness = "little" ;
  :_NCProperties = "version=2,netcdf=4.9.0" ;
  :_SuperblockVersion = 2 ;
  :_IsNetcdf4 = 1 ;
  :_Format = "netCDF-4" ;
data:
  chunked = 1, 2, 3 ;
  compact = 1, 2 ;
}
"""

CHARACTERS = """
netcdf characters {
dimensions:
  n = 4 ; m = 3 ; t = unlimited ;
variables:
  char one, line(n), table(m, n), cube(m, m, n), grown(t), records(t, n) ;
    table:_FillValue = "*" ;
data:
  one = 'q' ;
  line = "ab" ;
  table = "abcd", "e", "fg" ;
  cube = "a", "b", "c", "dddd", "e", 'f', 'g' ;
  grown = "hello", '!' ;
  records = "wxyz", "a", "longer t" ;
}
"""

ALL = {
    "atomic": ATOMIC,
    "attributes": ATTRIBUTES,
    "types": TYPES,
    "unlimited": UNLIMITED,
    "groups": GROUPS,
    "names": NAMES,
    "stored": STORED,
    "characters": CHARACTERS,
}
