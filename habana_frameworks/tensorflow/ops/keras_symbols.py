"""Keras symbols that load_habana_module(allow_op_override=True) replaces by versions with fused ops.

An eager call of a replacement is one launch instead of a dozen. In graphs the replacements create TensorFlow's own ops:
the passes fuse these patterns (docs/developer/patterns.md), and a SavedModel does not depend on this package.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Iterator
from typing import Any


def replace_symbols(keras: Any) -> None:
    """Replaces layers.LayerNormalization and activations.gelu of a Keras package and of its tf.keras. Idempotent."""
    for module, name, symbol in _symbols(keras):
        setattr(module, name, symbol)


@contextlib.contextmanager
def original_symbols(keras: Any) -> Iterator[None]:
    """Restores Keras's own symbols during the `with` block."""
    found = [(module, name, getattr(module, name)) for module, name, _ in _symbols(keras)]
    try:
        for module, name, symbol in found:
            setattr(module, name, getattr(symbol, "_replaced", symbol))
        yield
    finally:
        for module, name, symbol in found:
            setattr(module, name, symbol)


def _symbols(keras: Any) -> list[tuple[Any, str, Any]]:
    """(module, name, replacement), for the package and for its tf.keras, whose modules are separate."""
    layer_normalization, gelu = _replacements(keras)
    return [
        (module, name, symbol)
        for root in (keras, importlib.import_module(f"{keras.__name__}.api._v2.keras"))
        for module, name, symbol in (
            (root.layers, "LayerNormalization", layer_normalization),
            (root.activations, "gelu", gelu),
        )
    ]


@functools.cache
def _replacements(keras: Any) -> tuple[Any, Any]:
    """Returns the layer and the function. Both have the names of Keras's symbols, to which saved models refer."""
    import tensorflow as tf
    from habana_frameworks.tensorflow.ops import fused_layer_norm, gelu

    plain_gelu = importlib.import_module(f"{keras.__name__}.src.activations").gelu
    plain_layer = importlib.import_module(f"{keras.__name__}.src.layers").LayerNormalization

    def call(self: Any, inputs: Any) -> Any:
        fused = tf.executing_eagerly() and fused_layer_norm.can_fuse(self, inputs)
        return (fused_layer_norm if fused else plain_layer).call(self, inputs)

    @functools.wraps(plain_gelu)
    def replaced_gelu(x: Any, approximate: bool = False) -> Any:
        function = gelu.habana_gelu if tf.executing_eagerly() else plain_gelu
        return function(x, approximate)

    replaced_gelu._replaced = plain_gelu  # type: ignore[attr-defined]
    names = ("__module__", "__qualname__", "__doc__", "_keras_api_names", "_keras_api_names_v1")
    members = {name: plain_layer.__dict__[name] for name in names if name in plain_layer.__dict__}
    members = {**members, "call": call, "_replaced": plain_layer}
    return type("LayerNormalization", (plain_layer,), members), replaced_gelu
