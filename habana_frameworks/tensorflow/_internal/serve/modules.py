"""Modules of a device server and their holders."""

from __future__ import annotations

import asyncio
import dataclasses
import re

from habana_frameworks.tensorflow._internal.messages import device_pb2
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.text import numbers_below

# A client that has just died still holds its module for a moment.
_GRACE_SECONDS = 1.0
_MAX_VISIBLE = 64
_MAX_FAULTS = 64
_MAX_COMMAND_BYTES = 200


@dataclasses.dataclass(frozen=True)
class Holder:
    """The process that holds a module, as reported by the client."""

    pid: int
    command: bytes

    @staticmethod
    def of(holder: device_pb2.Holder) -> Holder:
        """Converts the message. Replaces control characters of the command by spaces, for display to other clients."""
        return Holder(holder.pid, re.sub(rb"[\x00-\x1f\x7f]", b" ", holder.command))


def check_bounds(request: device_pb2.Acquire) -> None:
    """Raises StatusError if the request exceeds a limit."""
    if (
        len(request.visible) > _MAX_VISIBLE
        or len(request.faults) > _MAX_FAULTS
        or len(request.holder.command) > _MAX_COMMAND_BYTES
    ):
        raise StatusError(
            Code.INVALID_ARGUMENT,
            f"the request has {len(request.visible)} visible modules, {len(request.faults)} faults and "
            f"{len(request.holder.command)} bytes of command line; the limits are {_MAX_VISIBLE}, {_MAX_FAULTS} and "
            f"{_MAX_COMMAND_BYTES}",
        )


class ModuleTable:
    """Table of modules. Each module is free or held by one session. Belongs to one event loop."""

    def __init__(self, count: int, shows_commands: bool) -> None:
        """shows_commands: messages contain the holders' command lines, not only their process ids."""
        self._holders: list[Holder | None] = [None] * count
        self._shows_commands = shows_commands
        self._waiters: set[asyncio.Future[None]] = set()

    def __len__(self) -> int:
        return len(self._holders)

    async def claim(self, request: device_pb2.Acquire) -> int:
        """Claims the first free module that the request admits and returns its id.

        If all are held, waits for up to _GRACE_SECONDS. Then raises StatusError, whose message names the holders.
        """
        candidates = self._candidates(request)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _GRACE_SECONDS
        while True:
            for module_id in candidates:
                if self._holders[module_id] is None:
                    self._holders[module_id] = Holder.of(request.holder)
                    return module_id
            if loop.time() >= deadline:
                raise self._all_held(candidates)
            await self._wait(deadline - loop.time())

    def release(self, module_id: int) -> None:
        self._holders[module_id] = None
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _wait(self, seconds: float) -> None:
        """Waits until a module is released, for at most `seconds`."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=seconds)
        finally:
            self._waiters.discard(waiter)

    def _candidates(self, request: device_pb2.Acquire) -> list[int]:
        """Returns the modules that the request admits. Raises StatusError for modules that do not exist."""
        count = len(self._holders)
        candidates = list(request.visible) or list(range(count))
        if request.has_module_id:
            if request.module_id not in candidates and 0 <= request.module_id < count:
                listed = ",".join(map(str, candidates))
                raise StatusError(
                    Code.INVALID_ARGUMENT,
                    f"HLS_MODULE_ID={request.module_id} is not among HABANA_VISIBLE_MODULES={listed}: correct or unset "
                    "one of them",
                )
            candidates = [request.module_id]
        for module_id in candidates:
            if not 0 <= module_id < count:
                setting = "HLS_MODULE_ID" if request.has_module_id else "HABANA_VISIBLE_MODULES"
                raise StatusError(
                    Code.INVALID_ARGUMENT,
                    f"{setting}: module {module_id} does not exist; existing modules: {numbers_below(count)} "
                    f"(HPU_MODULES={count}); correct or unset {setting}",
                )
        return candidates

    def _all_held(self, candidates: list[int]) -> StatusError:
        held = "; ".join(f"module {module_id}: {self._describe(module_id)}" for module_id in candidates)
        return StatusError(
            Code.UNAVAILABLE,
            f"no HPU module is free. Held by {held}. End one of these processes, allow other modules (HLS_MODULE_ID, "
            "HABANA_VISIBLE_MODULES), or start the server with more modules (hpu serve --modules, which sets "
            "HPU_MODULES)",
        )

    def _describe(self, module_id: int) -> str:
        holder = self._holders[module_id]
        assert holder is not None, module_id
        if not self._shows_commands:
            return f"pid {holder.pid}"
        return f"pid {holder.pid} ({holder.command.decode(errors='replace')})"
