"""Check 8: time of a train step on the HPU, compared with the machine's JAX on the same HLO. speed.py MODEL BATCH.

HPU and JAX run one after the other, because each client allocates most of the card's memory. Both use the kernels that
the first compilation selected: two selections of one program differ by up to 30 % of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tools.accelerator import run
from tools.accelerator.checks import outcome

_PRECISIONS = ("float32", "bfloat16")
# Precision that is also timed without jit_compile, where the graph passes build another program.
_CLUSTERED = "float32"
_JAX_SECONDS = 100
# Limit of a step's time, relative to JAX.
_MAX_RATIO = 1.05
_MAX_TEXT = 300


def _xla_flags() -> str:
    """Flags of XLA in the plugin that share the selected kernels between processes; none for CPUs."""
    if outcome.is_cpu():
        return ""
    folder = outcome.scratch() / "kernels"
    folder.mkdir(exist_ok=True)
    return f"--xla_gpu_per_fusion_autotune_cache_dir={folder}"


def _ours(model: str, batch: str, precision: str, jit_compile: bool) -> dict[str, Any]:
    """Returns the times on the HPU, measured in a process of its own. Raises CalledProcessError."""
    file = outcome.scratch() / "ours.json"
    command = [sys.executable, "-m", "tools.accelerator.checks.step_time", model, batch, precision, str(file)]
    if jit_compile:
        command.append("--jit-compile")
    subprocess.run(command, check=True, env={**os.environ, "HPU_PJRT_XLA_FLAGS": _xla_flags()})
    result: dict[str, Any] = json.loads(file.read_text())
    return result


def _jax(model: str, batch: str, precision: str) -> dict[str, Any] | str:
    """Returns the times under JAX, or the reason why no times exist."""
    environment = json.loads(pathlib.Path(os.environ["KIT_TARGET_ENVIRONMENT"]).read_text())
    environment["XLA_FLAGS"] = f"{environment.get('XLA_FLAGS', '')} {_xla_flags()}".strip()
    steps = outcome.kit() / "corpus" / "steps"
    file = outcome.scratch() / "jax.json"
    file.unlink(missing_ok=True)
    command = [
        os.environ["KIT_TARGET_PYTHON"],
        str(pathlib.Path(__file__).with_name("jax_step.py")),
        str(steps / f"{model}.{batch}.{precision}.hlo"),
        str(steps / f"{model}.{batch}.{precision}.json"),
        "cpu" if outcome.is_cpu() else "cuda",
        str(file),
    ]
    try:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_JAX_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"JAX: no result in {_JAX_SECONDS} s"
    sys.stdout.write(done.stdout)
    if done.returncode != 0 or not file.exists():
        lines = [line for line in done.stdout.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
        return f"JAX: {lines[-1][:_MAX_TEXT]}"
    result: dict[str, Any] = json.loads(file.read_text())
    return result


def judge(ratios: Mapping[str, float]) -> outcome.Verdict:
    """Compares the times of a step relative to JAX, by precision, with the limit."""
    verdict = outcome.Verdict()
    for precision, ratio in ratios.items():
        verdict.limit(f"{precision}, HPU / JAX:", ratio, _MAX_RATIO)
    return verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("batch")
    arguments = parser.parse_args()
    model, batch = arguments.model, arguments.batch
    if outcome.is_cpu() and int(batch) == run.BATCHES[model][0]:
        return outcome.skip("a batch for cards, which takes CPUs minutes")
    values: dict[str, Any] = {}
    shown, ratios = [], {}
    for precision in _PRECISIONS:
        ours = _ours(model, batch, precision, jit_compile=True)
        theirs = _jax(model, batch, precision)
        values[precision] = {"HPU, ms": 1e3 * ours["seconds"], "HPU's first step, s": ours["first_seconds"]}
        if precision == _CLUSTERED:
            clustered = _ours(model, batch, precision, jit_compile=False)
            values[precision]["HPU without jit_compile, ms"] = 1e3 * clustered["seconds"]
        if isinstance(theirs, str):
            values[precision]["JAX"] = theirs
            shown.append(f"{precision} {1e3 * ours['seconds']:.3g} ms, {theirs}")
            continue
        ratio = ratios[precision] = ours["seconds"] / theirs["seconds"]
        values[precision] |= {"JAX, ms": 1e3 * theirs["seconds"], "ratio": ratio}
        values[precision] |= {"JAX's compilation, s": theirs["compile_seconds"], "JAX": theirs["jax"]}
        values[precision]["arguments that JAX donated"] = theirs["donated"]
        shown.append(f"{precision} {1e3 * ours['seconds']:.3g} ms, JAX {1e3 * theirs['seconds']:.3g} ms, {ratio:.2f}")
    summary = "; ".join(shown)
    if len(ratios) < len(_PRECISIONS):
        return outcome.skip(f"no comparison: {summary}", values)
    return judge(ratios).report(summary, values)


if __name__ == "__main__":
    sys.exit(main())
