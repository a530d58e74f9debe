"""`hpu smi`: shows modules, their holders, memory and utilisation. Supports the queries of hl-smi."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from habana_frameworks.tensorflow import monitor
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.cli import numbers
from habana_frameworks.tensorflow.cli.smi import fields, live, views
from habana_frameworks.tensorflow.cli.smi.sample import Sample

# Interval between the two readings from which the first utilisation is computed.
_SAMPLE_SECONDS = 0.25
_INTERRUPTED = 130

_DESCRIPTION = """Shows the modules of HPU_BACKEND: the modules of a device server, the emulated modules in this
user's processes, Gaudi cards (gaudi), or NVIDIA cards (pjrt:cuda). Does not load the HPU or acquire a module. Exit code
0: success; 1: the modules cannot be read (the server or the driver does not answer, or the backend has no modules); 2:
wrong usage; 130: --loop was interrupted."""


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "smi", help="show modules, processes, memory, utilisation", description=_DESCRIPTION
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-L", "--list-aips", action="store_true", help="print one line per module")
    what.add_argument("-q", "--query", action="store_true", help="print all details of each module")
    what.add_argument(
        "-Q",
        "--query-aip",
        metavar="FIELDS",
        type=fields.parse,
        help="print these fields as CSV; a comma-separated list of hl-smi's names (docs/user/smi.md)",
    )
    what.add_argument("-v", "--version", action="version", version=f"hpu-tensorflow {__version__}")
    what.add_argument("--json", action="store_true", help="print one JSON object; with --loop, one per line")
    parser.add_argument(
        "-f",
        "--format",
        metavar="csv[,noheader][,nounits]",
        type=fields.parse_format,
        default=fields.Format(),
        help="format of -Q; noheader omits the field names, nounits the units",
    )
    parser.add_argument("-i", "--device", metavar="MODULE", help="show only this module, by number or bus_id")
    parser.add_argument(
        "-l",
        "--loop",
        metavar="SECONDS",
        type=numbers.positive,
        nargs="?",
        const=5.0,
        help="repeat at this interval until interrupted (default: 5); on a terminal the table is redrawn in place",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the modules once, or with --loop until interrupted."""
    show = _view(arguments)
    try:
        for number, sample in enumerate(_samples(arguments.loop)):
            chosen = sample.only(arguments.device) if arguments.device else sample
            if not chosen.modules:
                known = ", ".join(str(module.id) for module in sample.modules)
                print(f"hpu smi: no module {arguments.device}; modules: {known}", file=sys.stderr)
                return 2
            show(chosen, number == 0)
            sys.stdout.flush()
    except (monitor.UnavailableError, ValueError) as error:
        print(f"hpu smi: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _view(arguments: argparse.Namespace) -> Callable[[Sample, bool], None]:
    if arguments.query_aip:
        return lambda sample, first: fields.print_csv(sample, arguments.query_aip, arguments.format, first)
    if arguments.json:
        return lambda sample, _: views.print_json(sample, one_line=arguments.loop is not None)
    if arguments.list_aips:
        return lambda sample, _: views.print_list(sample)
    if arguments.query:
        return lambda sample, _: views.print_details(sample)
    if arguments.loop is not None and live.can_redraw():
        table = live.LiveTable()
        return lambda sample, _: table.draw(sample)
    return lambda sample, _: views.print_table(sample)


def _samples(interval: float | None) -> Iterator[Sample]:
    before = monitor.read()
    # Only held modules need a second reading; cards measure their utilisation themselves.
    if any(module.holder and not module.card for module in before.modules):
        time.sleep(_SAMPLE_SECONDS)
    while True:
        after = monitor.read()
        yield Sample(after, monitor.utilization(before, after))
        if interval is None:
            return
        before = after
        time.sleep(interval)
