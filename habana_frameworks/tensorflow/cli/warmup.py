"""`hpu warmup`: runs a program until all its recipes are on disk."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import sys
import time
from typing import Any

from habana_frameworks.tensorflow import flags, statistics
from habana_frameworks.tensorflow._internal import changing_sizes, text
from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.cli import program, program_limits, recipe_directory
from habana_frameworks.tensorflow.recipe_store import Entry, StoreError, list_entries

NOTHING_TO_COMPILE = 3
_SETTINGS = {"HPU_COMPILE_MODE": "strict", "HPU_RECIPE_CACHE_READ_ONLY": "0"}
TARGETS = ("a100", "h100", "h200", "l4")
"""Cards that plugin/backends/pjrt/targets describes."""
TARGET_HELP = (
    f"compile for a card that is not present: {', '.join(TARGETS)}, or the path of a description (HPU_PJRT_TARGET). "
    "The program runs on a device that computes nothing, so its results are zeros"
)


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "warmup",
        help="run a program, and store all its recipes on disk",
        description="Runs a program with the HPU loaded, to its end or until --steps or --idle stops it. Stores its "
        "recipes on disk, and reports the compiled recipes on stderr. Exit code 0: all recipes are on disk; 1: some "
        "recipes were not stored; 2: wrong usage; 3: the program needed no recipe; if the program fails, the "
        "program's exit code.",
    )
    recipe_directory.add_path(parser)
    parser.add_argument("--target", metavar="CARD", help=TARGET_HELP)
    add_limits(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object; the program's output goes to stderr"
    )
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Adds --steps and --idle, which end the program."""
    program_limits.add_steps(parser)
    program_limits.add_idle(parser)


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
    """Recipes that were compiled or downloaded, but not stored."""
    stopped: str
    """Reason why the program was stopped; empty if the program ended normally."""
    seconds: float


def run(arguments: argparse.Namespace) -> int:
    """Runs the program and reports the recipes that it stored."""
    path = recipe_directory.of(arguments)
    if not program.accepts("hpu warmup", arguments, "" if path else recipe_directory.MISSING):
        return 2
    os.environ.update(target_settings(arguments.target))
    os.environ.update(changing_sizes.settings())
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
    watch = program_limits.Watch(command, arguments.steps, arguments.idle)
    start = time.monotonic()
    code = 0
    with program.stdout_to_stderr() if arguments.json else contextlib.nullcontext(), watch.stopping():
        code = program.run(command, arguments)
    plugin_library.finish_compiling()
    counts = statistics.recipes()
    made = tuple(entry for entry in _entries(path) if entry.key not in before)
    not_kept = counts.compiled + counts.remote_hits - counts.stored
    outcome = Outcome(path, made, counts.compiled, counts.disk_hits, not_kept, watch.reason, time.monotonic() - start)
    watch.exit_code = _exit_code(code, counts, not_kept)
    return outcome, watch.exit_code


def _exit_code(code: int, counts: statistics.Recipes, not_kept: int) -> int:
    if code:
        return code
    if not counts.compiled + counts.disk_hits + counts.remote_hits:
        return NOTHING_TO_COMPILE
    return 1 if not_kept > 0 else 0


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
