"""Choice of the HPU module for a process of a job."""

from __future__ import annotations

import os


def get_hw_module_id(rank: int, hls_type: str = "HLS1") -> int:
    """Returns the module for local rank `rank`: its entry in HABANA_VISIBLE_MODULES, else the rank itself.

    `hls_type` is accepted for compatibility and ignored, because every box numbers its modules from 0.
    """
    visible = visible_modules()
    if not visible:
        return rank
    if rank >= len(visible):
        raise AssertionError(
            f"HABANA_VISIBLE_MODULES={','.join(visible)} names too few modules for local rank {rank}: "
            "name one module for each process on this machine"
        )
    return int(visible[rank])


def visible_modules() -> list[str]:
    """Entries of HABANA_VISIBLE_MODULES; empty if it is not set, or if it is "all"."""
    return module_entries(os.environ.get("HABANA_VISIBLE_MODULES", ""))


def module_entries(text: str) -> list[str]:
    """Splits a list of modules. Omits "all", which selects no module, as in the plugin."""
    entries = (entry.strip() for entry in text.split(","))
    return [entry for entry in entries if entry and entry != "all"]
