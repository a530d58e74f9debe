"""Settings of a device server."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

MAX_MODULES = 64


@dataclasses.dataclass(frozen=True)
class Tls:
    """Certificates of a server, in PEM format."""

    certificate: bytes
    """The server's certificate, followed by its intermediate certificates."""
    private_key: bytes
    client_ca: bytes = b""
    """CA certificates that verify client certificates; empty: clients need no certificate."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of one session; 0: the default."""

    memory_bytes: int = 0
    """Device memory. Larger requests are reduced to this size; by default requests are not limited."""
    recipes: int = 0
    recipe_bytes: int = 0
    in_flight_bytes: int = 0
    """Programs and recipes in transit, and data of copies in host memory."""


@dataclasses.dataclass(frozen=True)
class Compilation:
    """Worker processes in which a session compiles its client's programs. A compiler crash ends only the worker."""

    workers: int = 0
    """Maximum number of concurrent workers; 0: number of CPUs, but at least 2 and at most 8."""
    timeout_seconds: int = 0
    """Time limit for one program, after which the worker is killed; 0: 1800."""


@dataclasses.dataclass(frozen=True)
class ServerSettings:
    """All settings of a front process."""

    address: str
    """ "unix:/path" or "host:port"; port 0: any free port."""
    modules: int
    backend: str = "emulator"
    device_type: str = "GAUDI2"
    default_memory_bytes: int = 32768 << 20
    """Device memory of a session that requests no particular size."""
    allow_faults: bool = False
    faults: Sequence[str] = ()
    recipe_key: bytes = b""
    """Key that signs recipes; empty: a random key."""
    token: str = ""
    """Token that clients must send; empty: clients need no token."""
    tls: Tls = Tls(b"", b"")
    limits: Limits = Limits()
    compilation: Compilation = Compilation()
    launch_timeout_seconds: int = 0
    """A launch that runs longer ends its session; 0: no limit."""
    share_memory: bool = False
    """Sessions share memory with clients, through a second Unix socket next to the server's."""

    @property
    def path(self) -> str:
        """Path of the server's Unix socket; empty if the server listens on a port."""
        return self.address.partition(":")[2] if self.address.startswith("unix:") else ""
