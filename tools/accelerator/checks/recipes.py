"""Check 5: recipes compiled without the card, which the card must load."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from tools.accelerator.checks import outcome


def main() -> int:
    packed = outcome.kit() / "recipes"
    if not packed.exists():
        return outcome.skip("the kit has no recipes")
    if outcome.is_cpu():
        return outcome.skip("the kit's recipes are for a card")
    folder = outcome.scratch() / "recipes"
    shutil.copytree(packed, folder)
    os.environ.update(TF_RECIPE_CACHE_PATH=str(folder), HPU_RECIPE_CACHE_MIN_COMPILE_MS="0")
    from benchmarks.models import PROBLEMS, Trainer
    from habana_frameworks.tensorflow import habana_device, load_habana_module, recipe_store, statistics

    before = {entry.key: entry for entry in recipe_store.list_entries(folder).entries}
    load_habana_module()
    losses = Trainer(PROBLEMS["mlp"], outcome.HPU).losses(PROBLEMS["mlp"].batch(), 3)
    counts = statistics.recipes()
    values: dict[str, Any] = {
        "losses": losses,
        "loaded": counts.disk_hits,
        "compiled": counts.compiled,
        "refused": counts.refused,
        "target of the kit": sorted({entry.target for entry in before.values()}),
        "target of the card": habana_device.info().get("compiler_target", ""),
    }
    compiled = [entry for entry in recipe_store.list_entries(folder).entries if entry.key not in before]
    for entry in compiled:
        (miss,) = recipe_store.explain_misses(folder, entry.key)
        values[f"why {entry.cluster} was compiled"] = list(miss.differences)
    summary = f"{counts.disk_hits} loaded, {counts.compiled} compiled again"
    return outcome.report(bool(counts.disk_hits) and losses[-1] < losses[0], summary, values)


if __name__ == "__main__":
    sys.exit(main())
