"""Restarts a failed job, with fewer ranks if modules are lost (`hpu run --restarts`)."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from habana_frameworks.tensorflow._internal.launch.job import Interruption, Outcome, how_ended
from habana_frameworks.tensorflow._internal.text import number

# A failure within this time counts as a failure at start.
_START_SECONDS = 60.0
# Longest waits for modules that dead ranks still hold, and for a server that does not answer.
_HELD_SECONDS = 10.0
_UNKNOWN_SECONDS = 30.0
_POLL_SECONDS = 0.5


@dataclasses.dataclass(frozen=True)
class Placement:
    """Number of ranks, and the modules that the ranks may use: at least one per rank, or empty for any module."""

    ranks: int
    modules: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Modules:
    """Ids of the free and the held modules of HPU_BACKEND."""

    free: frozenset[int]
    held: frozenset[int] = frozenset()


@dataclasses.dataclass(frozen=True)
class Attempt:
    """One start of the job: its placement, outcome and duration."""

    placement: Placement
    outcome: Outcome
    seconds: float

    @property
    def failure_at_start(self) -> tuple[Placement, int, int] | None:
        """Placement, failed rank and its exit code; None if the attempt did not fail at start."""
        failed = self.outcome.failed
        if failed is None or self.seconds > _START_SECONDS:
            return None
        return self.placement, failed, self.outcome.exit_codes[failed]


# Runs the job once. Arguments: the placement and the number of earlier starts.
Start = Callable[[Placement, int], Outcome]
# Returns the current modules, or None if the modules are unknown. Called repeatedly.
ReadModules = Callable[[], "Modules | None"]


class Supervisor:
    """Starts a job and restarts it after failures, up to a limit. A restart uses at most one rank per usable module."""

    def __init__(
        self,
        requested: Placement,
        restarts: int,
        min_ranks: int,
        interruption: Interruption,
        report: Callable[[str], None],
    ) -> None:
        """`interruption` ends the restarts. `report` is called with a line of text for each decision."""
        self._requested = requested
        self._restarts = restarts
        self._min_ranks = min_ranks
        self._interruption = interruption
        self._report = report
        # Modules considered lost: their ids if the job names modules, else only their count.
        self._lost: set[int] = set()
        self._lost_count = 0

    def run(self, start: Start, read_modules: ReadModules | None) -> list[Attempt]:
        """Returns all attempts; the last one has the job's outcome.

        read_modules: if None, restarts do not wait for modules.
        """
        attempts: list[Attempt] = []
        placement: Placement | None = self._requested
        while placement is not None:
            begin = time.monotonic()
            outcome = start(placement, len(attempts))
            attempts.append(Attempt(placement, outcome, time.monotonic() - begin))
            placement = self._next(attempts, read_modules)
        if self._interruption.signal is not None:
            outcome = dataclasses.replace(attempts[-1].outcome, signal=self._interruption.signal)
            attempts[-1] = dataclasses.replace(attempts[-1], outcome=outcome)
        else:
            self._report_end(attempts)
        return attempts

    def _next(self, attempts: list[Attempt], read_modules: ReadModules | None) -> Placement | None:
        """Returns the placement of the next attempt, or None after the last attempt."""
        last = attempts[-1]
        if last.outcome.failed is None or len(attempts) > self._restarts or self._interruption.signal is not None:
            return None
        self._give_up_module(attempts)
        placement = self._await_modules(read_modules)
        if self._interruption.signal is not None:
            return None
        if placement.ranks < self._min_ranks:
            self._report(
                f"no restart: modules are available for only {number(placement.ranks, 'rank')}, and --min-ranks is "
                f"{self._min_ranks}; free modules, or lower --min-ranks"
            )
            return None
        fewer = f" instead of {self._requested.ranks}" if placement.ranks < self._requested.ranks else ""
        self._report(f"restart {len(attempts)} of {self._restarts}, with {number(placement.ranks, 'rank')}{fewer}")
        return placement

    def _give_up_module(self, attempts: list[Attempt]) -> None:
        """Marks a module as lost if its rank failed in the same way at two starts in a row.

        Does nothing if too few modules would be left for --min-ranks.
        """
        failure = attempts[-1].failure_at_start
        if failure is None or len(attempts) < 2 or failure != attempts[-2].failure_at_start:
            return
        placement, failed, exit_code = failure
        has_spare_module = len(placement.modules) > placement.ranks
        if placement.ranks <= self._min_ranks and not has_spare_module:
            return
        if placement.modules:
            self._lost.add(placement.modules[failed])
        else:
            self._lost_count += 1
        module = f"module {placement.modules[failed]}" if placement.modules else "its module"
        self._report(f"rank {failed} {how_ended(exit_code)} at two starts in a row: {module} counts as lost")

    def _await_modules(self, read_modules: ReadModules | None) -> Placement:
        """Returns the next placement. Waits for held modules and for a server that does not answer, up to a limit."""
        if read_modules is None:
            return self._placement(None)
        begin = time.monotonic()
        while True:
            modules = read_modules()
            placement = self._placement(modules.free if modules else None)
            if modules is None:
                enough, seconds = False, _UNKNOWN_SECONDS
            else:
                possible = self._placement(modules.free | modules.held)
                enough, seconds = placement.ranks == possible.ranks, _HELD_SECONDS
            if enough or time.monotonic() - begin > seconds or self._interruption.signal is not None:
                return placement
            time.sleep(_POLL_SECONDS)

    def _placement(self, usable: frozenset[int] | None) -> Placement:
        """Returns the requested placement, reduced to the `usable` modules (None: all) that are not lost."""
        target = self._requested.ranks - self._lost_count
        if not self._requested.modules:
            return Placement(target if usable is None else min(target, len(usable)))
        modules = [module for module in self._requested.modules if module not in self._lost]
        if usable is not None:
            modules = [module for module in modules if module in usable]
        return Placement(min(target, len(modules)), tuple(modules))

    def _report_end(self, attempts: list[Attempt]) -> None:
        used = len(attempts) - 1
        if self._restarts == 0:
            return
        if attempts[-1].outcome.failed is not None:
            self._report(f"the job failed; {used} of {self._restarts} restarts were used")
        elif used > 0:
            self._report(f"the job succeeded after {used} of {self._restarts} restarts")
