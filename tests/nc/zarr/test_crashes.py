"""What netcdf-c refuses or crashes on, and what cannot be a dataset."""

from __future__ import annotations

import pytest

from omnizarr.errors import MetadataError, NotFoundError, OmnizarrWarning
from omnizarr.nc.zarr.reader import open_reader
from tests.nc.zarr.stores import FOUR, GROUP, array, names, nczarr, plain, refers, text, values, zarray


def test_array_that_is_not_named_is_not_seen():
    store = {**nczarr({"x": 4}, ["v"]), **array("v", zarray([4]), refers("/x")), **array("w", zarray([4]))}
    assert list(open_reader({**store, "g/.zgroup": GROUP}).root.vars) == ["v"]


def test_named_nodes_that_are_missing_are_left_out():
    store = {**nczarr({"x": 4}, ["gone", "v"], ["nowhere"]), **array("v", zarray([4]), refers("/x"), FOUR)}
    with pytest.warns(OmnizarrWarning, match="left out") as caught:
        source = open_reader(store)
    assert [str(one.message).split("'")[1] for one in caught] == ["gone", "nowhere"]
    assert list(source.root.vars) == ["v"]


@pytest.mark.parametrize("attributes", [None, {}, {"_ARRAY_DIMENSIONS": ["x"]}, {"_nczarr_array": 5}])
def test_array_without_references(attributes):
    store = {**nczarr({"x": 4}, ["v"]), **array("v", zarray([4]), attributes, FOUR)}
    source = open_reader(store)
    assert source.root.vars["v"].dims[0].size == 4
    assert values(source).tolist() == [0, 1, 2, 3]


def test_group_without_a_mark_is_listed():
    store = {**nczarr({}, [], ["g"]), "g/.zgroup": GROUP, **array("g/v", zarray([4]), None, FOUR)}
    assert values(open_reader(store), "g/v").tolist() == [0, 1, 2, 3]


def test_reference_to_a_dimension_that_is_not_defined():
    store = {**nczarr({}, ["v"]), **array("v", zarray([4]), refers("/x"), FOUR)}
    with pytest.warns(OmnizarrWarning, match="'/x', which is not defined"):
        source = open_reader(store)
    assert names(source) == ["/x"]
    assert source.root.dims["x"].size == 4


def test_dimension_of_another_length_than_the_array():
    store = {**nczarr({"x": 3}, ["v"]), **array("v", zarray([4]), refers("/x"), FOUR)}
    with pytest.warns(OmnizarrWarning, match="has length 4 along the dimension '/x', which has 3"):
        source = open_reader(store)
    assert names(source) == ["/x_4"]
    assert values(source).tolist() == [0, 1, 2, 3]


def test_references_of_the_wrong_number():
    store = {**nczarr({"x": 4}, ["v"]), **array("v", zarray([4]), refers("/x", "/x"), FOUR)}
    with pytest.warns(OmnizarrWarning, match="refers to 2"):
        assert values(open_reader(store)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("value", "size"), [("4", 4), ({"size": 4}, 4), (4, 4), ({"size": 4, "unlimited": 0}, 4)])
def test_lengths_in_every_form(value, size):
    store = {**nczarr({"x": value}, ["v"]), **array("v", zarray([4]), refers("x"), FOUR)}
    source = open_reader(store)
    assert source.root.dims["x"].size == size
    assert names(source) == ["/x"]


@pytest.mark.parametrize("value", [-1, None, 1.5, "many", {}, [], True, {"size": "x"}])
def test_lengths_that_are_none(value):
    with pytest.warns(OmnizarrWarning, match="no length"):
        assert not open_reader(nczarr({"x": value}, [])).root.dims


@pytest.mark.parametrize("dims", [["x"], ["x", "y", "z"], "x", 5, {"x": 4}, [1, 2]])
def test_array_dimensions_that_name_no_dimensions(dims):
    store = plain(v=(zarray([2, 2]), {"_ARRAY_DIMENSIONS": dims}, FOUR))
    if isinstance(dims, list) and len(dims) == 2:
        source = open_reader(store)
    else:
        with pytest.warns(OmnizarrWarning, match="_ARRAY_DIMENSIONS of 'v' does not name its 2 dimensions"):
            source = open_reader(store)
    assert names(source) == ["/_Anonymous_Dim_2", "/_Anonymous_Dim_2"]
    assert values(source).tolist() == [[0, 1], [2, 3]]


def test_empty_documents_of_attributes():
    store = {**plain(v=(zarray([4]), None, FOUR)), "v/.zattrs": b"", ".zattrs": b" \n"}
    with pytest.warns(OmnizarrWarning, match="empty"):
        assert values(open_reader(store)).tolist() == [0, 1, 2, 3]


def test_root_without_a_group_document():
    store = {**nczarr({"x": 4}, ["v"]), **array("v", zarray([4]), refers("/x"), FOUR)}
    del store[".zgroup"]
    source = open_reader(store)
    assert source.generation == "D"
    assert values(source).tolist() == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore:.*is missing:omnizarr.OmnizarrWarning")
@pytest.mark.parametrize(
    "change", [{"order": ...}, {"filters": []}, {"filters": ..., "compressor": ...}, {"fill_value": ...}]
)
def test_members_that_are_missing_or_empty(change):
    document = {**zarray([4]), **change}
    document = {name: value for name, value in document.items() if value is not ...}
    source = open_reader({**nczarr({"x": 4}, ["v"]), **array("v", document, refers("/x"), FOUR)})
    assert values(source).tolist() == [0, 1, 2, 3]
    assert source.root.vars["v"].storage.no_fill == ("fill_value" not in document)


@pytest.mark.parametrize("value", [5, None, ["a"], {"b": 1}])
def test_properties_that_are_no_text(value):
    assert not open_reader({".zgroup": GROUP, ".zattrs": text({"_NCProperties": value})}).root.attrs


def test_broken_array_keeps_the_rest_from_nothing():
    store = {
        **plain(v=(zarray([4]), None, FOUR), w=(b"{broken", None), o=(zarray([3], "|O"), {"a": 1})),
        "t/.zarray": text(zarray([2], "<q9")),
        "u/.zarray": text({**zarray([2]), "shape": "two"}),
        "a/.zarray": text(zarray([4])),
        "a/.zattrs": b"[1, 2",
    }
    with pytest.warns(OmnizarrWarning, match="attributes of 'a' are left out"):
        source = open_reader(store)
    assert values(source).tolist() == [0, 1, 2, 3]
    assert source.root.vars["o"].shape == (3,)
    assert source.root.vars["o"].attrs["a"].value.tolist() == [1]
    for name, why in {"w": "not JSON", "o": "addresses in memory", "t": "<q9", "u": "shape"}.items():
        with pytest.raises(MetadataError, match=why) as caught:
            values(source, name)
        assert name in str(caught.value.path)


def test_broken_root_is_an_error_with_a_place():
    with pytest.raises(MetadataError, match="line 1, column 7") as caught:
        open_reader({".zgroup": GROUP, ".zattrs": b'{"a": }'})
    assert caught.value.key == ".zattrs"


def test_nothing_there(tmp_path):
    for place in (tmp_path, tmp_path / "gone", {}):
        with pytest.raises(NotFoundError):
            open_reader(place)


def test_folder_of_arrays_is_a_group(tmp_path):
    for key, data in array("v", zarray([4]), {"_ARRAY_DIMENSIONS": ["x"]}, FOUR).items():
        (tmp_path / key).parent.mkdir(exist_ok=True)
        (tmp_path / key).write_bytes(data)
    with pytest.warns(OmnizarrWarning, match="taken for a group"):
        assert values(open_reader(tmp_path)).tolist() == [0, 1, 2, 3]


def test_array_alone_is_a_dataset_of_one_variable(tmp_path):
    place = tmp_path / "wind.zarr"
    place.mkdir()
    for key, data in array("v", zarray([4]), {"units": "m"}, FOUR).items():
        (place / key.removeprefix("v/")).write_bytes(data)
    source = open_reader(place)
    assert values(source, "wind").tolist() == [0, 1, 2, 3]
    assert source.root.vars["wind"].attrs["units"].value == b"m"
