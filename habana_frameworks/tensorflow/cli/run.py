"""`hpu run`: runs a program on several HPUs of this machine, one process per HPU (docs/distributed/jobs.md)."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from typing import Any

from habana_frameworks.tensorflow import flags, lib_utils, monitor
from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow._internal.launch import launchers, module_choice, ports, rendezvous
from habana_frameworks.tensorflow._internal.launch.job import Grace, Interruption, Job, Outcome, how_ended
from habana_frameworks.tensorflow._internal.launch.job_supervisor import (
    Attempt,
    Placement,
    ReadModules,
    Supervisor,
)
from habana_frameworks.tensorflow._internal.launch.last_error import last_error
from habana_frameworks.tensorflow.cli import job_modules, numbers, program

_DESCRIPTION = """Starts several processes of a Python program, each with its own rank and HPU, and prints their output
line by line, prefixed with the rank. When a process fails, all others are terminated; --restarts restarts all of them.
Before the start, the command checks that HPU_BACKEND has enough free modules. Exit code: 0 if all processes of the last
start succeeded, else the exit code of the first process that failed (128 plus the signal number if a signal ended it);
1: too few modules; 2: wrong usage."""
# TensorFlow's workers treat SIGTERM as a preemption notice: after a failure they keep waiting for the lost rank.
_GRACE = Grace(after_failure=4.0, after_signal=10.0)
_MAX_RANKS = 1 << 16
_NO_HOROVOD = re.compile(r"No module named '?horovod\b")
# Not imported: Python warns about a program that is imported before it runs.
_AUTOLOAD = f"{__package__}.autoload"
_MAX_RESTARTS = 1 << 20
# Variables of an enclosing job. With an inherited HLS_MODULE_ID, all ranks would acquire the same module.
_NOT_INHERITED = (*launchers.VARIABLES, rendezvous.VARIABLE, "HLS_MODULE_ID", "HLS1_MODULE_ID")


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "run", help="run a program on several HPUs", description=_DESCRIPTION
    )
    parser.add_argument(
        "-np",
        "--processes",
        type=numbers.integer(1, _MAX_RANKS),
        default=1,
        metavar="N",
        help="number of processes (default 1)",
    )
    parser.add_argument(
        "--restarts",
        type=numbers.integer(0, _MAX_RESTARTS),
        default=0,
        metavar="N",
        help="restart all processes after a failure, at most N times (default 0)",
    )
    parser.add_argument(
        "--min-ranks",
        type=numbers.integer(1, _MAX_RANKS),
        metavar="M",
        help="if modules are lost, restart with fewer processes, at least M (default: all processes)",
    )
    parser.add_argument(
        "--modules",
        metavar="M,…",
        help="modules to use, one per process (default: HABANA_VISIBLE_MODULES, else any)",
    )
    parser.add_argument(
        "--autoload", action="store_true", help="load the HPU before the program runs, if the program does not load it"
    )
    parser.add_argument("--no-prefix", action="store_true", help="print lines without the rank")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end; output goes to stderr")
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the job and returns its exit code."""
    if not program.accepts("hpu run", arguments, _problem(arguments)):
        return 2

    def sink(rank: int, number: int, line: str) -> None:
        stream = sys.stderr if number == 2 or arguments.json else sys.stdout
        print(line if arguments.no_prefix else f"[{rank}] {line}", file=stream, flush=True)

    def report(decision: str) -> None:
        print(f"hpu run: {decision}", file=sys.stderr, flush=True)

    begin = time.monotonic()
    requested = Placement(arguments.processes, tuple(map(int, _modules(arguments))))
    with Interruption() as interruption:
        shortage = job_modules.shortage(requested, _min_ranks(arguments), interruption)
        if interruption.signal is not None:
            return 128 + interruption.signal
        if shortage:
            print(f"hpu run: {shortage}", file=sys.stderr)
            return 1

        def start(placement: Placement, restart_count: int) -> Outcome:
            with ports.reserved(placement.ranks) as numbers, rendezvous.variables(placement.ranks) as meeting:
                environments = [
                    {**_environment(arguments, placement, restart_count, numbers, rank), **meeting(rank)}
                    for rank in range(placement.ranks)
                ]
                outcome = Job(_command(arguments), environments, sink, _GRACE, interruption).run()
            if outcome.failed is not None:
                _report_failure(outcome)
            return outcome

        supervisor = Supervisor(requested, arguments.restarts, _min_ranks(arguments), interruption, report)
        attempts = supervisor.run(start, _module_reader(arguments, interruption))
    outcome = attempts[-1].outcome
    if arguments.json:
        print(json.dumps(_json(attempts, time.monotonic() - begin)))
    return outcome.exit_code


def _problem(arguments: argparse.Namespace) -> str:
    """Returns the reason why the job cannot be started; empty if it can."""
    modules = _modules(arguments)
    listed = f"{','.join(modules)} (from --modules or HABANA_VISIBLE_MODULES)"
    if not all(module.isdecimal() for module in modules):
        return f"{listed} is not a list of module numbers, such as 0,1"
    if modules and len(modules) < arguments.processes:
        return (
            f"too few modules for {arguments.processes} processes: {listed} names only {len(modules)}; name one module "
            "per process"
        )
    if len(set(map(int, modules))) < len(modules):
        return f"{listed} names a module twice, but a module serves only one process: name each module once"
    if _min_ranks(arguments) > arguments.processes:
        return (
            f"--min-ranks {arguments.min_ranks} exceeds the number of processes (-np {arguments.processes}): lower "
            "--min-ranks"
        )
    if arguments.min_ranks is not None and arguments.restarts == 0:
        return f"--min-ranks {arguments.min_ranks} applies to restarts: add --restarts"
    return ""


def _modules(arguments: argparse.Namespace) -> list[str]:
    if arguments.modules is not None:
        return module_choice.module_entries(arguments.modules)
    return module_choice.visible_modules()


def _min_ranks(arguments: argparse.Namespace) -> int:
    return arguments.processes if arguments.min_ranks is None else arguments.min_ranks


def _environment(
    arguments: argparse.Namespace, placement: Placement, restart_count: int, numbers: list[int], rank: int
) -> Mapping[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    workers = [f"127.0.0.1:{number}" for number in numbers]
    environment["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
    environment["PYTHONUNBUFFERED"] = "1"
    environment[launchers.RESTART_COUNT] = str(restart_count)
    if arguments.modules is not None or placement.modules:
        environment["HABANA_VISIBLE_MODULES"] = ",".join(map(str, placement.modules))
    return environment


def _module_reader(arguments: argparse.Namespace, interruption: Interruption) -> ReadModules | None:
    """Returns a function that reads the modules of HPU_BACKEND, or None if restarts need not wait for modules."""
    backend = flags.backend()
    may_be_fewer = _min_ranks(arguments) < arguments.processes and backend in ("auto", "emulator")
    if not monitor.is_server(backend) and not may_be_fewer:
        return None
    return lambda: job_modules.read(interruption).modules


def _command(arguments: argparse.Namespace) -> list[str]:
    python = [sys.executable, *(["-m", _AUTOLOAD] if arguments.autoload else [])]
    return [*python, *(["-m"] if arguments.module else []), arguments.script, *arguments.arguments]


def _report_failure(outcome: Outcome) -> None:
    assert outcome.failed is not None
    end = how_ended(outcome.exit_codes[outcome.failed])
    error = last_error(outcome.log)
    before = _ended_before(outcome.ended_before)
    print(f"hpu run: rank {outcome.failed} {end}{error}{_remedy(error)}{before}", file=sys.stderr, flush=True)


def _ended_before(ranks: tuple[int, ...]) -> str:
    """Returns the hint that the failed rank may have waited for ranks that had ended."""
    if not ranks:
        return ""
    return (
        f"\nhpu run: before, {text.named_ranks(ranks)} had ended with exit code 0. If the failed rank waited for "
        "values from there: all ranks must run the same steps, and save the model together"
    )


def _remedy(error: str) -> str:
    """Returns the command that builds Horovod if `error` says that it is missing. Plain pip omits TensorFlow's part."""
    command = lib_utils.horovod_command()
    return f"; build Horovod: {command}" if _NO_HOROVOD.search(error) and command not in error else ""


def _json(attempts: list[Attempt], seconds: float) -> dict[str, Any]:
    """Outcome of the job, and of each attempt."""
    outcome = attempts[-1].outcome
    return {
        **dataclasses.asdict(outcome),
        "exit_code": outcome.exit_code,
        "seconds": seconds,
        "attempts": [
            {
                "ranks": attempt.placement.ranks,
                "modules": attempt.placement.modules,
                **dataclasses.asdict(attempt.outcome),
                "seconds": attempt.seconds,
            }
            for attempt in attempts
        ],
    }
