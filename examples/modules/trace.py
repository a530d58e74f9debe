"""Trains a Keras model with a trace file, the step rate for TensorBoard, and statistics of the HPU."""

from __future__ import annotations

import json
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import device_trace, load_habana_module, statistics, tb_utils

BATCH = 16


def main() -> None:
    load_habana_module()
    images = np.random.default_rng(0).normal(size=(8 * BATCH, 10)).astype(np.float32)
    labels = (images.sum(axis=1) > 0).astype(np.float32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy")
    with tempfile.TemporaryDirectory() as directory:
        rate = tb_utils.ExamplesPerSecondKerasHookV2(4, output_dir=directory, batch_size=BATCH)
        trace = pathlib.Path(directory, "trace.json")
        statistics.reset()
        with device_trace.record(trace):
            model.fit(images, labels, BATCH, callbacks=[rate], verbose=0)
        names = [event["name"] for event in json.loads(trace.read_text())["traceEvents"]]
    for cluster in statistics.get().launched_clusters:
        print(f"{cluster.name}: {cluster.ops} ops, {cluster.launches} launches, {cluster.fallbacks} on the CPU")
        print("in the trace:", any(cluster.name in name for name in names))


if __name__ == "__main__":
    main()
