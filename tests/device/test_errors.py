"""Errors of the device: acquisition, asynchronous work, loss."""

from __future__ import annotations

import subprocess

from tests.device import errors_programs as programs
from tests.support import device_programs
from tests.support.processes import WARM_PYTHON, call_to, run_with_tensorflow, start


def test_an_asynchronous_error_reaches_the_next_reader_and_is_over_then() -> None:
    # The second copy fails. It is small, so that the caller continues before the failure.
    run_with_tensorflow(call_to(programs.read_failed_copy), {"HPU_FAULTS": "copy@2"})


def test_an_asynchronous_error_reaches_synchronize() -> None:
    run_with_tensorflow(call_to(programs.synchronize_after_failed_copy), {"HPU_FAULTS": "copy@1"})


def test_a_large_copy_reports_its_own_error() -> None:
    run_with_tensorflow(call_to(programs.fail_large_copy), {"HPU_FAULTS": "copy@1"})


def test_an_error_on_the_way_back_is_raised() -> None:
    for size in (1000, 4 << 20):
        run_with_tensorflow(call_to(programs.fail_copy_to_host, size), {"HPU_FAULTS": "copy@2"})


def test_a_session_gets_the_error_of_its_step() -> None:
    run_with_tensorflow(call_to(programs.fail_in_session), {"HPU_FAULTS": "copy@3"})


def test_a_lost_device_raises_the_same_error_every_time() -> None:
    run_with_tensorflow(call_to(programs.lose_device), {"HPU_FAULTS": "lost@2"})


def test_a_failed_acquisition_is_tried_again() -> None:
    run_with_tensorflow(call_to(programs.fail_first_acquisition), {"HPU_FAULTS": "allocate@1"})


def test_a_held_module_is_named_with_its_holder(tmp_path: object) -> None:
    modules = {"HPU_MODULES": "1", "SYNAPSE_DOUBLE_DEVICES": "1"}  # of the emulator, of the double
    environment = {**modules, "HPU_MODULE_LOCK_DIR": str(tmp_path)}
    command = [WARM_PYTHON, "-c", call_to(device_programs.hold)]
    holder = start(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        pid = int(holder.stdout.readline())
        run_with_tensorflow(call_to(programs.try_held_module, pid), environment)
    finally:
        holder.communicate(timeout=30)
    run_with_tensorflow(call_to(programs.copy_to_device), environment)
