"""Programs for test_memory.py."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import habana_device, load_habana_module


def read_device_memory() -> None:
    """Reads device memory on the host, which kills the program.

    TensorFlow's C interface returns the tensor's device address.
    """
    from tensorflow.python.eager import context

    load_habana_module()
    context.ensure_initialized()
    library = ctypes.CDLL(tf.sysconfig.get_lib() + "/libtensorflow_cc.so.2")
    library.TF_Message.restype = ctypes.c_char_p
    status = None

    def call(name: str, *arguments: Any) -> ctypes.c_void_p:
        function = getattr(library, name)
        function.restype = ctypes.c_void_p
        result = function(*arguments)
        assert result, (name, library.TF_Message(status))
        return ctypes.c_void_p(result)

    status = call("TF_NewStatus")
    capsule = ctypes.py_object(context.context()._handle)
    ctypes.pythonapi.PyCapsule_GetName.restype = ctypes.c_char_p
    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    name = ctypes.c_char_p(ctypes.pythonapi.PyCapsule_GetName(capsule))
    eager = ctypes.c_void_p(ctypes.pythonapi.PyCapsule_GetPointer(capsule, name))

    shape = (ctypes.c_int64 * 1)(100)
    tensor = call("TF_AllocateTensor", tf.float32.as_datatype_enum, shape, 1, ctypes.c_size_t(400))
    ctypes.memset(call("TF_TensorData", tensor), 1, 400)
    on_host = call("TFE_NewTensorHandle", tensor, status)
    on_device = call("TFE_TensorHandleCopyToDevice", on_host, eager, b"/device:HPU:0", status)
    back = call("TFE_TensorHandleResolve", on_device, status)
    assert ctypes.string_at(call("TF_TensorData", back), 400) == bytes([1]) * 400
    address = call("TFE_TensorHandleDevicePointer", on_device, status)
    print("reading", flush=True)
    ctypes.string_at(address, 4)
    print("read", flush=True)


def current(device: str = "HPU:0") -> int:
    """Returns the bytes in use, without Python's garbage."""
    gc.collect()
    return int(tf.config.experimental.get_memory_info(device)["current"])


def hold_and_free_memory() -> None:
    """Needs a process of its own: what ran before in another process may free memory at any time."""
    load_habana_module()
    before = current()
    with tf.device("HPU:0"):
        tensors = [tf.identity(tf.constant(np.ones(1 << 20, np.float32))) for _ in range(4)]
        variable = tf.Variable(np.ones(1 << 18, np.float32))
    held = current() - before
    assert 17 << 20 <= held <= 18 << 20, held
    assert tensors[0].numpy()[0] == 1.0
    del tensors, variable
    assert current() == before
    print("ended")


def reset_the_peak() -> None:
    """Needs a process of its own, like hold_and_free_memory()."""
    load_habana_module()
    tf.config.experimental.reset_memory_stats("HPU:0")
    before = current()
    with tf.device("HPU:0"):
        tensor = tf.identity(tf.constant(np.ones(1 << 20, np.float32)))
    del tensor
    info = tf.config.experimental.get_memory_info("HPU:0")
    assert info["peak"] >= before + (4 << 20) > info["current"]
    tf.config.experimental.reset_memory_stats("HPU:0")
    info = tf.config.experimental.get_memory_info("HPU:0")
    assert info["peak"] == info["current"]
    print("ended")


def limit_memory_like_a_gpu() -> None:
    """Runs the usual first lines of GPU programs on the HPU. Prints the HPU's memory in MiB, and the errors."""
    load_habana_module()
    (hpu,) = tf.config.list_physical_devices("HPU")
    tf.config.experimental.set_memory_growth(hpu, True)
    assert tf.config.experimental.get_memory_growth(hpu)
    limits = [tf.config.LogicalDeviceConfiguration(memory_limit=64)]
    for wrong in (limits * 2, []):
        try:
            tf.config.set_logical_device_configuration(hpu, wrong)
        except ValueError as error:
            print(error)
    tf.config.set_logical_device_configuration(hpu, limits)
    (logical,) = tf.config.list_logical_devices("HPU")
    assert logical.device_type == "HPU"
    with tf.device(logical.name):
        total = float(tf.reduce_sum(tf.ones([1 << 20])))
    print(total, habana_device.memory_info().limit >> 20)
    try:
        tf.config.experimental.set_memory_growth(hpu, False)
    except ValueError as error:
        print(type(error).__name__)
    try:
        tf.config.set_logical_device_configuration(hpu, [tf.config.LogicalDeviceConfiguration(memory_limit=32)])
    except RuntimeError as error:
        print(type(error).__name__)
    try:
        tf.zeros([128, 1 << 20]) + 1.0
    except tf.errors.ResourceExhaustedError:
        print("exhausted")


@tf.function
def graph() -> tf.Tensor:
    with tf.device("HPU:0"):
        return tf.identity(tf.constant(np.arange(20 << 20, dtype=np.uint8)))


# Ops that need 20 MiB of device memory.
USES: dict[str, Callable[[np.ndarray], Any]] = {
    "eager": lambda big: tf.identity(tf.constant(big)),
    "graph": lambda _: graph(),
    "variable": tf.Variable,
}


def exhaust_memory(use: str) -> None:
    load_habana_module()
    big = np.ones(20 << 20, np.uint8)
    with tf.device("HPU:0"):
        small = tf.identity(tf.constant(np.ones(20 << 20, np.uint8)))
        seconds = []
        for _ in range(3):  # retries, because a single attempt may be slow on a busy machine
            begin = time.monotonic()
            try:
                USES[use](big)
                raise AssertionError("fitted")
            except tf.errors.ResourceExhaustedError as error:
                print(error.message)
            seconds.append(time.monotonic() - begin)
        assert min(seconds) < 9.0, seconds  # TensorFlow retries for 10 seconds
        assert small.numpy().sum() == 20 << 20
        del small
        assert tf.identity(tf.constant(big)).numpy().sum() == 20 << 20


def fill_memory(mib: int) -> None:
    """Prints how many tensors of `mib` MiB are on the device when one more does not fit, after one of 1 MiB."""
    load_habana_module()
    tensors = []
    try:
        for size in [1, *[mib] * 200]:
            with tf.device("HPU:0"):
                tensors.append(tf.fill([size << 18], 1.0))
    except tf.errors.ResourceExhaustedError:
        print(len(tensors) - 1)


def acquire() -> None:
    habana_device.acquire()
