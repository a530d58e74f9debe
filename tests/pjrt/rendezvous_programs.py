"""Programs for test_rendezvous.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import flags, load_habana_module


def acquire() -> None:
    """Prints the process's place in its job, and the error of the first op on the HPU, which acquires the device."""
    print(f"rendezvous {flags.pjrt_rendezvous()}")
    load_habana_module()
    try:
        tf.constant(1.0)
    except tf.errors.OpError as error:
        print(error.message)
    else:
        raise AssertionError("the device was acquired")


if __name__ == "__main__":
    acquire()
