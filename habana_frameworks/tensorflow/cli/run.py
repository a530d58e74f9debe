"""`hpu run`: a program on several HPUs of this machine, one process for each (docs/distributed.md)."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from habana_frameworks.tensorflow import _launchers, autoload, ports
from habana_frameworks.tensorflow.cli import numbers, program
from habana_frameworks.tensorflow.job import Job, Outcome

_DESCRIPTION = """Starts a Python program several times, each process with a rank and an HPU of its own, and passes its
output on, line by line, with the rank before it. The first process that fails ends the others. Exit code: 0 if all
ended well, that of the first process that failed (128 and the signal's number if a signal ended it), 2: wrong usage."""
_GRACE_SECONDS = 10.0
# Another job's; HLS_MODULE_ID is one process's.
_NOT_INHERITED = (*_launchers.VARIABLES, "HLS_MODULE_ID", "HLS1_MODULE_ID")


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "run", help="run a program on several HPUs", description=_DESCRIPTION
    )
    parser.add_argument(
        "-np", "--processes", type=numbers.whole(1, 1 << 16), default=1, metavar="N", help="processes (default 1)"
    )
    parser.add_argument(
        "--modules",
        metavar="M,…",
        help="modules to use, one for each process (default: HABANA_VISIBLE_MODULES, else any)",
    )
    parser.add_argument(
        "--autoload", action="store_true", help="load the HPU before the program, for one that does not itself"
    )
    parser.add_argument("--no-prefix", action="store_true", help="pass lines on without the rank")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end; output goes to stderr")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a Python module's name")
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the job and says how it ended."""
    problem = _problem(arguments)
    if problem:
        print(f"hpu run: {problem}", file=sys.stderr)
        return 2

    def sink(rank: int, number: int, line: str) -> None:
        stream = sys.stderr if number == 2 or arguments.json else sys.stdout
        print(line if arguments.no_prefix else f"[{rank}] {line}", file=stream, flush=True)

    start = time.monotonic()
    with ports.reserved(arguments.processes) as numbers:
        environments = [_environment(arguments, numbers, rank) for rank in range(arguments.processes)]
        job = Job(_command(arguments), environments, sink, _GRACE_SECONDS)
        outcome = job.run()
    if outcome.failed is not None:
        _report_failure(outcome)
    if arguments.json:
        seconds = time.monotonic() - start
        print(json.dumps({**dataclasses.asdict(outcome), "exit_code": outcome.exit_code, "seconds": seconds}))
    return outcome.exit_code


def _problem(arguments: argparse.Namespace) -> str:
    """Why the job cannot be started; empty if it can."""
    modules = _modules(arguments)
    listed = f"{','.join(modules)} (of --modules or HABANA_VISIBLE_MODULES)"
    if not all(module.isdecimal() for module in modules):
        return f"{listed} is no list of module numbers, like 0,1"
    if modules and len(modules) < arguments.processes:
        return f"{arguments.processes} processes need as many modules, and {listed} names {len(modules)}"
    if len(set(map(int, modules))) < len(modules):
        return f"{listed} names a module twice, and each has room for one process"
    return "" if arguments.module else program.problem(arguments.script)


def _modules(arguments: argparse.Namespace) -> list[str]:
    text = arguments.modules if arguments.modules is not None else os.environ.get("HABANA_VISIBLE_MODULES", "")
    return [module.strip() for module in text.split(",") if module.strip()]


def _environment(arguments: argparse.Namespace, numbers: list[int], rank: int) -> Mapping[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    workers = [f"127.0.0.1:{number}" for number in numbers]
    environment["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
    environment["PYTHONUNBUFFERED"] = "1"
    if arguments.modules is not None:
        environment["HABANA_VISIBLE_MODULES"] = ",".join(_modules(arguments))
    return environment


def _command(arguments: argparse.Namespace) -> list[str]:
    python = [sys.executable, *(["-m", autoload.__name__] if arguments.autoload else [])]
    return [*python, *(["-m"] if arguments.module else []), arguments.script, *arguments.arguments]


def _report_failure(outcome: Outcome) -> None:
    assert outcome.failed is not None
    code = outcome.exit_codes[outcome.failed]
    how = f"was ended by signal {code - 128}" if code > 128 else f"ended with exit code {code}"
    print(f"hpu run: rank {outcome.failed} {how}; its last lines:", file=sys.stderr)
    print(*(f"    {line}" for line in outcome.log), sep="\n", file=sys.stderr)
