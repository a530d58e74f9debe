"""A device server under attack, with an honest client beside the attacker."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import grpc

from tests.remote.attacks.footprint import Footprint, Marker
from tests.remote.attacks.victim import Victim
from tests.remote.device_client import Monitor, Session
from tests.remote.servers import Server

RECOVERY_SECONDS = 30.0
"""Until modules, processes and files of an attacker are gone; a quiet machine takes less than 5 s."""


class Scene:
    """A server, a victim, and the footprint of the server without an attacker."""

    def __init__(self, directory: pathlib.Path, *arguments: str, token: str = "") -> None:
        """arguments: of `hpu serve`, --modules 3 unless they say otherwise."""
        self._marker = Marker()
        self.token = token
        with contextlib.ExitStack() as stack:
            options = ["--modules", "3", *arguments]
            self.server = stack.enter_context(Server(directory, *options, environment=self._marker.environment))
            self.backend = self.server.backend
            self.front = self.server.process.pid
            self.monitor = Monitor(self.backend, token)
            stack.callback(self.monitor.close)
            self.victim = Victim(self.backend, token)
            stack.callback(self.victim.close)
            self.victim.assert_unharmed()
            self._held = self.monitor.held()
            self._footprint = self.footprint()
            self._stack = stack.pop_all()

    def attacker(self, **fields: Any) -> Session:
        """A session of the attacker's; fields: of Session."""
        return Session(self.backend, token=self.token, **fields)

    def footprint(self) -> Footprint:
        return Footprint.take(self.front, self._marker)

    def new_sessions(self) -> list[int]:
        """Session processes that were not there at the beginning."""
        return [pid for pid in self.footprint().sessions if pid not in self._footprint.sessions]

    def processes(self) -> set[int]:
        """All processes of the server."""
        return set(self._marker.processes(self.front))

    def assert_unharmed(self) -> None:
        """The server goes on, the victim noticed nothing, and nothing of the attacker is left."""
        assert self.server.process.poll() is None, self.server.log()[-4000:]
        self.victim.assert_unharmed()
        within(lambda: self.monitor.held() == self._held, lambda: f"modules {self.monitor.held()} are held")
        within(self._is_as_before, lambda: f"{self.footprint()}, before {self._footprint}")
        self.victim.assert_unharmed()

    def _is_as_before(self) -> bool:
        """Idle connections may have been ended to make room: those of the monitor are then other processes."""
        now, before = self.footprint(), self._footprint
        same_files = dataclasses.replace(now, sessions=()) == dataclasses.replace(before, sessions=())
        return same_files and len(now.sessions) == len(before.sessions)

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()
        within(lambda: not self.processes(), lambda: f"processes {self.processes()} outlive the server")


def within(condition: Callable[[], bool], problem: Callable[[], str], seconds: float = RECOVERY_SECONDS) -> float:
    """Waits for the condition; fails the test, with the problem, if it does not hold in time. Returns the seconds."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds, f"after {seconds} s: {problem()}"
        time.sleep(0.05)
    return time.monotonic() - begin


@contextlib.contextmanager
def losing_a_session() -> Iterator[None]:
    """Inside, the server may refuse a call or end the attacker's session."""
    with contextlib.suppress(grpc.RpcError, StopIteration):
        yield
