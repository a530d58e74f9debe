"""`hpu smi` on a device server and on emulators in other processes, and `hpu doctor` on a device server."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from habana_frameworks.tensorflow import monitor
from tests.remote import smi_programs as programs
from tests.remote.servers import Server, wait_until
from tests.support.processes import ROOT, WARM_PYTHON, call_to, run, start

SMI = [sys.executable, "-m", "habana_frameworks.tensorflow", "smi"]


def smi(*arguments: str, backend: str = "emulator", code: int = 0, settings: dict[str, str] | None = None) -> str:
    done = run([*SMI, *arguments], {"HPU_BACKEND": backend, **(settings or {})}, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines(), skipinitialspace=True))


class Busy:
    """A process that computes continuously on a module."""

    def __init__(self, backend: str, **variables: str) -> None:
        command, environment = (
            [WARM_PYTHON, "-c", call_to(programs.compute_until_told)],
            {"HPU_BACKEND": backend, **variables},
        )
        self.process = start(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.pid = int(self.process.stdout.readline())

    def end(self) -> None:
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server"), "--modules", "2") as running:
        yield running


def test_a_busy_module_of_a_server(server: Server) -> None:
    busy = Busy(server.backend, HLS_MODULE_ID="1", HPU_MEMORY_MB="1000")
    try:
        report = json.loads(smi("--json", backend=server.backend))
        table = smi(backend=server.backend)
        details = smi("-q", "-i", "ffff:01:00.0", backend=server.backend)
    finally:
        busy.end()
    assert report["server"]["pid"] == server.process.pid
    assert report["server"]["resident_bytes"] > 64 << 20
    free, held = report["modules"]
    assert free["holder"] is None
    assert (free["memory_used"], free["memory_total"], free["utilization"]) == (0, 98304 << 20, 0)
    assert held["holder"]["pid"] == busy.pid
    assert held["memory_total"] == 1000 << 20
    assert 64 << 20 <= held["memory_used"] < 1000 << 20
    assert 0 < held["utilization"] <= 1
    assert held["temperature_is_emulated"]
    assert held["temperature_celsius"] >= free["temperature_celsius"]
    assert held["launches"] > 0
    assert held["recipes"] > 0
    assert f"module 1 is held by process {busy.pid}: " in table
    assert "launches:" in details
    assert "module 0" not in details

    wait_until(lambda: not any(module.holder for module in monitor.read(server.backend).modules), "it is still held")
    idle = json.loads(smi("--json", backend=server.backend))
    assert [module["holder"] for module in idle["modules"]] == [None, None]
    assert idle["server"]["sessions_opened"] == idle["server"]["sessions_closed"]


def test_a_module_that_a_process_emulates(tmp_path: pathlib.Path) -> None:
    settings = {"HPU_MODULE_LOCK_DIR": str(tmp_path / "locks"), "HPU_MODULES": "2", "HPU_MEMORY_MB": "500"}
    busy = Busy("emulator", **settings)
    try:
        report = json.loads(smi("--json", settings=settings))
        query = smi("-Q", "index,pid,memory.used,utilization.aip", "--format=csv,noheader,nounits", settings=settings)
    finally:
        busy.end()
    held, free = report["modules"]
    assert held["holder"]["pid"] == busy.pid
    assert held["memory_total"] == 500 << 20
    assert 64 << 20 <= held["memory_used"] <= 500 << 20
    assert held["utilization"] is None  # only the holding process has these counters
    assert free["holder"] is None
    (_, pid, used, utilization), other = rows(query)
    assert (pid, utilization) == (str(busy.pid), "N/A")
    assert held["memory_used"] >> 20 <= int(used) <= 500  # the memory may have grown in between
    assert other == ["1", "N/A", "0", "0"]
    assert [module["holder"] for module in json.loads(smi("--json", settings=settings))["modules"]] == [None, None]


# The queries of launch scripts: one counts lines, the other looks up modules.
def test_the_queries_of_launch_scripts(server: Server) -> None:
    lines = smi("-Q", "bus_id", "--format=csv", backend=server.backend).splitlines()
    assert lines == ["bus_id", "ffff:00:00.0", "ffff:01:00.0"]
    assert smi("-Q", "index,module_id", "-f", "csv", backend=server.backend) == "index, module_id\n0, 0\n1, 1\n"


def test_csv_has_units_by_default(server: Server) -> None:
    query = ("-Q", "memory.total,temperature.aip,utilization.aip,name,process_name", "-i", "0")
    head, first = rows(smi(*query, "--format=csv", backend=server.backend))
    assert head[:3] == ["memory.total [MiB]", "temperature.aip [C] (emulated)", "utilization.aip [%]"]
    assert first == ["98304 MiB", "30 C", "0 %", "HL-225", "N/A"]
    bare = smi(*query, "--format=csv,noheader,nounits", backend=server.backend)
    assert rows(bare) == [["98304", "30", "0", "HL-225", "N/A"]]


def test_list(server: Server) -> None:
    lines = smi("-L", backend=server.backend).splitlines()
    assert lines[0] == "module 0: GAUDI2 (ffff:00:00.0), emulated, free"
    assert len(lines) == 2


def test_loop_prints_until_interrupted(server: Server) -> None:
    command = [*SMI, "--json", "-l", "0.2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HPU_BACKEND": server.backend}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
    assert process.stdout is not None
    times = [json.loads(process.stdout.readline())["time"] for _ in range(3)]
    assert times == sorted(set(times))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-Q", "tempature.aip"], "no field 'tempature.aip'; did you mean temperature.aip?"),
        (["-Q", "index,xyzzy"], "no field 'xyzzy'; fields: index, "),
        (["-Q", "index", "--format=xml"], "'xml' is not one of csv, noheader, nounits"),
        (["-i", "7"], "no module 7; modules: 0, 1"),
        (["-l", "0"], "not a positive finite number: 0"),
    ],
)
def test_wrong_usage(server: Server, arguments: list[str], message: str) -> None:
    assert message in smi(*arguments, backend=server.backend, code=2)


def test_no_server_answers(tmp_path: pathlib.Path) -> None:
    address = f"unix:{tmp_path}/none"
    assert f"start one: hpu serve --listen {address}" in smi(backend=f"grpc+{address}", code=1)
    assert "HPU_BACKEND=null has no observable modules" in smi(backend="null", code=1)


def doctor(backend: str) -> tuple[int, dict[str, Any]]:
    done = run([WARM_PYTHON, *SMI[1:-1], "doctor", "--json"], {"HPU_BACKEND": backend}, check=False)
    return done.returncode, {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}


def test_the_doctor_looks_at_the_server(server: Server, tmp_path: pathlib.Path) -> None:
    code, findings = doctor(server.backend)
    assert code == 0
    assert findings["device server"]["data"] == {"pid": server.process.pid, "backend": "emulator"}
    assert findings["modules"]["text"] == "2 of 2 are free"
    code, findings = doctor(f"grpc+unix:{tmp_path}/none")
    assert code == 1
    assert "no device server answers" in findings["device server"]["text"]
    assert "backend" not in findings


def test_the_doctor_names_the_token_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that requires a token is one error, with the setting as remedy. With the token, there is no error."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Server(tmp_path, "--modules", "1", "--listen", "127.0.0.1:0") as server:
        code, findings = doctor(server.backend)
        errors = [finding for finding in findings.values() if finding["level"] == "error"]
        assert code == 1 and len(errors) == 1
        assert "requires a token" in errors[0]["text"]
        assert errors[0]["remedy"].startswith(f"set HPU_SERVER_TOKEN_FILE={server.token_file}, or ")
        monkeypatch.setenv("HPU_SERVER_TOKEN_FILE", server.token_file)
        assert doctor(server.backend)[0] == 0
