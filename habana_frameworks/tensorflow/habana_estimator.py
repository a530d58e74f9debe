"""HabanaEstimator: an Estimator whose datasets are iterated on the HPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow import errors

__all__ = ["HabanaEstimator"]

_HPU = "/device:HPU:0"
# Since 2.16, TensorFlow has no Estimator. Programs that only import the class still run.
_Estimator: Any = tf.estimator.Estimator if hasattr(tf, "estimator") else object


class HabanaEstimator(_Estimator):  # type: ignore[misc]
    """tf.estimator.Estimator with the same constructor and methods. Call load_habana_module() before train().

    If input_fn returns a Dataset, its iterator is created on /device:HPU:0 rather than on the CPU. Batches prefetched
    by tf.data.experimental.prefetch_to_device("/device:HPU:0") therefore stay on the device.

    Raises errors.TensorFlowError if TensorFlow has no Estimator.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if _Estimator is object:
            raise errors.TensorFlowError(
                f"HabanaEstimator needs tf.estimator, which TensorFlow {tf.__version__} lacks: train with Keras's "
                "Model.fit or a custom loop, or install TensorFlow 2.15.1"
            )
        super().__init__(*args, **kwargs)
        # Estimator rejects subclasses that override a method, so this replaces the attribute.
        self._get_features_and_labels_from_input_fn = self._iterate_on_hpu

    def _iterate_on_hpu(self, input_fn: Callable[..., Any], mode: str) -> Any:
        from tensorflow_estimator.python.estimator import util

        result = self._call_input_fn(input_fn, mode)
        if not isinstance(result, tf.data.Dataset):
            return util.parse_input_fn_result(result)
        with tf.device(_HPU):
            return util.parse_input_fn_result(result)
