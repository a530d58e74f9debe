"""A program that `hpu explain` runs with arguments, and that raises."""

from __future__ import annotations

import sys

import tensorflow as tf

assert sys.argv[1:] == ["--json", "mine"] and __name__ == "__main__"
print(tf.function(lambda x: tf.tanh(x) * 2.0)(tf.zeros([2])).numpy().tolist())
raise ValueError("from the program")
