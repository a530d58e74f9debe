"""Cases of the Keras sweep: every computing function of tf.keras.backend."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tests.keras.case import Case, given
from tests.keras.data import IMAGE, SEQUENCE, VOLUME, floats, integers, one_hot, probabilities

B = tf.keras.backend
# Functions without a computation: settings, names, creation of variables, access to values from outside a graph.
NOTHING_TO_COMPUTE = {
    "eye", "ones", "zeros",
    "backend", "batch_get_value", "batch_set_value", "cast_to_floatx", "clear_session", "count_params", "dtype",
    "epsilon", "eval", "experimental", "floatx", "function", "get_uid", "get_value", "gradients", "image_data_format",
    "int_shape", "is_keras_tensor", "is_sparse", "learning_phase", "learning_phase_scope",
    "manual_variable_initialization", "name_scope", "ndim", "placeholder", "print_tensor",
    "random_normal_variable", "random_uniform_variable", "reset_uids", "set_epsilon", "set_floatx",
    "set_image_data_format", "set_learning_phase", "set_value", "variable",
}  # fmt: skip

X, Y, POSITIVE = floats(4, 6), floats(4, 6, seed=1), floats(4, 6, low=0.2, high=2.0)
BINARY = integers(4, 6, below=2).astype(np.float32)
FLAGS = X > 0
IDS = integers(4, below=6)
_ONE = {"shape": [48, 64]}
# Arguments by function name: tensors, then other arguments.
ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "all": ((FLAGS,), {"axis": 1}),
    "any": ((FLAGS,), {"axis": 1}),
    "arange": ((), {"start": 1, "stop": 9, "step": 2}),
    "batch_dot": ((floats(4, 3, 5), floats(4, 5, 2)), {}),
    "batch_flatten": ((floats(*IMAGE),), {}),
    "batch_normalization": ((X, floats(6), floats(6, low=0.2), floats(6, seed=2), floats(6, seed=3)), {}),
    "bias_add": ((X, floats(6)), {}),
    "binary_crossentropy": ((BINARY, probabilities(4, 6)), {}),
    "binary_focal_crossentropy": ((BINARY, probabilities(4, 6)), {}),
    "cast": ((X,), {"dtype": "int32"}),
    "categorical_crossentropy": ((one_hot(4, 6), probabilities(4, 6)), {}),
    "categorical_focal_crossentropy": ((one_hot(4, 6), probabilities(4, 6)), {}),
    "clip": ((X,), {"min_value": -0.5, "max_value": 0.5}),
    "constant": ((), {"value": 2.5, "shape": [2, 3]}),
    "conv1d": ((floats(*SEQUENCE), floats(3, 4, 5)), {}),
    "conv2d": ((floats(*IMAGE), floats(3, 3, 3, 4)), {}),
    "conv2d_transpose": ((floats(*IMAGE), floats(3, 3, 4, 3)), {"output_shape": [2, 10, 10, 4]}),
    "conv3d": ((floats(*VOLUME), floats(2, 2, 2, 2, 3)), {}),
    "ctc_batch_cost": (
        (integers(2, 3, below=4), probabilities(20, 5).reshape(2, 10, 5), np.array([[10], [9]]), np.array([[3], [2]])),
        {},
    ),
    "ctc_decode": ((probabilities(20, 5).reshape(2, 10, 5), np.array([10, 9])), {}),
    "ctc_label_dense_to_sparse": ((integers(2, 3, below=4), np.array([3, 2], np.int32)), {}),
    "cumprod": ((X,), {"axis": 1}),
    "depthwise_conv2d": ((floats(*IMAGE), floats(3, 3, 3, 2)), {}),
    "dot": ((X, floats(6, 5)), {}),
    "dropout": ((floats(64, 64),), {"level": 0.3}),
    "foldl": ((X,), {"fn": lambda a, b: a * 0.5 + b}),
    "foldr": ((X,), {"fn": lambda a, b: a * 0.5 + b}),
    "gather": ((X, integers(3, below=4)), {}),
    "in_test_phase": ((X, Y), {"training": True}),
    "in_top_k": ((X, IDS), {"k": 2}),
    "in_train_phase": ((X, Y), {"training": True}),
    "local_conv1d": ((floats(*SEQUENCE), floats(4, 12, 5)), {"kernel_size": (3,), "strides": (1,)}),
    "local_conv2d": (
        (floats(*IMAGE), floats(36, 27, 4)),
        {"kernel_size": (3, 3), "strides": (1, 1), "output_shape": (6, 6)},
    ),
    "log": ((POSITIVE,), {}),
    "map_fn": ((X,), {"fn": lambda row: row * 2.0 + 1.0}),
    "moving_average_update": ((X,), {}),
    "normalize_batch_in_training": ((X, floats(6), floats(6, seed=1)), {"reduction_axes": [0]}),
    "one_hot": ((IDS,), {"num_classes": 6}),
    "permute_dimensions": ((floats(2, 3, 4),), {"pattern": (2, 0, 1)}),
    "pool2d": ((floats(*IMAGE),), {"pool_size": (2, 2), "strides": (2, 2)}),
    "pool3d": ((floats(*VOLUME),), {"pool_size": (2, 2, 2), "strides": (2, 2, 2)}),
    "pow": ((POSITIVE,), {"a": 3}),
    **dict.fromkeys(("random_normal", "random_uniform", "truncated_normal"), ((), _ONE)),
    "random_bernoulli": ((), {**_ONE, "p": 0.3}),
    "random_binomial": ((), {**_ONE, "p": 0.3}),
    "repeat": ((X,), {"n": 3}),
    "repeat_elements": ((X,), {"rep": 2, "axis": 1}),
    "reshape": ((X,), {"shape": (8, 3)}),
    "resize_images": (
        (floats(*IMAGE),),
        {"height_factor": 2, "width_factor": 3, "data_format": "channels_last", "interpolation": "bilinear"},
    ),
    "resize_volumes": (
        (floats(*VOLUME),),
        {"depth_factor": 2, "height_factor": 1, "width_factor": 2, "data_format": "channels_last"},
    ),
    "reverse": ((X,), {"axes": 1}),
    "rnn": ((floats(*SEQUENCE), [floats(2, 4)]), {}),
    "separable_conv2d": ((floats(*IMAGE), floats(3, 3, 3, 2), floats(1, 1, 6, 4)), {}),
    "sparse_categorical_crossentropy": ((IDS, probabilities(4, 6)), {}),
    "spatial_2d_padding": ((floats(*IMAGE),), {}),
    "spatial_3d_padding": ((floats(*VOLUME),), {}),
    "sqrt": ((POSITIVE,), {}),
    "squeeze": ((floats(4, 1, 3),), {"axis": 1}),
    "switch": ((np.array(True), X, Y), {}),
    "temporal_padding": ((floats(*SEQUENCE),), {}),
    "tile": ((X,), {"n": [2, 3]}),
}
PAIRS = {"equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "not_equal"}
LISTS = {"concatenate", "stack"}
UPDATES = {"moving_average_update", "update", "update_add", "update_sub"}
RANDOM = {"dropout", "random_bernoulli", "random_binomial", "random_normal", "random_uniform", "truncated_normal"}
SPARSE = {"ctc_label_dense_to_sparse", "to_dense"}


class Variable:
    """Adapter for a function that updates a variable."""

    def __init__(self, function: Callable[..., Any], *more: Any) -> None:
        self._function, self._more = function, more
        self.weights = [tf.Variable(floats(4, 6, seed=9))]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        self._function(self.weights[0], x, *self._more)
        return tf.identity(self.weights[0])


def _special(name: str, function: Any) -> Callable[..., Any]:
    """Returns an adapter if the function's tensors are not simply its first arguments, otherwise the function."""
    if name in LISTS:
        return lambda x, y: function([x, y])
    if name == "switch":
        return lambda condition, x, y: function(condition, lambda: x * 2.0, lambda: y)
    if name == "rnn":
        return lambda x, states: function(lambda row, old: (row + old[0] * 0.5, [row + old[0] * 0.5]), x, states)
    if name in ("foldl", "foldr", "map_fn"):
        return lambda x, fn: function(fn, x)
    if name == "to_dense":
        return lambda x: function(tf.sparse.from_dense(x))
    if name == "random_binomial" or name == "random_bernoulli":
        return lambda **options: function(**options, dtype="float32")
    return function  # type: ignore[no-any-return]


def names() -> dict[str, list[str]]:
    """Names of the computing functions. No function has an alias."""
    return {name: [] for name in sorted(dir(B)) if not name.startswith("_") and name not in NOTHING_TO_COMPUTE}


def cases() -> Iterator[Case]:
    """Yields one case per function."""
    for name in names():
        function = getattr(B, name)
        inputs, options = ARGUMENTS.get(name, ((X, Y) if name in PAIRS | LISTS else (X,), {}))
        if name in UPDATES:
            more = (0.9,) if name == "moving_average_update" else ()
            yield Case("backend", name, functools.partial(Variable, function, *more), inputs, gradients=False)
            continue
        called = _special(name, function)
        differentiable = not name.startswith("random") and name not in SPARSE | {"arange", "ctc_decode", "cast"}
        yield Case("backend", name, functools.partial(given, called), inputs, options, random=name in RANDOM,
                   gradients=differentiable and bool(inputs))  # fmt: skip
