"""Host time of one cluster launch by number of arguments, on a device that computes nothing.

The baseline is a call of the same function with jit_compile=True on the CPU. On the HPU the function runs in two ways:
without jit_compile, TensorFlow's executor runs a graph that contains the cluster; with jit_compile=True, the whole
function is the cluster.

With --backend pjrt:NAME the device computes, and a second table compares the host time of a stream's launch with the
plugin's own Execute (hpu_bench, which `make bench` builds).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from benchmarks import hpu_bench
from benchmarks.measure import Times, in_turns
from habana_frameworks.tensorflow import habana_device, load_habana_module, statistics

CPU = "/device:CPU:0"
HPU = "/device:HPU:0"
VARIANTS = ("hpu", "hpu_jit", "jit")


def combine(*tensors: tf.Tensor) -> tf.Tensor:
    """Computes one small result with a few ops per argument."""
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total * 0.5 + tensor
    return total


def calls_of(count: int, device: str, jit_compile: bool) -> Callable[[int], None]:
    """Returns a function that calls `combine` repeatedly with `count` arguments on the device."""
    with tf.device(device):
        arguments = [tf.fill([4], float(index)) for index in range(count)]
    function = tf.function(combine, jit_compile=jit_compile or None)

    def run(calls: int) -> None:
        with tf.device(device):
            for _ in range(calls):
                function(*arguments)
        if device == HPU:
            habana_device.synchronize()

    return run


def measure(counts: list[int], rounds: int, seconds_per_turn: float) -> Times:
    """Measures all alternatives, which are named "hpu 2", "hpu_jit 2", "jit 2", and so on."""
    variants = {}
    for count in counts:
        variants[f"hpu {count}"] = calls_of(count, HPU, jit_compile=False)
        variants[f"hpu_jit {count}"] = calls_of(count, HPU, jit_compile=True)
        variants[f"jit {count}"] = calls_of(count, CPU, jit_compile=True)
    before = launches()
    variants[f"hpu {counts[0]}"](1)
    if launches() != before + 1:
        raise RuntimeError("a call did not launch exactly one cluster, so its time is meaningless: run hpu explain")
    return in_turns(variants, rounds, seconds_per_turn, warm_up=20)


def launches() -> int:
    return sum(cluster.launches for cluster in statistics.get().clusters)


def as_json(times: Times, counts: list[int]) -> dict[str, Any]:
    rows = []
    for count in counts:
        row: dict[str, Any] = {"arguments": count}
        for variant in VARIANTS:
            row[f"{variant}_seconds"] = dataclasses.asdict(times.summary(f"{variant} {count}"))
        for variant in ("hpu", "hpu_jit"):
            row[f"{variant}_ratio"] = dataclasses.asdict(times.ratio(f"{variant} {count}", f"jit {count}"))
        rows.append(row)
    growth = {}
    for variant in VARIANTS:
        few, many = (times.summary(f"{variant} {count}").median for count in (counts[0], counts[-1]))
        growth[variant] = {"seconds_per_argument": (many - few) / max(1, counts[-1] - counts[0]), "ratio": many / few}
    return {"backend": habana_device.info()["backend"], "launches": rows, "growth": growth}


def client_launches(backend: str) -> list[dict[str, float]]:
    """Returns host time of a stream's launch and of the plugin's Execute, in seconds, by number of arguments.

    "whole_seconds": Execute plus the end and the destruction of the donated handles. A stream's launch includes both.
    """
    times = hpu_bench.best_times("launch by", {"HPU_BACKEND": backend})
    found: dict[int, dict[str, float]] = {}
    for name, seconds in times.items():
        variant, arguments = name.split("/")[:2]
        row = found.setdefault(int(arguments), {"arguments": int(arguments)})
        key = "stream" if "stream" in variant else "whole" if "destruction" in variant else "execute"
        row[f"{key}_seconds"] = seconds
    return [row | {"ratio": row["stream_seconds"] / row["execute_seconds"]} for row in found.values()]


def print_client_launches(rows: list[dict[str, float]]) -> None:
    print("one launch, in microseconds (best of three)")
    print(f"{'arguments':>9}  {'stream':>10}  {'Execute':>10}  {'with destruction':>16}  {'stream / Execute':>16}")
    for row in rows:
        stream, execute, whole = (1e6 * row[f"{key}_seconds"] for key in ("stream", "execute", "whole"))
        print(f"{row['arguments']:>9}  {stream:>10.1f}  {execute:>10.1f}  {whole:>16.1f}  {row['ratio']:>16.2f}")


def print_result(data: dict[str, Any]) -> None:
    print(f"one call, in microseconds (backend {data['backend']}; median, quartiles)")
    heads = ("HPU", "HPU, jit_compile", "CPU, jit_compile")
    print(f"{'arguments':>9}" + "".join(f"  {head:>22}" for head in heads) + f"  {'ratios to the last':>37}")

    def cell(summary: dict[str, float], scale: float, digits: int) -> str:
        low, high = scale * summary["low"], scale * summary["high"]
        return f"{scale * summary['median']:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"

    for row in data["launches"]:
        times = "".join(f"  {cell(row[f'{variant}_seconds'], 1e6, 0):>22}" for variant in VARIANTS)
        ratios = ", ".join(cell(row[f"{variant}_ratio"], 1, 2) for variant in ("hpu", "hpu_jit"))
        print(f"{row['arguments']:>9}{times}  {ratios:>37}")
    for variant, growth in data["growth"].items():
        first, last = data["launches"][0]["arguments"], data["launches"][-1]["arguments"]
        each = 1e6 * growth["seconds_per_argument"]
        print(
            f"{variant}: {growth['ratio']:.1f} times from {first} to {last} arguments, {each:.2f} microseconds for each"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--backend",
        default=os.environ.get("HPU_BACKEND", "null"),
        help="device, as in HPU_BACKEND (default: null, which accepts launches but computes nothing)",
    )
    parser.add_argument("--arguments", nargs="+", type=int, default=[2, 25, 100, 400], help="numbers of arguments")
    parser.add_argument("--rounds", type=int, default=21, help="measurement rounds (default: 21)")
    parser.add_argument("--seconds", type=float, default=0.2, help="length of a turn (default: 0.2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    counts = sorted(arguments.arguments)
    if counts[0] < 2:
        parser.error("--arguments: each number must be at least 2")
    os.environ["HPU_BACKEND"] = arguments.backend
    load_habana_module()
    data = as_json(measure(counts, arguments.rounds, arguments.seconds), counts)
    if arguments.backend.startswith("pjrt:"):
        data["client"] = client_launches(arguments.backend)
    if arguments.json:
        print(json.dumps(data, indent=2))
    else:
        print_result(data)
        if "client" in data:
            print_client_launches(data["client"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
