"""util and the learning rate schedule."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import HabanaEstimator, errors, util
from habana_frameworks.tensorflow.optimizers.cyclical_learning_rate import CyclicalLearningRate
from tests.python import util_programs as programs
from tests.support.keras_package import legacy_optimizers
from tests.support.processes import call_to, run_with_tensorflow


def test_device_name(hpu: str) -> None:
    assert util.is_hpu_available() and util.device_name() == hpu


def test_device_name_without_the_hpu() -> None:
    run_with_tensorflow(call_to(programs.device_name_without_hpu))


def test_another_keras_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert util.other_keras() is None
    stranger = types.ModuleType("keras")
    stranger.__version__ = "4.0.1"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keras", stranger)
    assert util.other_keras() == "4.0.1"


@pytest.mark.parametrize("mode", ["cycle", "iterations"])
def test_cyclical_learning_rate(hpu: str, mode: str) -> None:
    schedule = CyclicalLearningRate(0.1, 0.5, 4, lambda x: 1 / (1.0 + x), mode)
    rates = [float(schedule(step)) for step in range(17)]
    expected = []
    for step in range(17):
        cycle, place = step // 8 + 1, step % 8
        height = 1 - abs(place - 4) / 4
        expected.append(0.1 + 0.4 * height / (1.0 + (cycle if mode == "cycle" else step)))
    np.testing.assert_allclose(rates, expected, rtol=1e-6)
    again = CyclicalLearningRate.from_config(schedule.get_config())
    assert float(again(3)) == rates[3]

    variable = tf.Variable(1.0)
    optimizer = legacy_optimizers().SGD(schedule)
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), variable)])
    np.testing.assert_allclose(float(variable), 1 - sum(expected[:3]), rtol=1e-6)


@pytest.mark.skipif(hasattr(tf, "estimator"), reason="TensorFlow has an Estimator")
def test_an_estimator_names_the_alternatives() -> None:
    with pytest.raises(errors.TensorFlowError, match=r"lacks: train with Keras's Model.fit or a custom loop"):
        HabanaEstimator(None)


def test_cyclical_learning_rate_of_another_mode() -> None:
    with pytest.raises(ValueError, match="scale_mode='linear' is not one of cycle, iterations"):
        CyclicalLearningRate(0.1, 0.5, 4, lambda x: x, "linear")
