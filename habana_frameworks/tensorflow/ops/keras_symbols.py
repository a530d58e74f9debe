"""tf.keras symbols that load_habana_module(allow_op_override=True) replaces by versions with fused ops.

An eager call of a replacement is one launch instead of a dozen. In graphs the replacements create TensorFlow's own ops:
the passes fuse these patterns (docs/developer/patterns.md), and a SavedModel does not depend on this package.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any


def replace_symbols(tf: Any) -> None:
    """Replaces tf.keras.layers.LayerNormalization and tf.keras.activations.gelu. Idempotent."""
    for module, name, symbol in _symbols(tf):
        setattr(module, name, symbol)


@contextlib.contextmanager
def original_symbols(tf: Any) -> Iterator[None]:
    """Restores TensorFlow's own symbols during the `with` block."""
    found = [(module, name, getattr(module, name)) for module, name, _ in _symbols(tf)]
    try:
        for module, name, symbol in found:
            setattr(module, name, getattr(symbol, "_replaced", symbol))
        yield
    finally:
        for module, name, symbol in found:
            setattr(module, name, symbol)


def _symbols(tf: Any) -> list[tuple[Any, str, Any]]:
    """(module, name, replacement), for tf.keras and for keras, which has separate modules with the same symbols."""
    import keras

    layer_normalization, gelu = _replacements()
    return [
        (module, name, symbol)
        for root in (tf.keras, keras)
        for module, name, symbol in (
            (root.layers, "LayerNormalization", layer_normalization),
            (root.activations, "gelu", gelu),
        )
    ]


@functools.cache
def _replacements() -> tuple[Any, Any]:
    """Returns the layer and the function. Both have the names of TensorFlow's symbols, to which saved models refer."""
    from keras.src import activations
    from keras.src.layers import LayerNormalization

    import tensorflow as tf
    from habana_frameworks.tensorflow.ops import gelu, layer_norm

    def call(self: Any, inputs: Any) -> Any:
        kind = layer_norm.HabanaLayerNormalization if tf.executing_eagerly() else LayerNormalization
        return kind.call(self, inputs)

    @functools.wraps(activations.gelu)
    def replaced_gelu(x: Any, approximate: bool = False) -> Any:
        function = gelu.habana_gelu if tf.executing_eagerly() else activations.gelu
        return function(x, approximate)

    replaced_gelu._replaced = activations.gelu  # type: ignore[attr-defined]
    names = ("__module__", "__qualname__", "__doc__", "_keras_api_names", "_keras_api_names_v1")
    members = {name: LayerNormalization.__dict__[name] for name in names if name in LayerNormalization.__dict__}
    members = {**members, "call": call, "_replaced": LayerNormalization}
    return type("LayerNormalization", (layer_norm.HabanaLayerNormalization,), members), replaced_gelu
