"""The program of test_errors.py."""

from __future__ import annotations

from habana_frameworks.tensorflow import errors, load_habana_module


def load_and_compute() -> None:
    """Prints why the module cannot be loaded, and what TensorFlow computes without it."""
    try:
        load_habana_module()
    except errors.HabanaModuleError as error:
        print(error)
    else:
        raise AssertionError("the module was loaded")
    import tensorflow as tf

    print(f"CPU computes {float(tf.constant(1.0) + 2.0)}")
