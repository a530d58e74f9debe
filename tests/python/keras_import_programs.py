"""Programs for test_keras_import.py."""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.statistics import Statistics


def _load() -> None:
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()


def load_without_selection() -> None:
    _load()
    import tensorflow as tf

    # The import of TensorFlow imports `keras`, but tf.keras is a lazy loader until its first use.
    assert not vars(tf.keras)["_initialized"] and "tf_keras" not in sys.modules
    tf.keras.layers  # noqa: B018
    assert vars(tf)["keras"].__name__ == "keras.api._v2.keras"


def patched(name: str, imported_first: bool) -> None:
    """Uses a Keras package that is imported before or after the HPU module is loaded."""
    os.environ["TF_ENABLE_AUTO_MIXED_PRECISION"] = "1"
    if imported_first:
        importlib.import_module(name)
    _load()
    keras: Any = importlib.import_module(name)
    api: Any = importlib.import_module(f"{name}.api._v2.keras")
    assert hasattr(importlib.import_module(f"{name}.src.utils.tf_utils").can_jit_compile, "_replaced")
    for root in (keras, api):
        assert hasattr(root.activations.gelu, "_replaced")
        assert issubclass(root.layers.LayerNormalization, keras.layers.Layer)
        assert hasattr(root.layers.LayerNormalization, "_replaced")
    use_patches(api)


def use_patches(keras: Any) -> None:
    import tensorflow as tf

    from habana_frameworks.tensorflow import statistics

    layer = keras.layers.LayerNormalization()
    x = tf.random.stateless_normal([8, 3], (1, 2))
    layer(x)
    before = _executions(statistics.get())
    keras.activations.gelu(layer(x))
    assert _executions(statistics.get()) == before + 2, "the fused ops"
    model = keras.Sequential([layer, keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(), "mse")
    assert isinstance(model.optimizer, keras.mixed_precision.LossScaleOptimizer)


def _executions(counted: Statistics) -> int:
    return counted.launches + counted.eager.host_runs


def select_tf_keras() -> None:
    """Selects tf_keras after loading, as the import of a library does."""
    _load()
    import tensorflow as tf

    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tf_keras  # type: ignore[import-not-found,import-untyped,unused-ignore]

    assert tf.keras.optimizers.Adam is tf_keras.optimizers.Adam
    model = tf_keras.Sequential([tf_keras.layers.Dense(1)])
    # Eager, because AutoGraph converts tf_keras's own functions, which takes long.
    model.compile(tf.keras.optimizers.Adam(), "mse", run_eagerly=True)
    history = model.fit(tf.ones([8, 2]), tf.ones([8, 1]), epochs=2, verbose=0).history
    assert history["loss"][1] < history["loss"][0]


def other_version() -> None:
    """A Keras of another version keeps its symbols: the patches are for Keras 2."""
    _load()
    from habana_frameworks.tensorflow._internal.patches import keras_import

    called: list[types.ModuleType] = []
    keras_3 = types.ModuleType("keras")
    keras_3.__version__ = "3.4.1"  # type: ignore[attr-defined]
    sys.modules["keras"] = keras_3
    keras_import.call_after_import(called.append)
    assert not called
    keras_3.__version__ = "2.15.0"  # type: ignore[attr-defined]
    keras_import.call_after_import(called.append)
    assert called == [keras_3]
