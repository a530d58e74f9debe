"""A device server under attack, with an honest client next to the attacker."""

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
"""Time limit for the release of an attacker's modules, processes and files. A quiet machine needs less than 5 s."""


class Scene:
    """A server, a victim, and the server's footprint before the attack."""

    def __init__(self, directory: pathlib.Path, *arguments: str, token: str = "") -> None:
        """arguments: options of `hpu serve`. The default is --modules 3."""
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
            self._known_sessions = self._footprint.sessions
            self._stack = stack.pop_all()

    def begin(self) -> None:
        """Begins a further attack on the unharmed server. new_sessions() counts from here."""
        self.monitor.held()  # connects again if the server has closed the idle connection
        self._known_sessions = self.footprint().sessions

    def attacker(self, **fields: Any) -> Session:
        """Opens a session of the attacker. fields: further arguments of Session."""
        return Session(self.backend, token=self.token, **fields)

    def footprint(self) -> Footprint:
        return Footprint.take(self.front, self._marker)

    def new_sessions(self) -> list[int]:
        """Returns the session processes that did not exist before the attack."""
        return [pid for pid in self.footprint().sessions if pid not in self._known_sessions]

    def processes(self) -> set[int]:
        """Returns all processes of the server."""
        return set(self._marker.processes(self.front))

    def assert_unharmed(self) -> None:
        """Checks that the server runs, that the victim saw no error, and that the attacker left nothing behind."""
        assert self.server.process.poll() is None, self.server.log()[-4000:]
        self.victim.assert_unharmed()
        within(lambda: self.monitor.held() == self._held, lambda: f"modules {self.monitor.held()} are held")
        within(self._is_as_before, lambda: f"{self.footprint()}, before {self._footprint}")
        self.victim.assert_unharmed()

    def _is_as_before(self) -> bool:
        """Compares footprints, except monitors' idle connections, which the server may have closed to make room."""
        now, before = self.footprint(), self._footprint
        same_files = dataclasses.replace(now, sessions=()) == dataclasses.replace(before, sessions=())
        return same_files and len(now.sessions) == len(before.sessions)

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()
        within(lambda: not self.processes(), lambda: f"processes {self.processes()} outlive the server")


def within(condition: Callable[[], bool], problem: Callable[[], str], seconds: float = RECOVERY_SECONDS) -> float:
    """Waits for the condition and returns the seconds. Fails the test with the problem after the time limit."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds, f"after {seconds} s: {problem()}"
        time.sleep(0.05)
    return time.monotonic() - begin


@contextlib.contextmanager
def losing_a_session() -> Iterator[None]:
    """Within the block, the server may reject a call or end the attacker's session."""
    with contextlib.suppress(grpc.RpcError, StopIteration):
        yield
