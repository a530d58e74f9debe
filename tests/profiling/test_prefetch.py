"""Prefetching datasets to the HPU: copies overlap with computation. Programs may also place iterators on the HPU."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import device_trace, habana_device
from tests.profiling import traces
from tests.support.compare import HPU
from tests.support.keras_package import TRAIN_FUNCTION

pytestmark = pytest.mark.usefixtures("hpu")

ROWS, COLUMNS = 8192, 1024
ATTEMPTS = 20  # retries, because a busy machine may delay batches or steps


@pytest.fixture
def hard_placement() -> Iterator[None]:
    """Disables soft placement, so that unsupported placement is an error."""
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(before)


def batches(count: int) -> tf.data.Dataset:
    def batch(index: tf.Tensor) -> tf.Tensor:
        return tf.fill([ROWS, COLUMNS], tf.cast(index, tf.float32))

    with tf.device(None):  # only the end of the pipeline is on the HPU
        dataset = tf.data.Dataset.range(count).map(batch)
    return dataset.apply(tf.data.experimental.prefetch_to_device(HPU, buffer_size=2))


def steps_and_copies(trace: pathlib.Path, name: str, size: int) -> tuple[list[traces.Event], list[traces.Event]]:
    """Returns the steps of a function, and the copies of its batches with `size` bytes.

    Checks that both counts are equal.
    """
    events = traces.read_chrome(trace)
    steps = [event for event in traces.of_lane(events, "Compute") if name in event.name]
    copies = [event for event in traces.of_lane(events, "Copies to the device") if event.stats.get("bytes") == size]
    assert len(steps) == len(copies)
    return steps, copies


def test_copies_run_under_compute(tmp_path: pathlib.Path) -> None:
    @tf.function
    def train(x: tf.Tensor) -> tf.Tensor:
        for _ in range(10):
            x = tf.sin(x) + x
        return tf.reduce_max(x)

    expected = [float(train(batch)) for batch in batches(3)]  # compiles, and touches the memory, before the trace
    for attempt in range(ATTEMPTS):
        trace = tmp_path / f"trace{attempt}.json"
        with device_trace.record(trace):
            losses = []
            for batch in batches(8):
                assert batch.device.endswith(HPU)
                losses.append(float(train(batch)))
        assert losses[:3] == expected
        steps, copies = steps_and_copies(trace, "train", ROWS * COLUMNS * 4)
        assert len(steps) == 8
        under = [copy for copy in copies if any(copy.overlaps(step) for step in steps)]
        if len(under) >= 3:  # the first copy precedes every step
            return
    raise AssertionError(f"only {len(under)} copies overlapped with a step")


def batches_in_time(data: tf.data.Dataset, size: int, trace: pathlib.Path) -> tuple[int, int]:
    """Returns how many batches of an epoch of `fit` were on the HPU before the previous step ended, and the total."""

    def long(x: tf.Tensor) -> tf.Tensor:
        for _ in range(8):
            x = tf.sin(x) + x
        return x

    model = tf.keras.Sequential([tf.keras.layers.Lambda(long), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data, verbose=0)  # compiles, and touches the memory, before the trace
    with device_trace.record(trace):
        model.fit(data, verbose=0)
        habana_device.synchronize()
    steps, copies = steps_and_copies(trace, TRAIN_FUNCTION, size)
    return sum(copy.end <= step.end for copy, step in zip(copies[1:], steps)), len(steps)


def test_batches_of_keras_are_prefetched(tmp_path: pathlib.Path) -> None:
    """With prefetching, at least half of the batches arrive before the previous step ends, and more than without."""
    rows = 512

    def batch(index: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.fill([rows, COLUMNS], tf.cast(index, tf.float32)), tf.zeros([rows, 1])

    with tf.device("/device:CPU:0"):
        data = tf.data.Dataset.range(10).map(batch)
    prefetched = data.apply(tf.data.experimental.prefetch_to_device(HPU, buffer_size=2))
    for attempt in range(ATTEMPTS):
        in_time, count = batches_in_time(prefetched, rows * COLUMNS * 4, tmp_path / f"prefetched{attempt}.json")
        without, _ = batches_in_time(data, rows * COLUMNS * 4, tmp_path / f"plain{attempt}.json")
        if in_time >= count // 2 and without < in_time:
            return
    raise AssertionError(f"{in_time} of {count} batches arrived in time; without prefetching: {without}")


def test_dropped_batches_do_no_harm() -> None:
    """The copy of a dropped tensor may still run when its memory has a new owner."""
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
