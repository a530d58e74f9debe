"""Makers for XLA's ops (tf.raw_ops.Xla…).

TensorFlow has no CPU kernels for them, so XLA:CPU computes the expected value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.xla import xla_data_pb2

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, constant, float_type, pick, raw, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.values import draw_array, draw_shape, draw_style

Rng = np.random.Generator
_TYPES = (tf.float32, tf.int32, tf.int64, tf.float64, tf.bfloat16, tf.uint8)


def _array(rng: Rng, rank: int | None = None, dtype: tf.DType | None = None) -> Array:
    return draw_array(rng, dtype or pick(rng, *_TYPES), draw_shape(rng, rank), draw_style(rng))


def _sum(dtype: Any) -> Any:
    return _body(lambda x, y: x + y, dtype, dtype)


def _body(function: Any, *dtypes: Any) -> Any:
    specs = [tf.TensorSpec([], dtype) for dtype in dtypes]
    return tf.function(function, autograph=False).get_concrete_function(*specs)


@maker("XlaReduce")
def make_reduce(rng: Rng) -> Program:
    x = _array(rng)
    axes = sorted(rng.permutation(x.ndim)[: int(rng.integers(0, x.ndim + 1))].tolist())

    def function(x: Any, start: Any) -> Any:
        return raw("XlaReduce")(input=x, init_value=start, dimensions_to_reduce=axes, reducer=_sum(x.dtype))

    return run(function, x=x, start=np.zeros([], x.dtype))


@maker("XlaVariadicReduce", "XlaVariadicReduceV2")
def make_variadic_reduce(rng: Rng) -> Program:
    x = _array(rng, int(rng.integers(1, 4)))

    def function(x: Any, start: Any) -> Any:
        body = _body(lambda a, b, c, d: (a + c, tf.maximum(b, d)), *[x.dtype] * 4)
        return raw("XlaVariadicReduceV2")(
            inputs=[x, x], init_values=[start, start], dimensions_to_reduce=[0], reducer=body
        )

    return run(function, x=x, start=np.zeros([], x.dtype))


@maker("XlaReduceWindow")
def make_reduce_window(rng: Rng) -> Program:
    x = _array(rng, 2)

    def function(x: Any, start: Any, window: Any, strides: Any, ones: Any, padding: Any) -> Any:
        return raw("XlaReduceWindow")(
            input=x, init_value=start, window_dimensions=window, window_strides=strides, base_dilations=ones,
            window_dilations=ones, padding=padding, computation=_sum(x.dtype),
        )  # fmt: skip

    sizes = {"window": rng.integers(1, 3, 2), "strides": rng.integers(1, 3, 2), "ones": [1, 1], "padding": [[0, 1]] * 2}
    lengths = {name: whole(values) for name, values in sizes.items()}
    program = run(function, None, x=x, start=np.zeros([], x.dtype), **lengths)
    return constant(program, *lengths)


@maker("XlaSelectAndScatter")
def make_select_and_scatter(rng: Rng) -> Program:
    x = draw_array(rng, float_type(rng), (4, 6))

    def function(x: Any, source: Any, start: Any, window: Any, padding: Any) -> Any:
        return raw("XlaSelectAndScatter")(
            operand=x, window_dimensions=window, window_strides=window, padding=padding, source=source,
            init_value=start, select=_body(lambda a, b: a >= b, x.dtype, x.dtype), scatter=_sum(x.dtype),
        )  # fmt: skip

    source = draw_array(rng, tf.as_dtype(x.dtype), (2, 3))
    lengths = {"window": whole([2, 2]), "padding": whole([[0, 0], [0, 0]])}
    return constant(run(function, None, x=x, source=source, start=np.zeros([], x.dtype), **lengths), *lengths)


@maker("XlaScatter")
def make_scatter(rng: Rng) -> Program:
    x = _array(rng, 2)
    numbers = xla_data_pb2.ScatterDimensionNumbers(
        update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], index_vector_dim=1
    )

    def function(x: Any, indices: Any, updates: Any) -> Any:
        return raw("XlaScatter")(
            operand=x, scatter_indices=indices, updates=updates, update_computation=_sum(x.dtype),
            dimension_numbers=numbers.SerializeToString(), indices_are_sorted=False,
        )  # fmt: skip

    rows = int(rng.integers(0, 4))
    updates = draw_array(rng, tf.as_dtype(x.dtype), (rows, x.shape[1]))
    return run(function, x=x, indices=whole(rng.integers(0, max(1, len(x)), (rows, 1))), updates=updates)


@maker("XlaGather")
def make_gather(rng: Rng) -> Program:
    x = _array(rng, 2)
    numbers = xla_data_pb2.GatherDimensionNumbers(
        offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1
    )
    arguments = {
        "operand": x,
        "start_indices": whole(rng.integers(0, max(1, len(x)), (3, 1))),
        "slice_sizes": whole([1, x.shape[1]]),
    }
    attributes = {"dimension_numbers": numbers.SerializeToString(), "indices_are_sorted": False}
    return constant(call("XlaGather", arguments, **attributes), "slice_sizes")


@maker("XlaVariadicSort")
def make_variadic_sort(rng: Rng) -> Program:
    x = _array(rng, int(rng.integers(1, 4)))

    def function(x: Any, y: Any, dimension: Any) -> Any:
        body = _body(lambda a, b, c, d: a < b, x.dtype, x.dtype, y.dtype, y.dtype)
        return raw("XlaVariadicSort")(inputs=[x, y], dimension=dimension, comparator=body, is_stable=True)

    places = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    return constant(run(function, x=x, y=places, dimension=whole(rng.integers(0, x.ndim))), "dimension")


@maker("XlaWhile")
def make_while(rng: Rng) -> Program:
    def function(x: Any, count: Any) -> Any:
        specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec(x.shape, x.dtype)]
        goes_on = tf.function(lambda i, x: i < 3, autograph=False).get_concrete_function(*specs)
        body = tf.function(lambda i, x: (i + 1, x + x), autograph=False).get_concrete_function(*specs)
        return raw("XlaWhile")(input=[count, x], cond=goes_on, body=body)

    return run(function, x=_array(rng), count=whole(rng.integers(0, 5)))


@maker("XlaOptimizationBarrier")
def make_barrier(rng: Rng) -> Program:
    return run(lambda x, y: raw("XlaOptimizationBarrier")(input=[x, y]), x=_array(rng), y=_array(rng))


@maker("XlaDynamicSlice")
def make_slice(rng: Rng) -> Program:
    x = _array(rng)
    sizes = [int(rng.integers(0, size + 1)) for size in x.shape]
    start = [int(rng.integers(-1, size + 1)) for size in x.shape]
    arguments = {"input": x, "start_indices": whole(start), "size_indices": whole(sizes)}
    return constant(call("XlaDynamicSlice", arguments), "size_indices")


@maker("XlaDynamicUpdateSlice")
def make_update_slice(rng: Rng) -> Program:
    x = _array(rng)
    update = draw_array(rng, tf.as_dtype(x.dtype), [int(rng.integers(0, size + 1)) for size in x.shape])
    indices = whole([int(rng.integers(-1, size + 1)) for size in x.shape])
    return call("XlaDynamicUpdateSlice", {"input": x, "update": update, "indices": indices})


@maker("XlaPad")
def make_pad(rng: Rng) -> Program:
    x = _array(rng)
    places = {name: rng.integers(low, 3, x.ndim) for name, low in (("low", -1), ("high", -1), ("interior", 0))}
    arguments = {"input": x, "padding_value": np.ones([], x.dtype)}
    arguments |= {f"padding_{name}": whole(values) for name, values in places.items()}
    return constant(call("XlaPad", arguments), "padding_low", "padding_high", "padding_interior")


@maker("XlaSort", "XlaKeyValueSort")
def make_sort(rng: Rng) -> Program:
    def function(x: Any, y: Any) -> Any:
        pair = raw("XlaKeyValueSort")(keys=x, values=y)
        return raw("XlaSort")(input=x), pair.sorted_keys

    x = _array(rng, int(rng.integers(1, 4)))
    return run(function, x=x, y=draw_array(rng, tf.float32, x.shape))


@maker("XlaDot", "XlaDotV2")
def make_dot(rng: Rng) -> Program:
    inner, dtype = int(rng.integers(0, 5)), pick(rng, tf.float32, tf.float64, tf.bfloat16, tf.int32)
    numbers = xla_data_pb2.DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])
    text = numbers.SerializeToString()

    def function(lhs: Any, rhs: Any) -> Any:
        two = raw("XlaDotV2")(
            lhs=lhs, rhs=rhs, dimension_numbers=text, precision_config="", preferred_element_type=lhs.dtype
        )
        return raw("XlaDot")(lhs=lhs, rhs=rhs, dimension_numbers=text, precision_config=""), two

    return run(function, lhs=draw_array(rng, dtype, (3, inner)), rhs=draw_array(rng, dtype, (inner, 2)))


@maker("XlaConv", "XlaConvV2")
def make_conv(rng: Rng) -> Program:
    numbers = xla_data_pb2.ConvolutionDimensionNumbers(
        input_batch_dimension=0, input_spatial_dimensions=[1, 2], input_feature_dimension=3,
        kernel_spatial_dimensions=[0, 1], kernel_input_feature_dimension=2, kernel_output_feature_dimension=3,
        output_batch_dimension=0, output_spatial_dimensions=[1, 2], output_feature_dimension=3,
    )  # fmt: skip
    dtype = float_type(rng)
    arguments = {
        "lhs": draw_array(rng, dtype, (2, 5, 4, 3)), "rhs": draw_array(rng, dtype, (2, 3, 3, 2)),
        "window_strides": whole(rng.integers(1, 3, 2)), "padding": whole(rng.integers(0, 2, (2, 2))),
        "lhs_dilation": whole(rng.integers(1, 3, 2)), "rhs_dilation": whole(rng.integers(1, 3, 2)),
        "feature_group_count": whole(1),
    }  # fmt: skip
    attributes: dict[str, Any] = {"dimension_numbers": numbers.SerializeToString(), "precision_config": ""}
    if rng.random() < 0.5:
        program = call("XlaConv", arguments, **attributes)
    else:
        program = call("XlaConvV2", arguments, preferred_element_type=dtype, **attributes)
    return constant(program, "window_strides", "padding", "lhs_dilation", "rhs_dilation", "feature_group_count")


@maker("XlaEinsum")
def make_einsum(rng: Rng) -> Program:
    inner, dtype = int(rng.integers(0, 5)), float_type(rng)
    arguments = {"a": draw_array(rng, dtype, (3, inner)), "b": draw_array(rng, dtype, (inner, 2))}
    return call("XlaEinsum", arguments, equation="ab,bc->ac")


@maker("XlaBroadcastHelper")
def make_broadcast(rng: Rng) -> Program:
    shape, dtype = (2, 3, 4), pick(rng, *_TYPES)
    arguments = {
        "lhs": draw_array(rng, dtype, shape), "rhs": draw_array(rng, dtype, shape[1:2]), "broadcast_dims": whole([1]),
    }  # fmt: skip
    return constant(call("XlaBroadcastHelper", arguments), "broadcast_dims")


@maker("XlaReducePrecision")
def make_reduce_precision(rng: Rng) -> Program:
    operand = {"operand": _array(rng, dtype=float_type(rng))}
    return call(
        "XlaReducePrecision", operand, exponent_bits=int(rng.integers(1, 9)), mantissa_bits=int(rng.integers(0, 9))
    )


@maker("XlaRngBitGenerator")
def make_bits(rng: Rng) -> Program:
    arguments = {
        "algorithm": whole(pick(rng, 1, 2)), "initial_state": whole(rng.integers(0, 99, 3), tf.uint64),
        "shape": whole(draw_shape(rng, 2)),
    }  # fmt: skip
    program = call("XlaRngBitGenerator", arguments, dtype=pick(rng, tf.uint32, tf.uint64))
    return constant(program, "algorithm", "shape")


@maker("XlaSelfAdjointEig")
def make_eig(rng: Rng) -> Program:
    x = draw_array(rng, pick(rng, tf.float32, tf.float64), (2, 3, 3))

    def function(a: Any) -> Any:
        found = raw("XlaSelfAdjointEig")(a=a + tf.linalg.matrix_transpose(a), lower=True, max_iter=100, epsilon=1e-6)
        return found.w

    return run(function, a=x)


@maker("XlaSvd")
def make_svd(rng: Rng) -> Program:
    def function(a: Any) -> Any:
        return raw("XlaSvd")(a=a, max_iter=100, epsilon=1e-6, precision_config="").s

    return run(function, a=draw_array(rng, tf.float32, (2, 4, 3)))


@maker("XlaSharding", "XlaSpmdFullToShardShape", "XlaSpmdShardToFullShape")
def make_sharding(rng: Rng) -> Program:
    def function(x: Any) -> Any:
        part = raw("XlaSpmdFullToShardShape")(input=raw("XlaSharding")(input=x), manual_sharding="")
        return raw("XlaSpmdShardToFullShape")(input=part, manual_sharding="", full_shape=x.shape.as_list())

    return run(function, x=_array(rng))


@maker("XlaDequantize")
def make_dequantize(rng: Rng) -> Program:
    words = draw_array(rng, tf.uint32, draw_shape(rng, int(rng.integers(1, 4))))
    options: dict[str, Any] = {"min_range": 0.0, "max_range": float(rng.integers(1, 9)), "mode": "MIN_COMBINED"}
    return call("XlaDequantize", {"input": words}, transpose_output=bool(rng.integers(2)), **options)


@maker("XlaSetDynamicDimensionSize", "XlaRemoveDynamicDimensionSize", "XlaSetBound")
def make_dynamic(rng: Rng) -> Program:
    def function(x: Any, size: Any) -> Any:
        cut = raw("XlaSetDynamicDimensionSize")(input=x, dim_index=0, size=size)
        return tf.reduce_sum(cut, 0)

    x = _array(rng, 2, pick(rng, tf.float32, tf.int32))
    return run(function, x=x, size=whole(rng.integers(0, len(x) + 1)))


def _split(op: str, variable: bool) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        parts = rng.integers(1, 3, int(rng.integers(1, 4))).tolist()
        x = draw_array(rng, pick(rng, *_TYPES), [part * int(rng.integers(1, 4)) for part in parts])
        options = {"N": int(np.prod(parts)), "num_splits": parts}
        if variable:
            return call(op, {}, {"resource": x}, T=tf.as_dtype(x.dtype), **options)
        return call(op, {"input": x}, **options)


_split("XlaSplitND", False)
_split("ReadVariableXlaSplitND", True)


def _concat(op: str, variable: bool) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        parts = rng.integers(1, 3, 2).tolist()
        shape = [int(rng.integers(1, 4)) for _ in parts]
        dtype = pick(rng, *_TYPES)
        pieces = {f"piece {i}": draw_array(rng, dtype, shape) for i in range(int(np.prod(parts)))}
        joined = [a * b for a, b in zip(parts, shape)]

        def function(*tensors: Any) -> Any:
            if not variable:
                return raw(op)(inputs=tensors, num_concats=parts)
            return raw(op)(resource=tensors[0], inputs=tensors[1:], num_concats=parts)

        held = {"resource": draw_array(rng, dtype, joined)} if variable else {}
        return run(function, held, **pieces)


_concat("XlaConcatND", False)
_concat("AssignVariableXlaConcatND", True)
