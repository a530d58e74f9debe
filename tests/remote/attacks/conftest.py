"""Fixtures of the attacks."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests.remote.attacks.scene import Scene


@pytest.fixture
def scene(tmp_path: pathlib.Path) -> Iterator[Scene]:
    """A server with 3 modules, one of which a victim has; checked after the attack."""
    with Scene(tmp_path) as made:
        yield made
        made.assert_unharmed()
