"""The examples in docstrings run and give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import omnizarr

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(omnizarr.__path__, "omnizarr.")
    if not module.name.rpartition(".")[2].startswith("_native")
)


@pytest.mark.parametrize("name", ["omnizarr", *MODULES])
def test_examples_of_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert result.failed == 0
