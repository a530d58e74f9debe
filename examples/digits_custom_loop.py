"""Trains on handwritten digits in a custom loop with tf.function and GradientTape."""

from __future__ import annotations

import tensorflow as tf

import digits


class Classifier(tf.Module):  # type: ignore[misc]
    """One hidden layer."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        generator = tf.random.Generator.from_seed(seed)
        self.hidden = tf.Variable(generator.normal([64, 96], stddev=0.15), name="hidden")
        self.hidden_bias = tf.Variable(tf.zeros([96]), name="hidden_bias")
        self.output = tf.Variable(generator.normal([96, 10], stddev=0.1), name="output")
        self.output_bias = tf.Variable(tf.zeros([10]), name="output_bias")

    def __call__(self, images: tf.Tensor) -> tf.Tensor:
        flat = tf.reshape(images, [-1, 64])
        return tf.nn.relu(flat @ self.hidden + self.hidden_bias) @ self.output + self.output_bias


def mean_loss(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def main() -> None:
    arguments = digits.parse_arguments(__doc__, epochs=15)
    digits.prepare(arguments)
    tf.random.set_seed(arguments.seed)
    data = digits.load()
    model = Classifier(arguments.seed)
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = mean_loss(model(images), labels)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def test_step(images: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        logits = model(images)
        correct = tf.equal(tf.argmax(logits, axis=1, output_type=tf.int32), labels)
        return mean_loss(logits, labels), tf.reduce_mean(tf.cast(correct, tf.float32))

    stopwatch = digits.Stopwatch()
    loss = 0.0
    for epoch in range(arguments.epochs):
        for images, labels in digits.shuffled_batches(data, arguments.batch_size, arguments.seed + epoch):
            with stopwatch:
                loss = float(train_step(tf.constant(images), tf.constant(labels)))
        print(f"epoch {epoch + 1}: loss {loss:.4f}")
    test_loss, accuracy = test_step(tf.constant(data.test_images), tf.constant(data.test_labels))
    digits.Report(float(test_loss), float(accuracy), stopwatch).print(arguments)


if __name__ == "__main__":
    main()
