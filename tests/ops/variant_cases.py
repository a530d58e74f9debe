"""Variants of each kind for which TensorFlow supports addition or zeros, with access to their contents."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

raw = tf.raw_ops
# A variant, and a function that returns a tensor from a variant of the same kind.
Case = tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]


def tensor_list(dtype: tf.DType) -> Case:
    rows = raw.TensorListFromTensor(tensor=tf.cast([[1, 2], [3, 4]], dtype), element_shape=[2])
    return rows, lambda v: raw.TensorListStack(input_handle=v, element_dtype=dtype, element_shape=[2])


def _list_of(variant: tf.Tensor) -> tf.Tensor:
    shape = tf.constant([], tf.int32)
    empty = raw.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=tf.variant)
    return raw.TensorListPushBack(input_handle=empty, tensor=variant)


def _first(variants: tf.Tensor) -> tf.Tensor:
    shape = tf.constant([], tf.int32)
    return raw.TensorListGetItem(input_handle=variants, index=0, element_shape=shape, element_dtype=tf.variant)


def _content(optional: tf.Tensor, dtype: tf.DType, shape: list[int]) -> tf.Tensor:
    return raw.OptionalGetValue(optional=optional, output_types=[dtype], output_shapes=[shape])[0]


def list_of_lists() -> Case:
    inner, look = tensor_list(tf.float32)
    return _list_of(inner), lambda v: look(_first(v))


def optional(dtype: tf.DType) -> Case:
    return raw.OptionalFromValue(components=[tf.cast([1, 2], dtype)]), lambda v: _content(v, dtype, [2])


def nothing() -> Case:
    return raw.OptionalNone(), lambda v: raw.OptionalHasValue(optional=v)


def optional_list() -> Case:
    inner, look = tensor_list(tf.float32)
    return raw.OptionalFromValue(components=[inner]), lambda v: look(_content(v, tf.variant, []))


def list_of_optionals() -> Case:
    inner, look = optional(tf.float32)
    return _list_of(inner), lambda v: look(_first(v))


def ragged(dtype: tf.DType) -> Case:
    splits = tf.constant([0, 2, 3], tf.int64)
    values = tf.cast([1, 2, 3], dtype)
    variant = raw.RaggedTensorToVariant(rt_nested_splits=[splits], rt_dense_values=values, batched_input=False)

    def look(v: tf.Tensor) -> tf.Tensor:
        return raw.RaggedTensorFromVariant(
            encoded_ragged=v, input_ragged_rank=1, output_ragged_rank=1, Tvalues=dtype, Tsplits=tf.int64
        )[1]

    return variant, look


def list_of_ragged() -> Case:
    inner, look = ragged(tf.float32)
    return _list_of(inner), lambda v: look(_first(v))


def rows_of_ragged() -> Case:
    splits = tf.constant([0, 2, 3], tf.int64)
    values = tf.constant([1.0, 2.0, 3.0])
    variants = raw.RaggedTensorToVariant(rt_nested_splits=[splits], rt_dense_values=values, batched_input=True)

    def look(v: tf.Tensor) -> tf.Tensor:
        return raw.RaggedTensorFromVariant(
            encoded_ragged=v, input_ragged_rank=0, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64
        )[1]

    return variants, look


def tensor_map() -> Case:
    entry = raw.TensorMapInsert(input_handle=raw.EmptyTensorMap(), key=tf.constant(1.0), value=tf.constant([1.0, 2.0]))
    return entry, lambda v: raw.TensorMapLookup(input_handle=v, key=tf.constant(1.0), value_dtype=tf.float32)


def sparse_matrix() -> Case:
    dense, indices = tf.constant([[1.0, 0.0], [0.0, 2.0]]), tf.constant([[0, 0], [1, 1]], tf.int64)
    matrix = raw.DenseToCSRSparseMatrix(dense_input=dense, indices=indices)
    return matrix, lambda v: raw.CSRSparseMatrixToDense(sparse_input=v, type=tf.float32)


CASES: dict[str, Callable[[], Case]] = {
    "list": lambda: tensor_list(tf.float32),
    "list of int32": lambda: tensor_list(tf.int32),
    "list of bool": lambda: tensor_list(tf.bool),
    "list of bfloat16": lambda: tensor_list(tf.bfloat16),
    "list of lists": list_of_lists,
    "list of optionals": list_of_optionals,
    "list of ragged tensors": list_of_ragged,
    "optional": lambda: optional(tf.float32),
    "optional of int32": lambda: optional(tf.int32),
    "nothing": nothing,
    "optional list": optional_list,
    "ragged tensor": lambda: ragged(tf.float32),
    "ragged tensor of int32": lambda: ragged(tf.int32),
    "rows of a ragged tensor": rows_of_ragged,
    "map": tensor_map,
    "sparse matrix": sparse_matrix,
}
