"""One cluster for all tests of a module."""

import warnings

import pytest


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=":0", silence_logs=50, memory_limit=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
