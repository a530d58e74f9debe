"""Check 5: recipes of a model that were compiled without the card, which the card must load. recipes.py MODEL."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from tools.accelerator import run
from tools.accelerator.checks import outcome


def judge(packed: int, loaded: int, compiled: int, losses: Sequence[float]) -> outcome.Verdict:
    """Judges a training of the model whose `packed` recipes the kit has."""
    verdict = outcome.Verdict() if packed else outcome.Verdict(["the kit's folder has no recipes"])
    if loaded < packed:
        verdict.problems.append(f"{packed - loaded} of {packed} recipes were not loaded")
    if compiled:
        verdict.problems.append(f"{compiled} recipes were compiled again")
    if not all(map(math.isfinite, losses)):  # few steps from random weights need not lower the loss
        verdict.problems.append(f"the losses are not finite: {', '.join(f'{loss:.4g}' for loss in losses)}")
    return verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=run.RECIPE_MODELS)
    model = parser.parse_args().model
    packed = outcome.kit() / "recipes" / ("cpu" if outcome.is_cpu() else "card") / model
    if not packed.exists():
        return outcome.skip("the kit has no recipes for this device")
    folder = outcome.scratch() / "recipes"
    shutil.copytree(packed, folder)
    os.environ.update(TF_RECIPE_CACHE_PATH=str(folder), HPU_RECIPE_CACHE_MIN_COMPILE_MS="0")
    from benchmarks.models import PROBLEMS, Trainer
    from habana_frameworks.tensorflow import habana_device, load_habana_module, recipe_store, statistics

    before = {entry.key: entry for entry in recipe_store.list_entries(folder).entries}
    load_habana_module()
    losses = Trainer(PROBLEMS[model], outcome.HPU).losses(PROBLEMS[model].batch(), 3)
    counts = statistics.recipes()
    values: dict[str, Any] = {
        "losses": losses,
        "in the kit": len(before),
        "loaded": counts.disk_hits,
        "compiled": counts.compiled,
        "refused": counts.refused,
        "target of the kit": sorted({entry.target for entry in before.values()}),
        "target of the device": habana_device.info().get("compiler_target", ""),
    }
    compiled = [entry for entry in recipe_store.list_entries(folder).entries if entry.key not in before]
    for entry in compiled:
        (miss,) = recipe_store.explain_misses(folder, entry.key)
        values[f"why {entry.cluster} was compiled"] = list(miss.differences)
    summary = f"{counts.disk_hits} of {len(before)} loaded, {counts.compiled} compiled again"
    return judge(len(before), counts.disk_hits, counts.compiled, losses).report(summary, values)


if __name__ == "__main__":
    sys.exit(main())
