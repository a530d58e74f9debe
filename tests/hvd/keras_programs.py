"""Programs for test_keras.py, run by two ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.hvd.results import result


def callbacks() -> None:
    import horovod.tensorflow.keras as hvd

    hvd.init()
    rank = hvd.rank()

    def fit(rate: float, callbacks: Sequence[Any], epochs: int = 1) -> tuple[Any, dict[str, list[float]]]:
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, input_shape=(2,))])
        model.set_weights([np.full([2, 1], rank + 1.0, np.float32)])
        # Momentum correction requires an optimizer whose hyperparameters are variables.
        optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.legacy.SGD(rate, momentum=0.5))
        model.compile(optimizer, "mse")
        x = np.ones([8, 2], np.float32)
        history = model.fit(x, np.zeros([8, 1]), batch_size=4, epochs=epochs, callbacks=callbacks, verbose=0)
        return model, history.history

    still, _ = fit(0.0, [hvd.callbacks.BroadcastGlobalVariablesCallback(1)])
    assert still.trainable_variables[0].device.endswith("HPU:0")
    _, averaged = fit(0.0, [hvd.callbacks.MetricAverageCallback()])
    warmup = hvd.callbacks.LearningRateWarmupCallback(initial_lr=0.4, warmup_epochs=2, steps_per_epoch=2)
    _, warmed = fit(0.4, [warmup], epochs=3)
    schedule = hvd.callbacks.LearningRateScheduleCallback(initial_lr=0.4, multiplier=lambda epoch: 0.5**epoch)
    _, scheduled = fit(0.4, [schedule], epochs=3)
    result(broadcast=still.get_weights()[0], loss=averaged["loss"], warmed=warmed["lr"], scheduled=scheduled["lr"])


def options() -> None:
    import horovod.tensorflow.keras as hvd
    from horovod.tensorflow import Compression

    hvd.init()
    x = np.random.default_rng(0).standard_normal((8, 4, 3), dtype=np.float32)
    mine = x[:, 2 * hvd.rank() : 2 * hvd.rank() + 2].reshape(-1, 3)

    def fit(optimizer: Any = tf.keras.optimizers.SGD, **options: Any) -> np.ndarray:
        tf.keras.utils.set_random_seed(1)
        layers = [tf.keras.layers.Dense(4, activation="relu", input_shape=(3,)), tf.keras.layers.Dense(1)]
        model = tf.keras.Sequential(layers)
        model.compile(hvd.DistributedOptimizer(optimizer(0.1), **options), "mse")
        model.fit(mine, mine.sum(1), batch_size=2, shuffle=False, verbose=0)
        return np.concatenate([weight.ravel() for weight in model.get_weights()])

    old = tf.keras.optimizers.legacy.SGD
    result(
        plain=fit(),
        grouped=fit(groups=1),
        legacy=fit(old),
        legacy_grouped=fit(old, groups=2),
        half=fit(compression=Compression.fp16),
        rarely=fit(backward_passes_per_step=2),
        legacy_rarely=fit(old, backward_passes_per_step=2),
    )
    assert statistics.get().fallbacks == 0
