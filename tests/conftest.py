"""Profiles of hypothesis, and the seed that everything random in the tests starts from."""

from __future__ import annotations

import os

import hdf5plugin  # noqa: F401 - its filters do not work if netCDF4 is imported before it
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Examples touch files and threads: their time says little. Slow generation is no failure, and half-precision floats
# are drawn by throwing away most of what was drawn, which in some runs is too much for hypothesis.
_UNCHECKED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
_COMMON = {"deadline": None, "suppress_health_check": _UNCHECKED}

settings.register_profile("default", max_examples=100, **_COMMON)
settings.register_profile("ci", max_examples=120, print_blob=True, **_COMMON)
settings.register_profile("ci-heart", max_examples=600, print_blob=True, **_COMMON)
settings.register_profile("deep", max_examples=20_000, print_blob=True, **_COMMON)

# What everything else stands on: selections, and round trips of types, codecs, grids and fill values.
_HEART = ("property/", "array/test_index.py", "format/test_round_trip.py")

# Each example makes files and starts servers; there are many tests of this kind.
_COSTLY = ("refs/", "refset/", "net/")


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Choose the number of examples before a module is imported, which is when hypothesis looks at it."""
    if isinstance(collector, pytest.Module):
        settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or _profile(collector.path.as_posix()))


def _profile(path: str) -> str:
    if not os.environ.get("CI"):
        return "default"
    if any(f"/tests/{part}" in path for part in _COSTLY):
        return "default"
    return "ci-heart" if any(f"/tests/{part}" in path for part in _HEART) else "ci"


@pytest.fixture
def rng() -> np.random.Generator:
    """Random values that are the same in every run."""
    return np.random.default_rng(20240229)
