"""Trains on handwritten digits in TensorFlow 1 style: a graph, placeholders and a Session."""

from __future__ import annotations

import tensorflow as tf

import digits

tf1 = tf.compat.v1


def dense(inputs: tf.Tensor, units: int, name: str, seed: int) -> tf.Tensor:
    with tf1.variable_scope(name):
        shape = [inputs.shape[-1], units]
        weights = tf1.get_variable("weights", shape, initializer=tf1.glorot_uniform_initializer(seed=seed))
        bias = tf1.get_variable("bias", [units], initializer=tf1.zeros_initializer())
        return tf.matmul(inputs, weights) + bias


def main() -> None:
    arguments = digits.parse_arguments(__doc__, epochs=15)
    digits.prepare(arguments)
    tf1.disable_eager_execution()
    tf1.enable_resource_variables()
    data = digits.load()

    images = tf1.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    labels = tf1.placeholder(tf.int32, [None], name="labels")
    hidden = tf.nn.relu(dense(tf.reshape(images, [-1, 64]), 96, "hidden", arguments.seed))
    logits = dense(hidden, 10, "logits", arguments.seed + 1)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    correct = tf.equal(tf.argmax(logits, axis=1, output_type=tf.int32), labels)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    train = tf1.train.MomentumOptimizer(0.1, momentum=0.9).minimize(loss)

    stopwatch = digits.Stopwatch()
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        batch_loss = 0.0
        for epoch in range(arguments.epochs):
            for batch in digits.shuffled_batches(data, arguments.batch_size, arguments.seed + epoch):
                with stopwatch:
                    _, batch_loss = session.run([train, loss], dict(zip((images, labels), batch)))
            print(f"epoch {epoch + 1}: loss {batch_loss:.4f}")
        test = {images: data.test_images, labels: data.test_labels}
        test_loss, test_accuracy = session.run([loss, accuracy], test)
        digits.Report(float(test_loss), float(test_accuracy), stopwatch).print(arguments)


if __name__ == "__main__":
    main()
