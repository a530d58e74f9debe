"""Instructions and launches of the benchmark models' train steps on the Gaudi backend, with the double of SynapseAI.

python -m benchmarks.gaudi_models [--model mlp cnn] [--library build/synapse_double/1.18/libSynapse.so] [--json]

For each HLO opcode after the backend's HLO passes: instructions that became one node, several nodes, or none (views,
constants, nodes that another instruction added), and refused instructions. For each model: nodes, graphs, and calls of
synLaunch in one step, which the double counts. The double's launches are empty here; its tests run them. `make bench`
builds hpu_bench.
Exit code 1: an instruction is refused.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks import hpu_bench

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOUBLE = ROOT / "build/synapse_double/1.18/libSynapse.so"
# Batches that the double computes within minutes, in tests/gaudi/test_models.py.
BATCHES = {
    "mlp": 8,
    "cnn": 4,
    "resnet50": 2,
    "mobilenet": 2,
    "unet": 1,
    "transformer": 2,
    "bert_small": 1,
    "lstm": 4,
}
OUTCOMES = ("one node", "several nodes", "no node", "refused")


@dataclasses.dataclass(frozen=True)
class ModelStep:
    """One train step of a model."""

    model: str
    batch_size: int
    opcodes: dict[str, dict[str, int]]
    """Instructions by opcode, then by outcome."""
    nodes: int
    graphs: int
    launches: int
    """Calls of synLaunch in a step."""

    def total(self, outcome: str) -> int:
        return sum(counts[outcome] for counts in self.opcodes.values())


def launch_count(library: pathlib.Path) -> int:
    """Returns the number of this process's calls of synLaunch in a double that it has loaded."""
    function = ctypes.CDLL(str(library)).synapse_double_launch_count
    function.restype = ctypes.c_uint64
    return int(function())


def run_step(name: str, library: pathlib.Path, program: pathlib.Path) -> int:
    """Writes a model's step as a serialised xla::HloModuleProto, and returns the launches of one run."""
    from benchmarks.models import PROBLEMS, Trainer
    from habana_frameworks.tensorflow import habana_device, load_habana_module

    load_habana_module()
    problem = dataclasses.replace(PROBLEMS[name], batch_size=BATCHES[name])
    trainer = Trainer(problem, "/device:HPU:0", jit_compile=True)
    tensors = trainer.to_device(problem.batch())
    program.write_bytes(trainer.ir("hlo_serialized", *tensors))
    habana_device.synchronize()
    before = launch_count(library)
    trainer.step(*tensors)
    habana_device.synchronize()
    return launch_count(library) - before


def opcodes_of(record: dict[str, float]) -> dict[str, dict[str, int]]:
    """Returns the instructions of a record of hpu_bench by opcode, then by outcome."""
    opcodes: dict[str, dict[str, int]] = {}
    for counter, value in record.items():
        opcode, separator, outcome = counter.rpartition(": ")
        if separator and outcome in OUTCOMES:
            opcodes.setdefault(opcode, {})[outcome] = int(value)
    return opcodes


def measure(name: str, library: pathlib.Path, scratch: pathlib.Path) -> ModelStep:
    """Runs the step in a process of its own, because a process has one HPU. Raises CalledProcessError if it fails."""
    program = scratch / f"{name}.pb"
    environment = {"HPU_BACKEND": f"gaudi:{library}", "SYNAPSE_DOUBLE_EMPTY_LAUNCH": "1"}
    command = [sys.executable, "-m", "benchmarks.gaudi_models", "--library", str(library), "--write", str(program)]
    command += ["--model", name]
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True)
    count = {**environment, "HPU_BENCH_PROGRAM": str(program)}
    record = hpu_bench.run_benchmarks("^Instructions for a Gaudi", count)[0]
    return ModelStep(
        name,
        BATCHES[name],
        opcodes_of(record),
        int(record.get("nodes", 0)),
        int(record.get("graphs", 0)),
        int(done.stdout.splitlines()[-1]),
    )


def models_table(steps: list[ModelStep]) -> str:
    lines = [
        "| model | batch | instructions | " + " | ".join(OUTCOMES) + " | nodes | graphs | `synLaunch` calls a step |",
        "|---|" + "---|" * 8,
    ]
    for step in steps:
        totals = [step.total(outcome) for outcome in OUTCOMES]
        counts = [step.batch_size, sum(totals), *totals, step.nodes, step.graphs, step.launches]
        lines.append(f"| {step.model} | " + " | ".join(f"{count:,}" for count in counts) + " |")
    return "\n".join(lines)


def opcodes_table(steps: list[ModelStep]) -> str:
    """Cells: instructions with one node / several nodes / no node, and the refused ones if there are any."""
    lines = ["| opcode | " + " | ".join(step.model for step in steps) + " |", "|---|" + "---|" * len(steps)]
    for opcode in sorted({opcode for step in steps for opcode in step.opcodes}):
        cells: list[str] = []
        for step in steps:
            counts = step.opcodes.get(opcode)
            shown = [] if counts is None else [counts[outcome] for outcome in OUTCOMES[:3]]
            text = " / ".join(map(str, shown))
            cells.append(f"{text}, {counts['refused']} refused" if counts and counts["refused"] else text)
        lines.append(f"| {opcode} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=BATCHES, default=list(BATCHES))
    parser.add_argument("--library", type=pathlib.Path, default=DOUBLE, help="the double (default: of release 1.18)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--write", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    library = arguments.library.resolve()
    if arguments.write is not None:
        print(run_step(arguments.model[0], library, arguments.write))
        return 0
    steps = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.model:
            try:
                steps.append(measure(name, library, pathlib.Path(scratch)))
            except hpu_bench.MissingProgramError as error:
                print(error, file=sys.stderr)
                return 2
    if arguments.json:
        print(json.dumps([dataclasses.asdict(step) for step in steps], indent=2))
    else:
        print(models_table(steps), opcodes_table(steps), sep="\n\n")
    return int(any(step.total("refused") for step in steps))


if __name__ == "__main__":
    sys.exit(main())
