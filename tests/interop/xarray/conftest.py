import re

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


def pytest_collection_modifyitems(items):
    """Expect those of xarray's own tests to fail that are listed with a reason."""
    chosen = [item for item in items if item.path.name == "test_xarray_suite.py"]
    if not chosen:
        return
    from tests.interop.xarray.adapter import BETTER, LEAKS, LISTED

    for item in chosen:
        if re.search(BETTER, item.nodeid):
            item.own_markers = [mark for mark in item.own_markers if mark.name != "xfail"]
        for pattern, reason in LISTED.items():
            if re.search(pattern, item.nodeid):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True, run=not re.search(LEAKS, item.nodeid)))
