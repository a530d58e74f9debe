"""Records the corpus of the accelerator kit: CPU results, the programs' HLO, and train steps for JAX.

python -m tools.accelerator.record --out DIR
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import pathlib
import sys
from typing import Any

import tensorflow as tf
from tensorflow.compiler.xla import xla_data_pb2
from tensorflow.compiler.xla.service import hlo_pb2

from benchmarks.models import PROBLEMS, Problem, Trainer
from habana_frameworks.tensorflow import load_habana_module
from tools.accelerator import programs, run, training
from tools.accelerator.corpus import Losses, Reference, checksum

CPU, HPU = "/device:CPU:0", "/device:HPU:0"
PRECISIONS = {"float32": "float32", "bfloat16": "mixed_bfloat16"}
"""Keras's policies by precision."""


def record_program(name: str, folder: pathlib.Path) -> None:
    """Writes NAME.npz, NAME.hlo, and NAME.highest.hlo, whose dot products use full precision instead of TF32."""
    built = programs.build(name, CPU)
    inputs = checksum([tensor.numpy() for tensor in built.inputs])
    with tf.device(CPU):
        results = tf.function(built.function)(*built.inputs)
    Reference.of(inputs, programs.flat_results(built, results)).write(folder / f"{name}.npz")
    for suffix, tf32 in (("", True), (".highest", False)):
        tf.config.experimental.enable_tensor_float_32_execution(tf32)
        on_hpu = programs.build(name, HPU)
        show = tf.function(on_hpu.function, jit_compile=True).experimental_get_compiler_ir(*on_hpu.inputs)
        (folder / f"{name}{suffix}.hlo").write_bytes(show(stage="hlo_serialized", device_name=HPU))
    tf.config.experimental.enable_tensor_float_32_execution(True)


def problem_of(name: str, batch: int) -> Problem:
    """Returns a benchmark model with this batch size."""
    return dataclasses.replace(PROBLEMS[name], batch_size=batch)


def record_step(name: str, batch: int, precision: str, folder: pathlib.Path) -> None:
    """Writes a train step's NAME.BATCH.PRECISION.hlo, and NAME.BATCH.PRECISION.json with its interface."""
    problem = problem_of(name, batch)
    tf.keras.mixed_precision.set_global_policy(PRECISIONS[precision])
    trainer = Trainer(problem, HPU, jit_compile=True)
    hlo = without_copies(trainer.ir("hlo_serialized", *trainer.to_device(problem.batch())))
    (folder / f"{name}.{batch}.{precision}.hlo").write_bytes(hlo)
    (folder / f"{name}.{batch}.{precision}.json").write_text(json.dumps(interface_of(hlo)))
    tf.keras.mixed_precision.set_global_policy("float32")


def record_losses(name: str, folder: pathlib.Path) -> None:
    """Writes NAME.json: losses of training.STEPS steps in float32 on the CPU, by TensorFlow's kernels and by XLA."""
    losses = Losses(*(training.train(PROBLEMS[name], device, training.STEPS)[0] for device in (CPU, HPU)))
    losses.write(folder / f"{name}.json")


def without_copies(hlo: bytes) -> bytes:
    """Returns the program without copies. JAX passes StableHLO to its plugins, and StableHLO has no copies."""
    module = hlo_pb2.HloModuleProto.FromString(hlo)
    for computation in module.computations:
        copied = {one.id: one.operand_ids[0] for one in computation.instructions if one.opcode == "copy"}

        def source(number: int, copied: dict[int, int] = copied) -> int:
            while number in copied:
                number = copied[number]
            return number

        kept = [one for one in computation.instructions if one.opcode != "copy"]
        for one in kept:
            one.operand_ids[:] = [source(number) for number in one.operand_ids]
            one.control_predecessor_ids[:] = [source(number) for number in one.control_predecessor_ids]
        computation.root_id = source(computation.root_id)
        del computation.instructions[:]
        computation.instructions.extend(kept)
    return bytes(module.SerializeToString())


def interface_of(hlo: bytes) -> dict[str, Any]:
    """Returns type and shape of each argument of a program, and its aliases (results that reuse argument memory)."""
    module = hlo_pb2.HloModuleProto.FromString(hlo)
    arguments = [
        {"type": xla_data_pb2.PrimitiveType.Name(shape.element_type), "dimensions": list(shape.dimensions)}
        for shape in module.host_program_shape.parameters
    ]
    aliases = [(entry.output_shape_index[0], entry.parameter_number) for entry in module.input_output_alias.entries]
    return {"arguments": arguments, "aliases": aliases}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    out: pathlib.Path = parser.parse_args().out
    load_habana_module()
    (out / "programs").mkdir(parents=True, exist_ok=True)
    (out / "steps").mkdir(exist_ok=True)
    (out / "losses").mkdir(exist_ok=True)
    for name in (*run.OTHER_PROGRAMS, *run.PROGRAMS):
        record_program(name, out / "programs")
        print(name, flush=True)
    for name in run.MODELS:
        for batch, precision in itertools.product(run.BATCHES[name], PRECISIONS):
            record_step(name, batch, precision, out / "steps")
            print(name, batch, precision, flush=True)
        record_losses(name, out / "losses")
    return 0


if __name__ == "__main__":
    sys.exit(main())
