import pytest


def pytest_configure(config):
    for name in ("flaky", "asyncio", "network", "skip_if_param", "skip_with_dask_array"):
        config.addinivalue_line("markers", f"{name}: of xarray's own tests")


def pytest_runtest_setup(item):
    """Skip for some values of parameters, as the marks of xarray's own tests ask."""
    chosen = getattr(item, "callspec", None)
    for mark in item.iter_markers("skip_if_param"):
        wanted = {name: value for name, value in mark.kwargs.items() if name not in ("reason", "condition")}
        values = chosen.params if chosen is not None else {}
        if mark.kwargs.get("condition", True) and wanted and all(values.get(k) == v for k, v in wanted.items()):
            pytest.skip(mark.kwargs.get("reason", ""))
