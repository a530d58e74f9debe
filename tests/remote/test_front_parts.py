"""Parts of the front process in isolation: signatures, log of refusals, faults, access."""

from __future__ import annotations

import asyncio
import hashlib
import pathlib

import pytest

from habana_frameworks.tensorflow._internal.serve.access import is_loopback
from habana_frameworks.tensorflow._internal.serve.child_output import ChildOutput, OutputLimit
from habana_frameworks.tensorflow._internal.serve.faults import BusyFaults
from habana_frameworks.tensorflow._internal.serve.refusals import RefusalLog
from habana_frameworks.tensorflow._internal.serve.seals import RecipeSeal
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError

KEY = b"k" * 32


def test_a_key_signs_and_refuses_every_change() -> None:
    digest, seal = hashlib.sha256(b"recipe").digest(), RecipeSeal(KEY)
    signed = seal.seal(digest)
    RecipeSeal(KEY).check(digest, signed)
    for position in range(len(signed)):
        changed = bytearray(signed)
        changed[position] ^= 1
        for wrong in (bytes(changed), signed[:position]):
            with pytest.raises(StatusError) as error:
                seal.check(digest, wrong)
            assert error.value.code is Code.PERMISSION_DENIED


def test_keys_differ_and_have_ids() -> None:
    digest, ours, theirs = bytes(32), RecipeSeal(KEY), RecipeSeal(b"K" * 32)
    with pytest.raises(StatusError):
        ours.check(digest, theirs.seal(digest))
    assert RecipeSeal(b"").key_id != RecipeSeal(b"").key_id  # random keys
    assert ours.key_id != theirs.key_id
    assert len(ours.key_id) == 16


def test_clients_cannot_write_lines_of_their_own() -> None:
    assert RefusalLog().line("refused Run\nall is well: x\r\x1b[2J\n") == "refused Run all is well: x  [2J "


def test_many_refusals_are_counted() -> None:
    now = 0.0
    log = RefusalLog(lambda: now)
    for _ in range(20):
        assert log.line("refused") == "refused"
    for _ in range(7):
        assert log.line("refused") == ""
    now += 10
    assert log.line("refused") == "refused (7 earlier refusals were not logged)"
    assert log.line("refused") == "refused"


def test_errors_inside_the_compiler_are_refusals_too(caplog: pytest.LogCaptureFixture) -> None:
    RefusalLog().add_call("unix:pid 7 uid 0", "MakeRecipe", Code.INTERNAL, "RET_CHECK failure")
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == "refused MakeRecipe of unix:pid 7 uid 0: INTERNAL: RET_CHECK failure"


def test_the_output_of_sessions_is_limited() -> None:
    now, line = 0.0, b"%063d\n"
    limit = OutputLimit(lambda: now)
    assert limit.take(line % 1) == line % 1
    assert limit.take(line % 2 * 1024) == line % 2 * 1023  # only whole lines
    assert limit.take(b"short\n") == b""
    now += 10
    assert limit.take(line % 3) == b"(70 earlier bytes of the sessions' output were not logged)\n" + line % 3
    assert limit.take(line % 4) == line % 4


def test_the_output_of_sessions_has_no_control_characters() -> None:
    assert OutputLimit().take("ä\x1b[2J\r\tx\x7f\n".encode()) == "ä [2J \tx \n".encode()


def test_the_output_of_children_arrives_until_the_last_has_ended(tmp_path: pathlib.Path) -> None:
    async def run(target: int) -> None:
        output = ChildOutput(target)
        child = await asyncio.create_subprocess_exec(
            *("sh", "-c", "echo first >&2; (sleep 0.2; echo second >&2) &"), stderr=output.write_end
        )
        output.close_write_end()
        await child.wait()
        for _ in range(400):
            await asyncio.sleep(0.05)
            if b"second" in file.read_bytes():
                break
        output.close()

    file = tmp_path / "log"
    with file.open("wb") as target:
        asyncio.run(run(target.fileno()))
    assert file.read_bytes() == b"first\nsecond\n"


def failures(*entries: str, count: int = 6) -> list[int]:
    """Returns the numbers of the failing acquisitions."""
    faults, failed = BusyFaults(entries), []
    for number in range(1, count + 1):
        try:
            faults.count()
        except StatusError as error:
            assert error.code is Code.UNAVAILABLE
            failed.append(number)
    return failed


def test_busy_faults_follow_their_schedule() -> None:
    assert failures() == failures("copy@1", "slow_copy@1+:20", "busy@2#3") == []
    assert failures("busy@2", "busy@5+") == [2, 5, 6]
    assert failures("busy%1") == [1, 2, 3, 4, 5, 6]
    some = failures("seed=3", "busy%0.5", count=100)
    assert some == failures("seed=3", "busy%0.5", count=100)
    assert some != failures("seed=4", "busy%0.5", count=100)
    assert 20 < len(some) < 80


@pytest.mark.parametrize(
    "entry", ["busy", "busy@0", "busy@x", "busy%0", "busy%1.5", "busy%..", "busy@1:5", "delay@1", "delay@1:20000", "@1"]
)
def test_entries_that_cannot_be_read_are_named(entry: str) -> None:
    with pytest.raises(StatusError, match="must be kind@n") as error:
        BusyFaults([entry])
    assert f'"{entry}"' in error.value.message


def test_addresses_of_this_machine() -> None:
    assert all(map(is_loopback, ("127.0.0.1:1", "127.8.0.1:1", "localhost:0", "[::1]:1")))
    assert not any(map(is_loopback, ("0.0.0.0:1", "[::]:1", "192.0.2.1:1", "box.example:1", "localhost.example:1")))
