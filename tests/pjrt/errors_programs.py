"""Program for test_errors.py."""

from __future__ import annotations

from habana_frameworks.tensorflow import errors, load_habana_module


def load_and_compute() -> None:
    """Prints the load error, and a result of TensorFlow without the HPU."""
    try:
        load_habana_module()
    except errors.HabanaModuleError as error:
        print(error)
    else:
        raise AssertionError("the module was loaded")
    import tensorflow as tf

    print(f"CPU computes {float(tf.constant(1.0) + 2.0)}")
