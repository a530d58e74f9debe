"""Ends the user's program early, for commands that need only a part of its run."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow._internal.text import number
from habana_frameworks.tensorflow.cli import numbers, program

_POLL_SECONDS = 0.2
# Time for the program's own cleanup after the stop request.
_GRACE_SECONDS = 30


def add_steps(parser: argparse.ArgumentParser) -> None:
    """Adds --steps, which ends the program."""
    parser.add_argument(
        "--steps", type=numbers.positive, metavar="N", help="stop once a cluster has been launched N times"
    )


def add_idle(parser: argparse.ArgumentParser) -> None:
    """Adds --idle, which ends the program."""
    parser.add_argument(
        "--idle",
        type=numbers.positive,
        metavar="SECONDS",
        help="stop once no new recipe was needed for this long, after the first recipe",
    )


class Watch:
    """Raises Stop in the program's main thread once --steps or --idle is reached."""

    def __init__(self, command: str, steps: float | None, idle: float | None) -> None:
        """command: name of the command, for the message about a program that does not stop."""
        self.reason = ""
        self.exit_code = 1
        self._command = command
        self._steps, self._idle = steps, idle
        self._ended = threading.Event()
        self._counts = (0, 0, 0)
        self._launches = 0
        self._changed = 0.0

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """Watches the program during the `with` block. Catches a Stop raised after the program has ended."""
        signal.signal(signal.SIGUSR1, self._raise)
        if self._steps:
            self._signal_at_launch(math.ceil(self._steps))
        threading.Thread(target=self._run, name="hpu-limits", daemon=True).start()
        try:
            yield
        except program.Stop:
            pass
        finally:
            self._ended.set()
            self._signal_at_launch(0)

    @staticmethod
    def _signal_at_launch(launches: int) -> None:
        c_api.function(plugin_library.handle(), "hpu_signal_at_launch")(launches, signal.SIGUSR1)

    def _raise(self, received: int, frame: object) -> None:
        if not self._ended.is_set():
            self.reason = self.reason or self._steps_reached()
            raise program.Stop

    def _steps_reached(self) -> str:
        launches = max((cluster.launches for cluster in statistics.get().clusters), default=0)
        return f"a cluster was launched {number(launches, 'time')}" if self._steps and launches >= self._steps else ""

    def _run(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            if self.reason:  # the signal at a launch
                break
            self.reason = self._why_stop()
            if self.reason:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
                break
        else:
            return
        # The program's cleanup may delay its end; the command's own work or threads of the program may delay the
        # process's end. If the process ends in time, so does this thread.
        if self._ended.wait(_GRACE_SECONDS):
            time.sleep(_GRACE_SECONDS)
        plugin_library.finish_compiling()
        print(
            f"{self._command}: killing the program: it did not stop within {_GRACE_SECONDS} s",
            file=sys.stderr,
            flush=True,
        )
        os._exit(self.exit_code)

    def _why_stop(self) -> str:
        recipes, statistic = statistics.recipes(), statistics.get()
        launched, self._launches = statistic.launches > self._launches, statistic.launches
        counts = (recipes.compiled, recipes.disk_hits, recipes.remote_hits)
        if counts != self._counts:
            self._counts, self._changed = counts, time.monotonic()
        # A recipe that is not on disk is downloaded or compiled. More misses than such recipes: a download or a compile
        # is running, or a compile has failed. This delays the stop only while the program launches nothing.
        pending = recipes.disk_misses > recipes.compiled + recipes.remote_hits
        if not sum(counts) or (pending and not launched):
            return ""
        if self._idle and time.monotonic() - self._changed >= self._idle:
            return f"no new recipe for {self._idle:g} s"
        return ""
