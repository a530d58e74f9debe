"""TensorFlow Recommenders: retrieval with two towers, and ranking with a cross network."""

import tensorflow as tf
import tensorflow_recommenders as tfrs

from tests.libraries.training import Training, compiled, labels, random


class TwoTowers(tfrs.Model):
    def __init__(self) -> None:
        super().__init__()
        self.users, self.items = tf.keras.layers.Embedding(40, 16), tf.keras.layers.Embedding(60, 16)
        self.task = tfrs.tasks.Retrieval()

    def compute_loss(self, inputs: tuple[dict[str, tf.Tensor]], training: bool = False) -> tf.Tensor:
        (batch,) = inputs
        return self.task(self.users(batch["user"]), self.items(batch["item"]), compute_metrics=False)


def retrieval() -> Training:
    model = TwoTowers()
    model.compile(tf.keras.optimizers.Adagrad(0.1))
    batch = {"user": labels(32, 40), "item": labels(32, 60, seed=1)}
    return Training(lambda: model.train_on_batch(batch, return_dict=True)["loss"], lambda: model.trainable_weights)


def cross_network() -> Training:
    model = tf.keras.Sequential(
        [tfrs.layers.dcn.Cross(projection_dim=4), tfrs.layers.dcn.Cross(), tf.keras.layers.Dense(1)]
    )
    model.compile("adam", "mse")
    return compiled(model, random(32, 16), random(32, 1, seed=1))


PROGRAMS = {"retrieval": retrieval, "cross network": cross_network}
