"""Ops whose compile time on the emulated HPU grows with the sizes of their arguments.

Compiles each op of the op sweep (tests/ops/sweep) and each case of compile_cases.py for arguments of about n elements.
Each is compiled twice: with its arguments, and with all arguments but one as constants of the function. Launches fail.
An op grows if its compile time exceeds a floor, and grows by more than a factor from one n to the next. Both compile
times are then measured again in a new process. The exit status is 1 if an op grows.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import gc
import itertools
import json
import math
import os
import pathlib
import re
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from benchmarks import compile_cases, swept_ops
from habana_frameworks.tensorflow import load_habana_module, statistics
from tests.ops.sweep import generic
from tests.ops.sweep.program import Program

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
_ENVIRONMENT = {
    "HPU_COMPILE_MODE": "strict",
    "HPU_FAULTS": "launch@1+",  # all launches fail, because only compile time counts
    "TF_CPU_RUNTIME_FALLBACK": "forbid",
    "TF_RECIPE_CACHE_PATH": "",
    "HPU_QUIET": "1",
}
_DRAWS = 12
_DRAW_SECONDS = 1.0
_DRAW_BYTES = 1 << 30
_TRIES = 3  # programs per op and size, and workers per program
# Lines of a worker's output: a seed follows; a compile begins.
_SEED = "seed "
_COMPILING = "compiling\n"
_MARGIN_S = 20.0  # for the start of a worker and for drawing arguments


@dataclasses.dataclass(frozen=True)
class Row:
    """Compile time of an op at about `size` elements."""

    op: str
    size: int
    constants: bool  # whether all arguments but one are constants
    elements: int  # of the largest argument or result
    seconds: float  # compile time, with the lowering
    lowering_seconds: float
    call_seconds: float  # first call, with tracing and graph passes
    arguments: str
    exceeded: bool = False  # the time limit, which then is `seconds`


@dataclasses.dataclass(frozen=True)
class Growth:
    """Two successive sizes between which the compile time grows too much."""

    small: Row
    large: Row

    @property
    def exponent(self) -> float:
        """Exponent k of a time that grows with the k-th power of the number of elements."""
        times = max(self.large.seconds, 1e-6) / max(self.small.seconds, 1e-6)
        return math.log(times) / math.log(max(self.large.elements / self.small.elements, 1.01))

    def describe(self) -> str:
        how = ", with constants" if self.large.constants else ""
        limit = "more than " if self.large.exceeded else ""
        return (
            f"{self.large.op}{how}: {self.small.seconds:.2f} s for {self.small.elements} elements, {limit}"
            f"{self.large.seconds:.2f} s for {self.large.elements} (exponent {self.exponent:.1f}; lowering "
            f"{self.large.lowering_seconds:.2f} s); {self.large.arguments}"
        )


def growths(rows: Iterable[Row], factor: float, floor: float) -> list[Growth]:
    """Returns the successive sizes of each op between which the compile time exceeds `floor` and grows by `factor`."""
    found = []
    ordered = sorted(rows, key=lambda row: (row.op, row.constants, row.size))
    for _, group in itertools.groupby(ordered, key=lambda row: (row.op, row.constants)):
        for small, large in zip(rows_of_one := list(group), rows_of_one[1:]):
            if large.seconds > floor and large.seconds > factor * small.seconds:
                found.append(Growth(small, large))
    return found


@contextlib.contextmanager
def _memory_limit() -> Iterator[None]:
    """Allocations of more than _DRAW_BYTES raise MemoryError: some makers draw the square of the chosen elements."""
    old = resource.getrlimit(resource.RLIMIT_DATA)
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + _DRAW_BYTES, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, old)


def _elements(program: Program) -> int | None:
    """Returns the elements of the largest argument or result; None if shape inference rejects the call."""
    sizes = [array.size for array in (*program.arrays, *program.variables)]
    with tf.Graph().as_default():
        try:
            tensors = [tf.constant(array) for array in program.arrays]
            handles = [tf.raw_ops.VarHandleOp(dtype=v.dtype, shape=v.shape) for v in program.variables]
            results = tf.nest.flatten(program.function(*handles, *tensors), expand_composites=True)
        except generic.NoMakerError:
            raise
        except Exception:
            return None
    return max([*sizes, *(r.shape.num_elements() or 0 for r in results if tf.is_tensor(r))], default=0)


@functools.lru_cache(maxsize=len(SIZES))
def _programs(op: str, size: int, first: int) -> list[tuple[int, Program]]:
    """Returns a few programs and their numbers of elements, the closest to `size` first.

    Draws from seed `first` on, and prints each seed first, because some arguments end TensorFlow.
    """
    swept_ops.Sizes(size).install()
    if op in compile_cases.CASES:
        program = dataclasses.replace(compile_cases.CASES[op](size), op=op)
        elements = _elements(program)
        return [] if elements is None else [(elements, program)]
    found: list[tuple[float, int, Program]] = []
    end = time.monotonic() + _DRAW_SECONDS
    for seed in range(first, first + _DRAWS):
        print(f"{_SEED}{seed}", flush=True)
        try:
            with _memory_limit():
                program = swept_ops.program(op, size, np.random.default_rng(seed))
        except MemoryError:
            continue
        elements = _elements(program)
        if elements is not None and elements <= 20 * size:
            found.append((abs(math.log(max(elements, 1) / size)), elements, dataclasses.replace(program, op=op)))
        if time.monotonic() > end or sum(distance < 0.7 for distance, _, _ in found) == _TRIES:
            break
    return [(elements, program) for _, elements, program in sorted(found, key=lambda each: each[0])[:_TRIES]]


def _with_constants(program: Program) -> Program:
    """Returns the program with all arguments as constants, except the largest array, preferably of floats."""
    places = [i for i in range(len(program.arrays)) if i not in program.constants]
    fed = max(places, key=lambda i: (program.arrays[i].dtype.kind not in "iub", program.arrays[i].size), default=None)
    return dataclasses.replace(program, constants=frozenset(range(len(program.arrays))) - {fed})


def _compile(program: Program, device: str = "/device:HPU:0") -> tuple[float, float, float] | None:
    """Returns the seconds of the compile, of the lowering and of the call. None: no recipe was compiled."""
    with tf.device(device):
        variables = [tf.Variable(value) for value in program.variables]
        fed = [tf.constant(array) for i, array in enumerate(program.arrays) if i not in program.constants]

        def call(*tensors: tf.Tensor) -> Any:
            rest = iter(tensors)
            arguments = [tf.constant(a) if i in program.constants else next(rest) for i, a in enumerate(program.arrays)]
            flat = tf.nest.flatten(program.function(*[v.handle for v in variables], *arguments), expand_composites=True)
            return [one for one in flat if tf.is_tensor(one) and one.dtype not in (tf.resource, tf.variant)]

        function = tf.function(call, autograph=False)
        statistics.reset()
        begin = time.perf_counter()
        _attempt(function, *fed)
        seconds = time.perf_counter() - begin
        clusters = [cluster for cluster in statistics.get().clusters if cluster.recipes]
        for _ in range(_TRIES):  # the next read reports the failed launch
            if _attempt(lambda: tf.constant(np.ones(3, np.float32)).numpy()):
                break
    if not clusters:
        return None
    return sum(c.compile_seconds for c in clusters), sum(c.lowering_seconds for c in clusters), seconds


def _attempt(call: Any, *arguments: Any) -> bool:
    try:
        call(*arguments)
    except Exception:
        return False
    return True


def _row(op: str, size: int, constants: bool, first: int) -> Row | None:
    for elements, drawn in _programs(op, size, first):
        program = _with_constants(drawn) if constants else drawn
        if constants and program.constants == drawn.constants:
            continue
        print(_COMPILING, end="", flush=True)
        times = _compile(program)
        if times is not None:
            return Row(op, size, constants, elements, *times, program.describe()[:160])
    return None


def _work() -> None:
    """Answers requests, which are the arguments of _row() as JSON, by lines of progress and at most one row."""
    load_habana_module()
    tf.get_logger().setLevel("ERROR")
    _compile(compile_cases.CASES["case:Sort"](10))  # the first compile in a process takes longer
    for line in sys.stdin:
        try:
            row = _row(*json.loads(line))
        except generic.NoMakerError:
            row = None
        if row is not None:
            print(json.dumps(dataclasses.asdict(row)), flush=True)
        print(flush=True)
        gc.collect()


class Compiler:
    """Compiles ops in a worker. A worker that ends, or exceeds the time limit, is replaced."""

    def __init__(self, command: Sequence[str], limit: float, first: int = 0) -> None:
        self._limit = limit
        self._first = first
        self._worker = swept_ops.LineWorker(command, limit + _MARGIN_S)

    def rows(self, op: str, constants: bool, sizes: Iterable[int]) -> Iterator[Row]:
        """Yields rows up to the first size that exceeds the limit. Omits sizes that add no elements."""
        last = None
        for size in sizes:
            row = self._row(op, size, constants)
            if row is None or (last is not None and row.elements < 2 * last.elements and not row.exceeded):
                continue
            yield row
            last = row
            if row.seconds >= self._limit:
                break

    def restart(self) -> None:
        self._worker.close()

    def _row(self, op: str, size: int, constants: bool) -> Row | None:
        first, row = self._first, None
        for _ in range(_TRIES):
            compiling = False
            try:
                for line in self._worker.ask(json.dumps([op, size, constants, first])):
                    if line == _COMPILING:
                        compiling = True
                    elif line.startswith(_SEED):
                        first = int(line[len(_SEED) :]) + 1
                    else:
                        row = Row(**json.loads(line))
                return row
            except swept_ops.WorkerEndedError as error:
                print(f"{op}, {size} elements: the worker ended: {error}", file=sys.stderr)
                if error.timed_out and compiling:
                    return Row(op, size, constants, size, self._limit, 0.0, self._limit, "", True)
        return None


def _confirmed(found: Growth, compiler: Compiler) -> list[Row]:
    """Returns the rows of both sizes, each with the shorter time of two processes."""
    if found.large.exceeded:
        return [found.small, found.large]
    compiler.restart()
    sizes = [found.small.size, found.large.size]
    again = {row.size: row for row in compiler.rows(found.large.op, found.large.constants, sizes)}
    return [min(row, again.get(row.size, row), key=lambda row: row.seconds) for row in (found.small, found.large)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "ops", nargs="*", default=[".*"], metavar="REGEX", help="ops and cases whose whole name matches"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, help="numbers of elements (default: 100 to 10^6)"
    )
    parser.add_argument("--factor", type=float, default=4.0, help="growth from one size to the next (default: 4)")
    parser.add_argument("--floor", type=float, default=0.2, help="seconds that do not count as growth (default: 0.2)")
    parser.add_argument("--limit", type=float, default=60.0, help="maximum seconds per compile (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="first seed of the arguments (default: 0)")
    parser.add_argument("--json", action="store_true", help="print all times as lines of JSON")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.update(_ENVIRONMENT)
    if arguments.worker:
        _work()
        return 0
    load_habana_module()
    pattern = "|".join(f"(?:{one})" for one in arguments.ops)
    ops = [*swept_ops.names(pattern), *(name for name in compile_cases.CASES if re.fullmatch(pattern, name))]
    command = [sys.executable, "-m", "benchmarks.compile_growth", "--worker"]
    compiler = Compiler(command, arguments.limit, arguments.seed)
    count, compiled = 0, set()
    growing = []
    for op, constants in itertools.product(ops, (False, True)):
        rows = list(compiler.rows(op, constants, sorted(arguments.sizes)))
        count += len(rows)
        compiled |= {row.op for row in rows}
        for row in rows if arguments.json else ():
            print(json.dumps(dataclasses.asdict(row)), flush=True)
        for found in growths(rows, arguments.factor, arguments.floor):
            for growth in growths(_confirmed(found, compiler), arguments.factor, arguments.floor):
                growing.append(growth)
                print(growth.describe(), file=sys.stderr if arguments.json else sys.stdout, flush=True)
    compiler.restart()
    print(f"{count} compiles of {len(compiled)} of {len(ops)} ops and cases; {len(growing)} grow", file=sys.stderr)
    return 1 if growing else 0


if __name__ == "__main__":
    sys.exit(main())
