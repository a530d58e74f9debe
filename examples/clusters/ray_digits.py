"""Trains on handwritten digits with Ray Train, one worker per HPU: python examples/clusters/ray_digits.py --workers 2

Needs requirements/ray.txt. On a cluster, start each node with:
ray start … --resources='{"HPU": 0, "hpu_module": 8}'
"""

from __future__ import annotations

import argparse
import os
import pathlib

import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.tensorflow import TensorflowTrainer

# Ray's own resource "HPU" is for Habana's package for PyTorch, which Ray imports unless the number of HPUs is 0.
RESOURCES = {"HPU": 0, "hpu_module": 8}
BATCH = 448  # of all workers together


def train(settings: dict[str, int]) -> None:
    """Trains in one of the workers. Ray has set TF_CONFIG."""
    import sklearn.datasets
    import tensorflow as tf

    from habana_frameworks.tensorflow.distribute import HPUStrategy

    strategy = HPUStrategy()
    images, labels = sklearn.datasets.load_digits(return_X_y=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    # Global batches. Each worker gets an equal part of each batch, so all workers run the same number of steps.
    dataset = tf.data.Dataset.from_tensor_slices((images / 16, labels)).batch(BATCH, drop_remainder=True)
    with strategy.scope():
        layers = [tf.keras.layers.Dense(64, "relu", input_shape=(64,)), tf.keras.layers.Dense(10)]
        model = tf.keras.Sequential(layers)
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    history = model.fit(dataset.with_options(options), epochs=settings["epochs"], verbose=0).history
    ray.train.report(
        {
            "accuracy": history["accuracy"][-1],
            "workers": strategy.num_replicas_in_sync,
            "device": tf.convert_to_tensor(model.weights[0]).device,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--storage", type=pathlib.Path, help="folder for Ray's results (default: ~/ray_results)")
    arguments = parser.parse_args()
    if arguments.storage:
        # Without this variable, Ray also writes a copy of the results to ~/ray_results.
        os.environ.setdefault("RAY_AIR_LOCAL_CACHE_DIR", str(arguments.storage.absolute()))
    if "RAY_ADDRESS" in os.environ:
        ray.init()
    else:
        ray.init(resources=RESOURCES, include_dashboard=False)
    trainer = TensorflowTrainer(
        train,
        train_loop_config={"epochs": arguments.epochs},
        scaling_config=ScalingConfig(
            num_workers=arguments.workers,
            resources_per_worker={"CPU": 1, "hpu_module": 1},
            trainer_resources={"CPU": 0},
        ),
        run_config=RunConfig(storage_path=str(arguments.storage.absolute()) if arguments.storage else None),
    )
    found = trainer.fit().metrics
    assert found is not None
    print(f"{found['workers']} workers, worker 0 on {found['device']}: accuracy {found['accuracy']:.1%}")


if __name__ == "__main__":
    main()
