"""Modules of HPU_BACKEND for `hpu run`: reads them through `hpu smi`, and checks them before a job starts."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Mapping

from habana_frameworks.tensorflow import flags, monitor
from habana_frameworks.tensorflow._internal import backend_names, gaudi_cards, pjrt_plugins
from habana_frameworks.tensorflow._internal.launch.job import Interruption
from habana_frameworks.tensorflow._internal.launch.job_supervisor import Modules, Placement
from habana_frameworks.tensorflow._internal.text import number

# Long enough to start Python on a busy machine; `hpu smi` itself gives up on silent servers earlier.
_READ_SECONDS = 60.0
_POLL_SECONDS = 0.1
# Modules of processes that have just ended may still be held for a moment.
_HELD_SECONDS = 3.0


@dataclasses.dataclass(frozen=True)
class Reading:
    """Result of one `hpu smi`. `holders` maps each module to its process; "" if it is free."""

    holders: Mapping[int, str]
    error: str = ""
    """Reason why the modules are unknown; empty if they are known."""

    @property
    def modules(self) -> Modules | None:
        """Free and held modules; None if they are unknown."""
        if self.error:
            return None
        free = frozenset(module for module, holder in self.holders.items() if not holder)
        return Modules(free, frozenset(self.holders) - free)


def read(interruption: Interruption) -> Reading:
    """Runs `hpu smi` to read the modules. This process forks for each rank, so it must not start gRPC's threads."""
    command = [sys.executable, "-m", "habana_frameworks.tensorflow", "smi", "--json"]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        end = time.monotonic() + _READ_SECONDS
        while True:
            try:
                output, errors = process.communicate(timeout=_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if interruption.signal is not None or time.monotonic() > end:
                    process.kill()
    if process.returncode != 0:
        lines = errors.strip().splitlines() or [f"`hpu smi` did not end within {_READ_SECONDS:g} s"]
        return Reading({}, lines[-1].removeprefix("hpu smi: "))
    return parse(output)


def parse(output: str) -> Reading:
    """Parses the output of `hpu smi --json`. Leaves out lost cards, because they cannot be acquired."""
    modules = [module for module in json.loads(output)["modules"] if not module.get("is_lost")]
    return Reading({module["id"]: _holder(module["holder"]) for module in modules})


def _holder(process: Mapping[str, object] | None) -> str:
    return f"process {process['pid']} ({process['command']})" if process else ""


def shortage(placement: Placement, min_ranks: int, interruption: Interruption) -> str:
    """Returns the reason why the job lacks modules or a backend; empty if it can start, or if modules are unobservable.

    min_ranks: number of ranks that must find a free module. Waits a few seconds for held modules.
    """
    backend = flags.backend()
    if problem := backend_names.problem(backend):
        return problem
    is_card = gaudi_cards.is_selected(backend) or pjrt_plugins.selected(backend) is not None
    is_emulator = backend in ("auto", "emulator") and not is_card
    if not monitor.is_server(backend) and not is_emulator:
        return ""
    end = time.monotonic() + _HELD_SECONDS
    while True:
        reading = read(interruption)
        problem = reading.error or _problem(placement, min_ranks, reading.holders, backend)
        may_change = any(reading.holders.values()) and interruption.signal is None and time.monotonic() < end
        if not problem or not may_change:
            return problem
        time.sleep(_POLL_SECONDS)


def _problem(placement: Placement, min_ranks: int, holders: Mapping[int, str], backend: str) -> str:
    """Returns the reason why the modules do not suffice for the placement; empty if they do."""
    candidates = placement.modules[: placement.ranks] or tuple(holders)
    if sum(holders.get(module) == "" for module in candidates) >= min_ranks:
        return ""
    has = f"HPU_BACKEND={backend} has {number(len(holders), 'module')}"
    wanted = placement.modules[: placement.ranks]
    missing = [str(module) for module in wanted if module not in holders]
    if missing:
        return f"no module {', '.join(missing)}: {has}, numbered from 0; correct --modules or HABANA_VISIBLE_MODULES"
    held = [f"module {module} by {holder}" for module, holder in holders.items() if holder]
    if wanted:
        held = [f"module {module} by {holders[module]}" for module in wanted if holders[module]]
        return f"modules are held: {'; '.join(held)}; end the process, or name other modules"
    reason = f", and {len(held)} of them {'is' if len(held) == 1 else 'are'} held: {'; '.join(held)}" if held else ""
    more = "start the server with more (hpu serve --modules)" if monitor.is_server(backend) else "raise HPU_MODULES"
    needs = f"{number(min_ranks, 'process needs', 'processes need')} {number(min_ranks, 'module')}"
    return f"{needs}, but {has}{reason}; lower -np, or {more}"
