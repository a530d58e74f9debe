"""Settings of a device server."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

MAX_MODULES = 64


@dataclasses.dataclass(frozen=True)
class Tls:
    """Certificates of a server; PEM texts."""

    certificate: bytes
    """Followed by the certificates between it and its root."""
    private_key: bytes
    client_ca: bytes = b""
    """Vouches for the certificates that clients must have; empty: clients need none."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one session may use at a time; 0: the default."""

    memory_bytes: int = 0
    """Device memory. A client that asks for more gets this much; by default each gets what it asks for."""
    recipes: int = 0
    recipe_bytes: int = 0
    in_flight_bytes: int = 0
    """Programs and recipes in transit, and data that is copied through host memory."""


@dataclasses.dataclass(frozen=True)
class Compilation:
    """How a session compiles its client's programs: in worker processes, which a crash of the compiler ends."""

    workers: int = 0
    """Maximum number at a time; 0: as many as CPUs, from 2 to 8."""
    timeout_seconds: int = 0
    """A worker that takes longer is ended; 0: 1800."""


@dataclasses.dataclass(frozen=True)
class ServerSettings:
    """Everything that a front process needs to know."""

    address: str
    """ "unix:/path" or "host:port"; port 0: any free one."""
    modules: int
    backend: str = "emulator"
    device_type: str = "GAUDI2"
    default_memory_bytes: int = 32768 << 20
    """Device memory of a session that asks for no size."""
    allow_faults: bool = False
    faults: Sequence[str] = ()
    recipe_key: bytes = b""
    """Signs recipes; empty: a random key."""
    token: str = ""
    """Clients must show it; empty: clients need none."""
    tls: Tls = Tls(b"", b"")
    limits: Limits = Limits()
    compilation: Compilation = Compilation()
    launch_timeout_seconds: int = 0
    """A launch that runs longer ends its session; 0: no limit."""
    share_memory: bool = False
    """Sessions share memory with clients, over a Unix socket beside the server's."""

    @property
    def path(self) -> str:
        """Path of the server's Unix socket; empty for a port."""
        return self.address.partition(":")[2] if self.address.startswith("unix:") else ""
