"""Loss scaling for TF_ENABLE_AUTO_MIXED_PRECISION. The plugin converts the graphs to bfloat16."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from habana_frameworks.tensorflow import flags

# Attribute of an optimizer with the wrappers that this module adds, by graph: a loss scale is a variable of one graph.
_WRAPPERS = "_hpu_loss_scale_wrappers"


def scale_v1_optimizers(tf: Any) -> None:
    """Patches TensorFlow 1's Optimizer to add loss scaling. Reads TF_ENABLE_AUTO_MIXED_PRECISION at each call."""
    _V1Optimizers(tf).install()


def scale_keras_optimizers(keras: Any) -> None:
    """Patches Keras's Model.compile to add loss scaling. Reads TF_ENABLE_AUTO_MIXED_PRECISION at each call."""
    import tensorflow as tf

    loss_scale_optimizer = keras.mixed_precision.LossScaleOptimizer
    get_optimizer = keras.Model._get_optimizer

    def scaled(optimizer: Any) -> Any:
        return optimizer if isinstance(optimizer, loss_scale_optimizer) else loss_scale_optimizer(optimizer)

    @functools.wraps(get_optimizer)
    def wrapped(self: Any, optimizer: Any) -> Any:
        chosen = get_optimizer(self, optimizer)
        return tf.nest.map_structure(scaled, chosen) if flags.tf_enable_auto_mixed_precision() else chosen

    keras.Model._get_optimizer = wrapped


class _V1Optimizers:
    """Loss scaling in compute_gradients() and apply_gradients() of TensorFlow 1's optimizers.

    compute_gradients() returns unscaled gradients, so programs may clip or reduce them before apply_gradients(), which
    skips the step if a gradient is not finite. minimize(), Estimators and Horovod's optimizer call these two methods.
    """

    def __init__(self, tf: Any) -> None:
        from tensorflow.python.training.experimental import loss_scale_optimizer

        self._tf = tf
        self._class = tf.compat.v1.train.Optimizer
        self._wrapper_class = loss_scale_optimizer.MixedPrecisionLossScaleOptimizer
        # Optimizers whose loss the program scales, and optimizers that are being called by their wrapper.
        self._scaled: weakref.WeakSet[Any] = weakref.WeakSet()

    def install(self) -> None:
        compute, apply = self._class.compute_gradients, self._class.apply_gradients
        wrap = self._wrapper_class.__init__

        @functools.wraps(wrap)
        def wrap_for_program(wrapper: Any, opt: Any, loss_scale: Any) -> None:
            wrap(wrapper, opt, loss_scale)
            self._scaled.add(opt)

        @functools.wraps(compute)
        def compute_gradients(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not flags.tf_enable_auto_mixed_precision() or self._has_scale(optimizer):
                return compute(optimizer, *args, **kwargs)
            return self._call_wrapper(optimizer, self._wrapper_of(optimizer).compute_gradients, *args, **kwargs)

        @functools.wraps(apply)
        def apply_gradients(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            wrapper = getattr(optimizer, _WRAPPERS, {}).get(self._graph())
            # No wrapper: the program has not called compute_gradients(), so its gradients are not scaled here.
            if wrapper is None or self._has_scale(optimizer):
                return apply(optimizer, *args, **kwargs)
            return self._call_wrapper(optimizer, wrapper.apply_gradients, *args, **kwargs)

        self._wrapper_class.__init__ = wrap_for_program
        self._class.compute_gradients = compute_gradients
        self._class.apply_gradients = apply_gradients

    def _has_scale(self, optimizer: Any) -> bool:
        return optimizer in self._scaled or isinstance(optimizer, self._wrapper_class)

    def _graph(self) -> Any:
        """The graph that owns variables created now: the default graph, or the outermost graph of functions."""
        with self._tf.init_scope():
            return self._tf.compat.v1.get_default_graph()

    def _wrapper_of(self, optimizer: Any) -> Any:
        if not hasattr(optimizer, _WRAPPERS):
            setattr(optimizer, _WRAPPERS, {})
        wrappers, graph = getattr(optimizer, _WRAPPERS), self._graph()
        if graph not in wrappers:
            wrappers[graph] = self._wrapper_class(optimizer, "dynamic")
            self._scaled.discard(optimizer)
        return wrappers[graph]

    def _call_wrapper(self, optimizer: Any, method: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls a method of the optimizer's wrapper. The wrapper's own calls of the optimizer are not scaled again."""
        self._scaled.add(optimizer)
        try:
            return method(*args, **kwargs)
        finally:
            self._scaled.discard(optimizer)
