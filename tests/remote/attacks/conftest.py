"""Fixtures for attacks on a device server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.remote.attacks.scene import Scene


@pytest.fixture(scope="module")
def shared_scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The server that all tests of a file attack."""
    with Scene(tmp_path_factory.mktemp("scene")) as made:
        yield made


@pytest.fixture
def scene(shared_scene: Scene) -> Iterator[Scene]:
    """Server with three modules, one of which a victim holds. Checks the server after the attack."""
    shared_scene.begin()
    yield shared_scene
    shared_scene.assert_unharmed()
