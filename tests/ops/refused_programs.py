"""Functions with jit_compile=True that cannot be compiled. Prints each error on the HPU as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()


def double(x: Any) -> Any:
    return x * 2


def with_print(x: tf.Tensor) -> tf.Tensor:
    tf.print(x)
    return x * 2.0


def with_queue(x: tf.Tensor) -> tf.Tensor:
    queue = tf.queue.FIFOQueue(2, [tf.float32], shapes=[[2]])
    queue.enqueue(x)
    return queue.dequeue()


def with_called_python(x: tf.Tensor) -> tf.Tensor:
    return tf.function(lambda y: tf.py_function(double, [y], tf.float32))(x) + 1.0


def with_python_in_a_branch(x: tf.Tensor) -> tf.Tensor:
    return tf.cond(x[0] > 0, lambda: tf.py_function(double, [x], tf.float32), lambda: x)


def jpeg_of(x: tf.Tensor) -> tf.Tensor:
    return tf.image.encode_jpeg(tf.cast(tf.ones([4, 4, 3]) * x[0], tf.uint8))


CASES: dict[str, Callable[[tf.Tensor], Any]] = {
    "EagerPyFunc": lambda x: tf.py_function(double, [x], tf.float32) + 1.0,
    "PyFunc": lambda x: tf.numpy_function(double, [x], tf.float32),
    "called Python": with_called_python,
    "Python in a branch": with_python_in_a_branch,
    "PrintV2": with_print,
    "AsString": tf.strings.as_string,
    "StringLength": lambda x: tf.strings.length(tf.strings.as_string(x)),
    "Identity of strings": lambda x: tf.identity(tf.strings.as_string(x)),
    "table": lambda x: TABLE.lookup(tf.cast(x, tf.int32)),
    "mutable table": lambda x: MUTABLE_TABLE.lookup(tf.cast(x, tf.int32)),
    "EncodeJpeg": jpeg_of,
    "DecodeJpeg": lambda x: tf.image.decode_jpeg(jpeg_of(x)),
    "Eig": lambda x: tf.linalg.eigvals(tf.linalg.diag(x)),
    "queue": with_queue,
    "TensorListConcat": lambda x: tf.raw_ops.TensorListConcat(
        input_handle=tf.raw_ops.TensorListFromTensor(tensor=tf.reshape(x, [2, 1]), element_shape=[1]),
        element_dtype=tf.float32,
        element_shape=[None],
    )[0],
    "DebugIdentityV3": lambda x: tf.raw_ops.DebugIdentityV3(input=x, device_name="", tensor_name="x") * 2.0,
    "session tensor": lambda x: tf.raw_ops.DeepCopy(x=x) + 1.0,
}


def main() -> None:
    global TABLE, MUTABLE_TABLE
    TABLE = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [3.0, 4.0]), 0.0)
    MUTABLE_TABLE = tf.lookup.experimental.MutableHashTable(tf.int32, tf.float32, 0.0)
    errors = {}
    with tf.device("/HPU:0"):
        for name, function in CASES.items():
            try:
                found = tf.function(function, jit_compile=True)(tf.constant([1.0, 2.0]))
                errors[name] = ["", str(found)]
            except tf.errors.OpError as error:
                errors[name] = [type(error).__name__, str(error)]
            assert float(tf.reduce_sum(tf.ones([3]))) == 3.0
    sys.stdout.write(json.dumps(errors) + "\n")


TABLE: Any = None
MUTABLE_TABLE: Any = None

if __name__ == "__main__":
    main()
