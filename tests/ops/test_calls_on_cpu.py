"""Function calls that are not inlined, in clusters that fall back to the CPU."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics

pytestmark = pytest.mark.usefixtures("hpu")


def stateful_call() -> Any:
    return tf.function(
        lambda x, v: [v.assign_add(x), x * 2.0][1], autograph=False, experimental_attributes={"_noinline": True}
    )


@pytest.fixture(autouse=True)
def never_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_COMPILE_MODE", "never")
    statistics.reset()


def test_in_a_session() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        v = tf.Variable([1.0, 2.0])
        x = tf.compat.v1.placeholder(tf.float32, [2])
        call = stateful_call()
        y = call(x, v)
        with tf.control_dependencies([y]):
            y = call(y, v)
        session.run(v.initializer)
        assert session.run(y, {x: [1.0, 1.0]}).tolist() == [4.0, 4.0]
        assert session.run(v.read_value()).tolist() == [4.0, 5.0]
    assert any("never" in cluster.fallback_reasons for cluster in statistics.get().clusters)


def test_in_a_function() -> None:
    v = tf.Variable([1.0, 2.0])
    call = stateful_call()
    outer = tf.function(lambda x: call(call(x, v), v), autograph=False)
    assert outer(tf.constant([1.0, 1.0])).numpy().tolist() == [4.0, 4.0]
    assert v.numpy().tolist() == [4.0, 5.0]
