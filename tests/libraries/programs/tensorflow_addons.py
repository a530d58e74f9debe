"""TensorFlow Addons: optimizers around optimizers, losses, layers and metrics."""

import tensorflow as tf
import tensorflow_addons as tfa

from tests.libraries.training import Training, compiled, labels, random


def lookahead() -> Training:
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(32, "relu"), tfa.layers.WeightNormalization(tf.keras.layers.Dense(3))]
    )
    optimizer = tfa.optimizers.Lookahead(tfa.optimizers.RectifiedAdam(1e-2), sync_period=3)
    metric = tfa.metrics.CohenKappa(3, sparse_labels=True)
    model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), [metric])
    return compiled(model, random(32, 16), labels(32, 3))


def triplets() -> Training:
    # The loss does not depend on a bias of the last layer.
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(32, tfa.activations.mish), tf.keras.layers.Dense(8, use_bias=False)]
    )
    model.compile(tfa.optimizers.LAMB(1e-2), tfa.losses.TripletSemiHardLoss())
    return compiled(model, random(32, 16), labels(32, 4))


def group_norm() -> Training:
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(8, 3),
            tfa.layers.GroupNormalization(4),
            tfa.layers.AdaptiveAveragePooling2D((2, 2)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(1, "sigmoid"),
        ]
    )
    optimizer = tfa.optimizers.AdamW(weight_decay=1e-4, learning_rate=1e-2)
    model.compile(optimizer, tfa.losses.SigmoidFocalCrossEntropy(reduction="sum_over_batch_size"))
    return compiled(model, random(16, 10, 10, 3), labels(16, 2).astype("float32")[:, None])


PROGRAMS = {
    "Lookahead, CohenKappa": lookahead,
    "LAMB, triplet loss": triplets,
    "GroupNormalization, focal loss": group_norm,
}
