"""A dataset over a media pipeline, and a program for Gaudi2 that falls back to tf.data."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow.media import habana_imagenet_dataset
from habana_frameworks.tensorflow.media.habana_dataset import HabanaDataset


class Noise:
    """A media pipeline of three batches of random images."""

    def build(self) -> None:
        self._generator = np.random.default_rng(0)

    def iter_init(self) -> None:
        self._left = 3

    def run(self) -> tuple[Any, Any]:
        if self._left == 0:
            raise StopIteration
        self._left -= 1
        return self._generator.integers(0, 255, (4, 8, 8, 3), np.uint8), self._generator.integers(0, 10, 4, np.int32)


def input_fn(is_training: bool, data_dir: str, batch_size: int) -> tf.data.Dataset:
    print("tf.data reads", data_dir)
    return tf.data.Dataset.range(8).batch(batch_size)


def main() -> None:
    dataset = HabanaDataset(output_shapes=[[4, 8, 8, 3], [4]], output_types=[tf.uint8, tf.int32], pipeline=Noise())
    print("batches", sum(1 for _ in dataset.prefetch(1)))
    fallback = habana_imagenet_dataset(
        fallback=input_fn, is_training=True, tf_data_dir="/data/records", jpeg_data_dir="/data/jpeg", batch_size=4
    )
    print("batches", sum(1 for _ in fallback))


if __name__ == "__main__":
    main()
