"""The symbols of tf.keras that load_habana_module(allow_op_override=True) replaces by versions on fused ops.

Eager calls of the replacements are one launch instead of a dozen. In graphs they make TensorFlow's own ops: there the
passes find the patterns (docs/developer/patterns.md), and a SavedModel needs nothing of this package.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any


def replace_symbols(tf: Any) -> None:
    """Replaces tf.keras.layers.LayerNormalization and tf.keras.activations.gelu. Again changes nothing."""
    for module, name, symbol in _symbols(tf):
        setattr(module, name, symbol)


@contextlib.contextmanager
def original_symbols(tf: Any) -> Iterator[None]:
    """TensorFlow's own in the block."""
    found = [(module, name, getattr(module, name)) for module, name, _ in _symbols(tf)]
    try:
        for module, name, symbol in found:
            setattr(module, name, getattr(symbol, "_replaced", symbol))
        yield
    finally:
        for module, name, symbol in found:
            setattr(module, name, symbol)


def _symbols(tf: Any) -> list[tuple[Any, str, Any]]:
    """Module, name, replacement: in tf.keras, and in keras, which has modules of its own for the same symbols."""
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
    """Models that use them are saved as if they used TensorFlow's own."""
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
