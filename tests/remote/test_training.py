"""Training through a device server: results equal the emulator's bit for bit."""

from __future__ import annotations

import pathlib

from tests.remote import training_programs as programs
from tests.remote.servers import Server
from tests.support.processes import call_to, run_with_tensorflow


def numbers(backend: str, name: str, environment: dict[str, str] | None = None) -> str:
    return run_with_tensorflow(call_to(programs.train, name), {"HPU_BACKEND": backend, **(environment or {})}).stdout


def test_the_numbers_are_the_emulators(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        remote = numbers(server.backend, "remote")
    assert len(remote.splitlines()) == 9
    assert remote == numbers("emulator", "emulator")


def test_recipes_from_the_disk_cache_compute_the_same(tmp_path: pathlib.Path) -> None:
    environment = {"TF_RECIPE_CACHE_PATH": str(tmp_path / "cache")}
    with Server(tmp_path) as server:
        environment["HPU_BACKEND"] = server.backend
        first, second = (
            run_with_tensorflow(call_to(programs.cached_recipe), environment).stdout.split() for _ in range(2)
        )
    assert first[0] == second[0]
    assert int(first[1]) > 0
    assert int(second[1]) == 0


def test_sizes_that_change_share_a_recipe(tmp_path: pathlib.Path) -> None:
    environment = {"HPU_COMPILE_MODE": "strict", "TF_ENABLE_DYNAMIC_SHAPES": "1"}
    with Server(tmp_path) as server:
        remote, local = (
            run_with_tensorflow(call_to(programs.sizes_that_change), {"HPU_BACKEND": backend, **environment}).stdout
            for backend in (server.backend, "emulator")
        )
    assert len(remote.splitlines()) == 4
    assert remote == local
