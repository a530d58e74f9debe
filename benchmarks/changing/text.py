"""Programs over sentences of changing length: translation, classification, language models, word vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.changing.program import Program, Step, dataset, generator, in_fit, in_steps, sentences, words

Fit = tuple[tf.keras.Model, Any, dict[str, Any]]


class Translator(tf.keras.Model):
    """Encoder, attention and decoder, as in TensorFlow's tutorial on translation with attention."""

    def __init__(self, vocabulary: int, units: int) -> None:
        super().__init__()
        layers = tf.keras.layers
        self.source_embedding = layers.Embedding(vocabulary, units, mask_zero=True)
        self.encoder = layers.Bidirectional(layers.GRU(units, return_sequences=True), merge_mode="sum")
        self.target_embedding = layers.Embedding(vocabulary, units, mask_zero=True)
        self.decoder = layers.GRU(units, return_sequences=True)
        self.attention = layers.MultiHeadAttention(1, units)
        self.normalization = layers.LayerNormalization()
        self.add = layers.Add()
        self.output_layer = layers.Dense(vocabulary)

    def call(self, inputs: Any) -> tf.Tensor:
        source, target = inputs
        context = self.encoder(self.source_embedding(source))
        x = self.decoder(self.target_embedding(target))
        x = self.normalization(self.add([x, self.attention(query=x, value=context)]))
        return self.output_layer(x)


def masked_loss(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Mean loss of the words; 0 is padding."""
    entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    mask = tf.cast(labels != 0, tf.float32)
    return tf.reduce_sum(entropy(labels, logits) * mask) / tf.reduce_sum(mask)


def translation() -> Fit:
    """Translates sentences; source and target are padded to the longest of a batch."""
    vocabulary, batch = 500, 16
    model = Translator(vocabulary, 48)
    model.compile("adam", masked_loss)
    draw = generator(0)
    longest = draw.integers(6, 25, 100).repeat(batch)
    pairs = [(words(draw, vocabulary, draw.integers(4, end + 1)), end) for end in longest]
    data = [(source, words(draw, vocabulary, draw.integers(3, end + 2))) for source, end in pairs]

    def parts(source: tf.Tensor, target: tf.Tensor) -> Any:
        return (source, target[:-1]), target[1:]

    spec = tf.TensorSpec([None], tf.int64)
    batches = dataset(data.__getitem__, len(data), (spec, spec)).map(parts).padded_batch(batch).prefetch(2)
    return model, lambda: batches, {}


def bucketed_lstm() -> Fit:
    """Classifies sentences of similar length together (bucket_by_sequence_length), by an LSTM."""
    vocabulary = 1000
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Embedding(vocabulary, 32, mask_zero=True),
            layers.Bidirectional(layers.LSTM(32)),
            layers.Dense(32, "relu"),
            layers.Dense(1),
        ]
    )
    model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
    draw = generator(0)
    texts = sentences(draw, vocabulary, 1500, 4, 60)
    labels = draw.integers(0, 2, len(texts))
    spec = (tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.int64))
    examples = dataset(lambda index: (texts[index], labels[index]), len(texts), spec)
    batches = examples.bucket_by_sequence_length(
        lambda text, _: tf.shape(text)[0],
        bucket_boundaries=[10, 20, 30, 45],
        bucket_batch_sizes=[64, 48, 32, 24, 16],
    )
    return model, lambda: batches, {}


def ragged_classification() -> Fit:
    """Classifies ragged sentences by the mean of their word vectors."""
    vocabulary = 2000
    layers = tf.keras.layers
    inputs = tf.keras.Input([None], dtype=tf.int64, ragged=True)
    vectors = layers.Embedding(vocabulary, 32)(inputs)
    x = layers.Lambda(lambda ragged: tf.reduce_mean(ragged, axis=1))(vectors)
    outputs = layers.Dense(1)(layers.Dense(64, "relu")(x))
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True))
    draw = generator(0)
    texts = tf.ragged.constant([text.tolist() for text in sentences(draw, vocabulary, 1920, 5, 80)], dtype=tf.int64)
    labels = draw.integers(0, 2, 1920)
    return model, lambda: texts, {"y": labels, "batch_size": 64}


class Decoder(tf.keras.Model):
    """Transformer decoder like GPT-2: embeddings of words and positions, pre-norm blocks with causal attention."""

    def __init__(self, vocabulary: int, width: int, depth: int, heads: int, longest: int) -> None:
        super().__init__()
        layers = tf.keras.layers
        self.words = layers.Embedding(vocabulary, width)
        self.positions = layers.Embedding(longest, width)
        self.blocks = [
            {
                "before attention": layers.LayerNormalization(epsilon=1e-5),
                "attention": layers.MultiHeadAttention(heads, width // heads),
                "before network": layers.LayerNormalization(epsilon=1e-5),
                "network": tf.keras.Sequential([layers.Dense(4 * width, "gelu"), layers.Dense(width)]),
            }
            for _ in range(depth)
        ]
        self.normalization = layers.LayerNormalization(epsilon=1e-5)
        self.head = layers.Dense(vocabulary, use_bias=False)

    def call(self, ids: tf.Tensor) -> tf.Tensor:
        x = self.words(ids) + self.positions(tf.range(tf.shape(ids)[1]))
        for block in self.blocks:
            normal = block["before attention"](x)
            x += block["attention"](normal, normal, use_causal_mask=True)
            x += block["network"](block["before network"](x))
        return self.head(self.normalization(x))


def sampling() -> Step:
    """Samples words from a small transformer like GPT-2, eagerly; the prompt grows by a word in each step."""
    vocabulary, longest = 500, 48
    model = Decoder(vocabulary, 64, 2, 4, longest)
    text = tf.constant(words(generator(0), vocabulary, 2, 8))

    def step(number: int) -> Any:
        nonlocal text
        if text.shape[1] == longest:
            text = tf.constant(words(generator(number), vocabulary, 2, 8))
        logits = model(text)[:, -1, :] / 0.8
        best, _ = tf.math.top_k(logits, 40)
        logits = tf.where(logits < best[:, -1:], -1e9, logits)
        chosen = tf.random.categorical(logits, 1)
        text = tf.concat([text, chosen], 1)
        return tf.reduce_mean(tf.gather(tf.nn.log_softmax(logits), chosen, batch_dims=1))

    return step


def bert() -> Step:
    """Pretrains a transformer on masked words of batches of changing length, as in TensorFlow's transformer tutorial.

    The losses are those of the masked words only, whose number changes too.
    """
    vocabulary, width, heads = 500, 64, 4
    layers = tf.keras.layers
    embedding = layers.Embedding(vocabulary, width)
    positions = layers.Embedding(64, width)
    inputs = tf.keras.Input([None], dtype=tf.int64)
    padding = layers.Lambda(lambda ids: tf.not_equal(ids, 0)[:, tf.newaxis, :])(inputs)
    places = layers.Lambda(lambda ids: tf.range(tf.shape(ids)[1])[tf.newaxis, :])(inputs)
    x = layers.LayerNormalization()(embedding(inputs) + positions(places))
    for _ in range(2):
        x = layers.LayerNormalization()(
            x + layers.MultiHeadAttention(heads, width // heads, dropout=0.1)(x, x, attention_mask=padding)
        )
        x = layers.LayerNormalization()(x + layers.Dense(width)(layers.Dense(4 * width, "gelu")(x)))
    model = tf.keras.Model(inputs, layers.Dense(vocabulary)(x))
    optimizer = tf.keras.optimizers.Adam(1e-3)
    signature = [tf.TensorSpec([None, None], tf.int64), tf.TensorSpec([None, None], tf.int64)]

    @tf.function(input_signature=signature)
    def train_step(masked: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        chosen = tf.not_equal(labels, -1)
        with tf.GradientTape() as tape:
            logits = tf.boolean_mask(model(masked, training=True), chosen)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.boolean_mask(labels, chosen), logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    def step(number: int) -> Any:
        draw = generator(number)
        batch = sentences(draw, vocabulary - 1, 16, 5, int(draw.integers(10, 49)))
        ids = tf.keras.utils.pad_sequences(batch, padding="post", dtype="int64")
        chosen = (draw.random(ids.shape) < 0.15) & (ids != 0)
        chosen[0, 0] = True
        return train_step(np.where(chosen, vocabulary - 1, ids), np.where(chosen, ids, -1))

    return step


def word2vec() -> Step:
    """Skip-grams with negative samples; the number of pairs depends on the sentences."""
    vocabulary, width = 5000, 64
    target_embedding = tf.keras.layers.Embedding(vocabulary, width)
    context_embedding = tf.keras.layers.Embedding(vocabulary, width)
    optimizer = tf.keras.optimizers.Adam(1e-2)

    @tf.function(reduce_retracing=True)
    def train_step(targets: tf.Tensor, contexts: tf.Tensor) -> tf.Tensor:
        negatives, _, _ = tf.random.log_uniform_candidate_sampler(contexts[:, tf.newaxis], 1, 64, True, vocabulary)
        with tf.GradientTape() as tape:
            vectors = target_embedding(targets)
            positive = tf.reduce_sum(vectors * context_embedding(contexts), 1)
            negative = tf.matmul(vectors, context_embedding(negatives), transpose_b=True)
            loss = -tf.reduce_mean(tf.math.log_sigmoid(positive))
            loss -= tf.reduce_mean(tf.reduce_sum(tf.math.log_sigmoid(-negative), 1))
        variables = target_embedding.trainable_variables + context_embedding.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def step(number: int) -> Any:
        draw = generator(number)
        pairs = [
            pair
            for text in sentences(draw, vocabulary, 8, 5, 40)
            for pair in tf.keras.preprocessing.sequence.skipgrams(
                text, vocabulary, window_size=2, negative_samples=0.0, shuffle=False
            )[0]
        ]
        targets, contexts = np.array(pairs, np.int64).T
        return train_step(targets, contexts)

    return step


PROGRAMS: dict[str, Program] = {
    "translation": in_fit(translation),
    "bucketed_lstm": in_fit(bucketed_lstm),
    "ragged_classification": in_fit(ragged_classification),
    "sampling": in_steps(sampling),
    "bert": in_steps(bert),
    "word2vec": in_steps(word2vec),
}
