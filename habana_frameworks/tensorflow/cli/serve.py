"""`hpu serve`: runs a device server, whose modules other processes use through HPU_BACKEND (docs/user/remote.md)."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import sys
import threading
from typing import Any

from habana_frameworks.tensorflow import device_channel
from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow._internal.serve import fault_schedule
from habana_frameworks.tensorflow.cli import numbers, serve_options

_DESCRIPTION = """Serves emulated modules to other processes until SIGINT or SIGTERM. To use them, set HPU_BACKEND to
the value that this command prints. Exit code 0: ended by a signal; 1: could not start."""
# Defaults of the log variables: refused clients are logged to stderr, with the reason.
_LOG = {"TF_CPP_MIN_LOG_LEVEL": "1", "LOG_LEVEL_BACKEND": "3", "ENABLE_CONSOLE": "true"}


def default_address() -> str:
    """Default Unix socket: in XDG_RUNTIME_DIR if set, else in /tmp."""
    return f"unix:{os.environ.get('XDG_RUNTIME_DIR', '/tmp')}/hpu-server-{os.getuid()}"


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "serve", help="serve emulated modules to other processes", description=_DESCRIPTION
    )
    parser.add_argument(
        "--modules", type=numbers.integer(1, 64), default=8, help="number of modules, 1 to 64 (default %(default)s)"
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        type=_address,
        default=default_address(),
        help="unix:/path or host:port. At host:port, clients need a token or a certificate, and addresses other than "
        "loopback require TLS (port 0: any free port; default %(default)s)",
    )
    parser.add_argument(
        "--backend",
        default="emulator",
        choices=("emulator", "null"),
        help="backend of the modules (default %(default)s)",
    )
    serve_options.add_arguments(parser)
    parser.add_argument("--allow-faults", action="store_true", help="allow clients to set HPU_FAULTS, for tests")
    parser.add_argument(
        "--faults",
        metavar="FILE",
        type=_faults,
        default=(),
        help="JSON file with errors and delays to inject into sessions, for tests (docs/user/remote.md)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Starts the server, prints its address and waits for a signal."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    os.environ["HPU_MODULES"] = str(arguments.modules)
    os.environ["HPU_BACKEND"] = arguments.backend
    for name, value in _LOG.items():
        os.environ.setdefault(name, value)
    return _serve(arguments, stopped)


def _serve(arguments: argparse.Namespace, stopped: threading.Event) -> int:
    # Imported only after run() has set the environment.
    from habana_frameworks.tensorflow import device_server, errors
    from habana_frameworks.tensorflow._internal import settings_check
    from habana_frameworks.tensorflow._internal.serve import log

    log.install()
    try:
        settings_check.report_unknown_settings()
        token = serve_options.token(arguments)
        spec = device_server.start(
            arguments.listen,
            arguments.backend,
            arguments.allow_faults,
            faults=arguments.faults,
            recipe_key=serve_options.recipe_key(arguments),
            token=token.text,
            tls=serve_options.tls(arguments),
            limits=serve_options.limits(arguments),
            compilation=serve_options.compilation(arguments),
            launch_timeout_seconds=arguments.launch_timeout,
        )
    except (errors.HabanaModuleError, errors.DeviceError, ValueError) as error:
        print(f"hpu serve: {error}", file=sys.stderr)
        return 1
    try:
        _report(arguments, spec, token.made_file)
        while not stopped.wait(1):
            pass
    finally:
        device_server.stop()
    return 0


def _report(arguments: argparse.Namespace, spec: str, token_file: pathlib.Path | None) -> None:
    """Prints how clients reach the server."""
    if arguments.json:
        report: dict[str, Any] = {"backend": spec, "modules": arguments.modules, "pid": os.getpid()}
        if token_file is not None:
            report["token_file"] = str(token_file)
        print(json.dumps(report), flush=True)
        return
    print(f"Serving {text.number(arguments.modules, 'module')}: HPU_BACKEND={spec}", flush=True)
    if token_file is not None:
        print(f"Clients need the server's token: HPU_SERVER_TOKEN_FILE={token_file}", flush=True)


def _faults(path: str) -> list[str]:
    try:
        return fault_schedule.read(path)
    except (fault_schedule.FaultScheduleError, OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _address(word: str) -> str:
    try:
        device_channel.check_address(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return word
