"""What ncgen and ncdump of netcdf-c make of a text."""

from __future__ import annotations

import resource
import shutil
import subprocess
from pathlib import Path

import pytest

needs_netcdf = pytest.mark.skipif(
    not (shutil.which("ncgen") and shutil.which("ncdump")), reason="needs netcdf-c's ncgen and ncdump"
)
_MOST_MEMORY = 4 << 30


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def run(*words: object) -> bytes:
    """Run a program of netcdf-c, and return what it prints."""
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=60, preexec_fn=_limited)
    assert done.returncode == 0, done.stderr
    return done.stdout


def generate(text: str, path: Path, kind: str = "-4") -> Path:
    """Make a netCDF file of a text."""
    source = path.with_suffix(".cdl")
    source.write_text(text, encoding="utf-8")
    run("ncgen", kind, "-o", path, source)
    return path
