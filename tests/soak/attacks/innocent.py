"""Trains a Keras MLP repeatedly, with equal results in each round.

    innocent.py [ROUNDS]

Prints a line per round: the exact losses, and a digest of the weights. Ends with standard input, or after ROUNDS.
"""

from __future__ import annotations

import hashlib
import sys
import threading

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from tests.support.digits import load_digits

load_habana_module()


def train() -> str:
    """Runs a round, and returns its output line."""
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(7)
    digits = load_digits()
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Flatten(input_shape=(8, 8, 1)), layers.Dense(64, "relu"), layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(2e-3), loss)
    history = model.fit(digits.train_images, digits.train_labels, batch_size=64, epochs=4, shuffle=False, verbose=0)
    weights = hashlib.sha256(b"".join(weight.tobytes() for weight in model.get_weights())).hexdigest()
    assert statistics.get().fallbacks == 0
    return " ".join((*(float(value).hex() for value in history.history["loss"]), weights))


def wait_for_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


def main(rounds: int) -> None:
    ended = threading.Event()
    threading.Thread(target=wait_for_end, args=(ended,), daemon=True).start()
    done = 0
    while done < rounds and not ended.is_set():
        sys.stdout.write(f"{train()}\n")
        sys.stdout.flush()
        done += 1


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 30)
