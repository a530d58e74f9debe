"""Program of test_models.py."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib

import tensorflow as tf

from benchmarks.gaudi_models import launch_count
from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow.explanation.collect import Collector

STEPS = 3


def train(name: str, batch_size: int, training: bool) -> None:
    """Trains a model of the benchmarks on the CPU and on the HPU from equal weights. Prints losses and counters.

    training: batch normalisation uses the statistics of the batch.
    """
    load_habana_module()
    tf.keras.utils.set_random_seed(1)
    problem = dataclasses.replace(PROBLEMS[name], batch_size=batch_size)
    on_cpu = Trainer(problem, "/device:CPU:0", training=training)
    on_hpu = Trainer(problem, "/device:HPU:0", training=training, weights=on_cpu.model.get_weights())
    batch = problem.batch()
    expected = on_cpu.losses(batch, STEPS)
    statistics.reset()
    library = pathlib.Path(os.environ["HPU_BACKEND"].partition(":")[2])
    launches_before = launch_count(library)
    collector = Collector()
    collector.start()
    losses = on_hpu.losses(batch, STEPS)
    ops = [op for graph in collector.stop().graphs for op in graph.ops]
    library_launches = launch_count(library) - launches_before
    counters = statistics.get()
    clusters = [cluster for cluster in counters.launched_clusters if "train_step" in cluster.name]
    print(
        json.dumps(
            {
                "expected": expected,
                "losses": losses,
                "fallbacks": counters.fallbacks,
                "ops_of_clusters": sum(op.cluster is not None for op in ops),
                "refused": [op.name for op in ops if op.rule == "compile-error"],
                "library_launches": library_launches,
                "launches": [cluster.launches for cluster in clusters],
            }
        )
    )
