"""Options of `hpu serve`: access control, limits per client, compilation."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys

from habana_frameworks.tensorflow._internal import cards, secret_files
from habana_frameworks.tensorflow._internal.serve.settings import Compilation, Limits, Tls
from habana_frameworks.tensorflow.cli import numbers

_MIN_TOKEN_BYTES = 16
_MIB = numbers.integer(1, numbers.MAX_MB)
_COUNT = numbers.integer(1, 1 << 31)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    access = parser.add_argument_group("access control")
    access.add_argument(
        "--key",
        metavar="FILE",
        help="secret key that signs recipes (32 bytes or more, mode 0600); servers with the same key accept each "
        "other's recipes (default: a key per user, generated at the first start)",
    )
    access.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"token that clients must send ({_MIN_TOKEN_BYTES} characters or more, mode 0600); clients set it in "
        "HPU_SERVER_TOKEN or HPU_SERVER_TOKEN_FILE (default at a port without --tls-client-ca: a token per user, "
        "generated at the first start)",
    )
    access.add_argument("--tls-cert", metavar="FILE", help="the server's certificate (PEM); clients use grpcs://")
    access.add_argument("--tls-key", metavar="FILE", help="the certificate's private key (PEM)")
    access.add_argument(
        "--tls-client-ca",
        metavar="FILE",
        help="CA certificates (PEM) for client certificates, which are then required (HPU_SERVER_CERT)",
    )
    limits = parser.add_argument_group("limits per client")
    limits.add_argument(
        "--max-memory-mb", type=_MIB, metavar="MIB", help="device memory (default: HPU_MEMORY_MB of the server)"
    )
    limits.add_argument("--max-recipes", type=_COUNT, metavar="COUNT", help="number of recipes (default 16384)")
    limits.add_argument("--max-recipe-mb", type=_MIB, metavar="MIB", help="total size of recipes (default 8192)")
    limits.add_argument(
        "--max-in-flight-mb",
        type=_MIB,
        metavar="MIB",
        help="programs, recipes and copied data in flight (default 2048)",
    )
    limits.add_argument(
        "--launch-timeout",
        type=numbers.integer(0, 1 << 31),
        metavar="SECONDS",
        help="end the session if a launch runs longer; 0: no limit (default 3600 at a port, else 0)",
    )

    compilation = parser.add_argument_group("compilation, in separate processes")
    compilation.add_argument(
        "--compile-workers",
        type=numbers.integer(1, 1024),
        metavar="COUNT",
        help="maximum number of compiler processes (default: number of CPUs, from 2 to 8)",
    )
    compilation.add_argument(
        "--compile-timeout", type=_COUNT, metavar="SECONDS", help="time limit per program (default 1800)"
    )


def recipe_key(arguments: argparse.Namespace) -> bytes:
    """Returns the key of --key, or the user's own key. Raises ValueError if the file of --key cannot be used.

    Returns an empty key, after a warning, if the user's own key cannot be stored or read.
    """
    if arguments.key is not None:
        return secret_files.read(arguments.key)
    try:
        return secret_files.of_user("serve.key")
    except secret_files.KeyFileError as error:
        print(f"hpu serve: {error}", file=sys.stderr)
        print(
            "hpu serve: a temporary key signs recipes, so later servers refuse clients' cached recipes; pass --key",
            file=sys.stderr,
        )
        return b""


@dataclasses.dataclass(frozen=True)
class Token:
    """Token that clients must send."""

    text: str = ""
    """Empty: clients need no token."""
    made_file: pathlib.Path | None = None
    """The user's own token file, if `text` comes from it."""


def token(arguments: argparse.Namespace) -> Token:
    """Returns the token of --token-file. By default, a server at a port uses the user's own token.

    With --tls-client-ca or at a Unix socket, the default is no token. Raises ValueError for an unusable token file.
    """
    path = arguments.token_file
    if path is None:
        if arguments.listen.startswith("unix:") or arguments.tls_client_ca is not None:
            return Token()
        made_file, text = secret_files.token_of_user("serve.token")
        return Token(_checked(text, made_file), made_file)
    text = secret_files.read(path, "token", _MIN_TOKEN_BYTES).decode(errors="replace").strip()
    return Token(_checked(text, path))


def _checked(text: str, path: str | pathlib.Path) -> str:
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError(
            f"the token file {path} contains spaces or characters that are not printable ASCII; create a token: "
            "(umask 077; head -c 32 /dev/urandom | base64 > FILE)"
        )
    return text


def tls(arguments: argparse.Namespace) -> Tls:
    """Reads the certificate files. Raises ValueError if a file cannot be read."""
    return Tls(_contents(arguments.tls_cert), _contents(arguments.tls_key), _contents(arguments.tls_client_ca))


def limits(arguments: argparse.Namespace) -> Limits:
    return Limits(
        memory_bytes=(arguments.max_memory_mb or cards.memory_mb()) << 20,
        recipes=arguments.max_recipes or 0,
        recipe_bytes=(arguments.max_recipe_mb or 0) << 20,
        in_flight_bytes=(arguments.max_in_flight_mb or 0) << 20,
    )


def compilation(arguments: argparse.Namespace) -> Compilation:
    return Compilation(arguments.compile_workers or 0, arguments.compile_timeout or 0)


def _contents(path: str | None) -> bytes:
    if path is None:
        return b""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; correct the path or its permissions") from error
