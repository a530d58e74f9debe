"""Program of test_device_record.py: a profile of one step on a plugin whose record the program writes itself."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Sequence

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from habana_frameworks.tensorflow import load_habana_module


def write_record(planes: Sequence[str], times: Sequence[int]) -> None:
    """Writes planes with the ids 0, 1, … and an event of 1 us at each time, as the profiler of a card does."""
    space = xplane_pb2.XSpace()
    for number, name in enumerate(planes):
        plane = space.planes.add(id=number, name=name)
        plane.event_metadata[1].id = 1
        plane.event_metadata[1].name = "fusion"
        line = plane.lines.add(id=13, name="Stream #13(Compute)", timestamp_ns=times[0])
        for nanoseconds in times:
            line.events.add(metadata_id=1, offset_ps=(nanoseconds - times[0]) * 1000, duration_ps=1_000_000)
    pathlib.Path(os.environ["FAKE_RECORD"]).write_bytes(space.SerializeToString())


def profile(folder: str, planes: Sequence[str], damaged: bool = False, twice: bool = False) -> None:
    """Profiles a step into `folder`. The events of the record are before and after the step."""
    load_habana_module()

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.matmul(x, x) + 1.0)

    with tf.device("/device:HPU:0"):
        x = tf.ones([64, 64])
        step(x).numpy()
        for number in range(1 + twice):
            tf.profiler.experimental.start(f"{folder}/{number}")
            before = time.time_ns()
            step(x).numpy()
            write_record(planes, (before, time.time_ns()))
            if damaged:
                pathlib.Path(os.environ["FAKE_RECORD"]).write_bytes(b"\xff no XSpace")
            tf.profiler.experimental.stop()
