"""Templates are texts with expressions; whatever else is in one is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnizarr.errors import LimitError, MetadataError, OmnizarrError, UnsafeError
from omnizarr.refset.json_reading import JsonOptions, read_json
from omnizarr.refset.templates.scope import Templates

TEXTS = {"u": "server.domain/path", "f": "{{c}}", "w": "{{u}}/w", "g": "{{ a }}-{{ b }}", "p": "s3://{{ f(c='x') }}"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://{{u}}", "http://server.domain/path"),
        ("http://{{ u }}/{b}", "http://server.domain/path/{b}"),
        ("{{f(c='text')}}", "text"),
        ("{{f('text')}}", "text"),
        ("{{g(b='2', a='1')}}{{g('3', '4')}}", "1-23-4"),
        ("{{w}}", "server.domain/path/w"),
        ("{{w(u=u)}}", "server.domain/path/w"),
        ("{{p}}", "s3://x"),
        ("{{f(c=f(c=u))}}", "server.domain/path"),
        ("{{'%03d' % 7}}{{'%s_%02d' % ('a', 3)}}{{ '%04d'|format(12) }}", "007a_030012"),
        ("{{ u ~ 1 ~ 2.5 }}", "server.domain/path12.5"),
        ("{{ 'yes' if 2 > 1 else 'no' }}", "yes"),
        ("{{ 7 // 2 }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 2 ** 10 }}{{ 6 / 4 }}", "3-4210241.5"),
        ("{{ 1 < 2 < 3 }}{{ not 1 }}", "TrueFalse"),
        ("plain {b} }} text", "plain {b} }} text"),
        ("{{u}}\n", "server.domain/path\n"),
    ],
)
def test_what_expressions_say(text, expected):
    assert Templates(TEXTS).text(text, "k") == expected


@pytest.mark.parametrize(
    "text",
    [
        "{{ u.__class__ }}", "{{ ''.__class__.__mro__ }}", "{{ u['x'] }}", "{{ u[0] }}", "{{ u|upper }}",
        "{{ u|attr('__class__') }}", "{{ f.__globals__ }}", "{{ [1] * 10 }}", "{{ {} }}", "{{ (1, 2) }}",
        "{% for i in range(1000000000) %}x{% endfor %}", "{% set x = 1 %}", "{% if 1 %}a{% endif %}",
        "{% import 'os' as o %}", "{% macro m() %}{% endmacro %}", "{% include 'x' %}", "{{ u is defined }}",
        "{{ 1 in (1,) }}", "{{ f(*u) }}", "{{ f(**u) }}", "{{ f(c='x')() }}", "{{ ''|format(u, x=1) }}",
        "{{ u|format(1) }}{{ self }}", "{{ f(c='x').upper() }}", "{{ 'a' is string }}", "{{ u[1:] }}",
    ],
)  # fmt: skip
def test_what_is_more_than_an_expression(text):
    with pytest.raises((UnsafeError, MetadataError)) as caught:
        Templates(TEXTS).text(text, "some/key")
    assert caught.value.key == "some/key"


@pytest.mark.parametrize(
    "text",
    [
        "{{ lipsum }}", "{{ range(10) }}", "{{ nothing }}", "{{ f() }}", "{{ f(c='1', ) + 1 }}", "{{ u * 2 }}",
        "{{ 1 / 0 }}",
        "{{ 'x' < 1 }}", "{{ -u }}", "{{ '%d' % 'x' }}", "{{ }}", "{{ u", "{{ u + }}", "{{ f('1', '2') }}",
        "{{ q(c=1) }}",
    ],
)  # fmt: skip
def test_what_has_no_value(text):
    with pytest.raises((MetadataError, LimitError)) as caught:
        Templates(TEXTS).text(text, "some/key")
    assert caught.value.key == "some/key"


HOSTILE = {
    "power": ("{{ 9 ** 9 ** 9 }}", {}),
    "long": ("{{" + "1+" * 500_000 + "1}}", {}),
    "many terms": ("{{" + "1+" * 3000 + "1}}", {}),
    "deep": ("{{" + "(" * 4000 + "1" + ")" * 4000 + "}}", {}),
    "signs": ("{{" + "-" * 4000 + "1}}", {}),
    "digits": ("{{" + "9" * 5000 + "}}", {}),
    "text": ("{{ 'x' * 10**8 }}", {}),
    "wide": ("{{ '%99999999d' % 1 }}", {}),
    "laughs": ("{{t30}}", {"t0": "ha" * 50, **{f"t{i}": f"{{{{t{i - 1}}}}}" * 2 for i in range(1, 31)}}),
    "called laughs": ("{{t20()}}", {"t0": "x", **{f"t{i}": f"{{{{t{i - 1}()}}}}" * 2 for i in range(1, 21)}}),
    "itself": ("{{t}}", {"t": "a{{t}}"}),
    "each other": ("{{t}}", {"t": "a{{v}}", "v": "{{t}}"}),
    "itself, called": ("{{t(a='')}}", {"t": "{{t(a=a ~ 'xxxx')}}"}),
    "middle": ("{{" + "0<(" * 50 + "1" + ")<2" * 50 + "}}", {}),
    "long text": ("{{u}}" * 2000 + "{{ 'a' ~ 'b' }}", {"u": "x" * 100_000}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_asks_for_too_much_ends_soon(name):
    text, templates = HOSTILE[name]
    Templates({"u": "a"}).text("{{ u ~ 1 }}", "k")  # so that importing does not count
    start = time.process_time()
    with pytest.raises(OmnizarrError) as caught:
        Templates(templates).text(text, "some/key")
    assert caught.value.key == "some/key"
    assert time.process_time() - start < 5  # a bound on the machine's worst day; it takes milliseconds


numbers = st.integers(-1000, 1000)
expressions = st.recursive(
    numbers.map(lambda n: f"({n})") | st.sampled_from(["a", "b"]),
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "/", "==", "<", ">="]), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(expressions, numbers, numbers)
def test_values_are_those_of_jinja(expression, a, b):
    environment = jinja2.Environment(autoescape=False)
    text = f"x{{{{ {expression} }}}}y"
    try:
        expected = environment.from_string(text).render(a=a, b=b)
    except (ZeroDivisionError, TypeError):
        with pytest.raises(OmnizarrError):
            _with_numbers(text, a, b)
        return
    found = _with_numbers(text, a, b)
    assert found == expected


def _with_numbers(text, a, b):
    """Evaluate a text in which a and b are numbers: dimensions of one value each."""
    gen = [{"key": "k", "url": text, "dimensions": {"a": [a], "b": [b]}}]
    made = read_json(json.dumps({"version": 1, "gen": gen}).encode())
    return made.others["k"][0]


def test_sets_without_templates_keep_braces():
    refs = {"x": ["{{u}}/y", 1, 2], "z": "{{u}}", "k{{u}}": ["a"]}
    assert read_json(json.dumps({"version": 1, "refs": refs}).encode()).others["x"] == ("{{u}}/y", 1, 2)
    made = read_json(json.dumps({"version": 1, "templates": {"u": "v"}, "refs": refs}).encode())
    assert made.others == {"x": ("v/y", 1, 2), "k{{u}}": ("a",)}
    assert made.documents == {"z": b"{{u}}"}


def test_overrides_come_before_the_templates_of_the_set():
    text = json.dumps({"version": 1, "templates": {"u": "old", "v": "kept"}, "refs": {"x": ["{{u}}{{v}}"]}}).encode()
    assert read_json(text, JsonOptions(template_overrides={"u": "new"})).others == {"x": ("newkept",)}


def test_the_key_of_a_bad_template_is_named():
    text = json.dumps({"version": 1, "templates": {"u": "v"}, "refs": {"a/3": ["{{u.x}}", 1, 2]}}).encode()
    with pytest.raises(UnsafeError, match="attribute") as caught:
        read_json(text)
    assert caught.value.key == "a/3"
    with pytest.raises(MetadataError, match=r"templates\.u"):
        read_json(b'{"version": 1, "templates": {"u": 5}, "refs": {}}')


@pytest.mark.parametrize(
    "members",
    [
        r'"templates": {"u": "\ud800"}, "refs": {"c": ["{{u}}", 0, 1]}',
        r'"templates": {"u": "x"}, "refs": {"c": ["{{u}}{{\"\\ud800\"}}", 0, 1]}',
        r'"gen": [{"key": "\ud800{{i}}", "url": "x", "dimensions": {"i": [1]}}], "refs": {}',
        r'"gen": [{"key": "{{i}}", "url": "\ud800", "dimensions": {"i": [1]}}], "refs": {}',
    ],
)
def test_half_of_a_pair_of_surrogates(members):
    with pytest.raises(MetadataError, match=r"surrogates|evaluated"):
        read_json(f'{{"version": 1, {members}}}'.encode())


def test_plain_names_need_no_parser():
    code = """
import sys
sys.modules["jinja2"] = None
from omnizarr.errors import MissingDependencyError
from omnizarr.refset.templates.scope import Templates
known = Templates({"u": "a", "w": "{{ u }}/b"})
assert known.text("{{w}}/{c}", "k") == "a/b/{c}"
try:
    known.text("{{u ~ 1}}", "k")
except MissingDependencyError as error:
    assert "omnizarr[refs]" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
