"""Worker that trains an Estimator with HPUStrategy and writes its variables."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, multinode_helpers, statistics
from habana_frameworks.tensorflow.distribute import HPUStrategy

STEPS = 6
GLOBAL_BATCH = 8


def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> tf.estimator.EstimatorSpec:
    initial = tf.constant_initializer(np.random.default_rng(0).normal(size=(4, 1)).astype(np.float32))
    prediction = tf.compat.v1.layers.dense(features, 1, kernel_initializer=initial)
    loss = tf.reduce_mean(tf.square(prediction - labels))  # TensorFlow averages the loss over the workers
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.05)
    train = optimizer.minimize(loss, tf.compat.v1.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def input_fn(input_context: Any = None) -> tf.data.Dataset:
    inputs = np.random.default_rng(1).normal(size=(STEPS * GLOBAL_BATCH, 4)).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((inputs, inputs.sum(axis=1, keepdims=True)))
    if input_context is None:
        return dataset.batch(GLOBAL_BATCH)
    own = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return own.batch(GLOBAL_BATCH // input_context.num_input_pipelines)


def main() -> None:
    directory = pathlib.Path(sys.argv[1])
    load_habana_module()
    strategy = HPUStrategy()
    rank = multinode_helpers.comm_rank()
    config = tf.estimator.RunConfig(str(directory / "model"), train_distribute=strategy)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    specs = tf.estimator.TrainSpec(input_fn, max_steps=STEPS), tf.estimator.EvalSpec(input_fn)
    tf.estimator.train_and_evaluate(estimator, *specs)
    launches = sum(cluster.launches for cluster in statistics.get().launched_clusters)
    assert launches >= STEPS, launches
    if rank == 0:  # only rank 0 writes checkpoints
        values = {name: estimator.get_variable_value(name).tolist() for name in ("dense/kernel", "dense/bias")}
        (directory / "variables.json").write_text(json.dumps(values))


if __name__ == "__main__":
    main()
