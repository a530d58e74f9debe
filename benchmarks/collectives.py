"""Compares collectives on HPUs with alternatives, in three benchmarks.

- All-reduces between two modules of a device server, against Gloo and TensorFlow's ring between the same processes.
- Train steps of HPUStrategy, against MultiWorkerMirroredStrategy on the CPU.
- Bucketed reductions during the backward pass, against one reduction after it. Also measures their overlap with
  computation.

Gloo needs Horovod (`make horovod`).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
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
from habana_frameworks.tensorflow._internal.launch import ports

ROOT = pathlib.Path(__file__).resolve().parents[1]
HPU = [sys.executable, "-m", "habana_frameworks.tensorflow"]
MEBIBYTES = [1, 4, 16, 64]
# Bucket sizes that split each model's gradients into several buckets.
BUCKET_KIBIBYTES = {"cnn": 192, "transformer": 512, "wide": 25 << 10}


@contextlib.contextmanager
def server(modules: int) -> Iterator[str]:
    """Runs a device server and yields the HPU_BACKEND that reaches it."""
    with tempfile.TemporaryDirectory() as directory:
        command = [*HPU, "serve", "--json", "--modules", str(modules), "--listen", f"unix:{directory}/server"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
            assert process.stdout is not None
            try:
                yield str(json.loads(process.stdout.readline())["backend"])
            finally:
                process.terminate()


def job(processes: int, *arguments: str, environment: Mapping[str, str] | None = None) -> Any:
    """Runs a job of collectives_worker.py and returns the result that rank 0 printed."""
    command = [*HPU, "run", "-np", str(processes), "--no-prefix", "-m", "benchmarks.collectives_worker", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2", **(environment or {})}
    done = subprocess.run(command, env=variables, cwd=ROOT, text=True, capture_output=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line.removeprefix("RESULT "))
    raise RuntimeError(done.stderr)


def show_reductions(rounds: int) -> dict[str, Any]:
    # TensorFlow uses the job's own ports.
    with server(2) as backend, ports.reserved(1) as (port,):
        sizes = [str(size) for size in MEBIBYTES]
        environment = {"HPU_BACKEND": backend, "HPU_HOROVOD_RENDEZVOUS": f"127.0.0.1:{port}"}
        seconds = job(2, "reductions", "--rounds", str(rounds), "--mebibytes", *sizes, environment=environment)
    found: dict[str, Any] = {}
    for size, variants in seconds.items():
        found[size] = {"seconds": {name: statistics.median(times) for name, times in variants.items()}}
        text = f"all-reduce of {size:>2} MiB: server {found[size]['seconds']['server'] * 1e3:.1f} ms"
        for other in ("ring", "gloo"):
            if other not in variants:
                continue
            ratio = Summary.of([one / base for one, base in zip(variants["server"], variants[other])])
            found[size][f"server/{other}"] = ratio.median
            text += f", over {other} {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        print(text, flush=True)
    return found


def show_steps(model: str, rounds: int, steps: int) -> dict[str, Any]:
    """Compares the median step of HPUStrategy with MultiWorkerMirroredStrategy's, in jobs that run in turns."""
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


def show_overlap(model: str, rounds: int, steps: int) -> dict[str, Any]:
    """Compares buckets reduced during the backward pass with one reduction after it, in turns in the same workers."""
    kibibytes = BUCKET_KIBIBYTES[model]
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory, "trace.json")
        options = ("--model", model, "--rounds", str(rounds), "--steps", str(steps), "--trace", str(trace))
        sizes = [str(kibibytes), "0"]
        seconds = job(2, "buckets", *options, "--kibibytes", *sizes, environment={"HPU_COLLECTIVE_BUCKET_MB": "0"})
        hidden = hidden_share(trace)
    medians = [[statistics.median(turn) for turn in seconds[size]] for size in sizes]
    ratio = Summary.of([one / base for one, base in zip(*medians)])
    # Other load on the machine can only slow steps down, so the fastest steps are undisturbed.
    undisturbed = [statistics.quantiles([s for turn in seconds[size] for s in turn], n=10)[0] for size in sizes]
    of_fastest = undisturbed[0] / undisturbed[1]
    print(
        f"{model}: step with buckets of {kibibytes} KiB over one reduction at the end {ratio.median:.2f} "
        f"({ratio.low:.2f} to {ratio.high:.2f}), of the fastest tenth of the steps {of_fastest:.2f}; "
        f"{hidden:.0%} of the exchange is hidden behind computation",
        flush=True,
    )
    return {
        "with/without": dataclasses.asdict(ratio),
        "with/without of the fastest tenth": of_fastest,
        "seconds of the fastest tenth": undisturbed,
        "bucket_kibibytes": kibibytes,
        "hidden": hidden,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rounds", type=int, default=3, help="rounds of jobs (default: 3); all-reduces and buckets run five times more"
    )
    parser.add_argument("--steps", type=int, default=30, help="train steps per job (default: 30)")
    parser.add_argument("--models", nargs="*", default=["cnn", "transformer", "wide"])
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    found: dict[str, Any] = {"reductions": show_reductions(5 * arguments.rounds)}
    for model in arguments.models:
        found[model] = show_steps(model, arguments.rounds, arguments.steps)
        found[model]["overlap"] = show_overlap(model, 5 * arguments.rounds, arguments.steps)
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
