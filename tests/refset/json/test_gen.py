"""References by formula: found without being expanded, and the same as those that are."""

from __future__ import annotations

import itertools
import json

import jinja2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import LimitError, MetadataError, OmnizarrError
from omnizarr.refset.json_reading import JsonOptions, read_json
from omnizarr.refset.opening import open_set
from tests.refset.example import VERSION_0, VERSION_1


def expanded(gen, **more):
    return read_json(json.dumps({"version": 1, "gen": gen, **more}).encode()).others


def test_the_example_of_the_specification():
    made = read_json(json.dumps(VERSION_1).encode())
    assert made.documents == {"key0": b"data"}
    assert {"key0": "data", **{key: list(place) for key, place in made.others.items()}} == VERSION_0


DIMENSIONS = [
    ({"i": {"stop": 3}}, [0, 1, 2]),
    ({"i": {"start": 2, "stop": 9, "step": 3}}, [2, 5, 8]),
    ({"i": {"start": 5, "stop": -5, "step": -4}}, [5, 1, -3]),
    ({"i": {"start": 3, "stop": 3}}, []),
    ({"i": {"stop": -3}}, []),
    ({"i": [7, 3, 7, -1]}, [7, 3, -1]),
    ({"i": []}, []),
]


@pytest.mark.parametrize(("dimensions", "values"), DIMENSIONS)
def test_every_form_of_dimensions(dimensions, values):
    one = {"key": "k/{{i}}", "url": "u{{i * 2}}", "offset": 7, "length": "{{ i * i }}", "dimensions": dimensions}
    expected = {f"k/{i}": (f"u{2 * i}", 7, i * i) for i in values}
    assert expanded([one]) == expected
    store = open_set({"version": 1, "gen": [one], "refs": {}})
    assert sorted(store.list_prefix("")) == sorted(expected)
    assert not store.list_prefix("q/")


@pytest.mark.parametrize(
    "dimensions",
    [
        {"i": {"start": 1}}, {"i": {"stop": 2.0}}, {"i": {"stop": "2"}}, {"i": {"stop": 2, "step": 0}}, {"i": 5},
        {"i": ["a"]}, {"i": [True]}, {"i": {"stop": 2, "by": 1}}, [], None, {"u": {"stop": 2}}, {"i": {"stop": 10**30}},
    ],
)  # fmt: skip
def test_dimensions_that_are_none(dimensions):
    with pytest.raises((MetadataError, LimitError)) as caught:
        expanded([{"key": "k{{i}}", "url": "u", "dimensions": dimensions}], templates={"u": "x"})
    assert caught.value.key.startswith("gen[0]")


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "u"}, {"key": "k"}, {"key": "k", "url": 5}, {"key": "k", "url": "u", "offset": "1"},
        {"key": "k", "url": "u", "length": 1}, {"key": "k", "url": "u", "offset": 1.5, "length": 1},
        {"key": "k", "url": "u", "offset": -1, "length": 1}, {"key": "k", "url": "u", "offset": "x", "length": 1},
        {"key": "k", "url": "", "offset": 1, "length": 1}, {"key": "k{{x}}", "url": "u"},
        {"key": "k", "url": "u", "offset": "{{i / 2}}", "length": 1}, {"key": "k", "url": "{{i.real}}"},
    ],
)  # fmt: skip
def test_formulas_that_are_none(wrong):
    with pytest.raises(OmnizarrError) as caught:
        expanded([{"dimensions": {"i": {"stop": 2}}, **wrong}])
    assert caught.value.key


def test_formulas_count_more_than_references_and_later_ones_more_than_earlier():
    gen = [
        {"key": "k{{i}}", "url": "one", "dimensions": {"i": {"stop": 3}}},
        {"key": "k{{i}}", "url": "two", "dimensions": {"i": [1]}},
    ]
    refs = {"k0": ["x"], "k9": ["y"], "k2": "text"}
    made = read_json(json.dumps({"version": 1, "gen": gen, "refs": refs}).encode())
    assert made.others == {"k0": ("one",), "k1": ("two",), "k2": ("one",), "k9": ("y",)}
    assert not made.documents


def test_a_thousand_million_keys_are_not_made(tmp_path):
    values = np.arange(4, dtype="<i4")
    (tmp_path / "f_41_99999.bin").write_bytes(b"1234" + values.tobytes())
    array = {"zarr_format": 2, "shape": [1000 * 4, 1000000], "chunks": [4, 1], "dtype": "<i4", "order": "C"}
    gen = {
        "key": "v/{{i}}.{{j}}",
        "url": "f_{{i}}_{{j}}.bin",
        "offset": "4",
        "length": "{{4 * 4}}",
        "dimensions": {"i": {"stop": 1000}, "j": {"stop": 1000000}},
    }
    document = json.dumps({**array, "fill_value": -1, "compressor": None, "filters": None})
    path = tmp_path / "set.json"
    path.write_text(
        json.dumps({"version": 1, "gen": [gen], "refs": {".zgroup": '{"zarr_format": 2}', "v/.zarray": document}})
    )
    group = oz.open(path)
    assert [name for name, _ in group.items()] == ["v"]
    np.testing.assert_array_equal(group["v"][41 * 4 : 42 * 4, 99999], values)
    store = open_set(path)
    assert not store.exists("v/1000.0")
    assert store.list_dir("") == ([".zgroup"], ["v/"])
    with pytest.raises(LimitError):
        store.list_prefix("v/")
    with pytest.raises(LimitError):
        read_json(path.read_bytes(), JsonOptions(most_expanded=10**6))


def test_keys_that_cannot_be_solved():
    def set_of(n):
        return {
            "version": 1,
            "refs": {},
            "gen": [{"key": "k{{i * i}}", "url": "u{{i}}", "dimensions": {"i": {"stop": n}}}],
        }

    small = open_set(set_of(100))
    assert sorted(small.list_prefix("")) == sorted(f"k{i * i}" for i in range(100))
    with pytest.raises(LimitError, match="without making all"):
        open_set(set_of(10**9)).get("k4")
    assert open_set(set_of(10**9)).get("other") is None


KEYS = [
    "k{{i}}", "{{i}}.{{j}}", "a/{{i}}/{{j}}", "{{i}}{{j}}", "{{2 * i + 1}}_{{j - 3}}", "{{'%03d' % i}}{{'%02d' % j}}",
    "{{i}}_{{i}}_{{j}}", "{{i * j}}", "{{i}}x{{i * j}}x{{j}}", "x{{ '%04d'|format(i) }}.{{ 10 - j }}", "{{i // 2}}",
    "q",
]  # fmt: skip
values = st.lists(st.integers(-3, 30), max_size=5) | st.fixed_dictionaries(
    {"start": st.integers(-5, 9), "stop": st.integers(-5, 20), "step": st.sampled_from([-3, -1, 1, 2])}
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KEYS), values, values)
def test_finding_is_expanding(key, first, second):
    """What a key refers to is what it would if all were expanded, in the order that fsspec does it."""
    environment = jinja2.Environment(autoescape=False)
    ways = [
        one if isinstance(one, list) else list(range(one["start"], one["stop"], one["step"])) for one in (first, second)
    ]
    expected = {}
    for i, j in itertools.product(*ways):
        name = environment.from_string(key).render(i=i, j=j)
        expected[name] = f"u_{i}_{j}"
    gen = [{"key": key, "url": "u_{{i}}_{{j}}", "dimensions": {"i": first, "j": second}}]
    assert expanded(gen) == {name: (url,) for name, url in expected.items()}
    # A set of keys that are no chunks has no listing of URLs: the refusal to open one names it.
    store = open_set({"version": 1, "gen": gen, "refs": {}}, allow=["/nowhere/"])
    for name, url in expected.items():
        with pytest.raises(OmnizarrError, match=url.replace(".", r"\.") + r"\b"):
            store.get(name)
    for name in ("k99", "1", "a/1/1", "", "1.", "x0001.x"):
        if name and name not in expected:
            assert not store.exists(name)
