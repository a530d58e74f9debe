"""Collective operations of hccl, modelled on NCCL."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import socket
import time

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import hccl
from habana_frameworks.tensorflow._internal.launch import ports
from habana_frameworks.tensorflow.hccl import rendezvous
from tests.distribute.jobs import run_job
from tests.support.processes import ROOT

PROGRAMS = pathlib.Path(__file__).with_name("hccl_programs.py")


def test_random_programs_agree_with_numpy_and_disagreements_name_ranks_and_sizes() -> None:
    result = run_job(3, PROGRAMS)
    for rank in range(3):
        assert f"[{rank}] 100 programs agree" in result.output, result.output
        assert f"[{rank}] errors agree" in result.output, result.output


def test_a_missing_rank_is_an_error(tmp_path: pathlib.Path) -> None:
    result = run_job(3, PROGRAMS, "--missing-rank", str(tmp_path))
    assert "] the missing rank is an error" in result.output, result.output


def test_a_rank_that_does_not_join_is_an_error(tmp_path: pathlib.Path) -> None:
    result = run_job(3, PROGRAMS, "--absent-rank", str(tmp_path))
    for rank in (0, 2):
        assert f"[{rank}] the absent rank is an error" in result.output, result.output


@pytest.mark.parametrize("rank", [0, 1])
def test_ranks_that_make_a_strategy_are_not_waited_for(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rendezvous does not wait for a rank that has already created a strategy.

    Such a rank answers with gRPC bytes.
    """
    with ports.reserved(1) as (port,):
        cluster = {"worker": [f"127.0.0.1:{port}", "127.0.0.1:1", "127.0.0.1:2"][: 2 + (rank == 0)]}
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": rank}}))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            met = pool.submit(rendezvous.join, 60.0)
            with socket.socket() as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if rank == 0:
                    while not met.done() and other.connect_ex(("127.0.0.1", port)) != 0:
                        time.sleep(0.01)
                    other.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                else:
                    other.bind(("127.0.0.1", port))
                    other.listen()
                    connection, _ = other.accept()
                    with connection:
                        connection.sendall(bytes([0, 0, 36, 4, 0]))
            assert met.result(timeout=60) is None


def test_the_example() -> None:
    result = run_job(2, ROOT / "examples" / "collectives.py")
    assert "[0] sum [3. 3.]; all [1. 1. 2. 2.]; rank 0's [1. 1.]; from rank 1 [2. 2.]" in result.output


@pytest.mark.usefixtures("hpu")
def test_one_rank_is_a_communicator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    communicator = hccl.init()
    assert (communicator.rank, communicator.size) == (0, 1)
    tensor = tf.constant([[3, 5], [7, 9]], tf.uint8)
    for op in hccl.ReduceOp:
        assert hccl.all_reduce(tensor, op, communicator).numpy().tolist() == tensor.numpy().tolist()
    assert hccl.all_gather(tensor, communicator).shape == (2, 2)
    assert hccl.broadcast(tensor, 0, communicator).numpy().tolist() == tensor.numpy().tolist()
    hccl.barrier(communicator)
    with pytest.raises(TypeError, match="all_reduce does not support bool; supported: int8"):
        hccl.all_reduce(tf.constant([True]), hccl.ReduceOp.SUM, communicator)
    with pytest.raises(TypeError, match=r"all_reduce: op must be one of ReduceOp.SUM, .*, not 'sum'"):
        hccl.all_reduce(tensor, "sum", communicator)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="send: peer is 1, but the communicator has 1 rank, numbered from 0"):
        hccl.send(tensor, 1, communicator)
    with pytest.raises(ValueError, match="cannot exchange data with itself"):
        hccl.send(tensor, 0, communicator)
    with pytest.raises(ValueError, match="rank 2 is out of range for size 2"):
        hccl.init_rank(2, hccl.get_unique_id(), 2)
    with pytest.raises(ValueError, match="size 2 exceeds the job's number of processes, 1"):
        hccl.init_rank(2, hccl.get_unique_id(), 0)
    with pytest.raises(ValueError, match="unique_id has 3 bytes"):
        hccl.init_rank(1, b"abc", 0)
