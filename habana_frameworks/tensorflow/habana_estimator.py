"""HabanaEstimator: an Estimator whose datasets are iterated on the HPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow_estimator.python.estimator import util

import tensorflow as tf

__all__ = ["HabanaEstimator"]

_HPU = "/device:HPU:0"


class HabanaEstimator(tf.estimator.Estimator):
    """tf.estimator.Estimator with the same constructor and methods. Call load_habana_module() before train().

    If input_fn returns a Dataset, its iterator is created on /device:HPU:0 rather than on the CPU. Batches prefetched
    by tf.data.experimental.prefetch_to_device("/device:HPU:0") therefore stay on the device.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Estimator rejects subclasses that override a method, so this replaces the attribute.
        self._get_features_and_labels_from_input_fn = self._iterate_on_hpu

    def _iterate_on_hpu(self, input_fn: Callable[..., Any], mode: str) -> Any:
        result = self._call_input_fn(input_fn, mode)
        if not isinstance(result, tf.data.Dataset):
            return util.parse_input_fn_result(result)
        with tf.device(_HPU):
            return util.parse_input_fn_result(result)
