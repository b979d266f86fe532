"""One router a module: each of its tests sends its own frames."""

from collections.abc import Iterator

import pytest
from tests.system.conformance.router import Router, ip4_config


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    with Router(tmp_path_factory.mktemp("router"), ip4_config()) as router:
        yield router
