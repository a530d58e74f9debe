"""Ops with indices: gathers, scatters, segments."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from benchmarks.op_cases.case import OpCase, indexed_gradient


def _cross_entropy_gradient(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    return tape.gradient(loss, logits)


def _cross_entropy(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def _columns(x: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    return tf.gather(x, indices, axis=1)


def _by_batch(x: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    return tf.gather(x, indices, batch_dims=1)


def _scattered(function: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    return lambda x, updates, indices: function(x, indices, updates)


def _segments(count: int) -> dict[str, Callable[..., tf.Tensor]]:
    return {
        "means": lambda x, indices: tf.math.unsorted_segment_mean(x, indices, count),
        "maxima": lambda x, indices: tf.math.unsorted_segment_max(x, indices, count),
        "minima": lambda x, indices: tf.math.unsorted_segment_min(x, indices, count),
        "products": lambda x, indices: tf.math.unsorted_segment_prod(x, indices, count),
        "sums, sorted": lambda x, indices: tf.raw_ops.SegmentSumV2(
            data=x, segment_ids=tf.sort(indices), num_segments=count
        ),
    }


def indexed() -> list[OpCase]:
    """Ops whose last tensor contains indices."""
    table, rows, batch, segments = (8192, 128), (2048, 128), (2048, 512), (8192, 64)
    return [
        OpCase("gather rows", tf.gather, (table, (32, 64)), indices_below=8192),
        OpCase(
            "gather rows gradient", indexed_gradient(tf.gather), (table, (32, 64, 128), (32, 64)), indices_below=8192
        ),
        OpCase("gather columns", _columns, (batch, (256,)), indices_below=512),
        OpCase(
            "scatter",
            _scattered(tf.tensor_scatter_nd_add),
            (table, rows, (2048, 1)),
            indices_below=8192,
        ),
        OpCase(
            "segment sums",
            lambda x, indices: tf.math.unsorted_segment_sum(x, indices, 512),
            ((8192, 64), (8192,)),
            indices_below=512,
        ),
        OpCase("one hot of bfloat16", lambda indices: tf.one_hot(indices, 512), ((2048,),), indices_below=512),
        OpCase("cross entropy gradient", _cross_entropy_gradient, (batch, (2048,)), indices_below=512),
        OpCase("cross entropy", _cross_entropy, (batch, (2048,)), indices_below=512),
        OpCase(
            "gather rows gradient",
            indexed_gradient(tf.gather),
            (table, (32, 64, 128), (32, 64)),
            tf.bfloat16,
            indices_below=8192,
        ),
        OpCase("embedding lookup", tf.nn.embedding_lookup, (table, (64, 128)), indices_below=8192),
        OpCase(
            "sums of embeddings and gradient",
            indexed_gradient(lambda table, indices: tf.reduce_sum(tf.nn.embedding_lookup(table, indices), 1)),
            (table, (512, 128), (512, 16)),
            indices_below=8192,
        ),
        OpCase("gather columns gradient", indexed_gradient(_columns), (batch, (2048, 256), (256,)), indices_below=512),
        OpCase("gather by batch", _by_batch, ((64, 128, 128), (64, 64)), indices_below=128),
        OpCase(
            "gather by batch gradient",
            indexed_gradient(_by_batch),
            ((64, 128, 128), (64, 64, 128), (64, 64)),
            indices_below=128,
        ),
        OpCase("gather points", tf.gather_nd, ((48, 48, 128), (8192, 2)), indices_below=48),
        OpCase(
            "gather points gradient",
            indexed_gradient(tf.gather_nd),
            ((48, 48, 128), (8192, 128), (8192, 2)),
            indices_below=48,
        ),
        OpCase(
            "scatter points",
            lambda x, i: tf.scatter_nd(i, x, [64, 64, 128]),
            ((8192, 128), (8192, 2)),
            indices_below=64,
        ),
        OpCase("scatter, set", _scattered(tf.tensor_scatter_nd_update), (table, rows, (2048, 1)), indices_below=8192),
        OpCase("scatter, less", _scattered(tf.tensor_scatter_nd_sub), (table, rows, (2048, 1)), indices_below=8192),
        OpCase("scatter, greater", _scattered(tf.tensor_scatter_nd_max), (table, rows, (2048, 1)), indices_below=8192),
        OpCase("scatter", _scattered(tf.tensor_scatter_nd_add), (table, rows, (2048, 1)), tf.bfloat16, 8192),
        *(
            OpCase(f"segment {name}", function, (segments, (8192,)), indices_below=512)
            for name, function in _segments(512).items()
        ),
        OpCase("segment sums", _segments(512)["sums, sorted"], (segments, (8192,)), tf.bfloat16, 512),
        OpCase(
            "segment sums gradient",
            indexed_gradient(lambda x, indices: tf.math.unsorted_segment_sum(x, indices, 512)),
            (segments, (512, 64), (8192,)),
            indices_below=512,
        ),
        OpCase(
            "segment maxima gradient",
            indexed_gradient(lambda x, indices: tf.math.unsorted_segment_max(x, indices, 512)),
            (segments, (512, 64), (8192,)),
            indices_below=512,
        ),
        OpCase("one hot", lambda i: tf.one_hot(i, 512, dtype=tf.bfloat16), ((2048,),), indices_below=512),
        OpCase(
            "bin count", lambda i: tf.math.bincount(i, minlength=512, maxlength=512), ((1 << 20,),), indices_below=512
        ),
        OpCase("confusion matrix", lambda i: tf.math.confusion_matrix(i, i, 64), ((65536,),), indices_below=64),
        OpCase("sequence mask", lambda i: tf.sequence_mask(i, 512), ((4096,),), indices_below=512),
        OpCase(
            "reverse sequences", lambda x, i: tf.reverse_sequence(x, i, 1, 0), ((64, 64, 128), (64,)), indices_below=64
        ),
        OpCase(
            "inverse permutation",
            lambda i: tf.math.invert_permutation(tf.argsort(i)),
            ((1 << 17,),),
            indices_below=1 << 20,
        ),
        OpCase("boolean mask", lambda x: tf.boolean_mask(x, x[:, 0] > 0), (batch,)),
        OpCase("where true", lambda x: tf.where(x > 1), (batch,)),
        OpCase("where true, sparse", lambda x: tf.where(x > 2.33), (batch,)),  # one flag in a hundred is true
        OpCase("unique", lambda i: tf.unique(i), ((1 << 17,),), indices_below=512),
        OpCase("partition", lambda x, i: tf.dynamic_partition(x, i, 4), ((8192, 64), (8192,)), indices_below=4),
        OpCase(
            "stitch",
            lambda x: tf.dynamic_stitch([tf.range(0, 8192, 2), tf.range(1, 8192, 2)], [x[:4096], x[4096:]]),
            ((8192, 64),),
        ),
        OpCase("take along axis", lambda x, i: tf.gather(x, i, batch_dims=1), (batch, (2048, 64)), indices_below=512),
    ]
