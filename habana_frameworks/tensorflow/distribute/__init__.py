"""Training on several HPUs: one process for each, by TensorFlow's strategies (docs/distributed/training.md)."""

from habana_frameworks.tensorflow.distribute.hpu_strategy import HPUStrategy

__all__ = ["HPUStrategy"]
