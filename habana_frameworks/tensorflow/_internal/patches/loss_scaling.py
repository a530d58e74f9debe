"""Loss scaling for TF_ENABLE_AUTO_MIXED_PRECISION. The plugin converts the graphs to bfloat16."""

from __future__ import annotations

import functools
import importlib
import inspect
import weakref
from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import keras_packages

# Attribute of an optimizer with the wrappers that this module adds, by graph: a loss scale is a variable of one graph.
_WRAPPERS = "_hpu_loss_scale_wrappers"


def scale_v1_optimizers(tf: Any) -> None:
    """Patches TensorFlow 1's Optimizer to add loss scaling. Reads TF_ENABLE_AUTO_MIXED_PRECISION at each call."""
    _V1Optimizers(tf).install()


def scale_keras_optimizers(keras: Any) -> None:
    """Patches Keras's Model.compile to add loss scaling. Reads TF_ENABLE_AUTO_MIXED_PRECISION at each call."""
    loss_scale_optimizer = keras.mixed_precision.LossScaleOptimizer

    def scaled(optimizer: Any) -> Any:
        return optimizer if isinstance(optimizer, loss_scale_optimizer) else loss_scale_optimizer(optimizer)

    if keras_packages.is_keras_2(keras):
        _scale_in_keras_2(keras.Model, scaled)
    else:
        _scale_in_keras_3(importlib.import_module(f"{keras.__name__}.src.trainers.trainer").Trainer, scaled)


def _scale_in_keras_2(model: Any, scaled: Callable[[Any], Any]) -> None:
    import tensorflow as tf

    get_optimizer = model._get_optimizer

    @functools.wraps(get_optimizer)
    def wrapped(self: Any, optimizer: Any) -> Any:
        chosen = get_optimizer(self, optimizer)
        return tf.nest.map_structure(scaled, chosen) if flags.tf_enable_auto_mixed_precision() else chosen

    model._get_optimizer = wrapped


def _scale_in_keras_3(trainer: Any, scaled: Callable[[Any], Any]) -> None:
    compile_model = trainer.compile
    arguments = inspect.signature(compile_model)

    @functools.wraps(compile_model)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
        compile_model(self, *args, **kwargs)
        scales = arguments.bind(self, *args, **kwargs).arguments.get("auto_scale_loss", True)
        if scales and self.optimizer is not None and flags.tf_enable_auto_mixed_precision():
            self.optimizer = scaled(self.optimizer)

    trainer.compile = wrapped


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
        self._base_class = _base_methods(self._class)
        # Optimizers whose loss the program scales.
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
            return self._wrapper_of(optimizer).compute_gradients(*args, **kwargs)

        @functools.wraps(apply)
        def apply_gradients(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            wrapper = getattr(optimizer, _WRAPPERS, {}).get(self._graph())
            # No wrapper: the program has not called compute_gradients(), so its gradients are not scaled here.
            if wrapper is None or self._has_scale(optimizer):
                return apply(optimizer, *args, **kwargs)
            return wrapper.apply_gradients(*args, **kwargs)

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
            wrappers[graph] = self._wrapper_class(self._base_class(optimizer), "dynamic")
        return wrappers[graph]


def _base_methods(base: Any) -> Any:
    """Returns a class of proxies with which a wrapper calls the unpatched methods of `base` on an optimizer.

    An optimizer's class may override the methods, and its overrides call the patched ones: they must not run again.
    """
    compute, apply = base.compute_gradients, base.apply_gradients

    class BaseMethods(base):  # type: ignore[misc]
        def __init__(self, optimizer: Any) -> None:
            super().__init__(optimizer._use_locking, optimizer.get_name())
            self._optimizer = optimizer

        def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
            return compute(self._optimizer, *args, **kwargs)

        def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
            return apply(self._optimizer, *args, **kwargs)

        def variables(self) -> Any:
            return self._optimizer.variables()

    return BaseMethods
