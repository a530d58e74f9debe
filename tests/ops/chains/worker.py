"""Worker that runs requested programs on CPU and HPU: one line of JSON in, one line of JSON out."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("HPU_COMPILE_EFFORT", "0")

# Number of CPU runs of a differing program, to find nondeterminism.
RUNS_ON_CPU = 8


@contextlib.contextmanager
def _settings(settings: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def examine(request: Mapping[str, Any]) -> dict[str, Any]:
    """Runs the program of a request's seed, without excluded steps and kinds.

    Returns the difference and the listing.
    """
    from tests.ops.chains import kinds, program
    from tests.ops.chains.difference import difference
    from tests.ops.chains.run import run
    from tests.support.compare import CPU, HPU

    begun = time.monotonic()
    made = program.generate(request["seed"], kinds.kinds()).without(request.get("dropped", ()))
    without = request.get("without", ())
    theirs, listing = run(made, CPU, without)
    middle = time.monotonic()
    ours = theirs
    if not request.get("cpu_only"):
        with _settings(made.settings):
            ours, _ = run(made, HPU, without)
    seconds = time.monotonic() - begun
    found = difference(ours, theirs)
    for _ in range(RUNS_ON_CPU if found else 0):
        # TensorFlow leaves some order undefined: the HPU's result must then equal any of several CPU runs.
        if not difference(ours, run(made, CPU, without)[0]):
            found = ""
            break
    answer: dict[str, Any] = {
        "seed": made.seed,
        "mode": made.mode.value,
        "steps": made.numbers(),
        "dropped": list(request.get("dropped", ())),
        "observations": len(theirs),
        "error": next((type(seen.error).__name__ for seen in theirs if seen.error is not None), ""),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(middle - begun, 3),
        "difference": found,
    }
    if found or request.get("cpu_only"):
        answer["settings"] = made.settings
        answer["listing"] = listing
    return answer


def main() -> None:
    """Answers requests until the end of its input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # redirects output of programs
    faulthandler.enable()
    import tensorflow as tf

    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    tf.zeros([])  # a context that starts inside a graph has no soft placement
    tf.get_logger().setLevel("ERROR")
    for line in sys.stdin:
        answers.write(json.dumps(examine(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
