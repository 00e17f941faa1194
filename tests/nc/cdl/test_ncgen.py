"""What texts mean is what ncgen makes of them: both are compared through what ncdump prints of its file."""

from __future__ import annotations

import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from omnizarr.nc.cdl.parser import parse
from tests.nc.cdl import texts
from tests.nc.cdl.trees import differences

pytestmark = pytest.mark.skipif(
    shutil.which("ncgen") is None or shutil.which("ncdump") is None, reason="ncgen and ncdump are not installed"
)


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def through_ncgen(text: str, folder: Path, *options: str) -> bytes:
    """Return what ncdump prints of the file that ncgen makes of a text."""
    (folder / "text.cdl").write_text(text, encoding="utf-8")
    for words in (["ncgen", "-4", "-o", "made.nc", "text.cdl"], ["ncdump", "-p", "9,17", *options, "made.nc"]):
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=30, preexec_fn=_limited, check=False)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout


@pytest.mark.parametrize("name", texts.ALL)
def test_a_text_means_what_ncgen_makes_of_it(name, tmp_path):
    printed = through_ncgen(texts.ALL[name], tmp_path, "-s")
    assert differences(parse(texts.ALL[name]), parse(printed), storage=name == "stored") == []


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("byte v(n)", "200, 255, -1"),
        ("short v(n)", "40000s, 65535, 'x'"),
        ("int v(n)", "1.9, -1.9, 3e0"),
        ("uint v(n)", "-1, 4294967295, 3000000000"),
        ("int64 v(n)", "4294967295, 5U, 7ub"),
        ("double v(n)", "0.1f, 1, 18446744073709551615ull"),
        ("float v(n)", "0.1, 16777217, 1e-46"),
        ("int v(n)", "_, 5"),
        ("int v(n)", '"12", "-7", 3'),
        ("byte v(n)", "0x1f, 0xFF, 1"),
        ("int v(n)", "0x01020304, 7, 0x01"),
        ("string v(n)", '1, 2.5, "x"'),
        ("string v(n)", 'NIL, "a", NIL'),
        ("double v(n)", 'time("1970-01-02 12:00"), time("2001-3-1"), 1'),
        ("char v(n)", "'a', 98b, 'c'"),
    ],
)
def test_values_are_converted_as_ncgen_converts_them(declared, given, tmp_path):
    text = f"netcdf t {{ dimensions: n = 3; variables: {declared}; data: v = {given}; }}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omnizarr.nc.cdl.errors.warn", lambda _: None)
        mine = parse(text)
    assert differences(mine, parse(through_ncgen(text, tmp_path))) == []
