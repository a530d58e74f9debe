"""`hpu check`: runs a program by the rules of a Gaudi card, without a card."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow._internal import cards
from habana_frameworks.tensorflow._internal.card_table import CARDS
from habana_frameworks.tensorflow.cli import outputs, program, program_limits

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.card_check import CheckResult

_COMMAND = "hpu check"
BREAKS_RULES = 1
NOTHING_CHECKED = 3


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "check",
        help="check a program by the rules of a Gaudi card, without a card",
        description="Runs a program with the op list, types, memory size and ranks of a card. Reports on stderr which "
        "lines of the program leave the card, recompile or need too much memory. Exit code 0: the program keeps the "
        "rules; 1: it breaks one, or raises; 2: wrong usage; 3: no graph had an op for the card; if the program exits "
        "with another code, that code.",
    )
    parser.add_argument(
        "--card",
        choices=[card.option for card in CARDS],
        default=cards.current().option,
        help="the card (default: the card of HPU_DEVICE_TYPE, now %(default)s)",
    )
    parser.add_argument("--strict", action="store_true", help="ops of unknown support break the rules, too")
    program_limits.add_steps(parser)
    program_limits.add_idle(parser)
    outputs.add_json(parser, "the result")
    parser.add_argument("--html", metavar="FILE", help="write an HTML page")
    program.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the program and reports the rules that it breaks, even if the program fails."""
    problem = program.problem(arguments.script) or outputs.problem(arguments.json, arguments.html, "--html")
    if problem:
        print(f"{_COMMAND}: {problem}", file=sys.stderr)
        return 2
    from habana_frameworks.tensorflow import card_check

    card = cards.find(arguments.card)
    assert card is not None  # argparse accepts no other
    os.environ.update(card_check.settings(card))
    if not program.load(_COMMAND):
        return 2
    checker = card_check.CardChecker(card)
    errors: list[BaseException] = []
    watch = program_limits.Watch(_COMMAND, arguments.steps, arguments.idle)
    checker.start()
    with program.stdout_to_stderr() if arguments.json == "-" else contextlib.nullcontext(), watch.stopping():
        code = program.run(arguments.script, arguments.arguments, _COMMAND, on_error=errors.append)
    result = checker.stop(errors[0] if errors else None)
    written = _write(result, arguments)
    watch.exit_code = _exit_code(result, arguments.strict, code) if written else code or 1
    return watch.exit_code


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
