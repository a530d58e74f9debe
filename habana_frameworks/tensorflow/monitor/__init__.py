"""Device monitoring: modules, their holders, memory, utilisation. Neither acquires a device nor loads the plugin.

before = monitor.read()
time.sleep(1)
print(monitor.utilization(before, monitor.read()))
"""

from __future__ import annotations

import time
from collections.abc import Callable

from habana_frameworks.tensorflow import device_channel, flags
from habana_frameworks.tensorflow._internal import backend_names, gaudi_cards, pjrt_plugins
from habana_frameworks.tensorflow.modules import LibraryMemory
from habana_frameworks.tensorflow.monitor import emulator, gaudi, nvidia, server
from habana_frameworks.tensorflow.monitor.state import (
    Card,
    CardProcess,
    ManagementLibraryError,
    Module,
    Process,
    ServerState,
    State,
    UnauthenticatedError,
    UnavailableError,
    utilization,
)

__all__ = [
    "Card",
    "CardProcess",
    "LibraryMemory",
    "ManagementLibraryError",
    "Module",
    "Process",
    "ServerState",
    "State",
    "UnauthenticatedError",
    "UnavailableError",
    "is_server",
    "read",
    "utilization",
]

is_server = device_channel.is_address


def read(backend: str = "") -> State:
    """Returns the modules of `backend`; an empty `backend` means HPU_BACKEND.

    Raises UnavailableError if a device server or the cards cannot be read, ValueError for a backend without observable
    modules.
    """
    backend = backend or flags.backend()
    if device_channel.is_address(backend):
        return server.read(backend)
    if gaudi_cards.is_selected(backend):
        return _read_cards(backend, gaudi.read_cards)
    name = pjrt_plugins.selected(backend)
    if name is not None and pjrt_plugins.drives_nvidia_cards(name):
        return _read_cards(backend, nvidia.read_cards)
    if backend in ("auto", "emulator"):
        return emulator.read()
    raise ValueError(
        backend_names.problem(backend)
        or f"HPU_BACKEND={backend} has no observable modules: use the emulator, a device server, gaudi, or pjrt:cuda"
    )


def _read_cards(backend: str, read_modules: Callable[[], tuple[Module, ...]]) -> State:
    """Returns all cards of this machine as modules. Raises UnavailableError."""
    try:
        return State(backend, time.monotonic(), read_modules())
    except ManagementLibraryError as error:
        raise UnavailableError(f"HPU_BACKEND={backend}: cannot read the cards: {error}; {error.remedy}") from None
