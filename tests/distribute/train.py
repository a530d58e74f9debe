"""Worker that trains small models with HPUStrategy and writes results to files.

Initial weights and batches are independent of the number of workers, so the final weights must also be.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.models import CLASSES, transformer
from habana_frameworks.tensorflow import load_habana_module, multinode_helpers, statistics
from habana_frameworks.tensorflow.distribute import HPUStrategy
from tests.support.compare import distance
from tests.support.keras_package import variable_of

GLOBAL_BATCH = 16


def cnn() -> tf.keras.Model:
    """CNN without batch normalisation and dropout, which depend on a worker's part of the batch."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(8, 3, padding="same", activation="relu", input_shape=(12, 12, 1)),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ]
    )


def normed() -> tf.keras.Model:
    """CNN with batch normalisation over the global batch."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(8, 3, padding="same", input_shape=(12, 12, 1)),
            layers.BatchNormalization(synchronized=True),
            layers.ReLU(),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ]
    )


MODELS = {
    "cnn": (cnn, (12, 12, 1)),
    "normed": (normed, (12, 12, 1)),
    "transformer": (lambda: transformer(depth=1, width=32, heads=2, length=16), (16, 32)),
}


def build(name: str) -> tf.keras.Model:
    model = MODELS[name][0]()
    generator = np.random.default_rng(1)
    # Kernels with the magnitude of Keras's initializers; biases 0, scales 1.
    model.set_weights(
        [
            w if w.ndim == 1 else generator.normal(0, w.size**-0.5 * w.shape[-1] ** 0.5, w.shape).astype(np.float32)
            for w in model.get_weights()
        ]
    )
    return model


def batches(name: str, steps: int) -> tf.data.Dataset:
    generator = np.random.default_rng(0)
    count = steps * GLOBAL_BATCH
    inputs = generator.standard_normal((count, *MODELS[name][1]), dtype=np.float32)
    labels = generator.integers(0, CLASSES, count)
    dataset = tf.data.Dataset.from_tensor_slices((inputs, labels)).batch(GLOBAL_BATCH, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return dataset.with_options(options)


def fit(strategy: tf.distribute.Strategy, name: str, dataset: tf.data.Dataset) -> tuple[tf.keras.Model, list[float]]:
    with strategy.scope():
        model = build(name)
        model.compile(
            tf.keras.optimizers.SGD(0.05),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    history = model.fit(dataset, verbose=0)
    return model, [*history.history["loss"], *model.evaluate(dataset, verbose=0)]


def loop(strategy: tf.distribute.Strategy, name: str, dataset: tf.data.Dataset) -> tuple[tf.keras.Model, list[float]]:
    with strategy.scope():
        model = build(name)
        optimizer = tf.keras.optimizers.SGD(0.05)

    @tf.function
    def step(batch: Any) -> tf.Tensor:
        def replica(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                logits = model(inputs, training=True)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica, batch), axis=None)

    losses = [float(step(batch)) for batch in strategy.experimental_distribute_dataset(dataset)]
    return model, losses


WAYS = {"fit": fit, "loop": loop}


def write_record(
    directory: pathlib.Path,
    label: str,
    model: tf.keras.Model,
    start: list[np.ndarray[Any, Any]],
    numbers: list[float],
    replicas: int,
) -> None:
    """Writes weights_<label>.npz and record_<label>.json for jobs.trained. Counters start at the last reset.

    start: the weights before the first step.
    """
    counts, recipes = statistics.get(), statistics.recipes()
    weights = model.get_weights()
    record = {
        "numbers": numbers,
        "replicas": replicas,
        "travelled": distance(weights, start),
        "fallbacks": counts.fallbacks,
        "clusters": {cluster.name: cluster.launches for cluster in counts.launched_clusters},
        "compiled": recipes.compiled,
        "disk_hits": recipes.disk_hits,
        "loss_scale": loss_scale(getattr(model, "optimizer", None)),
        "devices": sorted({variable_of(weight).device for weight in model.trainable_variables}),
    }
    np.savez(directory / f"weights_{label}.npz", **{str(i): weight for i, weight in enumerate(weights)})
    (directory / f"record_{label}.json").write_text(json.dumps(record))


def loss_scale(optimizer: Any) -> float:
    """The factor of Keras 2's or Keras 3's LossScaleOptimizer; 1 for other optimizers."""
    return float(tf.convert_to_tensor(getattr(optimizer, "loss_scale", getattr(optimizer, "dynamic_scale", 1.0))))


def run(strategy: tf.distribute.Strategy, case: str, steps: int, directory: pathlib.Path) -> None:
    """Trains a case such as cnn-fit, and writes weights_<case>_<rank>.npz and record_<case>_<rank>.json."""
    name, way = case.split("-")
    start = build(name).get_weights()
    statistics.reset()
    model, numbers = WAYS[way](strategy, name, batches(name, steps))
    label = f"{case}_{multinode_helpers.comm_rank()}"
    write_record(directory, label, model, start, numbers, strategy.num_replicas_in_sync)


def set_tf_config(workers: list[str]) -> None:
    """Sets TF_CONFIG as programs for Gaudi do under mpirun."""
    task = {"type": "worker", "index": multinode_helpers.comm_rank()}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": task})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--bucket-bytes", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--addresses", help="host:port of each worker, by rank, for launchers that set no TF_CONFIG")
    parser.add_argument("cases", nargs="+", choices=[f"{model}-{way}" for model in MODELS for way in WAYS])
    arguments = parser.parse_args()
    if arguments.addresses is not None:
        set_tf_config(arguments.addresses.split(","))
    load_habana_module()
    options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=arguments.bucket_bytes)
    strategy = HPUStrategy(communication_options=options)
    for case in arguments.cases:
        run(strategy, case, arguments.steps, arguments.out)


if __name__ == "__main__":
    main()
