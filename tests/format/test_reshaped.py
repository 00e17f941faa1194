"""Documents of arrays that get another shape are made from those that they had, where nothing but the shape matters."""

from __future__ import annotations

import json

import pytest

from omnizarr.errors import MetadataError
from omnizarr.format import parsed
from omnizarr.format import reshaped as module
from omnizarr.format.parsed import known, parse_v2, parse_v3
from omnizarr.format.reshaped import keep, reshaped
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.dtype import DType
from omnizarr.model.group import GroupMeta

GRID = {"name": "regular", "configuration": {"chunk_shape": [2]}}
UNEVEN = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 3]]}}


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch):
    monkeypatch.setattr(module, "_kept", {})
    for name in ("_parsed_v3", "_siblings_v3", "_parsed_v2"):
        monkeypatch.setattr(parsed, name, {})


def new_text(shape=(4,), grid=GRID, **fields):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": "int32",
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        **fields,
    }
    return json.dumps(document).replace(', "shape"', ',\n  "shape"').encode()


def old_text(shape=(4,)):
    document = {"zarr_format": 2, "shape": list(shape), "chunks": [2], "dtype": "<i4", "fill_value": 0}
    document |= {"compressor": None, "filters": None, "order": "C"}
    return json.dumps(document).replace(', "shape"', ',\n  "shape"').encode()


def kept(data=None):
    data = data or new_text()
    meta = parse_v3(data, "zarr.json")
    keep(meta, {"zarr.json": data})
    return meta


def test_another_shape_in_v3():
    meta = kept()
    seen, texts = reshaped(meta._replace(shape=(9,)), "", DEFAULT_LIMITS)
    assert seen == meta._replace(shape=(9,))
    assert texts == {"zarr.json": new_text((9,))}
    assert known(texts["zarr.json"]) is seen
    again, texts = reshaped(seen._replace(shape=(10,)), "", DEFAULT_LIMITS)
    assert (again.shape, texts) == ((10,), {"zarr.json": new_text((10,))})


def test_another_shape_in_v2_leaves_the_attributes():
    texts = {".zarray": old_text(), ".zattrs": b'{"a": 1}'}
    meta = parse_v2("", texts)
    keep(meta, texts)
    seen, made = reshaped(meta._replace(shape=(9,)), "", DEFAULT_LIMITS)
    assert seen == meta._replace(shape=(9,))
    assert made == {".zarray": old_text((9,)), ".zattrs": b'{"a": 1}'}
    assert known(None, made[".zarray"], None, made[".zattrs"]) is seen


def test_what_is_not_known_or_depends_on_more_is_to_be_rendered():
    meta = kept()
    assert reshaped(meta._replace(shape=(9,)), "", Limits(max_dimensions=3)) is None
    assert reshaped(GroupMeta({}, meta.format, {}), "", DEFAULT_LIMITS) is None
    assert reshaped(meta._replace(shape=(9,), attributes={}), "", DEFAULT_LIMITS) is None
    assert reshaped(meta._replace(shape=(9,), dtype=DType.of("<f4")), "", DEFAULT_LIMITS) is None
    assert reshaped(meta._replace(shape=(9, 1)), "", DEFAULT_LIMITS) is None
    assert reshaped(meta._replace(shape=(0,)), "", DEFAULT_LIMITS) is None
    assert reshaped(meta._replace(shape=(1,)), "", DEFAULT_LIMITS) is not None
    with pytest.raises(MetadataError) as caught:
        reshaped(meta._replace(shape=(1 << 63,)), "a/", DEFAULT_LIMITS)
    assert caught.value.key == "a/zarr.json"


@pytest.mark.parametrize(
    "data",
    [
        new_text((0,)),
        new_text(grid=UNEVEN),
        new_text(attributes={"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}}),
        new_text().replace(b"\n", b""),
    ],
)
def test_documents_that_say_more_by_their_shape_are_not_kept(data):
    meta = kept(data)
    assert reshaped(meta._replace(shape=(9,)), "", DEFAULT_LIMITS) is None


def test_groups_and_documents_of_other_formats_are_not_kept():
    group = b'{"zarr_format": 3, "node_type": "group"}'
    keep(parse_v3(group, "zarr.json"), {"zarr.json": group})
    keep(kept_nowhere := parse_v3(new_text(), "zarr.json"), {"meta": new_text()})
    assert reshaped(kept_nowhere._replace(shape=(9,)), "", DEFAULT_LIMITS) is None


def test_when_there_is_too_much_all_is_forgotten():
    metas = [kept(new_text(attributes={"n": number})) for number in range(64)]
    assert all(reshaped(meta._replace(shape=(9,)), "", DEFAULT_LIMITS) for meta in metas)
    last = kept(new_text(attributes={"n": 64}))
    assert not any(reshaped(meta._replace(shape=(9,)), "", DEFAULT_LIMITS) for meta in metas)
    assert reshaped(last._replace(shape=(9,)), "", DEFAULT_LIMITS)
