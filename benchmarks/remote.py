"""Cost of a local device server, compared with the in-process emulator: train steps, copies and launches.

Starts an emulator server, a null server for launches, and a client of each kind. The clients work in turns. Copies are
compared with memcpy.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.measure import Summary, Times, in_turns

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = "habana_frameworks.tensorflow"
# Sizes of one copy in MiB. The larger size exceeds most CPUs' caches.
COPY_MIB = ("1", "64")
MODELS = ("resnet50", "transformer", "mlp")
# Makes malloc reuse the destination memory of copies to the host. Mapping new memory for each tensor would cost more
# than the copy.
KEEP_FREED_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_ARENA_MAX": "1"}


def start(module: str, *arguments: str, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=variables,
        cwd=ROOT,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a process of the benchmark ended with exit code {process.wait()}; see its messages above")
    return line


@contextlib.contextmanager
def server(kind: str) -> Iterator[str]:
    """Runs a server with the backend `kind` and yields the HPU_BACKEND that reaches it."""
    with tempfile.TemporaryDirectory() as directory:
        listen = f"unix:{directory}/server"
        arguments = ("serve", "--json", "--modules", "1", "--backend", kind, "--listen", listen)
        process = start(PACKAGE, *arguments, environment={})
        try:
            yield str(json.loads(answer(process))["backend"])
        finally:
            process.terminate()
            process.communicate()


@contextlib.contextmanager
def worker(backend: str) -> Iterator[Callable[[str], Callable[[int], None]]]:
    """Runs a client of `backend` and yields a function that returns the client's measurements by name."""
    process = start("benchmarks.remote_worker", environment={"HPU_BACKEND": backend, **KEEP_FREED_MEMORY})

    def variant(name: str) -> Callable[[int], None]:
        def run(count: int) -> None:
            assert process.stdin is not None
            process.stdin.write(f"{name} {count}\n")
            process.stdin.flush()
            answer(process)

        return run

    try:
        yield variant
    finally:
        process.communicate()


@dataclasses.dataclass(frozen=True)
class Result:
    """Times of one measurement by alternative, and the two alternatives whose ratio is reported."""

    name: str
    times: Times
    ratio: tuple[str, str]
    bytes: int = 0  # of a copy

    def as_json(self) -> dict[str, Any]:
        name, base = self.ratio
        data: dict[str, Any] = {
            "name": self.name,
            "seconds": {variant: dataclasses.asdict(self.times.summary(variant)) for variant in self.times.seconds},
            "ratio": {"of": f"{name}/{base}", **dataclasses.asdict(self.times.ratio(name, base))},
        }
        if self.name == "launch":  # the difference excludes Python's and TensorFlow's part, which is the same in both
            added = [one - other for one, other in zip(*(self.times.seconds[variant] for variant in self.ratio))]
            data["seconds_added"] = dataclasses.asdict(Summary.of(added))
        if self.bytes:
            data["bytes_per_second"] = {
                variant: self.bytes / self.times.summary(variant).median for variant in self.times.seconds
            }
        return data

    def print(self) -> None:
        data = self.as_json()
        ratio = data["ratio"]
        print(f"{self.name}: {ratio['of']} {ratio['median']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})")
        for variant, seconds in data["seconds"].items():
            low, high = 1e6 * seconds["low"], 1e6 * seconds["high"]
            speed = f", {data['bytes_per_second'][variant] / 1e9:.1f} GB/s" if self.bytes else ""
            print(f"  {variant:<10} {1e6 * seconds['median']:10.0f} us  ({low:.0f} to {high:.0f}){speed}")
        if "seconds_added" in data:
            print(f"  the server adds {1e6 * data['seconds_added']['median']:.0f} us to each")


def measure(questions: list[str], rounds: int, seconds_per_turn: float) -> Iterator[Result]:
    """Yields one result per measurement. Ratios: memcpy to copy for copies, otherwise server to in-process."""
    with contextlib.ExitStack() as stack:
        remote = stack.enter_context(worker(stack.enter_context(server("emulator"))))
        inside = stack.enter_context(worker("emulator"))
        for name in questions:
            kind, _, what = name.partition(" ")
            if kind == "launch":
                variants = {
                    "remote": stack.enter_context(worker(stack.enter_context(server("null"))))(name),
                    "in_process": stack.enter_context(worker("null"))(name),
                }
            else:
                variants = {"remote": remote(name), "in_process": inside(name)}
            if what in COPY_MIB:
                variants["memcpy"] = remote(f"memcpy {what}")
                times = in_turns(variants, rounds, seconds_per_turn)
                yield Result(name, times, ("memcpy", "remote"), int(what) << 20)
            else:
                times = in_turns(variants, rounds, seconds_per_turn, warm_up=100 if kind == "launch" else 3)
                yield Result(name, times, ("remote", "in_process"))


def main() -> int:
    questions = [f"step {model}" for model in MODELS]
    questions += [f"{variant} {size}" for variant in ("to_device", "to_host") for size in COPY_MIB]
    questions.append("launch")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", nargs="+", choices=questions, default=questions, metavar="QUESTION")
    parser.add_argument("--rounds", type=int, default=9, help="measurement rounds (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    results = []
    for result in measure(arguments.questions, arguments.rounds, arguments.seconds):
        results.append(result.as_json())
        if not arguments.json:
            result.print()
    if arguments.json:
        print(json.dumps({"cpus": os.cpu_count(), "results": results}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
