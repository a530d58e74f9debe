"""Concurrent use of one device by eager code, Sessions and device listings (several Device objects)."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.client import device_lib

from tests.device import views_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def test_views_share_the_device_without_overwriting_each_other(hpu: str) -> None:
    with tf.device(hpu):
        variable = tf.Variable(np.full(1000, 3.0, np.float32))
        eager = tf.identity(tf.constant(np.full(1000, 5.0, np.float32)))
    with tf.Graph().as_default():
        with tf.device(hpu):
            constant = tf.identity(tf.constant(np.full(1000, 7.0, np.float32)))
            stored = tf.compat.v1.Variable(np.full(1000, 9.0, np.float32), use_resource=True)
            read = tf.identity(stored)
        with tf.compat.v1.Session() as one, tf.compat.v1.Session() as other:
            one.run(stored.initializer)
            devices = device_lib.list_local_devices()
            for session in (one, other):
                np.testing.assert_array_equal(session.run(constant), np.full(1000, 7.0, np.float32))
            np.testing.assert_array_equal(one.run(read), np.full(1000, 9.0, np.float32))
            np.testing.assert_array_equal(eager.numpy(), np.full(1000, 5.0, np.float32))
    assert [device.name for device in devices if device.device_type == "HPU"] == [hpu]
    np.testing.assert_array_equal(variable.numpy(), np.full(1000, 3.0, np.float32))


def test_the_device_is_the_default(hpu: str) -> None:
    assert tf.identity(tf.constant([1.0])).device.endswith(hpu)


def test_attributes(hpu: str) -> None:
    (device,) = [device for device in device_lib.list_local_devices() if device.device_type == "HPU"]
    assert device.memory_limit > 0
    assert tf.config.list_physical_devices("HPU")[0].name == "/physical_device:HPU:0"
    details = tf.config.experimental.get_device_details(tf.config.list_physical_devices("HPU")[0])
    assert details["device_name"]


@pytest.mark.parametrize("count", [0, 1])
def test_a_session_may_leave_the_device_out(hpu: str, count: int) -> None:
    config = tf.compat.v1.ConfigProto(device_count={"HPU": count})
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        names = [device.name for device in session.list_devices()]
    assert len([name for name in names if name.endswith(hpu)]) == count


def test_device_counts_of_other_types_do_not_hide_the_device(hpu: str) -> None:
    config = tf.compat.v1.ConfigProto(device_count={"CPU": 1, "GPU": 0})
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        assert any(device.name.endswith(hpu) for device in session.list_devices())


def test_a_hidden_device_is_not_listed() -> None:
    run_with_tensorflow(call_to(programs.hide_device))


def test_listing_takes_no_module() -> None:
    run_with_tensorflow(call_to(programs.list_devices))
