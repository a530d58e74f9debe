"""Types and reductions, and how TensorFlow's collective ops, which take few types, carry them all."""

from __future__ import annotations

import enum

import tensorflow as tf

# In the order of their numbers among ranks.
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

# What collective ops move without looking at it, by bytes of an element.
_CARRIERS = {2: tf.float16, 4: tf.float32, 8: tf.float64}
# What they reduce in place of types that they do not take. Sums and products wrap around as the type's own.
_WIDER = {tf.int8: tf.int32, tf.uint8: tf.int32, tf.uint32: tf.int64, tf.uint64: tf.int64}
_TOP_BIT = -(2**63)


class ReduceOp(enum.Enum):
    """What a reduction computes of each element. AVERAGE of whole numbers rounds towards 0."""

    SUM = "Add"
    PRODUCT = "Mul"
    MIN = "Min"
    MAX = "Max"
    AVERAGE = "Average"

    @property
    def merge_op(self) -> str:
        """TensorFlow's, to which AVERAGE adds a division."""
        return "Add" if self is ReduceOp.AVERAGE else self.value


def check_dtype(dtype: tf.DType) -> None:
    """Raises TypeError for what is no type of collective operations."""
    if dtype not in DTYPES:
        names = ", ".join(known.name for known in DTYPES)
        raise TypeError(f"collective operations take no {dtype.name}, but {names}")


def to_carrier(flat: tf.Tensor) -> tf.Tensor:
    """The bytes of a vector as elements of a type that every collective op moves, padded to a whole number of them."""
    if flat.dtype.size in _CARRIERS:
        return tf.bitcast(flat, _CARRIERS[flat.dtype.size])
    padded = tf.pad(flat, [[0, -flat.shape[0] % 2]])
    return tf.bitcast(tf.reshape(padded, [-1, 2]), tf.float16)


def from_carrier(carried: tf.Tensor, dtype: tf.DType, count: int) -> tf.Tensor:
    """The first `count` elements of what to_carrier made."""
    return tf.reshape(tf.bitcast(carried, dtype), [-1])[:count]


def carrier_dtype(dtype: tf.DType) -> tf.DType:
    """The type that to_carrier gives."""
    return _CARRIERS.get(dtype.size, tf.float16)


def carrier_length(dtype: tf.DType, count: int) -> int:
    """Elements that to_carrier makes of `count`."""
    return count if dtype.size in _CARRIERS else (count + 1) // 2


def to_reducible(flat: tf.Tensor, op: ReduceOp) -> tf.Tensor:
    """In a type that collective ops reduce, in which the order of numbers is the same."""
    wider = _WIDER.get(flat.dtype)
    if wider is None:
        return flat
    if flat.dtype != tf.uint64:
        return tf.cast(flat, wider)
    signed = tf.bitcast(flat, tf.int64)
    return tf.bitwise.bitwise_xor(signed, _TOP_BIT) if op in (ReduceOp.MIN, ReduceOp.MAX) else signed


def from_reducible(reduced: tf.Tensor, dtype: tf.DType, op: ReduceOp, size: int) -> tf.Tensor:
    """The result in its own type, divided by `size` for AVERAGE."""
    if dtype == tf.uint64:
        if op in (ReduceOp.MIN, ReduceOp.MAX):
            reduced = tf.bitwise.bitwise_xor(reduced, _TOP_BIT)
        reduced = tf.bitcast(reduced, dtype)
        return reduced // tf.constant(size, dtype) if op is ReduceOp.AVERAGE else reduced
    if op is ReduceOp.AVERAGE:
        divisor = tf.cast(size, reduced.dtype)
        reduced = reduced / divisor if dtype.is_floating else tf.truncatediv(reduced, divisor)
    return tf.cast(reduced, dtype)
