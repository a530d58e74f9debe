"""Datasets that end on the HPU: copies run while the device computes; iterators may be placed there by hand."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import device_trace
from tests.profiling import traces
from tests.support.compare import HPU

pytestmark = pytest.mark.usefixtures("hpu")

ROWS, COLUMNS = 8192, 1024


@pytest.fixture
def hard_placement() -> Iterator[None]:
    """What cannot be where it is placed is an error."""
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(before)


def batches(count: int) -> tf.data.Dataset:
    def batch(index: tf.Tensor) -> tf.Tensor:
        return tf.fill([ROWS, COLUMNS], tf.cast(index, tf.float32))

    with tf.device(None):  # the pipeline is the host's, but for its end
        dataset = tf.data.Dataset.range(count).map(batch)
    return dataset.apply(tf.data.experimental.prefetch_to_device(HPU, buffer_size=2))


def test_copies_run_under_compute(tmp_path: pathlib.Path) -> None:
    @tf.function
    def train(x: tf.Tensor) -> tf.Tensor:
        for _ in range(10):
            x = tf.sin(x) + x
        return tf.reduce_max(x)

    expected = [float(train(batch)) for batch in batches(3)]  # compiled before, and the memory touched
    with device_trace.record(tmp_path / "trace.json"):
        losses = []
        for batch in batches(8):
            assert batch.device.endswith(HPU)
            losses.append(float(train(batch)))
    assert losses[:3] == expected
    events = traces.read_chrome(tmp_path / "trace.json")
    steps = [event for event in traces.of_lane(events, "Compute") if "train" in event.name]
    copies = [
        event
        for event in traces.of_lane(events, "Copies to the device")
        if event.stats.get("bytes") == ROWS * COLUMNS * 4
    ]
    assert len(steps) == len(copies) == 8
    under = [copy for copy in copies if any(copy.overlaps(step) for step in steps)]
    # Of the first one no step can hide anything, and a busy machine may start a step late.
    assert len(under) >= 3, f"{len(under)} of the copies ran while a step did"


def test_dropped_batches_do_no_harm() -> None:
    """A copy whose tensor is dropped may still run when its memory has another owner."""
    for _ in range(2):
        kept = []
        for index, batch in enumerate(batches(6)):
            if index % 2:
                kept.append(batch + 1.0)
            del batch
            with tf.device(HPU):
                kept.append(tf.fill([ROWS, COLUMNS], 7.0) * 1.0)
        numbers = [float(tf.reduce_min(value)) for value in kept]
        assert numbers == [float(tf.reduce_max(value)) for value in kept]
        assert numbers == [7.0, 2.0, 7.0, 7.0, 4.0, 7.0, 7.0, 6.0, 7.0]


def test_keras() -> None:
    rows = np.arange(64, dtype=np.float32).reshape(16, 4) / 64
    dataset = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(4)
    with tf.device(HPU):
        dataset = dataset.apply(tf.data.experimental.prefetch_to_device(HPU))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    history = model.fit(dataset, epochs=3, verbose=0).history["loss"]
    assert history[-1] < history[0]
    assert model.predict(dataset.map(lambda x, y: x), verbose=0).shape == (16, 1)


def test_iterator_on_the_hpu_by_hand(hard_placement: None) -> None:
    with tf.device(HPU):
        iterator = iter(batches(3))
        values = [next(iterator) for _ in range(3)]
        optional = iterator.get_next_as_optional()
    assert [float(value[0, 0]) for value in values] == [0.0, 1.0, 2.0]
    assert all(value.device.endswith(HPU) for value in values)
    assert not optional.has_value()

    with tf.device(HPU):
        iterator = iter(batches(2))

        @tf.function
        def following() -> tf.Tensor:
            return tf.reduce_max(next(iterator)) + 1.0

        assert [float(following()), float(following())] == [1.0, 2.0]


def test_session() -> None:
    with tf.Graph().as_default():
        with tf.device(HPU):
            dataset = batches(3)
            iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
            row = iterator.get_next()
            result = tf.reduce_max(row) * 2.0
        config = tf.compat.v1.ConfigProto(allow_soft_placement=False)
        with tf.compat.v1.Session(config=config) as session:
            session.run(iterator.initializer)
            assert [session.run(result) for _ in range(3)] == [0.0, 2.0, 4.0]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(result)
