"""Collectives of the double's libhcl: results, order, and refused calls."""

from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import subprocess
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tests.gaudi import hccl_ranks, synapse_library
from tests.gaudi.hccl_ranks import (
    AVG,
    BFLOAT16,
    BYTES,
    FAIL_HCCL,
    FLOAT16,
    FLOAT32,
    INT32,
    INT64,
    INVALID_ARGUMENT,
    INVALID_USAGE,
    MAX,
    MIN,
    PROD,
    SOCKET_ERROR,
    SUCCESS,
    SUM,
    UINT8,
    UNSUPPORTED,
    Rank,
)
from tests.gaudi.synapse_library import HOST_TO_DEVICE

RANKS = 3
COUNT = 1001
COLLECTIVES = 24
HANDLES = 2
IN_FLIGHT = 20

pytestmark = [pytest.mark.usefixtures("clean_switches")]


@pytest.fixture(params=synapse_library.RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    if not (synapse_library.path(request.param).parent / "libhcl.so").exists():
        pytest.skip("no libhcl.so of the double: run `make build-tests`")
    return str(request.param)


def values(number: int, dtype: type = np.float32) -> np.ndarray:
    """A rank's values, whose sums and products are exact."""
    return (number + np.arange(COUNT) % 5).astype(dtype)


@pytest.mark.parametrize("release_", synapse_library.RELEASES)
def test_exports(release_: str) -> None:
    path = str(synapse_library.path(release_).parent / "libhcl.so")
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    text = (synapse_library.ROOT / "plugin/backends/gaudi/hccl/functions.h").read_text()
    expected = {part.split(",")[0] for part in text.split("FUNCTION(")[1:] if part.startswith("hccl")}
    assert {line.split()[-1] for line in listed.splitlines()} == expected | {"hcclGetErrorString"}


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (SUM, sum(values(n) for n in range(RANKS))),
        (PROD, np.prod([values(n) for n in range(RANKS)], axis=0)),
        (MIN, values(0)),
        (MAX, values(RANKS - 1)),
        (AVG, values(1)),
    ],
)
def test_all_reduce(release: str, op: int, expected: np.ndarray) -> None:
    def body(rank: Rank) -> None:
        for type_, dtype in ((FLOAT32, np.float32), (BFLOAT16, ml_dtypes.bfloat16)):
            rank.write(values(rank.number, dtype))
            assert rank.all_reduce(COUNT, type_, op) == SUCCESS
            np.testing.assert_array_equal(rank.read(COUNT, dtype), expected.astype(dtype))

    hccl_ranks.succeed(release, RANKS, body)


def test_half_precision_sums_are_rounded_once(release: str) -> None:
    def body(rank: Rank) -> None:
        rank.write(np.full(COUNT, [256, 1, 1][rank.number], ml_dtypes.bfloat16))
        assert rank.all_reduce(COUNT, BFLOAT16) == SUCCESS
        assert set(rank.read(COUNT, ml_dtypes.bfloat16).astype(float)) == {258.0}

    hccl_ranks.succeed(release, RANKS, body)


def test_broadcast_gather_and_scatter(release: str) -> None:
    def body(rank: Rank) -> None:
        hccl, comm, stream = rank.hccl, rank.comm, rank.stream
        rank.write(values(rank.number))
        assert hccl.hcclBroadcast(rank.send, rank.receive, COUNT, FLOAT32, 1, comm, stream) == SUCCESS
        np.testing.assert_array_equal(rank.read(COUNT), values(1))
        assert hccl.hcclAllGather(rank.send, rank.receive, COUNT, FLOAT32, comm, stream) == SUCCESS
        gathered = np.concatenate([values(n) for n in range(RANKS)])
        np.testing.assert_array_equal(rank.read(RANKS * COUNT), gathered)
        # In place: each rank's block of the reduction of the gathered values.
        block = rank.receive + 4 * COUNT * rank.number
        assert hccl.hcclReduceScatter(rank.receive, block, COUNT, FLOAT32, SUM, comm, stream) == SUCCESS
        np.testing.assert_array_equal(rank.read(COUNT, address=block), RANKS * values(rank.number))

    hccl_ranks.succeed(release, RANKS, body)


def test_transfers_of_a_group_run_together(release: str) -> None:
    def body(rank: Rank) -> None:
        hccl = rank.hccl
        rank.write(values(rank.number))
        for _ in range(5):
            assert hccl.hcclGroupStart() == SUCCESS
            for peer in range(RANKS):
                if peer == rank.number:
                    continue
                address = rank.receive + 4 * COUNT * peer
                assert hccl.hcclSend(rank.send, COUNT, FLOAT32, peer, rank.comm, rank.stream) == SUCCESS
                assert hccl.hcclRecv(address, COUNT, FLOAT32, peer, rank.comm, rank.stream) == SUCCESS
            assert hccl.hcclGroupEnd() == SUCCESS
            for peer in {0, 1, 2} - {rank.number}:
                np.testing.assert_array_equal(rank.read(COUNT, address=rank.receive + 4 * COUNT * peer), values(peer))
        assert hccl.hcclCommDestroy(rank.comm) == SUCCESS

    hccl_ranks.succeed(release, RANKS, body)


def test_operations_are_asynchronous_and_read_late(release: str, gate: pathlib.Path) -> None:
    def body(rank: Rank) -> None:
        double = rank.double
        rank.write(values(0))
        rank.publish(f"written-{rank.number}")
        rank.wait_for(f"written-{1 - rank.number}")
        gate.touch()
        # The source changes after the call, and before the operation runs.
        writer = double.create_stream(rank.device, HOST_TO_DEVICE)
        event = double.create_event(rank.device)
        ctypes.memmove(rank.host, values(5).tobytes(), 4 * COUNT)
        double.ok("synMemCopyAsync", writer, rank.host, 4 * COUNT, rank.send, HOST_TO_DEVICE)
        double.ok("synEventRecord", event, writer)
        double.ok("synStreamWaitEvent", rank.stream, event, 0)
        assert rank.all_reduce(COUNT) == SUCCESS
        assert double.call("synStreamQuery", rank.stream) == synapse_library.BUSY
        rank.publish(f"queued-{rank.number}")
        rank.wait_for(f"queued-{1 - rank.number}")
        gate.unlink(missing_ok=True)
        np.testing.assert_array_equal(rank.read(COUNT), 2 * values(5))

    hccl_ranks.succeed(release, 2, body)


def test_memory_in_flight_is_not_freed(release: str, gate: pathlib.Path) -> None:
    def body(rank: Rank) -> None:
        gate.touch()
        assert rank.all_reduce(COUNT) == SUCCESS
        rank.double.call("synDeviceFree", rank.device, rank.receive, 0)

    [(code, log)] = hccl_ranks.run(release, 1, body)
    assert code == -signal.SIGABRT
    assert f"rule {IN_FLIGHT}: synDeviceFree: " in log


def test_communicator_in_flight_is_not_destroyed(release: str, gate: pathlib.Path) -> None:
    def body(rank: Rank) -> None:
        gate.touch()
        assert rank.all_reduce(COUNT) == SUCCESS
        rank.hccl.hcclCommDestroy(rank.comm)

    [(code, log)] = hccl_ranks.run(release, 1, body)
    assert code == -signal.SIGABRT
    assert f"rule {IN_FLIGHT}: hcclCommDestroy: " in log


def expect_refusal(release: str, text: str, body: Callable[[Rank], None], rule: int = COLLECTIVES) -> None:
    """Runs a rank whose calls must break a rule."""
    [(code, log)] = hccl_ranks.run(release, 1, body)
    assert code == 0, log
    assert f"synapse_double: rule {rule}: " in log
    assert text in log


def test_wrong_arguments(release: str) -> None:
    def outside(rank: Rank) -> None:
        assert rank.all_reduce(BYTES // 4 + 1) == INVALID_ARGUMENT

    def misaligned(rank: Rank) -> None:
        arguments = (rank.send + 2, rank.send + 2, 4, FLOAT32, SUM, rank.comm, rank.stream)
        assert rank.hccl.hcclAllReduce(*arguments) == INVALID_ARGUMENT

    def overlapping(rank: Rank) -> None:
        arguments = (rank.send, rank.send + 4, 4, FLOAT32, SUM, rank.comm, rank.stream)
        assert rank.hccl.hcclAllReduce(*arguments) == INVALID_ARGUMENT

    def no_root(rank: Rank) -> None:
        arguments = (rank.send, rank.receive, 4, FLOAT32, 1, rank.comm, rank.stream)
        assert rank.hccl.hcclBroadcast(*arguments) == INVALID_ARGUMENT

    def itself(rank: Rank) -> None:
        assert rank.hccl.hcclSend(rank.send, 4, FLOAT32, 0, rank.comm, rank.stream) == INVALID_USAGE

    def no_type(rank: Rank) -> None:
        assert rank.all_reduce(4, 10) == INVALID_ARGUMENT

    def integers(rank: Rank) -> None:
        for type_ in (INT32, INT64, UINT8):
            assert rank.all_reduce(4, type_) == UNSUPPORTED
        assert rank.hccl.hcclAllGather(rank.send, rank.receive, 4, INT64, rank.comm, rank.stream) == UNSUPPORTED
        assert rank.hccl.hcclAllGather(rank.send, rank.receive, 4, UINT8, rank.comm, rank.stream) == SUCCESS
        assert rank.status() == SUCCESS

    def no_group(rank: Rank) -> None:
        assert rank.hccl.hcclGroupEnd() == INVALID_USAGE

    expect_refusal(release, "is not inside one allocation", outside)
    expect_refusal(release, "is misaligned", misaligned)
    expect_refusal(release, "overlap", overlapping)
    expect_refusal(release, "no such rank", no_root)
    expect_refusal(release, "it is this rank", itself)
    expect_refusal(release, "no type 10", no_type)
    expect_refusal(release, "the card lacks the type", integers)
    expect_refusal(release, "no group is open", no_group)


def test_half_floats_need_the_second_generation(release: str) -> None:
    def body(rank: Rank) -> None:
        rank.write(np.arange(4, dtype=np.float16))
        result = rank.all_reduce(4, FLOAT16)
        if rank.double.is_1_5:
            assert result == UNSUPPORTED
        else:
            np.testing.assert_array_equal(rank.read(4, np.float16), np.arange(4))

    assert hccl_ranks.run(release, 1, body)[0][0] == 0


def test_unknown_handles(release: str) -> None:
    def body(rank: Rank) -> None:
        arguments = (rank.send, rank.receive, 4, FLOAT32, SUM)
        assert rank.hccl.hcclAllReduce(*arguments, rank.stream, rank.stream) == INVALID_ARGUMENT
        assert rank.hccl.hcclAllReduce(*arguments, rank.comm, rank.comm) == INVALID_ARGUMENT
        assert rank.hccl.hcclCommDestroy(rank.comm) == SUCCESS
        assert rank.hccl.hcclCommDestroy(rank.comm) == INVALID_ARGUMENT
        assert rank.all_reduce(4) == INVALID_ARGUMENT

    expect_refusal(release, "hcclCommDestroy", body, HANDLES)


def test_streams_of_1_5_serve_one_engine() -> None:
    def body(rank: Rank) -> None:
        other = rank.double.create_stream(rank.device, 3)
        assert rank.all_reduce(4, stream=other) == INVALID_ARGUMENT

    [(code, log)] = hccl_ranks.run("1.5", 1, body)
    assert code == 0, log
    assert "the stream was created for launches, not for collectives" in log


def test_calls_before_and_after_synapse(release: str) -> None:
    def body() -> None:
        hccl = hccl_ranks.load(release)
        unique = hccl_ranks.UniqueId()
        assert hccl.hcclGetUniqueId(ctypes.byref(unique)) == hccl_ranks.UNINITIALIZED  # libSynapse.so is not loaded
        double = synapse_library.Double(release, lambda: "")
        assert hccl.hcclGetUniqueId(ctypes.byref(unique)) == hccl_ranks.UNINITIALIZED
        double.ok("synInitialize")
        assert hccl.hcclGetUniqueId(ctypes.byref(unique)) == SUCCESS
        comm = ctypes.c_void_p()
        assert hccl.hcclCommInitRank(ctypes.byref(comm), 1, unique, 0) == hccl_ranks.NO_DEVICE_FOUND
        double.acquire()
        assert hccl.hcclCommInitRank(ctypes.byref(comm), 1, unique, 1) == INVALID_ARGUMENT
        assert hccl.hcclCommInitRank(ctypes.byref(comm), 1, hccl_ranks.UniqueId(), 0) == INVALID_ARGUMENT
        assert hccl.hcclCommInitRank(ctypes.byref(comm), 1, unique, 0) == SUCCESS
        assert hccl.hcclCommInitRank(ctypes.byref(comm), 1, unique, 0) == INVALID_USAGE  # rank 0 has joined
        double.ok("synDestroy")
        assert hccl.hcclCommDestroy(comm) == hccl_ranks.UNINITIALIZED

    code, log = synapse_library.in_child(body)
    assert code == 0, log


def test_ranks_that_expect_different_sizes_do_not_join(release: str) -> None:
    def body(rank: Rank) -> None:
        assert rank.joined == SUCCESS
        assert rank.hccl.hcclCommDestroy(rank.comm) == SUCCESS
        if rank.number == 0:
            (rank.folder / "id").unlink()
            rank.publish("gone")
        rank.wait_for("gone")
        assert rank.join(2 + rank.number) == INVALID_USAGE

    for code, log in hccl_ranks.run(release, 2, body):
        assert code == 0, log
        assert "rank 0 expects 2" in log
        assert "rank 1 expects 3" in log


def test_different_calls_fail_on_all_ranks(release: str) -> None:
    def body(rank: Rank) -> None:
        assert rank.all_reduce(10 + rank.number) == SUCCESS
        assert rank.status() == FAIL_HCCL
        assert rank.error() == INVALID_USAGE
        assert rank.all_reduce(10) == INVALID_USAGE  # the communicator has failed for good

    for code, log in hccl_ranks.run(release, 2, body):
        assert code == 0, log
        assert "rank 0: AllReduce(sum) of 10 elements of f32; rank 1: AllReduce(sum) of 11 elements of f32" in log


def test_different_transfers_fail_on_both_ranks(release: str) -> None:
    def body(rank: Rank) -> None:
        arguments = (10 + rank.number, FLOAT32, 1 - rank.number, rank.comm, rank.stream)
        if rank.number == 0:
            assert rank.hccl.hcclSend(rank.send, *arguments) == SUCCESS
        else:
            assert rank.hccl.hcclRecv(rank.receive, *arguments) == SUCCESS
        assert rank.status() == FAIL_HCCL

    for code, log in hccl_ranks.run(release, 2, body):
        assert code == 0, log
        assert "they differ" in log


def test_transfers_without_a_group_wait_for_each_other(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_HCCL_TIMEOUT_MS", "300")

    def body(rank: Rank) -> None:
        peer = 1 - rank.number
        assert rank.hccl.hcclSend(rank.send, 4, FLOAT32, peer, rank.comm, rank.stream) == SUCCESS
        assert rank.hccl.hcclRecv(rank.receive, 4, FLOAT32, peer, rank.comm, rank.stream) == SUCCESS
        assert rank.status() == FAIL_HCCL
        assert rank.error() == SOCKET_ERROR

    for code, log in hccl_ranks.run(release, 2, body):
        assert code == 0, log


def test_operations_of_unordered_streams_are_found(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_MAX_DELAY_US", "3000")

    def body(rank: Rank) -> None:
        streams = [rank.create_stream() for _ in range(2)]
        results = {rank.all_reduce(4, stream=streams[i % 2]) for i in range(50)}
        assert results <= {SUCCESS, INVALID_USAGE}
        assert rank.double.call("synDeviceSynchronize", rank.device) == FAIL_HCCL

    expect_refusal(release, "order the streams by an event", body)


@pytest.mark.parametrize("dies", [True, False])
def test_ranks_that_end_fail_the_others(release: str, dies: bool) -> None:
    def body(rank: Rank) -> None:
        if rank.number == 1:
            rank.wait_for("waits")
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)
            assert rank.hccl.hcclCommDestroy(rank.comm) == SUCCESS
            rank.wait_for("failed")
            return
        assert rank.all_reduce(4) == SUCCESS
        rank.publish("waits")
        assert rank.status() == FAIL_HCCL
        assert rank.error() == SOCKET_ERROR
        rank.publish("failed")

    (code, log), (other, _) = hccl_ranks.run(release, 2, body)
    assert code == 0, log
    assert "rank 1 has left" in log
    assert other == (-signal.SIGKILL if dies else 0)


def test_silent_ranks_fail_the_others_in_time(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_HCCL_TIMEOUT_MS", "300")

    def body(rank: Rank) -> None:
        if rank.number == 1:
            rank.wait_for("failed")
            return
        assert rank.all_reduce(4) == SUCCESS
        assert rank.status() == FAIL_HCCL
        rank.publish("failed")

    (code, log), _ = hccl_ranks.run(release, 2, body)
    assert code == 0, log
    assert "no answer from rank 1 for 300 ms" in log


def test_missing_ranks_fail_the_join_in_time(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_HCCL_TIMEOUT_MS", "300")

    def body(rank: Rank) -> None:
        assert rank.join(2) == SOCKET_ERROR

    expect_refusal(release, "rank 1 of 2 has not joined in time", body)


def test_abort_ends_waiting_work(release: str) -> None:
    def body(rank: Rank) -> None:
        if rank.number == 1:
            rank.wait_for("ended")
            return
        assert rank.all_reduce(4) == SUCCESS
        assert rank.hccl.hcclCommAbort(rank.comm) == SUCCESS
        assert rank.status() == FAIL_HCCL
        assert rank.all_reduce(4) == INVALID_ARGUMENT  # the communicator is gone
        rank.publish("ended")

    (code, log), (other, _) = hccl_ranks.run(release, 2, body)
    assert code == 0, log
    assert other == 0


def test_ranks_may_leave_after_their_last_operation(release: str) -> None:
    def body(rank: Rank) -> None:
        rank.write(values(rank.number))
        assert rank.all_reduce(COUNT) == SUCCESS
        np.testing.assert_array_equal(rank.read(COUNT), values(0) + values(1))
        assert rank.hccl.hcclCommDestroy(rank.comm) == SUCCESS

    hccl_ranks.succeed(release, 2, body)


def test_folder_is_removed_by_the_last_rank(release: str) -> None:
    def body(rank: Rank) -> None:
        assert rank.all_reduce(4) == SUCCESS
        assert rank.status() == SUCCESS
        assert rank.hccl.hcclCommDestroy(rank.comm) == SUCCESS
        assert not list((rank.folder / "modules").glob("synapse_double_hccl.*"))

    hccl_ranks.succeed(release, 1, body)


def test_calls_in_a_forked_child_fail(release: str) -> None:
    def body(rank: Rank) -> None:
        child = os.fork()
        if child == 0:
            os._exit(0 if rank.all_reduce(4) == hccl_ranks.SYNAPSE_TERMINATED else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    expect_refusal(release, "called in a forked child", body, rule=22)


def test_calls_fail_by_switch(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_FAIL_CALLS", "hcclAllReduce:2:6")

    def body(rank: Rank) -> None:
        assert [rank.all_reduce(4) for _ in range(3)] == [SUCCESS, 6, SUCCESS]
        assert rank.status() == SUCCESS

    assert hccl_ranks.run(release, 1, body)[0][0] == 0
