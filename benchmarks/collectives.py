"""All-reduces between two modules of a device server against Gloo's and TensorFlow's ring between the same processes;
steps of HPUStrategy against MultiWorkerMirroredStrategy's on the CPU; reductions beside the backward pass against one
after it, and how much of them a trace shows during computation.

Horovod's column needs Horovod (`make horovod`).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.measure import Summary
from benchmarks.overlap import hidden_share
from habana_frameworks.tensorflow import ports

ROOT = pathlib.Path(__file__).resolve().parents[1]
HPU = [sys.executable, "-m", "habana_frameworks.tensorflow"]
MEBIBYTES = [1, 4, 16, 64]


@contextlib.contextmanager
def server(modules: int) -> Iterator[str]:
    """A device server; gives the HPU_BACKEND that reaches it."""
    with tempfile.TemporaryDirectory() as directory:
        command = [*HPU, "serve", "--json", "--modules", str(modules), "--listen", f"unix:{directory}/server"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
            assert process.stdout is not None
            try:
                yield str(json.loads(process.stdout.readline())["backend"])
            finally:
                process.terminate()


def job(processes: int, *arguments: str, environment: Mapping[str, str] | None = None) -> Any:
    """What rank 0 of a job of collectives_worker.py wrote."""
    command = [*HPU, "run", "-np", str(processes), "--no-prefix", "-m", "benchmarks.collectives_worker", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2", **(environment or {})}
    done = subprocess.run(command, env=variables, cwd=ROOT, text=True, capture_output=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line.removeprefix("RESULT "))
    raise RuntimeError(done.stderr)


def show_reductions(rounds: int) -> dict[str, Any]:
    # TensorFlow has the job's own ports.
    with server(2) as backend, ports.reserved(1) as (port,):
        sizes = [str(size) for size in MEBIBYTES]
        environment = {"HPU_BACKEND": backend, "HPU_HOROVOD_RENDEZVOUS": f"127.0.0.1:{port}"}
        seconds = job(2, "reductions", "--rounds", str(rounds), "--mebibytes", *sizes, environment=environment)
    found: dict[str, Any] = {}
    for size, ways in seconds.items():
        found[size] = {"seconds": {name: statistics.median(times) for name, times in ways.items()}}
        text = f"all-reduce of {size:>2} MiB: server {found[size]['seconds']['server'] * 1e3:.1f} ms"
        for other in ("ring", "gloo"):
            if other not in ways:
                continue
            ratio = Summary.of([one / base for one, base in zip(ways["server"], ways[other])])
            found[size][f"server/{other}"] = ratio.median
            text += f", over {other} {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        print(text, flush=True)
    return found


def show_steps(model: str, rounds: int, steps: int) -> dict[str, Any]:
    """Jobs take turns; each counts by its median step."""
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        for workers in (1, 2):
            for device in ("hpu", "cpu"):
                options = ["--cpu"] if device == "cpu" else []
                seconds = job(workers, "steps", "--model", model, "--steps", str(steps), *options)
                times.setdefault(f"{device} {workers}", []).append(statistics.median(seconds))
    found: dict[str, Any] = {name: statistics.median(values) for name, values in times.items()}
    for workers in (1, 2):
        pairs = zip(times[f"hpu {workers}"], times[f"cpu {workers}"])
        found[f"hpu/cpu {workers}"] = statistics.median([one / other for one, other in pairs])
    print(
        f"{model}: step of HPUStrategy over MultiWorkerMirroredStrategy {found['hpu/cpu 1']:.2f} with one worker, "
        f"{found['hpu/cpu 2']:.2f} with two",
        flush=True,
    )
    return found


def show_overlap(model: str, rounds: int, steps: int, bucket_mb: int) -> dict[str, Any]:
    """Buckets that are on their way during the backward pass, against one after it."""
    ratios = []
    for _ in range(rounds):
        medians = [
            statistics.median(
                job(
                    2, "steps", "--model", model, "--steps", str(steps),
                    environment={"HPU_COLLECTIVE_BUCKET_MB": bucket},
                )
            )
            for bucket in (str(bucket_mb), "0")
        ]  # fmt: skip
        ratios.append(medians[0] / medians[1])
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory, "trace.json")
        options = ("steps", "--model", model, "--steps", str(steps), "--trace", str(trace))
        job(2, *options, environment={"HPU_COLLECTIVE_BUCKET_MB": str(bucket_mb)})
        hidden = hidden_share(trace)
    found = {"with/without": statistics.median(ratios), "bucket_mb": bucket_mb, "hidden": hidden}
    print(
        f"{model}: step with buckets of {bucket_mb} MiB over one reduction at the end {found['with/without']:.2f}; "
        f"{hidden:.0%} of the exchange is hidden behind computation",
        flush=True,
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of jobs; all-reduces take five times as many")
    parser.add_argument("--steps", type=int, default=30, help="of a job")
    parser.add_argument("--models", nargs="*", default=["cnn", "transformer"])
    parser.add_argument("--json", action="store_true", help="one object at the end")
    arguments = parser.parse_args()
    found: dict[str, Any] = {"reductions": show_reductions(5 * arguments.rounds)}
    for model in arguments.models:
        found[model] = show_steps(model, arguments.rounds, arguments.steps)
        found[model]["overlap"] = show_overlap(model, arguments.rounds, arguments.steps, 1)
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
