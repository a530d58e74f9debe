"""`hpu check`: runs a program by the rules of a card, without a card."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow import errors, habana_device
from habana_frameworks.tensorflow._internal import cards, changing_sizes
from habana_frameworks.tensorflow._internal.card_table import CARDS, Card
from habana_frameworks.tensorflow.cli import outputs, program, program_limits, warmup
from habana_frameworks.tensorflow.cli.checks import Level
from habana_frameworks.tensorflow.cli.checks.gaudi import library as gaudi_library

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.card_check import CheckResult

_COMMAND = "hpu check"
_TARGET_SETTINGS = {"HPU_COMPILE_MODE": "strict", "TF_CPU_RUNTIME_FALLBACK": "forbid"}
BREAKS_RULES = 1
NOTHING_CHECKED = 3
_FAILED_PRECONDITION = 9  # a code of absl


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "check",
        help="check a program by the rules of a card, without a card",
        description="Runs a program with the op list, types, memory size and ranks of a Gaudi card, or compiles it for "
        "an NVIDIA card. Reports on stderr which lines of the program leave the card, do not compile, recompile or "
        "need too much memory. Exit code 0: the program keeps the rules; 1: it breaks one, or raises; 2: wrong usage, "
        "or the card's compiler cannot be used; 3: no graph had an op for the card; if the program exits with another "
        "code, that code.",
    )
    parser.add_argument(
        "--card",
        type=str.lower,
        choices=[*(card.option for card in CARDS), *warmup.TARGETS],
        default=cards.current().option,
        help="the card (default: the card of HPU_DEVICE_TYPE, now %(default)s). NVIDIA cards need the CUDA plugin for "
        "PJRT; the program's results are then zeros",
    )
    parser.add_argument(
        "--synapse",
        metavar="LIBRARY",
        help="also compile the clusters with this libSynapse.so, and run the program on its card",
    )
    parser.add_argument("--strict", action="store_true", help="count ops of unknown support as failures")
    program_limits.add_steps(parser)
    program_limits.add_idle(parser)
    outputs.add_json(parser, "the result")
    parser.add_argument("--html", metavar="FILE", help="write an HTML page")
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the program and reports the rules that it breaks, even if the program fails."""
    problem = outputs.problem(arguments.json, arguments.html)
    card = cards.find(arguments.card)
    if not problem and arguments.synapse is not None:
        not_gaudi = f"--synapse: {arguments.card} is not a Gaudi card; omit --synapse"
        problem = _library_problem(arguments.synapse) if card else not_gaudi
    if not program.accepts(_COMMAND, arguments, problem):
        return 2
    from habana_frameworks.tensorflow import card_check
    from habana_frameworks.tensorflow.card_check import compiler

    os.environ.update(card_check.settings(card) if card else warmup.target_settings(arguments.card))
    os.environ.update({} if card else {**_TARGET_SETTINGS, **changing_sizes.settings()})
    if arguments.synapse is not None:
        os.environ.update(compiler.synapse_settings(arguments.synapse))
    if not program.load(_COMMAND):
        return 2
    try:
        card = card or compiler.target_card(arguments.card)
        if arguments.synapse is not None:
            _acquire(card)
    except errors.DeviceError as error:
        print(f"{_COMMAND}: {error}", file=sys.stderr)
        return 2
    checker = card_check.CardChecker(card)
    raised: list[BaseException] = []
    watch = program_limits.Watch(_COMMAND, arguments.steps, arguments.idle)
    checker.start()
    with program.stdout_to_stderr() if arguments.json == "-" else contextlib.nullcontext(), watch.stopping():
        code = program.run(_COMMAND, arguments, on_error=raised.append)
    if watch.reason:
        print(f"{_COMMAND}: stopped the program: {watch.reason}", file=sys.stderr)
    result = checker.stop(raised[0] if raised else None)
    written = _write(result, arguments)
    watch.exit_code = _exit_code(result, arguments.strict, code) if written else code or 1
    return watch.exit_code


def _library_problem(library: str) -> str:
    """Returns why SynapseAI's library cannot be used; empty if it can be loaded."""
    findings = (finding for finding in gaudi_library.check(library) if finding.level is Level.ERROR)
    return next((f"--synapse: {finding.text}: {finding.remedy}" for finding in findings), "")


def _acquire(card: Card) -> None:
    """Acquires the library's card. Raises DeviceError if there is none, or one of another generation."""
    try:
        found = habana_device.get_type()
    except errors.DeviceError as error:
        message = (
            f"--synapse: the library provides no card, so the program cannot run on it: {error}\n"
            "(`hpu synapse-check --programs FOLDER` compiles HLO programs without a card)"
        )
        raise errors.DeviceError(error.code, message) from error
    if found != card.type:
        raise errors.DeviceError(
            _FAILED_PRECONDITION,
            f"--synapse: the library compiles for {found}, not for {card.type}: pass --card {found.lower()}",
        )


def _exit_code(result: CheckResult, strict: bool, code: int) -> int:
    from habana_frameworks.tensorflow.card_check import Verdict

    verdict = result.verdict(strict)
    if verdict is Verdict.FAILS:
        return BREAKS_RULES
    return code or (NOTHING_CHECKED if verdict is Verdict.NOTHING_CHECKED else 0)


def _write(result: CheckResult, arguments: argparse.Namespace) -> bool:
    """Writes the requested outputs. Returns False if a file could not be written."""
    print(f"\n{result.summary(arguments.strict)}", end="", file=sys.stderr)
    return outputs.write(
        _COMMAND,
        arguments.json,
        lambda: result.to_json(arguments.strict),
        arguments.html,
        lambda file: result.to_html(file, arguments.strict),
    )
