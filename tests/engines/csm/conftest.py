from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.csm.checkpoints import make_checkpoint


@pytest.fixture(scope="session")
def csm_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("csm"))
