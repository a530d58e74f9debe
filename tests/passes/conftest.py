"""The passes need the plugin loaded, but no device."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow import library_loader


@pytest.fixture(scope="session", autouse=True)
def loaded(module_locks: None) -> None:
    library_loader.plugin()
