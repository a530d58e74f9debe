"""hvd.init() extension without Horovod: rendezvous of the ranks, and invalid jobs."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import types
from typing import Any

import pytest

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.launch import launchers
from habana_frameworks.tensorflow._internal.launch.launchers import Launcher, Ranks
from habana_frameworks.tensorflow._internal.rendezvous import gloo, horovod_start, loopback
from habana_frameworks.tensorflow._internal.rendezvous.gloo import Member

RANKS = Ranks(Launcher.OPEN_MPI, size=2, rank=0, local_size=2, local_rank=0)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the environment by a copy without launchers' variables, and restores it after the test."""
    dropped = (*launchers.VARIABLES, "TF_CONFIG", "HLS_MODULE_ID", "HOROVOD_CONTROLLER", "HPU_HOROVOD_RENDEZVOUS")
    monkeypatch.setattr(os, "environ", {name: value for name, value in os.environ.items() if name not in dropped})


class Basics:
    """Fake of HorovodBasics, with an MPI that finds `found` ranks."""

    def __init__(self, found: int) -> None:
        self.found = found
        self.initialized = False

    def mpi_built(self) -> bool:
        return True

    def init(self, *args: Any, **kwargs: Any) -> None:
        self.initialized = True

    def is_initialized(self) -> bool:
        return self.initialized

    def shutdown(self) -> None:
        self.initialized = False

    def size(self) -> int:
        return self.found

    def local_rank(self) -> int:
        return self.found - 1


def basics(monkeypatch: pytest.MonkeyPatch, found: int) -> Basics:
    made = Basics(found)
    monkeypatch.setitem(sys.modules, "horovod.tensorflow.mpi_ops", types.SimpleNamespace(_basics=made))
    os.environ["HPU_AUTOLOAD"] = "0"
    return made


def mpirun(size: int) -> None:
    os.environ.update(OMPI_COMM_WORLD_SIZE=str(size), OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_LOCAL_SIZE=str(size))


def test_mpi_that_finds_all_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    made = basics(monkeypatch, 4)
    mpirun(4)
    horovod_start.start(made, Basics.init)
    assert made.initialized
    horovod_start.check_if_started()


def test_mpi_that_finds_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made = basics(monkeypatch, 1)
    mpirun(4)
    with pytest.raises(errors.JobError, match="Open MPI started 4 processes, but Horovod's job has 1"):
        horovod_start.start(made, Basics.init)
    assert not made.initialized
    made.initialized = True
    with pytest.raises(errors.JobError):
        horovod_start.check_if_started()


def test_some_of_the_ranks_by_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    made = basics(monkeypatch, 2)
    mpirun(4)
    horovod_start.start(made, Basics.init, comm=[0, 1])
    horovod_start.start(made, Basics.init, [0, 1])
    with pytest.raises(errors.JobError):
        horovod_start.start(made, Basics.init, None)


def test_an_unknown_launcher_of_mpi_gives_modules_by_local_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    horovod_start.start(basics(monkeypatch, 3), Basics.init)
    assert os.environ["HLS_MODULE_ID"] == "2"


def test_launchers_that_need_a_rendezvous_address() -> None:
    needed = gloo.is_needed
    for launcher in (Launcher.OPEN_MPI, Launcher.SLURM):
        assert needed(Ranks(launcher, 2), mpi_built=False)
        assert not needed(Ranks(launcher, 2), mpi_built=True)
        assert not needed(Ranks(launcher, 1), mpi_built=False)
    assert needed(Ranks(Launcher.TF_CONFIG, 2), mpi_built=True)
    os.environ["HOROVOD_CONTROLLER"] = "gloo"
    assert needed(Ranks(Launcher.OPEN_MPI, 2), mpi_built=True)
    os.environ["HOROVOD_CONTROLLER"] = "MPI"
    assert not needed(Ranks(Launcher.TF_CONFIG, 2), mpi_built=True)
    del os.environ["HOROVOD_CONTROLLER"]
    os.environ["HOROVOD_GLOO_RENDEZVOUS_ADDR"] = "127.0.0.1"
    assert not needed(Ranks(Launcher.HOROVOD, 2), mpi_built=False)


def test_variables_of_two_machines() -> None:
    """Three ranks on one machine, and two on the other."""
    members = [
        Member("10.0.0.1", 0),
        Member("10.0.0.1", 1),
        Member("10.0.0.1", 2),
        Member("10.0.0.2", 0),
        Member("10.0.0.2", 1),
    ]
    expected = [(0, 3, 0, 2), (1, 3, 0, 2), (2, 3, 0, 1), (0, 2, 1, 2), (1, 2, 1, 2)]
    for rank, wanted in enumerate(expected):
        ranks = Ranks(Launcher.SLURM, 5, rank)
        found = gloo._variables(ranks, members, "10.0.0.1", 4242)
        numbers = tuple(
            int(found[f"HOROVOD_{name}"]) for name in ("LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")
        )
        assert numbers == wanted
        assert (found["HOROVOD_RANK"], found["HOROVOD_SIZE"]) == (str(rank), "5")
        assert found["HOROVOD_HOSTNAME"] == members[rank].host
        assert (found["HOROVOD_GLOO_RENDEZVOUS_ADDR"], found["HOROVOD_GLOO_RENDEZVOUS_PORT"]) == ("10.0.0.1", "4242")


def test_local_ranks_that_are_not_distinct() -> None:
    members = [Member("10.0.0.1", 0), Member("10.0.0.1", 0)]
    with pytest.raises(errors.JobError, match="ranks 0, 1 all have local rank 0"):
        gloo._variables(RANKS, members, "10.0.0.1", 1)


def test_invalid_addresses() -> None:
    os.environ["HPU_HOROVOD_RENDEZVOUS"] = "somewhere"
    with pytest.raises(errors.JobError, match="HPU_HOROVOD_RENDEZVOUS=somewhere is not host:port"):
        gloo.join(RANKS)


def ask(environment: dict[str, str], answers: Any) -> None:
    os.environ.update(environment)
    ranks = Ranks(Launcher.OPEN_MPI, 3, 1, 3, 1)
    answers.put(loopback.agree(ranks, lambda: 0, time.monotonic() + 60))


def test_ranks_on_one_machine_learn_rank_0s_port() -> None:
    """Ranks receive the port even if they connect before rank 0 listens."""
    job = {"PMIX_NAMESPACE": f"test-{os.getpid()}"}
    os.environ.update(job)
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    children = [context.Process(target=ask, args=(job, answers)) for _ in range(2)]
    children[0].start()
    time.sleep(0.2)
    assert loopback.agree(Ranks(Launcher.OPEN_MPI, 3, 0, 3, 0), lambda: 4242, 0.0) == ("127.0.0.1", 4242)
    children[1].start()
    assert [answers.get(timeout=60) for _ in children] == [("127.0.0.1", 4242)] * 2
    for child in children:
        child.join()


def test_two_processes_that_are_both_rank_0() -> None:
    os.environ["PMIX_NAMESPACE"] = f"test-twice-{os.getpid()}"
    loopback.agree(RANKS, lambda: 1, 0.0)
    with pytest.raises(errors.JobError, match="another process of this Open MPI job already joined as rank 0"):
        loopback.agree(RANKS, lambda: 1, 0.0)


def test_waiting_for_rank_0_ends() -> None:
    os.environ["PMIX_NAMESPACE"] = f"test-none-{os.getpid()}"
    with pytest.raises(errors.JobError, match=r"rank 1 of 2 waited \d+ s for rank 0 to call"):
        loopback.agree(Ranks(Launcher.OPEN_MPI, 2, 1, 2, 1), lambda: 1, time.monotonic() + 0.2)


def test_a_launcher_that_names_no_job() -> None:
    for name in ("PMIX_NAMESPACE", "SLURM_JOB_ID"):
        os.environ.pop(name, None)
    with pytest.raises(errors.JobError, match="set HPU_HOROVOD_RENDEZVOUS"):
        loopback.agree(RANKS, lambda: 1, 0.0)
