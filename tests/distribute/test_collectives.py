"""TensorFlow's collective ops with tensors on the HPU."""

from __future__ import annotations

import pathlib

from tests.distribute.jobs import run_job
from tests.remote.servers import Server

IN_SERVER = pathlib.Path(__file__).with_name("in_server.py")


def test_collectives_in_the_memory_of_a_device_server_agree_with_numpy(tmp_path: pathlib.Path) -> None:
    with Server(tmp_path) as server:
        environment = {"HPU_BACKEND": server.backend}
        result = run_job(2, IN_SERVER, environment=environment)
        off = run_job(2, IN_SERVER, "--off", environment=environment)
    for rank in range(2):
        assert f"[{rank}] exchanged in the server" in result.output, result.output
        assert f"[{rank}] exchanged by TensorFlow" in off.output, off.output
    assert "[0] rank 1 is named" in result.output
    assert "[1] a late rank is an error" in result.output


def test_collective_ops_agree_with_numpy_and_refuse_shapes_that_differ() -> None:
    result = run_job(2, pathlib.Path(__file__).with_name("collectives.py"), "--mismatch", check=False)
    for rank in range(2):
        assert f"[{rank}] collectives agree" in result.output, result.output
    assert result.failed is not None
    assert "hape mismatch in the collective instance" in result.output
    assert "expected shape [2,3]" in result.output and "expected shape [3,2]" in result.output
