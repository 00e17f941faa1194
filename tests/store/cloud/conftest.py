"""Services that give credentials, for each test its own."""

import pytest

from omnizarr.store.cloud import keys
from tests.store.cloud.services import Services


@pytest.fixture
def services():
    keys.forget()
    services = Services()
    yield services
    services.close()
    keys.forget()
