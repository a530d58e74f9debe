"""Response to Describe: modules, holders, memory and counters of a server."""

from __future__ import annotations

import asyncio
import os
import pathlib
import time
from collections.abc import Callable, Iterable

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.messages import device_pb2
from habana_frameworks.tensorflow._internal.serve.session_process import SessionProcess
from habana_frameworks.tensorflow._internal.serve.settings import ServerSettings

FIRST_VERSION = LAST_VERSION = 1
_REPORT_SECONDS = 1.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Description:
    """Collects the sessions' reports and describes the server. Belongs to one event loop."""

    def __init__(
        self,
        settings: ServerSettings,
        processes: Callable[[], Iterable[SessionProcess]],
        fork_server_pid: Callable[[], int | None],
    ) -> None:
        """processes: returns all running session processes."""
        self._settings = settings
        self._processes = processes
        self._fork_server_pid = fork_server_pid
        self._round: asyncio.Task[None] | None = None
        self._next_round: asyncio.Task[None] | None = None
        self._awaited: dict[SessionProcess, asyncio.Future[None]] = {}
        self.sessions_opened = 0
        self.sessions_closed = 0

    async def describe(self) -> device_pb2.DescribeResponse:
        """Describes the server's current state. Uses the last report of a session that does not answer in time."""
        await self._collect()
        settings, processes = self._settings, list(self._processes())
        response = device_pb2.DescribeResponse(
            versions=device_pb2.VersionRange(first=FIRST_VERSION, last=LAST_VERSION),
            pid=os.getpid(),
            backend=settings.backend,
            type=settings.device_type,
            sessions_opened=self.sessions_opened,
            sessions_closed=self.sessions_closed,
            clock_ns=time.monotonic_ns(),
            resident_bytes=self._resident_bytes(processes),
        )
        for module_id in range(settings.modules):
            response.modules.add(id=module_id, memory_bytes=settings.default_memory_bytes)
        for process in processes:
            claim = process.claim
            if claim is None:
                continue
            module = response.modules[claim.module_id]
            module.held = True
            module.session_number = claim.number
            module.memory_bytes = claim.report.memory_bytes
            module.memory_used_bytes = claim.report.memory_used_bytes
            module.counters.CopyFrom(claim.report.counters)
            module.holder.pid = claim.holder.pid
            if settings.path:
                module.holder.command = claim.holder.command
        return response

    def take_report(self, process: SessionProcess, report: device_pb2.Module) -> None:
        """Stores a session's answer to Report."""
        if process.claim is not None:
            process.claim.report = report
        self.forget(process)

    def forget(self, process: SessionProcess) -> None:
        """Stops waiting for a report of the process."""
        answered = self._awaited.pop(process, None)
        if answered is not None and not answered.done():
            answered.set_result(None)

    async def _collect(self) -> None:
        """Waits for a round of reports that starts after this call. Concurrent calls share the round."""
        if self._next_round is None:
            self._next_round = asyncio.get_running_loop().create_task(self._run_round(self._round))
        await asyncio.shield(self._next_round)

    async def _run_round(self, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        self._round, self._next_round = self._next_round, None
        loop = asyncio.get_running_loop()
        asked = []
        for process in self._processes():
            # Skips a session that has not yet answered the previous request.
            if process.claim is not None and process not in self._awaited:
                asked.append(self._awaited.setdefault(process, loop.create_future()))
                process.send(pb.ToSession(report=pb.Report()))
        if asked:
            await asyncio.wait(asked, timeout=_REPORT_SECONDS)

    def _resident_bytes(self, processes: Iterable[SessionProcess]) -> int:
        pids = [os.getpid(), self._fork_server_pid(), *(process.pid for process in processes)]
        return sum(_resident_bytes(pid) for pid in pids if pid is not None)


def _resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 if it has ended."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0
