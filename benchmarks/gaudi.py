"""Host time of the Gaudi backend with the double of SynapseAI's library.

python -m benchmarks.gaudi [--library build/synapse_double/1.18/libSynapse.so] [--json]

Launches: processor time of the calling thread for a stream's launch, and for synLaunch alone. The double's launches are
empty, so the difference is the backend's own time.
Compilation of a train step of ResNet-50, by phase; the last phase contains the library's own time. `make bench` builds
hpu_bench.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks import hpu_bench

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOUBLE = ROOT / "build/synapse_double/1.18/libSynapse.so"


def write_resnet_step(path: pathlib.Path, side: int = 64, batch: int = 8) -> None:
    """Writes a train step of ResNet-50 with momentum as a serialised xla::HloModuleProto."""
    import tensorflow as tf

    model = tf.keras.applications.ResNet50(weights=None, input_shape=(side, side, 3), classes=10)
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy()

    @tf.function(jit_compile=True)
    def step(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    optimizer.build(model.trainable_variables)
    show = step.experimental_get_compiler_ir(tf.zeros([batch, side, side, 3]), tf.zeros([batch], tf.int64))
    path.write_bytes(show(stage="hlo_serialized", device_name="/device:CPU:0"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, default=DOUBLE, help="a libSynapse.so (default: the double's)")
    parser.add_argument("--program", type=pathlib.Path, help="a serialised HloModuleProto instead of ResNet-50's step")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        program = arguments.program or pathlib.Path(scratch) / "resnet50.pb"
        if arguments.program is None:
            write_resnet_step(program)
        environment = {
            "HPU_BACKEND": f"gaudi:{arguments.library.resolve()}",
            "HPU_BENCH_PROGRAM": str(program),
            "SYNAPSE_DOUBLE_EMPTY_LAUNCH": "1",
        }
        try:
            times = hpu_bench.best_times("^Gaudi ", environment, seconds=0.05)
        except hpu_bench.MissingProgramError as error:
            print(error, file=sys.stderr)
            return 2
    if arguments.json:
        print(json.dumps(times, indent=2))
        return 0
    for name, seconds in times.items():
        print(f"{name:60} {seconds * 1e3:10.3f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
