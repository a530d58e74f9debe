"""Self-signed certificates for tests."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess


@dataclasses.dataclass(frozen=True)
class Certificate:
    certificate: pathlib.Path
    key: pathlib.Path


def make(directory: pathlib.Path, name: str) -> Certificate:
    """Creates a certificate for 127.0.0.1, for servers and clients."""
    made = Certificate(directory / f"{name}.pem", directory / f"{name}.key")
    subprocess.run(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={name} "
        f"-addext subjectAltName=IP:127.0.0.1 -out {made.certificate} -keyout {made.key}".split(),
        check=True,
        capture_output=True,
    )
    return made
