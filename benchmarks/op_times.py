"""Time of every op of the op sweep (tests/ops/sweep) on the emulated HPU, relative to TensorFlow's CPU.

Each op runs eagerly and in a tf.function, with small and large arguments. Prints the ops whose ratio exceeds --ratio.
Workers run the ops, because some arguments end TensorFlow.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from benchmarks import swept_ops
from benchmarks.measure import in_turns
from habana_frameworks.tensorflow import load_habana_module
from tests.ops.sweep import generic, modes
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Mode

DEVICES = {"hpu": "/device:HPU:0", "cpu": "/device:CPU:0"}
SIZES = (100, 100_000)
HOW = ("eager", "function")
_DRAWS = 40
_DRAW_SECONDS = 2.0
_ENDS = 3  # of workers, per op
_SEED = "seed "  # begins a line of a worker's output


@dataclasses.dataclass(frozen=True)
class Row:
    """An op's times in seconds, the shortest of several rounds, at about `size` elements."""

    op: str
    size: int
    elements: int  # of the largest argument or result
    how: str
    hpu: float
    cpu: float
    arguments: str

    @property
    def ratio(self) -> float:
        return self.hpu / self.cpu


def _draw(op: str, size: int, first: int) -> tuple[Program, int] | None:
    """Returns the program for which the CPU returns values and whose number of elements is closest to `size`.

    Draws from seed `first` on, and prints each seed first, because some arguments end TensorFlow.
    """
    best: tuple[float, Program, int] | None = None
    end = time.monotonic() + _DRAW_SECONDS
    for seed in range(first, _DRAWS):
        if time.monotonic() > end or (best is not None and best[0] < 0.7):
            break
        print(f"{_SEED}{seed}", flush=True)
        rng = np.random.default_rng(seed)
        program = dataclasses.replace(swept_ops.program(op, size, rng), op=op)
        sizes = [array.size for array in (*program.arrays, *program.variables)]
        if max(sizes, default=0) > 20 * size:
            continue
        (outcome,) = modes.run(program, Mode.EAGER, DEVICES["cpu"], calls=1)
        if not outcome.ok:
            continue
        elements = max([*sizes, *(array.size for array in outcome.arrays)], default=0)
        distance = abs(float(np.log(max(elements, 1) / size)))
        if best is None or distance < best[0]:
            best = distance, program, elements
    return None if best is None else best[1:]


def _repeated(program: Program, device: str, graph: bool) -> Callable[[int], None]:
    """Returns a function that runs the op n times. Reading an element of the last result waits for all runs."""
    with tf.device(device):
        variables = [tf.Variable(value) for value in program.variables]
        constants = {i: tf.constant(program.arrays[i]) for i in program.constants}
        fed = [tf.constant(array) for i, array in enumerate(program.arrays) if i not in constants]

    def call(*tensors: tf.Tensor) -> Any:
        rest = iter(tensors)
        known = program.constants if graph else ()
        arguments = [
            tf.constant(array) if i in known else constants[i] if i in constants else next(rest)
            for i, array in enumerate(program.arrays)
        ]
        flat = tf.nest.flatten(program.function(*[v.handle for v in variables], *arguments))
        return [one for one in flat if tf.is_tensor(one) and one.dtype not in (tf.resource, tf.variant)]

    function = tf.function(call, autograph=False) if graph else call

    def run(times: int) -> None:
        with tf.device(device):
            for _ in range(times):
                results = function(*fed)
            for last in (*results, *variables):
                if last.shape.num_elements():
                    tf.reshape(last, [-1])[0].numpy()
                    break

    return run


def _rows(op: str, first: int, arguments: argparse.Namespace) -> Iterator[Row]:
    for size in arguments.sizes:
        swept_ops.Sizes(size).install()
        drawn = _draw(op, size, first)
        if drawn is None:
            continue
        program, elements = drawn
        for how in arguments.how:
            try:
                variants = {name: _repeated(program, device, how == "function") for name, device in DEVICES.items()}
                times = in_turns(variants, arguments.rounds, arguments.seconds)
            except Exception as error:
                print(f"{op}, {how}: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
                continue
            shortest = {name: min(times.seconds[name]) for name in DEVICES}
            yield Row(op, size, elements, how, shortest["hpu"], shortest["cpu"], program.describe()[:120])


def _work(arguments: argparse.Namespace) -> None:
    """Measures the ops that standard input names, with arguments from a seed on.

    Prints a line for each result, and an empty line after each op.
    """
    load_habana_module()
    for line in sys.stdin:
        op, first = line.split()
        try:
            for row in _rows(op, int(first), arguments):
                print(json.dumps(dataclasses.asdict(row)), flush=True)
        except generic.NoMakerError:
            pass
        print(flush=True)


class Worker:
    """A process that measures ops. If the process ends or takes too long, a new process draws other arguments."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._process = swept_ops.LineWorker(command, timeout)

    def rows(self, op: str) -> Iterator[Row]:
        first, seen = 0, set()
        for _ in range(_ENDS):
            try:
                for line in self._process.ask(f"{op} {first}"):
                    if line.startswith(_SEED):
                        first = int(line[len(_SEED) :]) + 1
                        continue
                    row = Row(**json.loads(line))
                    if (row.size, row.how) not in seen:
                        yield row
                    seen.add((row.size, row.how))
                return
            except swept_ops.WorkerEndedError as error:
                print(f"{op}: the worker ended: {error}", file=sys.stderr)

    def close(self) -> None:
        self._process.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="?", default=".*", metavar="REGEX", help="ops whose whole name matches")
    parser.add_argument("--ratio", type=float, default=2.0, help="print ops whose ratio exceeds this (default: 2)")
    parser.add_argument("--rounds", type=int, default=7, help="measurement rounds (default: 7)")
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a turn (default: 0.02)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of elements (default: 100 100000)")
    parser.add_argument("--how", nargs="+", choices=HOW, default=HOW, help="how ops run (default: eager function)")
    parser.add_argument("--timeout", type=float, default=60, help="maximum seconds per op (default: 60)")
    parser.add_argument("--json", action="store_true", help="print all results as lines of JSON")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        _work(arguments)
        return 0
    load_habana_module()
    worker = Worker([sys.executable, "-m", "benchmarks.op_times", "--worker", *sys.argv[1:]], arguments.timeout)
    count = slow = 0
    for op in swept_ops.names(arguments.ops):
        for row in worker.rows(op):
            count += 1
            slow += row.ratio > arguments.ratio
            if arguments.json:
                print(json.dumps(dataclasses.asdict(row)), flush=True)
            elif row.ratio > arguments.ratio:
                print(
                    f"{row.op}, {row.how}, {row.elements} elements: {row.hpu * 1e6:.1f} us, {row.ratio:.1f} x the CPU; "
                    f"{row.arguments}",
                    flush=True,
                )
    worker.close()
    print(f"{slow} of {count} times exceed {arguments.ratio:g} x the CPU's", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
