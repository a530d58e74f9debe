"""Dtypes and reductions of collectives, and their mapping to the dtypes of TensorFlow's collective ops."""

from __future__ import annotations

import enum

import tensorflow as tf

# Ranks exchange dtypes as indices into this tuple.
DTYPES = (
    tf.int8,
    tf.uint8,
    tf.int32,
    tf.uint32,
    tf.int64,
    tf.uint64,
    tf.float16,
    tf.float32,
    tf.float64,
    tf.bfloat16,
)

# Dtype in which collective ops move data unchanged, by element size in bytes.
_CARRIERS = {2: tf.float16, 4: tf.float32, 8: tf.float64}
# Substitutes for dtypes that collective ops cannot reduce. The cast back wraps sums and products around, like the
# original dtype.
_WIDER = {tf.int8: tf.int32, tf.uint8: tf.int32, tf.uint32: tf.int64, tf.uint64: tf.int64}
_TOP_BIT = -(2**63)


class ReduceOp(enum.Enum):
    """Element-wise reductions. AVERAGE of integers rounds towards 0."""

    SUM = "Add"
    PRODUCT = "Mul"
    MIN = "Min"
    MAX = "Max"
    AVERAGE = "Average"

    @property
    def merge_op(self) -> str:
        """TensorFlow's merge op. AVERAGE is a sum followed by a division."""
        return "Add" if self is ReduceOp.AVERAGE else self.value


def check_dtype(dtype: tf.DType, what: str) -> None:
    """Raises TypeError if collective operations do not support `dtype`. `what` names the operation."""
    if dtype not in DTYPES:
        names = ", ".join(known.name for known in DTYPES)
        raise TypeError(f"{what} does not support {dtype.name}; supported: {names}")


def to_carrier(flat: tf.Tensor) -> tf.Tensor:
    """Bitcasts a vector to a dtype that every collective op can move. Pads an odd number of 1-byte elements."""
    if flat.dtype.size in _CARRIERS:
        return tf.bitcast(flat, _CARRIERS[flat.dtype.size])
    padded = tf.pad(flat, [[0, -flat.shape[0] % 2]])
    return tf.bitcast(tf.reshape(padded, [-1, 2]), tf.float16)


def from_carrier(carried: tf.Tensor, dtype: tf.DType, count: int) -> tf.Tensor:
    """Inverse of to_carrier for a vector of `count` elements."""
    return tf.reshape(tf.bitcast(carried, dtype), [-1])[:count]


def carrier_dtype(dtype: tf.DType) -> tf.DType:
    """Dtype of to_carrier's result."""
    return _CARRIERS.get(dtype.size, tf.float16)


def carrier_length(dtype: tf.DType, count: int) -> int:
    """Length of to_carrier's result for `count` elements."""
    return count if dtype.size in _CARRIERS else (count + 1) // 2


def to_reducible(flat: tf.Tensor, op: ReduceOp) -> tf.Tensor:
    """Converts to a dtype that collective ops can reduce. For MIN and MAX the conversion preserves order."""
    wider = _WIDER.get(flat.dtype)
    if wider is None:
        return flat
    if flat.dtype != tf.uint64:
        return tf.cast(flat, wider)
    signed = tf.bitcast(flat, tf.int64)
    return tf.bitwise.bitwise_xor(signed, _TOP_BIT) if op in (ReduceOp.MIN, ReduceOp.MAX) else signed


def from_reducible(reduced: tf.Tensor, dtype: tf.DType, op: ReduceOp, size: int) -> tf.Tensor:
    """Converts the reduction back to `dtype`, and divides by `size` for AVERAGE."""
    if dtype == tf.uint64:
        if op in (ReduceOp.MIN, ReduceOp.MAX):
            reduced = tf.bitwise.bitwise_xor(reduced, _TOP_BIT)
        reduced = tf.bitcast(reduced, dtype)
        return reduced // tf.constant(size, dtype) if op is ReduceOp.AVERAGE else reduced
    if op is ReduceOp.AVERAGE:
        divisor = tf.cast(size, reduced.dtype)
        reduced = reduced / divisor if dtype.is_floating else tf.truncatediv(reduced, divisor)
    return tf.cast(reduced, dtype)
