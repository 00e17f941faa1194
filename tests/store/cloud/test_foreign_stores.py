"""Stores of other libraries do what every store does."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import settings

from omnizarr.store.cloud.fsspec_store import FsspecStore
from omnizarr.store.cloud.obstore_store import ObstoreStore
from omnizarr.store.cloud.zarr_store import ZarrStore
from tests.store.test_conformance import (
    StoreMachine,
    test_a_place_has_a_name,  # noqa: F401 - collected here, for the stores of this module
    test_a_prefix_is_not_the_beginning_of_a_name,  # noqa: F401
    test_a_value_is_a_copy,  # noqa: F401
    test_erasing,  # noqa: F401
    test_keys_that_lead_out_are_refused,  # noqa: F401
    test_letters_differ_by_case_and_form,  # noqa: F401
    test_many_values_at_once,  # noqa: F401
    test_odd_names_are_kept_as_they_are,  # noqa: F401
    test_prefixes_that_lead_out_are_refused,  # noqa: F401
    test_ranges,  # noqa: F401
    test_values,  # noqa: F401
    test_values_are_anything_with_a_buffer,  # noqa: F401
    test_what_has_no_bytes_is_refused,  # noqa: F401
)

fsspec = pytest.importorskip("fsspec")
obstore = pytest.importorskip("obstore.store")
zarr_storage = pytest.importorskip("zarr.storage")


def _waiting(folder):
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

    return AsyncFileSystemWrapper(fsspec.filesystem("file", auto_mkdir=True), asynchronous=False)


def _folder(folder):
    return fsspec.filesystem("dir", path=str(folder), target_protocol="file")


STORES = {
    "memory of fsspec": lambda folder: FsspecStore(fsspec.filesystem("memory"), f"/{uuid.uuid4().hex}/x"),
    "files of fsspec": lambda folder: FsspecStore(fsspec.filesystem("file"), str(folder / "new")),
    "a folder of fsspec": lambda folder: FsspecStore(_folder(folder), ""),
    "files of fsspec that are waited for": lambda folder: FsspecStore(_waiting(folder), str(folder)),
    "memory of obstore": lambda folder: ObstoreStore(obstore.MemoryStore()),
    "files of obstore": lambda folder: ObstoreStore(obstore.LocalStore(folder, automatic_cleanup=True)),
    "memory of zarr": lambda folder: ZarrStore(zarr_storage.MemoryStore()),
    "files of zarr": lambda folder: ZarrStore(zarr_storage.LocalStore(folder / "z")),
}


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    if "obstore" in request.param and request.node.callspec.params.get("key") == "a\n":
        pytest.skip("obstore takes no such key")
    if request.param == "files of obstore" and "beginning_of_a_name" in request.node.name:
        pytest.skip("obstore leaves empty folders; its stores of files are opened as folders")
    return STORES[request.param](tmp_path)


@pytest.mark.parametrize("name", ["memory of obstore", "memory of zarr"])
def test_any_history_leaves_what_the_model_has(name):
    case = type("Machine", (StoreMachine,), {"make": staticmethod(STORES[name]), "on_disk": False}).TestCase
    case.settings = settings(max_examples=15, stateful_step_count=20)
    case().runTest()
