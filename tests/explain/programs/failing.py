"""Program with arguments that raises an exception, for `hpu explain`."""

from __future__ import annotations

import sys

import tensorflow as tf

assert sys.argv[1:] == ["--json", "mine"] and __name__ == "__main__"
print(tf.function(lambda x: tf.tanh(x) * 2.0)(tf.zeros([2])).numpy().tolist())
raise ValueError("from the program")
