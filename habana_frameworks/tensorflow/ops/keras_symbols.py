"""Parts of Keras that load_habana_module(allow_op_override=True) replaces by versions with fused ops.

An eager call of a replacement is one launch instead of a dozen. In graphs the replacements create TensorFlow's own ops:
the passes fuse these patterns (docs/developer/patterns.md), and a SavedModel does not depend on this package.

The classes stay Keras's own: isinstance, saved models and names that a program imported earlier keep their meaning.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from habana_frameworks.tensorflow._internal import keras_packages


def replace_symbols(keras: Any) -> None:
    """Replaces LayerNormalization.call and gelu of a Keras package and of its tf.keras. Idempotent."""
    for owner, name, replacement in _symbols(keras):
        setattr(owner, name, replacement)


@contextlib.contextmanager
def original_symbols(keras: Any) -> Iterator[None]:
    """Restores Keras's own symbols during the `with` block."""
    found = [(owner, name, getattr(owner, name)) for owner, name, _ in _symbols(keras)]
    try:
        for owner, name, symbol in found:
            setattr(owner, name, getattr(symbol, "_replaced", symbol))
        yield
    finally:
        for owner, name, symbol in found:
            setattr(owner, name, symbol)


@functools.cache
def _symbols(keras: Any) -> list[tuple[Any, str, Any]]:
    """Returns (class or module, name, replacement) of each replaced function. The first call is before replacing."""
    owners = [keras.layers.LayerNormalization, *_modules_with_gelu(keras)]
    call, gelu = _replaced_call(owners[0].call), _replaced_gelu(owners[1].gelu)
    return [(owners[0], "call", call), *((module, "gelu", gelu) for module in owners[1:])]


def _modules_with_gelu(keras: Any) -> list[Any]:
    """Returns the modules whose gelu a program or Keras looks up.

    Keras 2: the public modules, of which tf.keras has its own. Keras 3: the backend, which keras.activations,
    keras.ops and activation="gelu" call.
    """
    if keras_packages.is_keras_2(keras):
        return [keras.activations, importlib.import_module(f"{keras.__name__}.api._v2.keras").activations]
    return [importlib.import_module(f"{keras.__name__}.src.backend.tensorflow.nn")]


def _replaced_call(plain: Any) -> Any:
    import tensorflow as tf
    from habana_frameworks.tensorflow.ops import fused_layer_norm

    @functools.wraps(plain)
    def call(self: Any, inputs: Any) -> Any:
        fused = tf.executing_eagerly() and fused_layer_norm.can_fuse(self, inputs)
        return fused_layer_norm.call(self, inputs) if fused else plain(self, inputs)

    call._replaced = plain  # type: ignore[attr-defined]
    return call


def _replaced_gelu(plain: Any) -> Any:
    import tensorflow as tf
    from habana_frameworks.tensorflow.ops.gelu import habana_gelu

    default = inspect.signature(plain).parameters["approximate"].default

    @functools.wraps(plain)
    def gelu(x: Any, approximate: bool = default) -> Any:
        return (habana_gelu if tf.executing_eagerly() else plain)(x, approximate)

    gelu._replaced = plain  # type: ignore[attr-defined]
    return gelu
