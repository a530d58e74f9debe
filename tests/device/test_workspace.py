"""Workspace for the temporaries of recipes: growth, reuse, release in favour of tensors."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.device import workspace_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def text_of(size: int) -> str:
    """Returns a size of at least 1 MiB as errors state it (plugin/base/format_bytes.h)."""
    return f"{(size * 10 >> 20) / 10:g} MiB"


def run(program: str, **settings: str) -> Any:
    done = run_with_tensorflow(program, settings)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_it_grows_in_steps_and_stays() -> None:
    sizes, _ = run(call_to(programs.launches, (1, 4, 1, 9, 4)), HPU_WORKSPACE_CHUNK_MB="8")
    assert sizes[0] == 8
    assert sizes == sorted(sizes) and all(size % 8 == 0 for size in sizes)
    assert sizes[1] == sizes[2] < sizes[3] == sizes[4]


def test_it_is_reserved_when_the_device_is_acquired() -> None:
    sizes, _ = run(call_to(programs.launches, (1, 9)), HABANA_INITIAL_WORKSPACE_SIZE_MB="100")
    assert sizes == [100, 100]
    before_launches, _ = run(call_to(programs.one_tensor), HABANA_INITIAL_WORKSPACE_SIZE_MB="100")
    assert before_launches == 100


def test_an_oversized_reservation_is_reported_and_skipped() -> None:
    sizes, log = run(
        call_to(programs.launches, (1,)),
        HABANA_INITIAL_WORKSPACE_SIZE_MB="13271",
        HPU_MEMORY_MB="1024",
        TF_CPP_MIN_LOG_LEVEL="1",
    )
    assert sizes == [16]
    assert "HABANA_INITIAL_WORKSPACE_SIZE_MB=13271 is ignored: the device has only 1024 MiB" in log


def test_it_gives_way_to_tensors() -> None:
    """100 MiB of tensors and a workspace of 64 MiB in 128 MiB of device memory."""
    sizes, _ = run(call_to(programs.tensors_beside_it), HABANA_INITIAL_WORKSPACE_SIZE_MB="64", HPU_MEMORY_MB="128")
    # The second workspace is smaller, because the memory has no room for 64 MiB.
    assert sizes[:2] == [64, 0] and 0 < sizes[2] < 28


def test_the_peak_counts_from_the_reset() -> None:
    """The peak after a reset counts the small recipe's workspace, but not the earlier large workspace."""
    result, _ = run(call_to(programs.peaks), HPU_WORKSPACE_CHUNK_MB="1")
    assert result[0] == result[2] == 0
    # In MiB: the argument, and at least one product.
    assert result[1] >= 32 and 2 <= result[3] < 16


def test_threads_share_it() -> None:
    result, _ = run(call_to(programs.threads), HPU_WORKSPACE_CHUNK_MB="1")
    assert result and all(result)


def test_out_of_memory_names_the_users_and_the_remedy() -> None:
    (message, argument), _ = run(call_to(programs.out_of_memory), HPU_MEMORY_MB="64")
    size = text_of(argument)
    assert re.search(r" MiB of HPU memory for temporaries; .* of 64 MiB are in use\.", message), message
    told = re.search(r"The cluster has (.*) of arguments, (.*) of results and (.*) MiB of temporaries\.", message)
    assert told and (told[1], told[2]) == (size, "4 bytes") and float(told[3]) >= argument >> 20, message
    remedies = ("a smaller batch", "HPU_MAX_CLUSTER_SIZE", "fewer threads", "TF_NUM_INTEROP_THREADS", "HPU_MEMORY_MB")
    assert all(remedy in message for remedy in remedies), message
    assert "in one piece" not in message  # the memory is too small, not divided
    _, tensors = message.split("Largest tensors: ")
    for op in ("MatMul", "MatMul_1"):
        assert re.search(rf"{size} f32\[\d+,\d+\] of '{op}' \(MatMul, temporary\)", tensors), message


def test_fragmented_memory_advises_a_workspace_that_then_suffices() -> None:
    environment = {"HPU_MEMORY_MB": "64", "HPU_WORKSPACE_CHUNK_MB": "1"}
    (message,), log = run(call_to(programs.fragmented), TF_CPP_MIN_LOG_LEVEL="0", **environment)
    assert "BFCAllocator dump" not in log  # the BFC allocator writes it after its own wait of 10 seconds
    advised = re.search(r"not in one piece: .* \(HABANA_INITIAL_WORKSPACE_SIZE_MB=(\d+)\)", message)
    assert advised, message
    environment["HABANA_INITIAL_WORKSPACE_SIZE_MB"] = advised[1]
    (message,), _ = run(call_to(programs.fragmented), **environment)
    assert message == ""


@pytest.mark.parametrize("value", ["0", "-3"])
def test_a_nonpositive_workspace_step_counts_as_unset(value: str) -> None:
    result, log = run(call_to(programs.wrong_setting), HPU_WORKSPACE_CHUNK_MB=value)
    assert result == ""
    assert f"HPU_WORKSPACE_CHUNK_MB={value} is not a number of at least 1; the default '16' is used" in log
