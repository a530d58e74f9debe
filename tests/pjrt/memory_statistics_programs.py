"""Programs for test_memory_statistics.py."""

from __future__ import annotations

import dataclasses
import json
import os

from habana_frameworks.tensorflow import habana_device, load_habana_module, modules
from tests.pjrt.forwarding_plugin import MIB, ForwardingPlugin


def report_memory() -> None:
    """Prints memory_info(), and the memory in the lock file of the module, as JSON."""
    ForwardingPlugin.of_backend().set_memory(3 * MIB, 5 * MIB, 4096 * MIB, MIB, 64 * MIB, 17)
    load_habana_module()
    unacquired = habana_device.memory_info()
    habana_device.acquire()
    (holder,) = modules.holders()
    assert holder.pid == os.getpid() and holder.memory
    print(
        json.dumps(
            {
                "unacquired": dataclasses.asdict(unacquired),
                "acquired": dataclasses.asdict(habana_device.memory_info()),
                "holder": dataclasses.asdict(holder.memory),
                "lock": (modules.lock_directory() / "module-0").read_text(),
            }
        )
    )


def report_nothing() -> None:
    """Prints memory_info() of a plugin without statistics, as JSON."""
    load_habana_module()
    habana_device.acquire()
    print(json.dumps(dataclasses.asdict(habana_device.memory_info())))
