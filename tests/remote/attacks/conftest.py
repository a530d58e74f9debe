"""Fixtures for attacks on a device server."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests.remote.attacks.scene import Scene


@pytest.fixture
def scene(tmp_path: pathlib.Path) -> Iterator[Scene]:
    """Server with three modules, one of which a victim holds. Checks the server after the attack."""
    with Scene(tmp_path) as made:
        yield made
        made.assert_unharmed()
