"""Forks before and after the device is acquired, and more processes than modules."""

from __future__ import annotations

import pathlib

from tests.device import fork_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def test_a_forked_child_finds_the_device_lost() -> None:
    done = run_with_tensorflow(call_to(programs.use_in_child), timeout=60)
    assert "child:" not in done.stdout, done.stdout


def test_a_child_that_leaves_the_device_alone_is_harmless() -> None:
    run_with_tensorflow(call_to(programs.free_in_child), timeout=60)


def test_a_child_forked_before_the_first_use_has_a_device() -> None:
    run_with_tensorflow(call_to(programs.acquire_in_child_first), timeout=60)


def test_the_ninth_process_gets_an_error_that_names_the_holders(tmp_path: pathlib.Path) -> None:
    run_with_tensorflow(
        call_to(programs.nine_processes),
        {"HPU_BACKEND": "emulator", "HPU_MODULE_LOCK_DIR": str(tmp_path), "HPU_MODULES": None},
    )
