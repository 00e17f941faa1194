"""Modules that are imported when something of them is first used.

Importing Omnizarr takes as long as its modules are many, and most programs need few of them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LateModule:
    """Stands for a module until it is needed. Type checkers are shown the real import beside it.

    >>> from omnizarr.late import LateModule
    >>> LateModule("math").sqrt(4)
    2.0
    """

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        if self._module is None:
            self._module = import_module(self._name)
        return getattr(self._module, name)
