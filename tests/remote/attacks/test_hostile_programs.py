"""Programs with false claims: they access only their own client's memory, and crash no server."""

from __future__ import annotations

import pathlib

import grpc
import pytest

from tests.remote.attacks import programs
from tests.remote.attacks.scene import Scene, losing_a_session
from tests.remote.device_client import MIB, Session

MEMORY_BYTES = 256 * MIB
RESULTS_AT = 128 * MIB
WORKSPACE_AT = 250 * MIB


def run(scene: Scene, session: Session, program: bytes, arguments: int, results: int) -> bytes:
    """Runs a program and returns all memory of the session; empty if the program was rejected or ended the session."""
    addresses = [session.base + RESULTS_AT + index * 16 * MIB for index in range(results)]
    memory = b""
    with losing_a_session():
        recipe = session.compile(program)
        session.launch(recipe, [session.base] * arguments, addresses, session.base + WORKSPACE_AT)
        session.stream.clear()
        memory = session.stream.read_memory(session.base, MEMORY_BYTES)
    assert scene.victim.canary[:64] not in memory
    assert scene.victim.canary[-64:] not in memory
    return memory


def test_a_slice_reads_its_own_operand_alone(scene: Scene) -> None:
    for rows in (2, 100, 1500):
        with scene.attacker(memory_bytes=MEMORY_BYTES) as session:
            session.stream.write_memory(session.base, b"\x11" * MIB)
            memory = run(scene, session, programs.cross_read(rows), 2, 2)
            # Rows 0 and `rows` of the operand, whose memory beyond 1 MiB is zero.
            result = memory[RESULTS_AT : RESULTS_AT + 4 * programs.ROW_BYTES]
            own = memory[: programs.ROW_BYTES] + memory[rows * programs.ROW_BYTES :][: programs.ROW_BYTES]
            assert result in (b"", own + bytes(2 * programs.ROW_BYTES))


@pytest.mark.parametrize(
    "opcode", ["cosine", *(pytest.param(opcode, marks=pytest.mark.slow) for opcode in ("power", "reverse"))]
)
def test_a_false_split_of_a_loop_is_harmless(scene: Scene, opcode: str) -> None:
    for counts in ((-1, -1000), (-1, -1000000), (0,), (2**62, 2**62), (1, 2, 3, 4, 5)):
        program = programs.falsely_split(opcode, [1, 2, 1 << 16], *counts)
        with scene.attacker(memory_bytes=MEMORY_BYTES) as session:
            memory = run(scene, session, program, 1, 2)
            end = RESULTS_AT + 4 * 2 * (1 << 16)
            assert memory[end : RESULTS_AT + 16 * MIB].strip(b"\0") == b""


def test_deep_calls_end_no_server(tmp_path: pathlib.Path) -> None:
    with Scene(tmp_path, "--compile-timeout", "5") as scene:
        for depth in (100, 3000, 100_000):
            with scene.attacker() as session, losing_a_session():
                session.compile(programs.nested(depth))
        scene.assert_unharmed()


def test_refused_programs_do_not_fill_the_log(tmp_path: pathlib.Path) -> None:
    with Scene(tmp_path, "--compile-workers", "1") as scene, scene.attacker() as session:
        before = len(scene.server.log())
        for _ in range(100):
            with pytest.raises(grpc.RpcError, match="RET_CHECK"):
                session.compile(programs.without_root())
        written = scene.server.log()[before:]
        assert "RET_CHECK" in written
        assert len(written) < 16 << 10


def test_launches_outside_of_the_memory_are_refused(scene: Scene) -> None:
    beyond = [0, 1, 1 << 40, 1 << 47, (1 << 64) - 128, (1 << 64) - 1]
    with scene.attacker(memory_bytes=MEMORY_BYTES) as session:
        recipe = session.compile(programs.train_step(64))
        good = session.base
        for address in (*beyond, session.base - 128, session.base + MEMORY_BYTES - 128, session.base + MEMORY_BYTES):
            for arguments, result, workspace in (
                ([address, good], good, good),
                ([good, good], address, good),
                ([good, good], good, address),
            ):
                status = session.launch(recipe, arguments, [result], workspace)
                needs_no_workspace = workspace == address and recipe.table.workspace_bytes == 0
                assert needs_no_workspace or status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0], (address, status)
                session.stream.clear()
        for counts in (([good], [good]), ([good] * 3, [good]), ([good, good], []), ([], [])):
            assert session.launch(recipe, *counts, good).code != 0
            session.stream.clear()
