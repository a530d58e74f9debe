"""Time of the transformer's train step on the HPU with the pattern matcher on and off, in turns in one process."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks.measure import Times, in_turns
from benchmarks.models import PROBLEMS, Trainer
from benchmarks.train_step import repeated

HPU = "/device:HPU:0"


def found_patterns() -> dict[str, int]:
    """Number of matches of each pattern in the latest graph with matches."""
    from habana_frameworks.tensorflow.explanation import passes

    for report in reversed(passes.recent_reports()):
        names = [entry.what.split(":")[0] for entry in report.rewrites if entry.pass_name == "patterns"]
        if names:
            return dict(Counter(names))
    return {}


def measure(model: str, rounds: int, seconds: float) -> tuple[Times, dict[str, float]]:
    """Returns the times with the matcher on and off, and the losses of the first steps from equal weights."""
    problem = PROBLEMS[model]
    batch = problem.batch()
    weights: list[Any] | None = None
    runs, losses = {}, {}
    for variant, setting in (("off", "0"), ("on", "1")):
        # The setting is read when the first step creates the graph.
        os.environ["TF_ENABLE_PATTERN_MATCHER"] = setting
        trainer = Trainer(problem, HPU, weights=weights)
        weights = weights or trainer.model.get_weights()
        (losses[variant],) = trainer.losses(batch, steps=1)
        runs[variant] = repeated(trainer, batch)
    return in_turns(runs, rounds, seconds, warm_up=3), losses


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=PROBLEMS, default="transformer")
    parser.add_argument("--rounds", type=int, default=15, help="measurement rounds (default: 15)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn (default: 0.5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    times, losses = measure(arguments.model, arguments.rounds, arguments.seconds)
    ratio = times.ratio("on", "off")
    steps = {variant: times.summary(variant) for variant in ("off", "on")}
    if arguments.json:
        medians = {variant: step.median for variant, step in steps.items()}
        result = {"model": arguments.model, "step_seconds": medians, "ratio": ratio.median, "losses": losses}
        print(json.dumps({**result, "patterns": found_patterns()}, indent=2))
        return 0
    print(f"{arguments.model}: {', '.join(f'{name} {count}' for name, count in sorted(found_patterns().items()))}")
    for variant, step in steps.items():
        spread = f"{1000 * step.low:.2f} to {1000 * step.high:.2f}"
        print(f"  {variant:<4} {1000 * step.median:9.2f} ms  ({spread}; first loss {losses[variant]:.6f})")
    print(f"  on/off {ratio.median:7.3f}     ({ratio.low:.3f} to {ratio.high:.3f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
