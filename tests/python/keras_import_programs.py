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
    loader = vars(tf.keras)
    assert not loader.get("_initialized") and not loader.get("_tfll_initialized") and "tf_keras" not in sys.modules
    tf.keras.layers  # noqa: B018
    assert vars(tf)["keras"].__name__ in ("keras.api._v2.keras", "keras._tf_keras.keras")


def _api(keras: Any) -> Any:
    """Returns the tf.keras of a Keras package."""
    name = "_tf_keras.keras" if hasattr(keras, "_tf_keras") else "api._v2.keras"
    return importlib.import_module(f"{keras.__name__}.{name}")


def patched(name: str, imported_first: bool) -> None:
    """Uses a Keras package that is imported before or after the HPU module is loaded."""
    os.environ["TF_ENABLE_AUTO_MIXED_PRECISION"] = "1"
    if imported_first:
        importlib.import_module(name)
    _load()
    keras: Any = importlib.import_module(name)
    api = _api(keras)
    for root in (keras, api):
        assert hasattr(root.layers.LayerNormalization.call, "_replaced")
        assert root.layers.LayerNormalization is keras.layers.LayerNormalization
        assert issubclass(root.layers.LayerNormalization, keras.layers.Layer)
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
    for _ in range(2):
        model.compile(keras.optimizers.Adam(), "mse", jit_compile=True)
        assert isinstance(model.optimizer, keras.mixed_precision.LossScaleOptimizer)
        assert not isinstance(model.optimizer.inner_optimizer, keras.mixed_precision.LossScaleOptimizer)


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
    """A Keras of another version keeps its symbols, and so does a Keras 3 that computes with another framework."""
    _load()
    from habana_frameworks.tensorflow import lib_utils
    from habana_frameworks.tensorflow._internal.patches import keras_import

    def is_patched(version: str, backend: str = "tensorflow") -> bool:
        called: list[types.ModuleType] = []
        package = types.ModuleType("keras")
        package.__version__ = version  # type: ignore[attr-defined]
        package.config = types.SimpleNamespace(backend=lambda: backend)  # type: ignore[attr-defined]
        sys.modules["keras"] = package
        keras_import.call_after_import(called.append)
        return package in called

    sys.modules.pop("tf_keras", None)
    assert is_patched("2.15.0")
    assert is_patched("3.12.0") == (lib_utils.release().keras == "3")
    assert not is_patched("4.0.0") and not is_patched("3.12.0", "jax")
