"""Fails on a card: the step computes a Fourier transform of complex numbers."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
window = tf.Variable(tf.fill([256], 0.5))


@tf.function
def step(signal: tf.Tensor) -> tf.Tensor:
    windowed = tf.complex(signal * window, tf.zeros([256]))
    spectrum = tf.signal.fft(windowed)  # fails on the card
    return tf.reduce_sum(tf.abs(spectrum))


for _ in range(2):
    step(tf.ones([256]))
