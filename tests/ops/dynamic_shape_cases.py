"""Functions of arrays whose sizes depend on values. As a program, runs some of them on the HPU."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

X = np.array([1.0, -2.0, 3.0, 1.0, -2.0, 0.0], np.float32)
M = np.arange(12, dtype=np.float32).reshape(3, 4) % 5 - 1
BOXES = np.array([[0, 0, 1, 1], [0, 0, 1, 0.95], [2, 2, 3, 3], [0, 0, 0.5, 0.5]], np.float32)
SCORES = np.array([0.9, 0.8, 0.7, 0.2], np.float32)


def squared(x: tf.Tensor) -> tf.Tensor:
    rows = tf.boolean_mask(x, x[:, 0] > 0)
    return tf.matmul(rows, rows, transpose_a=True)


# Functions with results of value-dependent sizes, and their arguments.
RESULTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "where of a vector": (lambda x: tf.where(x > 0), (X,)),
    "where of a matrix": (lambda x: tf.where(x > 0), (M,)),
    "where of a float": (tf.where, (M,)),
    "where of nothing true": (lambda x: tf.where(x > 100), (M,)),
    "where of all true": (lambda x: tf.where(x < 100), (M,)),
    "where of an empty array": (lambda x: tf.where(x > 0), (np.zeros([0, 3], np.float32),)),
    "where of rank 4": (lambda x: tf.where(tf.reshape(x, [1, 3, 2, 2]) > 0), (M,)),
    "rows by a mask": (lambda x: tf.boolean_mask(x, x[:, 0] > 0), (M,)),
    "columns by a mask": (lambda x: tf.boolean_mask(x, x[0] > 0, axis=1), (M,)),
    "rows and columns by masks": (
        lambda x: tf.boolean_mask(tf.boolean_mask(x, x[0] >= 0, axis=1), x[:, 1] > -1),
        (M,),
    ),
    "a transposed result": (lambda x: tf.transpose(tf.where(x > 0)), (M,)),
    "int32": (lambda x: tf.boolean_mask(tf.cast(x, tf.int32), x > 0), (M,)),
    "int32 columns": (lambda x: tf.boolean_mask(tf.cast(x, tf.int32), x[0] > 0, axis=1), (M,)),
    "bool": (lambda x: tf.boolean_mask(x > 1, x > 0), (M,)),
    "bfloat16": (lambda x: tf.boolean_mask(tf.cast(x, tf.bfloat16), x > 0), (M,)),
    "complex64": (lambda x: tf.boolean_mask(tf.complex(x, x), x > 0), (M,)),
    "unique": (lambda x: tuple(tf.unique(x)), (X,)),
    "unique rows": (
        lambda x: tuple(tf.raw_ops.UniqueV2(x=x, axis=[0])),
        (np.array([[1, 2], [3, 4], [1, 2]], np.float32),),
    ),
    "repeat": (lambda x, n: tf.repeat(x, n, 0), (M, np.array([1, 0, 2], np.int32))),
    "non-maximum suppression": (lambda b, s: tf.image.non_max_suppression(b, s, 3), (BOXES, SCORES)),
    "suppression by scores": (lambda b, s: tf.image.non_max_suppression(b, s, 3, 0.5, 0.5), (BOXES, SCORES)),
    "values of a sparse tensor": (lambda x: tf.sparse.from_dense(x).values, (M,)),
    "indices of a sparse tensor": (lambda x: tf.sparse.from_dense(x).indices, (M,)),
    "parts": (lambda x: tf.dynamic_partition(x, tf.cast(x > 0, tf.int32), 2), (X,)),
    "arithmetic": (lambda x: tf.exp(tf.boolean_mask(x, x > 0)) * 2.0 + 1.0, (X,)),
    "a product of matrices": (lambda x: tf.boolean_mask(x, x[:, 0] > 0) @ tf.transpose(x), (M,)),
    "a sum of columns": (lambda x: tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > 0), 1), (M,)),
    "concatenation": (lambda x: tf.concat([tf.boolean_mask(x, x > 0), x, tf.boolean_mask(x, x < 0)], 0), (X,)),
    "sorting": (lambda x: tf.sort(tf.boolean_mask(x, x != 1.0)), (X,)),
    "reversal": (lambda x: tf.reverse(tf.boolean_mask(x, x != 1.0), [0]), (X,)),
    "one of two": (lambda x: tf.cond(x[0] > 0, lambda: tf.where(x > 0), lambda: tf.where(x < 0)), (X,)),
    "a static result beside": (lambda x: (x * 2.0, tf.where(x > 0), tf.reduce_sum(x), x[:2]), (X,)),
    "several sizes": (lambda x: (tf.where(x > 0), tf.unique(x).y, tf.boolean_mask(x, x < 0)), (X,)),
}

# Functions with static results, but value-dependent sizes inside.
INSIDE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sum of unique": (lambda x: tf.reduce_sum(tf.unique(x).y), (X,)),
    "largest of a mask": (lambda x: tf.reduce_max(tf.boolean_mask(x, x < 0)), (X,)),
    "mean of a mask": (lambda x: tf.reduce_mean(tf.boolean_mask(x, x > 0)), (X,)),
    "number of true": (lambda x: tf.shape(tf.where(x > 0))[0], (M,)),
    "size of unique": (lambda x: tf.size(tf.unique(x).y), (X,)),
    "sum of coordinates": (lambda x: tf.reduce_sum(tf.where(x > 0), 0), (M,)),
    "a product over rows": (squared, (M,)),
    "dense again": (lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x)), (M,)),
    "scatter": (lambda x: tf.scatter_nd(tf.where(x > 0), tf.boolean_mask(x, x > 0), [3, 4]), (M,)),
}


def main() -> None:
    """Prints the HPU's results of some functions as a list."""
    from habana_frameworks.tensorflow import load_habana_module, statistics

    load_habana_module()
    results = []
    with tf.device("/HPU:0"):
        for name in ("where of a matrix", "columns by a mask", "unique", "int32", "several sizes"):
            function, arguments = RESULTS[name]
            found = tf.function(function, jit_compile=True)(*[tf.constant(a) for a in arguments])
            results.append([value.numpy().tolist() for value in tf.nest.flatten(found)])
    recipes = dataclasses.asdict(statistics.recipes())
    sys.stdout.write(json.dumps({"results": results, "recipes": recipes}) + "\n")


if __name__ == "__main__":
    main()
