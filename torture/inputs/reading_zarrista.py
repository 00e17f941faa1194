"""Reading by zarrista."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zarrista

from torture.inputs.case import Case
from torture.inputs.readers import NotRunError


def read(case: Case, folder: Path) -> Any:
    """Do what a case asks for, where an array in a folder is read."""
    if case.act != "array":
        raise NotRunError
    store = zarrista.store.FilesystemStore(str(folder / case.where))
    array = zarrista.Array.open(store, "/" + case.path)
    select = case.select if case.select is not None else ...
    return array.retrieve_array_subset(select).to_numpy()
