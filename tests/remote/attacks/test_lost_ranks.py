"""A rank that leaves a collective operation: the other rank gets an error, and other clients are unaffected."""

from __future__ import annotations

import random
import time

import grpc
import pytest

from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.attacks.scene import RECOVERY_SECONDS, Scene
from tests.remote.device_client import MIB, Session

FLOAT32, INT8 = 1, 4
ENDS = (grpc.StatusCode.ABORTED.value[0], grpc.StatusCode.CANCELLED.value[0])
OPERATIONS = ("all_reduce", "all_gather", "broadcast", "send")


def collective(operation: str, session: Session, rank: int, handle: int, size: int, dtype: int = FLOAT32) -> pb.Command:
    """Returns the command for one of two ranks, with operands of `size` bytes."""
    count = size // (4 if dtype == FLOAT32 else 1)
    source, destination = session.base, session.base + size
    if operation == "send":
        transfer = pb.Transfer(sends=rank == 1, peer=1 - rank, address=source, count=count, dtype=dtype)
        request = pb.Collective(communicator=handle, kind=pb.Collective.KIND_TRANSFERS, transfers=[transfer])
    else:
        kind = getattr(pb.Collective, f"KIND_{operation.upper()}")
        request = pb.Collective(
            communicator=handle, kind=kind, source=source, destination=destination, count=count, dtype=dtype, root=1
        )
    return pb.Command(collective=request)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_rank_that_leaves_ends_the_operation(scene: Scene, operation: str) -> None:
    moments = random.Random(operation)
    for attempt, size in enumerate([1 * MIB, 64 * MIB] * 3):
        identity = f"{operation} {attempt}".encode()
        ranks = [scene.attacker(memory_bytes=3 * size) for _ in range(2)]
        joined = [session.join(identity, rank, 2) for rank, session in enumerate(ranks)]
        for _, call in joined:
            call.read()
        for _ in range(8):  # repeats the operation, so that the rank is lost during one of them
            for rank, session in enumerate(ranks):
                session.stream.send(collective(operation, session, rank, joined[rank][0], size))
        time.sleep(moments.uniform(0, 0.1))
        ranks[1].close()
        lost = time.monotonic()
        status = ranks[0].stream.status(collective(operation, ranks[0], 0, joined[0][0], size))
        assert time.monotonic() - lost < RECOVERY_SECONDS
        assert status.code in ENDS, status
        assert b"rank 1" in status.message, status
        # The session itself remains usable.
        ranks[0].stream.clear()
        assert ranks[0].stream.write_memory(ranks[0].base, b"sound").code == 0
        assert ranks[0].stream.read_memory(ranks[0].base, 5) == b"sound"
        ranks[0].close()
    scene.assert_unharmed()


def test_ranks_that_disagree_end_their_operation_alone(scene: Scene) -> None:
    ranks = [scene.attacker(memory_bytes=8 * MIB) for _ in range(2)]
    for attempt, dtypes in enumerate([(FLOAT32, INT8), (INT8, FLOAT32)]):
        joined = [session.join(b"%d" % attempt, rank, 2) for rank, session in enumerate(ranks)]
        for _, call in joined:
            call.read()
        for rank, session in enumerate(ranks):
            session.stream.send(collective("all_reduce", session, rank, joined[rank][0], 2 * MIB, dtypes[rank]))
        for session in ranks:
            assert session.stream.status().code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
            session.stream.clear()
        for _, call in joined:
            call.cancel()
    for session in ranks:
        session.close()


def test_half_a_communicator_ends_with_its_session(scene: Scene) -> None:
    for attempt in range(20):
        with scene.attacker() as session:
            session.join(b"%d" % attempt, 0, 2)
