"""Calls of XLA's ops (tf2xla's Python module) that have no CPU kernel except XLA:CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.mlir.stablehlo import stablehlo
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.compiler.tf2xla.python import xla

Maker = Callable[[tf.DType], Any]


def numbers(dtype: tf.DType, *shape: int) -> tf.Tensor:
    return tf.constant((np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype.as_numpy_dtype))


def scalar(dtype: tf.DType) -> tf.Tensor:
    return tf.constant(np.asarray(0).astype(dtype.as_numpy_dtype))


def binary(function: Callable[[tf.Tensor, tf.Tensor], Any], dtype: tf.DType) -> Any:
    spec = tf.TensorSpec([], dtype)
    return tf.function(function, input_signature=[spec, spec], autograph=False).get_concrete_function()


def pad(dtype: tf.DType) -> Any:
    return xla.pad(numbers(dtype, 3), scalar(dtype), tf.constant([1]), tf.constant([1]), tf.constant([0]))


def dynamic_slice(dtype: tf.DType) -> Any:
    return xla.dynamic_slice(numbers(dtype, 6), tf.constant([2]), tf.constant([3]))


def dynamic_update_slice(dtype: tf.DType) -> Any:
    return xla.dynamic_update_slice(numbers(dtype, 6), numbers(dtype, 2), tf.constant([1]))


def einsum(dtype: tf.DType) -> Any:
    return xla.einsum(numbers(dtype, 2, 3), numbers(dtype, 3, 2), "ab,bc->ac")


def dot(dtype: tf.DType) -> Any:
    return xla.dot(numbers(dtype, 2, 3), numbers(dtype, 3, 2))


def reduce(dtype: tf.DType) -> Any:
    return xla.reduce(numbers(dtype, 2, 3), scalar(dtype), [1], binary(tf.add, dtype))


def variadic_reduce(dtype: tf.DType) -> Any:
    spec = tf.TensorSpec([], dtype)

    @tf.function(input_signature=[spec] * 4, autograph=False)
    def both(a: tf.Tensor, b: tf.Tensor, x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return a + x, b * y

    init = [scalar(dtype), tf.cast(1, dtype)]
    inputs = [numbers(dtype, 2, 3), numbers(dtype, 2, 3)]
    return xla.variadic_reduce(inputs, init, [0], both.get_concrete_function())


def first_variadic_reduce(dtype: tf.DType) -> Any:
    return gen_xla_ops.xla_variadic_reduce([numbers(dtype, 2, 3)], [scalar(dtype)], [1], binary(tf.add, dtype))


def reduce_window(dtype: tf.DType) -> Any:
    return xla.reduce_window(numbers(dtype, 6), scalar(dtype), binary(tf.maximum, dtype), [2])


def select_and_scatter(dtype: tf.DType) -> Any:
    return xla.select_and_scatter(
        operand=numbers(dtype, 6),
        window_dimensions=[2],
        window_strides=[2],
        padding=[[0, 0]],
        source=numbers(dtype, 3),
        init_value=scalar(dtype),
        select=binary(tf.greater_equal, dtype),
        scatter=binary(tf.add, dtype),
    )


def gather(dtype: tf.DType) -> Any:
    # offset_dims: [0], collapsed_slice_dims: [], start_index_map: [0], index_vector_dim: 0
    dimensions = b"\n\x01\x00\x1a\x01\x00"
    return gen_xla_ops.xla_gather(numbers(dtype, 6), tf.constant([2]), tf.constant([3]), dimensions, False)


def scatter(dtype: tf.DType) -> Any:
    # update_window_dims: [0], scatter_dims_to_operand_dims: [0], index_vector_dim: 0
    dimensions = b"\n\x01\x00\x1a\x01\x00"
    return gen_xla_ops.xla_scatter(
        numbers(dtype, 6), tf.constant([2]), numbers(dtype, 3), binary(tf.add, dtype), dimensions, False
    )


def sort(dtype: tf.DType) -> Any:
    return xla.sort(numbers(dtype, 9))


def key_value_sort(dtype: tf.DType) -> Any:
    return xla.key_value_sort(numbers(dtype, 7), tf.reverse(numbers(dtype, 7), [0]))


def variadic_sort(dtype: tf.DType) -> Any:
    spec = tf.TensorSpec([], dtype)

    @tf.function(input_signature=[spec] * 4, autograph=False)
    def less(a: tf.Tensor, b: tf.Tensor, _: tf.Tensor, __: tf.Tensor) -> tf.Tensor:
        return a > b

    inputs = [numbers(dtype, 7), tf.reverse(numbers(dtype, 7), [0])]
    return xla.variadic_sort(inputs, dimension=tf.constant(0), comparator=less.get_concrete_function(), is_stable=True)


def while_loop(dtype: tf.DType) -> Any:
    specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec([2], dtype)]

    @tf.function(input_signature=specs, autograph=False)
    def below(i: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return i < 3

    @tf.function(input_signature=specs, autograph=False)
    def double(i: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, x + x

    functions = (below.get_concrete_function(), double.get_concrete_function())
    return xla.while_loop([tf.constant(0), numbers(dtype, 2)], *functions)


def branch(dtype: tf.DType) -> Any:
    spec = tf.TensorSpec([2], dtype)
    same = tf.function(tf.identity, input_signature=[spec], autograph=False).get_concrete_function()
    twice = tf.function(lambda x: x + x, input_signature=[spec], autograph=False).get_concrete_function()
    (result,) = gen_xla_ops.xla_if(tf.constant(True), [numbers(dtype, 2)], twice, same, Tout=[dtype])
    return result


def optimization_barrier(dtype: tf.DType) -> Any:
    return xla.optimization_barrier(numbers(dtype, 2), numbers(tf.int32, 3), numbers(tf.float32, 1))


def call_module(dtype: tf.DType) -> Any:
    element = {tf.float32: "f32", tf.int32: "i32"}[dtype]
    text = f"""
        module @add {{
          func.func public @main(%x: tensor<2x{element}>, %y: tensor<2xi32>) -> (tensor<2x{element}>, tensor<2xi32>) {{
            %0 = stablehlo.add %x, %x : tensor<2x{element}>
            return %0, %y : tensor<2x{element}>, tensor<2xi32>
          }}
        }}"""
    module = stablehlo.serialize_portable_artifact(text, stablehlo.get_minimum_version())
    return xla.call_module(
        [numbers(dtype, 2), numbers(tf.int32, 2)],
        version=xla.call_module_maximum_supported_version(),
        module=module,
        Tout=[dtype, tf.int32],
        Sout=[[2], [2]],
        platforms=["CPU"],
    )


def concatenation(dtype: tf.DType) -> Any:
    return tf.raw_ops.XlaConcatND(inputs=[numbers(dtype, 2), numbers(dtype, 2)], num_concats=[2], paddings=[1])


def split(dtype: tf.DType) -> Any:
    return tf.raw_ops.XlaSplitND(input=numbers(dtype, 4), N=2, num_splits=[2])


def broadcast(dtype: tf.DType) -> Any:
    return gen_xla_ops.xla_broadcast_helper(numbers(dtype, 2, 3), numbers(dtype, 3), tf.constant([1]))


def sharding(dtype: tf.DType) -> Any:
    return xla.sharding(numbers(dtype, 2))


CASES: dict[str, Maker] = {
    "XlaPad": pad,
    "XlaDynamicSlice": dynamic_slice,
    "XlaDynamicUpdateSlice": dynamic_update_slice,
    "XlaEinsum": einsum,
    "XlaDotV2": dot,
    "XlaReduce": reduce,
    "XlaVariadicReduceV2": variadic_reduce,
    "XlaVariadicReduce": first_variadic_reduce,
    "XlaReduceWindow": reduce_window,
    "XlaSelectAndScatter": select_and_scatter,
    "XlaGather": gather,
    "XlaScatter": scatter,
    "XlaSort": sort,
    "XlaKeyValueSort": key_value_sort,
    "XlaVariadicSort": variadic_sort,
    "XlaWhile": while_loop,
    "XlaIf": branch,
    "XlaOptimizationBarrier": optimization_barrier,
    "XlaCallModule": call_module,
    "XlaConcatND": concatenation,
    "XlaSplitND": split,
    "XlaBroadcastHelper": broadcast,
    "XlaSharding": sharding,
}
