"""Horovod's Keras callbacks and what its documentation adds to a Keras program."""

from __future__ import annotations

import pathlib
import re

import numpy as np

from tests.hvd.jobs import Start, run_code, run_program
from tests.support.processes import ROOT


def test_callbacks(tmp_path: pathlib.Path) -> None:
    code = """
        import horovod.tensorflow.keras as hvd
        hvd.init()
        rank = hvd.rank()

        def fit(rate, callbacks, epochs=1):
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, input_shape=(2,))])
            model.set_weights([np.full([2, 1], rank + 1.0, np.float32)])
            # Correcting momentum needs an optimizer whose hyperparameters are variables.
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
        result(
            broadcast=still.get_weights()[0], loss=averaged["loss"], warmed=warmed["lr"], scheduled=scheduled["lr"],
        )
    """
    for got in run_code(tmp_path, code):
        np.testing.assert_array_equal(got["broadcast"], [[2.0], [2.0]])
        # (2 * 1)^2 and (2 * 2)^2, averaged.
        np.testing.assert_allclose(got["loss"], [10.0])
        # From a rank's rate up to that of all ranks together: 0.4 / 2 to 0.4.
        assert 0.2 < got["warmed"][0] < got["warmed"][1] <= 0.4 + 1e-6
        np.testing.assert_allclose(got["warmed"][2], 0.4, rtol=1e-5)
        np.testing.assert_allclose(got["scheduled"], [0.4, 0.2, 0.1], rtol=1e-5)


def test_options_of_the_optimizer(tmp_path: pathlib.Path) -> None:
    code = """
        import horovod.tensorflow.keras as hvd
        from horovod.tensorflow import Compression
        from habana_frameworks.tensorflow import statistics
        hvd.init()
        x = np.random.default_rng(0).standard_normal((8, 4, 3), dtype=np.float32)
        mine = x[:, 2 * hvd.rank() : 2 * hvd.rank() + 2].reshape(-1, 3)

        def fit(optimizer=tf.keras.optimizers.SGD, **options):
            tf.keras.utils.set_random_seed(1)
            layers = [tf.keras.layers.Dense(4, activation="relu", input_shape=(3,)), tf.keras.layers.Dense(1)]
            model = tf.keras.Sequential(layers)
            model.compile(hvd.DistributedOptimizer(optimizer(0.1), **options), "mse")
            model.fit(mine, mine.sum(1), batch_size=2, shuffle=False, verbose=0)
            return np.concatenate([weight.ravel() for weight in model.get_weights()])

        old = tf.keras.optimizers.legacy.SGD
        result(
            plain=fit(), grouped=fit(groups=1), legacy=fit(old), legacy_grouped=fit(old, groups=2),
            half=fit(compression=Compression.fp16),
            rarely=fit(backward_passes_per_step=2), legacy_rarely=fit(old, backward_passes_per_step=2),
        )
        assert statistics.get().fallbacks == 0
    """
    for got in run_code(tmp_path, code):
        for name in ("grouped", "legacy", "legacy_grouped"):
            np.testing.assert_allclose(got[name], got["plain"], rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(got["half"], got["plain"], atol=1e-2)
        np.testing.assert_allclose(got["legacy_rarely"], got["rarely"], rtol=1e-6)
        assert np.abs(got["rarely"] - got["plain"]).max() > 1e-2


def test_example(tmp_path: pathlib.Path) -> None:
    done = run_program(tmp_path, ROOT / "examples" / "digits_horovod.py", start=Start.HPU_RUN)
    found = re.search(r"2 ranks on \S*HPU:0: test loss \S+, test accuracy (\S+)%", done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) > 90
