"""Training on several HPUs with TensorFlow's strategies, one process per HPU (docs/distributed/training.md)."""

from habana_frameworks.tensorflow.distribute.hpu_strategy import HPUStrategy

__all__ = ["HPUStrategy"]
