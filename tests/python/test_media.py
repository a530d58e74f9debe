"""Media: datasets over pipelines, and the fallback for programs that decode images on the card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.media import habana_imagenet_dataset
from habana_frameworks.tensorflow.media.habana_dataset import HabanaDataset


class Tensor:
    """Fake of a tensor of Gaudi's media pipelines."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def as_cpu(self) -> Tensor:
        return self

    def as_nparray(self) -> Any:
        return self.values


class Pipeline:
    def __init__(self, batches: int) -> None:
        self.batches, self.left, self.built = batches, -1, 0

    def build(self) -> None:
        self.built += 1

    def iter_init(self) -> None:
        self.left = self.batches

    def run(self) -> tuple[Any, Any]:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return Tensor(np.full([2, 3], self.left, np.uint8)), np.full([2], self.left, np.int32)


def test_dataset_over_a_pipeline() -> None:
    pipeline = Pipeline(3)
    dataset = HabanaDataset(output_shapes=[[2, 3], [2]], output_types=[tf.uint8, tf.int32], pipeline=pipeline)
    for _ in range(2):  # each pass restarts the pipeline
        batches = list(dataset.prefetch(1))
        assert [int(label[0]) for _, label in batches] == [2, 1, 0]
        assert all(image.dtype == tf.uint8 and image.shape == [2, 3] for image, _ in batches)
    assert pipeline.built == 1


def test_dataset_over_something_else() -> None:
    with pytest.raises(TypeError, match=r"list is not a media pipeline: implement build, iter_init, run\(\)"):
        HabanaDataset([[1]], [tf.int32], [])


def test_fallback_receives_its_arguments() -> None:
    calls = []

    def input_fn(is_training: bool, data_dir: str, batch_size: int, dtype: Any = tf.float32) -> str:
        calls.append((is_training, data_dir, batch_size, dtype))
        return "dataset"

    arguments = {
        "is_training": True,
        "tf_data_dir": "/data",
        "jpeg_data_dir": "/jpeg",
        "batch_size": 8,
        "img_size": 224,
    }
    assert habana_imagenet_dataset(fallback=input_fn, dtype=tf.bfloat16, **arguments) == "dataset"
    assert calls == [(True, "/data", 8, tf.bfloat16)]
    assert habana_imagenet_dataset(fallback=lambda **given: given, **arguments) == arguments
    with pytest.raises(TypeError, match="data_dir"):
        habana_imagenet_dataset(fallback=input_fn, is_training=True, batch_size=8)
