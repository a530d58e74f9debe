"""Events: order of streams' work, and elapsed times."""

from __future__ import annotations

import gc
import os
import time

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import flags, habana_device
from habana_frameworks.tensorflow.errors import DeviceError
from habana_frameworks.tensorflow.habana_device import Event, Stream

pytestmark = pytest.mark.usefixtures("hpu")


@tf.function
def work(x: tf.Tensor) -> tf.Tensor:
    for _ in tf.range(60):
        x = tf.tanh(tf.linalg.matmul(x, x))
    return x


@pytest.fixture(scope="module")
def matrix() -> tf.Tensor:
    with tf.device("/device:HPU:0"):
        x = tf.random.stateless_normal([384, 384], [1, 2])
        work(x).numpy()  # compiles the op
        return x


def test_time_between_events(matrix: tf.Tensor) -> None:
    begin, middle, end = (Event(enable_timing=True) for _ in range(3))
    began = time.perf_counter()
    begin.record()
    with tf.device("/device:HPU:0"):
        y = work(matrix)
    middle.record()
    with tf.device("/device:HPU:0"):
        z = work(y)
    end.record()
    total = begin.elapsed_time(end)
    elapsed = (time.perf_counter() - began) * 1e3
    assert 0 < begin.elapsed_time(middle) < total <= elapsed
    assert begin.elapsed_time(middle) + middle.elapsed_time(end) == pytest.approx(total)
    assert end.elapsed_time(begin) == -total
    assert begin.query() and end.query()
    assert np.isfinite(z.numpy()).all()


def test_synchronize_waits_for_the_work_before(matrix: tf.Tensor) -> None:
    event = Event()
    assert event.query(), "an event that was not recorded counts as reached"
    seen = []
    for _ in range(5):
        with tf.device("/device:HPU:0"):
            work(matrix)
        event.record()
        seen.append(event.query())
        event.synchronize()
        assert event.query()
    assert not all(seen), "the work had ended each time before it was asked for"


@pytest.mark.parametrize("stream", [Stream.HOST_TO_DEVICE, Stream.DEVICE_TO_HOST])
def test_streams_wait_for_each_other(matrix: tf.Tensor, stream: Stream) -> None:
    after_work, after_wait = Event(enable_timing=True), Event(enable_timing=True)
    with tf.device("/device:HPU:0"):
        work(matrix)
    after_work.record(Stream.COMPUTE)
    after_work.wait(stream)
    after_wait.record(stream)
    del matrix
    assert after_work.elapsed_time(after_wait) >= 0
    habana_device.synchronize()
    assert after_wait.query()


def test_an_event_may_be_dropped_while_a_stream_waits_for_it(matrix: tf.Tensor) -> None:
    for _ in range(3):
        event = Event(enable_timing=True)
        with tf.device("/device:HPU:0"):
            work(matrix)
        event.record()
        event.wait(Stream.DEVICE_TO_HOST)
        del event
        gc.collect()
    last = Event()
    last.record(Stream.DEVICE_TO_HOST)
    habana_device.synchronize()
    assert last.query()


def test_events_without_timing(matrix: tf.Tensor) -> None:
    timed, untimed = Event(enable_timing=True), Event()
    timed.record()
    untimed.record()
    with pytest.raises(DeviceError, match="the end event does not record times: create it with enable_timing=True"):
        timed.elapsed_time(untimed)
    with pytest.raises(DeviceError, match="the end event has not been recorded"):
        timed.elapsed_time(Event(enable_timing=True))
    with pytest.raises(ValueError, match="7 is not a valid Stream"):
        timed.record(7)  # type: ignore[arg-type]


def test_the_device_describes_itself() -> None:
    assert habana_device.device_count() >= 1
    model, name = habana_device.get_type(), habana_device.get_device_name()
    if os.environ.get("HPU_BACKEND", "").startswith("pjrt:"):  # programs for Gaudi still read the model of a Gaudi
        assert model == flags.device_type() and "by PJRT, module" in name
    else:
        assert model in name


def test_memory_statistics_follow_tensors() -> None:
    habana_device.reset_peak_memory()
    before = habana_device.memory_info()
    with tf.device("/device:HPU:0"):
        x = tf.zeros([1 << 20]) + 1.0
        habana_device.synchronize()
    held = habana_device.memory_info()
    assert held.in_use - before.in_use >= 4 << 20
    assert held.peak >= held.in_use and held.allocations > before.allocations
    del x
    gc.collect()
    assert habana_device.memory_info().in_use <= held.in_use - (4 << 20)
