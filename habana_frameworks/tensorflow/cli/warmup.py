"""`hpu warmup`: runs a program until all its recipes are on disk."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from habana_frameworks.tensorflow import flags, statistics
from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.cli import numbers, program
from habana_frameworks.tensorflow.recipe_store import Entry, StoreError, list_entries

NOTHING_TO_COMPILE = 3
TARGET_HELP = (
    "compile for a card that is not present: a100, h100, h200, l4, or the path of a description (HPU_PJRT_TARGET). "
    "The program runs on a device that computes nothing, so its results are zeros"
)
_POLL_SECONDS = 0.2
# Time for the program's own cleanup after the stop request.
_GRACE_SECONDS = 30
_SETTINGS = {"HPU_COMPILE_MODE": "strict", "HPU_RECIPE_CACHE_READ_ONLY": "0"}


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "warmup",
        help="compile all recipes of a program, then stop it",
        description="Runs a program with the HPU loaded, to its end or until --steps or --idle stops it. Stores its "
        "recipes on disk, and reports the compiled recipes on stderr. Exit code 0: all recipes are on disk; 1: some "
        "recipes were not stored; 2: wrong usage; 3: the program needed no recipe; if the program fails, the "
        "program's exit code.",
    )
    parser.add_argument("--path", metavar="DIRECTORY", help="recipe directory (default: TF_RECIPE_CACHE_PATH)")
    parser.add_argument("--target", metavar="CARD", help=TARGET_HELP)
    add_limits(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object; the program's output goes to stderr"
    )
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Adds --steps and --idle, which end the program."""
    parser.add_argument(
        "--steps", type=numbers.positive, metavar="N", help="stop once a cluster has been launched N times"
    )
    parser.add_argument(
        "--idle",
        type=numbers.positive,
        metavar="SECONDS",
        help="stop once no new recipe was needed for this long, after the first recipe",
    )


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Result of a warm-up."""

    path: str
    made: tuple[Entry, ...]
    """New entries."""
    compiled: int
    loaded: int
    """Recipes loaded from disk."""
    not_kept: int
    """Recipes that were compiled but not stored."""
    stopped: str
    """Reason why the program was stopped; empty if the program ended normally."""
    seconds: float


class _Watch:
    """Raises Stop in the program's main thread once --steps or --idle is reached."""

    def __init__(self, steps: float | None, idle: float | None) -> None:
        self.reason = ""
        self.exit_code = 1
        self._steps, self._idle = steps, idle
        self._ended = threading.Event()
        self._counts = (0, 0)
        self._launches = 0
        self._changed = 0.0

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """Watches the program during the `with` block. Catches a Stop raised after the program has ended."""
        signal.signal(signal.SIGUSR1, self._raise)
        threading.Thread(target=self._run, name="hpu-warmup", daemon=True).start()
        try:
            yield
        except program.Stop:
            pass
        finally:
            self._ended.set()

    def _raise(self, number: int, frame: object) -> None:
        if not self._ended.is_set():
            raise program.Stop

    def _run(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            self.reason = self._why_stop()
            if self.reason:
                break
        else:
            return
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        # Threads of the program or its cleanup may delay its end. If the process ends in time, so does this thread.
        time.sleep(_GRACE_SECONDS)
        plugin_library.finish_compiling()
        print(
            f"hpu warmup: killing the program: it did not stop within {_GRACE_SECONDS} s",
            file=sys.stderr,
            flush=True,
        )
        os._exit(self.exit_code)

    def _why_stop(self) -> str:
        recipes, statistic = statistics.recipes(), statistics.get()
        launched, self._launches = statistic.launches > self._launches, statistic.launches
        counts = (recipes.compiled, recipes.disk_hits)
        if counts != self._counts:
            self._counts, self._changed = counts, time.monotonic()
        # More disk misses than compiled recipes: a compile is running or has failed. This delays the stop only while
        # the program launches nothing.
        if not sum(counts) or (recipes.disk_misses > recipes.compiled and not launched):
            return ""
        max_launches = max((cluster.launches for cluster in statistic.clusters), default=0)
        if self._steps and max_launches >= self._steps:
            return f"a cluster was launched {max_launches} times"
        if self._idle and time.monotonic() - self._changed >= self._idle:
            return f"no new recipe for {self._idle:g} s"
        return ""


def run(arguments: argparse.Namespace) -> int:
    """Runs the program and reports the recipes that it stored."""
    path = arguments.path or flags.tf_recipe_cache_path()
    problem = program.problem(arguments.script)
    if not path:
        problem = "no cache directory: set TF_RECIPE_CACHE_PATH or pass --path"
    if problem:
        print(f"hpu warmup: {problem}", file=sys.stderr)
        return 2
    os.environ.update(target_settings(arguments.target))
    os.environ.update(_SETTINGS, TF_RECIPE_CACHE_PATH=path)
    if not program.load("hpu warmup"):
        return 2
    outcome, code = warm_up(path, arguments, "hpu warmup")
    _report(outcome, arguments.json)
    return code


def target_settings(target: str | None) -> dict[str, str]:
    """Returns the environment variables that compile for the card `target`; no variables if `target` is None."""
    if target is None:
        return {}
    backend = flags.backend()
    return {"HPU_BACKEND": backend if backend.startswith("pjrt:") else "pjrt:cuda", "HPU_PJRT_TARGET": target}


def warm_up(path: str, arguments: argparse.Namespace, command: str) -> tuple[Outcome, int]:
    """Runs the program with the HPU loaded and recipes stored in `path`; returns the outcome and the exit code."""
    before = {entry.key for entry in _entries(path)}
    watch = _Watch(arguments.steps, arguments.idle)
    start = time.monotonic()
    code = 0
    with program.stdout_to_stderr() if arguments.json else contextlib.nullcontext(), watch.stopping():
        code = program.run(arguments.script, arguments.arguments, command)
    plugin_library.finish_compiling()
    counts = statistics.recipes()
    made = tuple(entry for entry in _entries(path) if entry.key not in before)
    not_kept = counts.compiled - counts.stored
    outcome = Outcome(path, made, counts.compiled, counts.disk_hits, not_kept, watch.reason, time.monotonic() - start)
    watch.exit_code = _exit_code(code, counts)
    return outcome, watch.exit_code


def _exit_code(code: int, counts: statistics.Recipes) -> int:
    if code:
        return code
    if not counts.compiled + counts.disk_hits:
        return NOTHING_TO_COMPILE
    return 1 if counts.stored < counts.compiled else 0


def _entries(path: str) -> tuple[Entry, ...]:
    try:
        return list_entries(path).entries
    except StoreError:
        return ()  # the directory is missing, or the plugin has already reported the problem


def _report(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        print(json.dumps(dataclasses.asdict(outcome), indent=2))
        return
    lines = [f"\n{text.number(outcome.compiled, 'recipe')} compiled, {outcome.loaded} found in {outcome.path}"]
    for entry in outcome.made:
        lines.append(f"  {text.shortened(entry.cluster, 60)}: {entry.compile_seconds:.2f} s, {text.size(entry.bytes)}")
    if outcome.not_kept:
        lines.append(
            f"{text.number(outcome.not_kept, 'recipe')} not stored: see the warnings, or lower the threshold "
            "HPU_RECIPE_CACHE_MIN_COMPILE_MS"
        )
    if outcome.stopped:
        lines.append(f"The program was stopped: {outcome.stopped}.")
    print(*lines, sep="\n", file=sys.stderr)
