"""F20, F22 and F23: consolidated metadata, NCZarr's own documents, and CDL that lie or do not end."""

from __future__ import annotations

from typing import Any

from torture.inputs.case import FOUR, RAW, Case, Cases, Expect, Make, store, text, v2, v3

GROUP2, GROUP3 = {"zarr_format": 2}, {"zarr_format": 3, "node_type": "group", "attributes": {}}


def consolidated() -> Cases:
    """F20: one document in place of many, which disagrees with them, names nodes that are not there, or is broken."""
    files = {".zgroup": text(GROUP2), "a/.zarray": text(v2()), "a/0": RAW}
    wrong: tuple[tuple[str, Any], ...] = (
        ("empty", {}),
        ("list", []),
        ("metadata-list", _block([])),
        ("metadata-null", _block(None)),
        ("metadata-text", _block("x")),
        ("other-format", {"zarr_consolidated_format": 2, "metadata": {}}),
        ("format-text", {"zarr_consolidated_format": "1", "metadata": {".zgroup": GROUP2}}),
        ("array-is-text", _block({".zgroup": GROUP2, "a/.zarray": "x"})),
        ("array-is-null", _block({".zgroup": GROUP2, "a/.zarray": None})),
        ("array-is-list", _block({".zgroup": GROUP2, "a/.zarray": [1]})),
        ("leads-out", _block({".zgroup": GROUP2, "../a/.zarray": v2()})),
        ("leads-to-the-root", _block({".zgroup": GROUP2, "/a/.zarray": v2()})),
        ("empty-part", _block({".zgroup": GROUP2, "a//b/.zarray": v2()})),
        ("nul", _block({".zgroup": GROUP2, "a\0/.zarray": v2()})),
        ("dots", _block({".zgroup": GROUP2, "./a/.zarray": v2()})),
        ("names-nothing", _block({"": v2()})),
    )
    for name, block in wrong:
        made = store({**files, ".zmetadata": text(block)})
        yield Case("F20", f"v2-{name}", made, "any", act="tree")
        yield Case("F20", f"v2-{name}-array", made, "either", FOUR, path="a")
    good = text(_block({".zgroup": GROUP2, "a/.zarray": v2()}))
    for size in range(0, len(good), 2):
        made = store({**files, ".zmetadata": good[:size]})
        yield Case("F20", f"v2-cut-at-{size}", made, "any", act="tree")
    for name, array in (
        ("other-shape", v2(shape=[2])),
        ("other-type", v2(dtype="<f4")),
        ("other-chunks", v2(chunks=[2])),
        ("huge", v2(shape=[1 << 62], chunks=[1 << 62])),
        ("bad-type", v2(dtype="x")),
    ):
        block = _block({".zgroup": GROUP2, "a/.zarray": array, "b/.zarray": v2()})
        yield Case("F20", f"v2-{name}", store({**files, ".zmetadata": text(block)}), "any", act="tree")
    block = _block({".zgroup": GROUP2, "a/.zarray": v2(), "gone/.zarray": v2(), "gone/.zgroup": GROUP2})
    yield Case("F20", "v2-a-node-that-is-not-there", store({**files, ".zmetadata": text(block)}), "any", act="tree")
    yield from _inline()


def _block(metadata: object) -> dict[str, object]:
    return {"zarr_consolidated_format": 1, "metadata": metadata}


def _inline() -> Cases:
    files = {"a/zarr.json": text(v3()), "a/c/0": RAW}
    for name, inline in (
        ("null", None),
        ("list", []),
        ("number", 5),
        ("empty", {}),
        ("no-kind", {"metadata": {}}),
        ("other-kind", {"kind": "x", "metadata": {}, "must_understand": False}),
        ("must-be-understood", {"kind": "inline", "metadata": {}, "must_understand": True}),
        ("array-is-text", {"kind": "inline", "must_understand": False, "metadata": {"a": "x"}}),
        ("array-is-empty", {"kind": "inline", "must_understand": False, "metadata": {"a": {}}}),
        ("leads-out", {"kind": "inline", "must_understand": False, "metadata": {"../x": v3()}}),
        ("from-the-root", {"kind": "inline", "must_understand": False, "metadata": {"/etc": v3()}}),
        ("gone", {"kind": "inline", "must_understand": False, "metadata": {"a": v3(), "gone": v3()}}),
        ("other-shape", {"kind": "inline", "must_understand": False, "metadata": {"a": v3(shape=[2])}}),
        ("in-itself", {"kind": "inline", "must_understand": False, "metadata": {"": GROUP3, "a": v3()}}),
        ("child-of-an-array", {"kind": "inline", "must_understand": False, "metadata": {"a": v3(), "a/b": v3()}}),
        ("parent-missing", {"kind": "inline", "must_understand": False, "metadata": {"x/y/z": v3()}}),
    ):
        made = store({**files, "zarr.json": text({**GROUP3, "consolidated_metadata": inline})})
        yield Case("F20", f"v3-{name}", made, "any", act="tree")
        yield Case("F20", f"v3-{name}-array", made, "either", FOUR, path="a")
    many = {f"n{i}": v3() for i in range(3000)}
    block = {"kind": "inline", "must_understand": False, "metadata": many}
    made = store({**files, "zarr.json": text({**GROUP3, "consolidated_metadata": block})})
    yield Case("F20", "v3-3000-arrays-that-are-not-there", made, "either", FOUR, path="a", decoded=40 << 20)


def nczarr() -> Cases:
    """F22: what NCZarr writes about dimensions, groups and types."""
    group = {"zarr_format": 2, "_nczarr_superblock": {"version": "2.0.0"}}
    for name, content, array, expect in (
        ("whole", _content(), _array(), "value"),
        ("dangling", _content(), _array(["/nope"]), "error"),
        ("relative", _content(), _array(["x"]), "either"),
        ("in-no-group", _content(), _array(["/g/h/x"]), "error"),
        ("too-few", _content(), _array([]), "either"),
        ("too-many", _content(), _array(["/x", "/x"]), "error"),
        ("number", _content(), _array([5]), "error"),
        ("null", _content(), _array(None), "either"),
        ("text", _content(), _array("x"), "either"),
        ("size-differs", _content(dims={"x": 5}), _array(), "error"),
        ("size-negative", _content(dims={"x": -4}), _array(), "error"),
        ("size-text", _content(dims={"x": "4"}), _array(), "error"),
        ("size-huge", _content(dims={"x": 1 << 70}), _array(), "error"),
        ("size-object", _content(dims={"x": {"size": 4, "unlimited": 1}}), _array(), "either"),
        ("dims-are-a-list", _content(dims=["x"]), _array(), "error"),
        ("dims-are-null", _content(dims=None), _array(), "error"),
        ("dims-with-a-slash", _content(dims={"x": 4, "a/b": 4}), _array(), "either"),
        ("dims-with-dots", _content(dims={"x": 4, "..": 4}), _array(), "either"),
        ("array-missing", _content(arrays=["a", "gone"]), _array(), "either"),
        ("arrays-are-text", _content(arrays="a"), _array(), "error"),
        ("arrays-lead-out", _content(arrays=["a", "../../etc"]), _array(), "either"),
        ("groups-in-themselves", _content(groups=["."]), _array(), "either"),
        ("groups-lead-up", _content(groups=[".."]), _array(), "either"),
        ("groups-are-missing", _content(groups=["g"]), _array(), "either"),
        ("groups-are-numbers", _content(groups=[1]), _array(), "error"),
    ):
        files = {
            ".zgroup": text({**group, "_nczarr_group": content}),
            ".zattrs": text({"_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_group": content}),
            "a/.zarray": text({**v2(), "_nczarr_array": array}),
            "a/.zattrs": text({"_nczarr_array": array, "_nczarr_attr": {"types": {}}}),
            "a/0": RAW,
        }
        # What is said of dimensions may be put right with a warning; values may not be others.
        found: Expect = "value" if expect == "value" else "either"
        yield Case("F22", f"{name}-as-zarr", store(files), found, FOUR, path="a")
        yield Case("F22", name, store(files), found, FOUR, act="netcdf", path="a")
    for name, super_ in (
        ("number", 5),
        ("null", None),
        ("list", []),
        ("version-number", {"version": 2}),
        ("future", {"version": "99.0"}),
    ):
        content = _content()
        files = {
            ".zgroup": text(GROUP2),
            ".zattrs": text({"_nczarr_superblock": super_, "_nczarr_group": content}),
            "a/.zarray": text(v2()),
            "a/.zattrs": text({"_nczarr_array": _array()}),
            "a/0": RAW,
        }
        yield Case("F22", f"superblock-{name}", store(files), "any", act="netcdf", path="a")
    yield from _types(group)
    yield from _dimensions()


def _types(group: dict[str, Any]) -> Cases:
    for name, types in (
        ("number", 5),
        ("list", [1]),
        ("unknown", {"units": "nope"}),
        ("too-large", {"units": "<i99"}),
        ("of-nothing", {"gone": "<i4"}),
        ("python", {"units": "__import__('os')"}),
        ("objects", {"units": "|O"}),
        ("char", {"units": ">S1"}),
        ("json", {"units": "|J0"}),
    ):
        for value in ("m", 5, [1, 2], {"a": 1}, None, [[1], [2, 3]]):
            attrs = {"units": value, "_nczarr_array": _array(), "_nczarr_attr": {"types": types}}
            files = {
                ".zgroup": text({**group, "_nczarr_group": _content()}),
                "a/.zarray": text(v2()),
                "a/.zattrs": text(attrs),
                "a/0": RAW,
            }
            files[".zattrs"] = text({"_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_group": _content()})
            yield Case("F22", f"types-{name}-{value}", store(files), "any", act="netcdf", path="a")


def _dimensions() -> Cases:
    for names in (
        ["x"],
        ["x", "y"],
        [],
        "x",
        5,
        [5],
        [None],
        ["x/y"],
        [".."],
        [""],
        ["x" * 100_000],
        {"x": 1},
        [["x"]],
    ):
        files = {
            ".zgroup": text(GROUP2),
            "a/.zarray": text(v2()),
            "a/.zattrs": text({"_ARRAY_DIMENSIONS": names}),
            "a/0": RAW,
        }
        expect: Expect = "value" if names == ["x"] else "any"
        yield Case("F22", f"array-dimensions-{str(names)[:20]}", store(files), expect, FOUR, act="netcdf", path="a")
        twice = {**files, "b/.zarray": text(v2(shape=[5], chunks=[5])), "b/.zattrs": text({"_ARRAY_DIMENSIONS": names})}
        yield Case(
            "F22", f"array-dimensions-{str(names)[:20]}-of-two-sizes", store(twice), "any", act="netcdf", path="a"
        )
    for attribute, value in (
        ("scale_factor", "x"), ("add_offset", [1, 2]), ("_FillValue", "x"), ("_FillValue", [1, 2]), ("_FillValue", 1e300),
        ("_FillValue", {}), ("missing_value", "x"), ("valid_range", [1]), ("valid_min", "x"), ("_Unsigned", 5), ("calendar", 5),
        ("units", "days since x"), ("units", "days since 99999999999-01-01"), ("coordinates", 5), ("_Netcdf4Dimid", "x"),
        ("_NCProperties", 5), ("flag_values", {}), ("_Encoding", "nope"),
    ):  # fmt: skip
        attrs = {"_ARRAY_DIMENSIONS": ["x"], attribute: value}
        files = {".zgroup": text(GROUP2), "a/.zarray": text(v2()), "a/.zattrs": text(attrs), "a/0": RAW}
        yield Case("F22", f"attribute-{attribute}-{value}", store(files), "any", act="netcdf", path="a")


def _content(**changes: Any) -> dict[str, Any]:
    return {"dims": {"x": 4}, "vars": ["a"], "arrays": ["a"], "groups": [], "dimensions": {"x": 4}, **changes, **(
        {"dimensions": changes["dims"]} if "dims" in changes else {})}  # fmt: skip


def _array(names: Any = ("/x",)) -> dict[str, Any]:
    names = list(names) if isinstance(names, tuple) else names
    return {"dimrefs": names, "dimension_references": names, "dimensions": names, "storage": "chunked"}


def _cdl(source: str) -> Make:
    return store({"x.cdl": source.encode("utf-8", "surrogatepass")}, "")


GOOD = 'netcdf x {\ndimensions:\n x = 4 ;\nvariables:\n int a(x) ;\n a:units = "m" ;\ndata:\n a = 1, -2, 3, 2000000000 ;\n}\n'


def cdl() -> Cases:
    """F23: CDL."""
    yield Case("F23", "whole", _cdl(GOOD), "value", FOUR, act="cdl", where="x.cdl", path="a")
    for size in range(len(GOOD) - 2):
        yield Case("F23", f"cut-at-{size}", _cdl(GOOD[:size]), act="cdl", where="x.cdl", path="a")
    for at in range(len(GOOD) - 1):
        for mark in ('"', "{", "}", "\0"):
            changed = GOOD[:at] + mark + GOOD[at + 1 :]
            yield Case("F23", f"{mark!r}-at-{at}", _cdl(changed), "any", act="cdl", where="x.cdl", path="a")
    deep = "group: g {" * 5000
    numbers = ", ".join(["1"] * 100_000)
    for name, source in (
        ("groups-never-closed", "netcdf x {" + deep),
        ("groups-5000-deep", "netcdf x {" + deep + "}" * 5001),
        ("braces", "netcdf x " + "{" * 100_000),
        ("parentheses", "netcdf x { variables: int a" + "(" * 100_000),
        ("string-never-closed", 'netcdf x { :a = "' + "y" * 1_000_000),
        ("escapes", 'netcdf x { :a = "' + "\\" * 100_001),
        ("comments", "// x\n" * 100_000),
        ("a-word-of-a-megabyte", "netcdf " + "x" * 1_000_000),
        ("digits", "netcdf x { :a = " + "9" * 1_000_000 + " ; }"),
        ("exponent", "netcdf x { :a = 1e" + "9" * 10_000 + " ; }"),
        ("type-of-itself", "netcdf x { types: compound c { c a ; } ; }"),
        ("types-of-each-other", "netcdf x { types: compound c { d a ; } ; compound d { c a ; } ; }"),
        ("vlen-of-itself", "netcdf x { types: v(*) v ; }"),
        ("type-before-it-is-there", "netcdf x { variables: nope a ; }"),
        ("enum-twice", "netcdf x { types: int enum e { A = 1, A = 2 } ; }"),
        ("enum-too-large", "netcdf x { types: byte enum e { A = 1000 } ; }"),
        ("dimension-negative", "netcdf x { dimensions: x = -1 ; }"),
        ("dimension-huge", "netcdf x { dimensions: x = 99999999999999999999 ; variables: int a(x) ; }"),
        ("dimension-twice", "netcdf x { dimensions: x = 1 ; x = 2 ; }"),
        ("dimension-text", 'netcdf x { dimensions: x = "a" ; }'),
        ("dimension-missing", "netcdf x { variables: int a(y) ; }"),
        ("variable-twice", "netcdf x { variables: int a ; int a ; }"),
        ("attribute-of-nothing", 'netcdf x { variables: b:units = "m" ; }'),
        ("data-of-nothing", "netcdf x { data: b = 1 ; }"),
        ("data-too-many", "netcdf x { dimensions: x = 2 ; variables: int a(x) ; data: a = " + numbers + " ; }"),
        (
            "data-of-a-huge-array",
            "netcdf x { dimensions: x = 9223372036854775807 ; variables: int a(x) ; data: a = 1 ; }",
        ),
        ("data-braces", "netcdf x { variables: int a ; data: a = " + "{" * 100_000 + " ; }"),
        ("bad-character", "netcdf x { \x01 }"),
        ("bom-16", "\ufffe netcdf x { }"),
        ("two-files", GOOD + GOOD),
        ("nothing", ""),
        ("html", "<html><body>x</body></html>"),
        ("name-with-a-slash", "netcdf x { variables: int a/b ; }"),
    ):
        expect: Expect = (
            "any"
            if name
            in ("digits", "exponent", "a-word-of-a-megabyte", "data-of-a-huge-array", "enum-too-large", "data-too-many")
            else "error"
        )
        yield Case("F23", name, _cdl(source), expect, act="cdl", where="x.cdl", path="a", decoded=8 * len(source))
