"""Compilers that compile a program's clusters for a card during a check."""

from __future__ import annotations

import pathlib

from habana_frameworks.tensorflow import explanation, flags, habana_device, statistics
from habana_frameworks.tensorflow._internal.card_table import Card
from habana_frameworks.tensorflow.card_check.model import Compiler

_REFUSALS = (explanation.Rule.COMPILE_ERROR, explanation.Rule.FALLBACK)


def synapse_settings(library: str) -> dict[str, str]:
    """Returns the environment variables that select SynapseAI's library as device and compiler."""
    path = pathlib.Path(library)
    return {"HPU_BACKEND": f"gaudi:{path.resolve() if path.exists() else library}"}


def target_card(target: str) -> Card:
    """Returns the NVIDIA card that the acquired device stands for. Acquires the device."""
    habana_device.acquire()
    info = habana_device.info()
    return Card(
        type=target.upper(),
        product=str(info["description"]),
        memory_mb=int(info["memory_bytes"]) >> 20,
        modules=1,
        added_types=(),
        sources={},
    )


def recipes() -> int:
    """Returns the number of recipes that this process has compiled or loaded from disk."""
    counts = statistics.recipes()
    return counts.compiled + counts.disk_hits


def of_run(found: explanation.Explanation) -> Compiler | None:
    """Returns what the card's compiler did; None if the device of HPU_BACKEND compiles for no card."""
    info = habana_device.info()
    scheme = str(info.get("backend", "")).partition(":")[0]
    if scheme != "gaudi" and not (scheme == "pjrt" and flags.pjrt_target()):
        return None
    refused = [
        cluster.name for graph in found.graphs for cluster in graph.clusters if (cluster.rule or "") in _REFUSALS
    ]
    return Compiler(str(info.get("compiler_target", "")), tuple(dict.fromkeys(refused)))
