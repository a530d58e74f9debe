"""TensorFlow Ranking: listwise losses of dense and ragged lists, with a metric.

Listwise losses do not depend on a bias of the scores.
"""

import numpy as np
import tensorflow as tf
import tensorflow_ranking as tfr

from tests.libraries.training import Training, compiled, fitted, labels, random


def dense_lists() -> Training:
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1, use_bias=False), tf.keras.layers.Reshape([10])]
    )
    model.compile("adagrad", tfr.keras.losses.ApproxNDCGLoss(), [tfr.keras.metrics.NDCGMetric(topn=5)])
    return compiled(model, random(16, 10, 8), labels(160, 3).reshape(16, 10).astype(np.float32))


def ragged_lists() -> Training:
    lengths = labels(16, 8) + 2
    x, y = random(int(lengths.sum()), 8), labels(int(lengths.sum()), 3).astype(np.float32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1, use_bias=False)])
    model.build([None, 8])
    listwise = tfr.keras.losses.SoftmaxLoss(ragged=True)

    def loss() -> tf.Tensor:
        scores = tf.RaggedTensor.from_row_lengths(model(x)[:, 0], lengths)
        return listwise(tf.RaggedTensor.from_row_lengths(y, lengths), scores)

    return fitted(model, loss, tf.keras.optimizers.Adam(0.01))


PROGRAMS = {"ApproxNDCG, dense lists": dense_lists, "softmax loss, ragged lists": ragged_lists}
