"""TensorFlow's conversions of SavedModels by MLIR, such as tf.lite.TFLiteConverter, when the HPU is loaded.

TensorFlow's MLIR importers restore a SavedModel in a Session and read its variables from host memory. The patch removes
the HPU from this Session. Otherwise the variables would be in device memory, and the read would end the process.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow._internal.native import c_api


def install(plugin: ctypes.CDLL) -> None:
    """Patches TensorFlow's calls into C++ that import SavedModels. Called once, by library_loader."""
    from tensorflow.compiler.mlir.quantization.tensorflow.python import pywrap_quantize_model
    from tensorflow.python import pywrap_mlir

    hide = c_api.function(plugin, "hpu_hide_from_importers")
    for module, prefixes in (
        (_lite_converter(), ("Convert", "TocoConvert")),
        (pywrap_mlir, ("ExperimentalConvertSavedModel",)),
        (pywrap_quantize_model, ("quantize_",)),
    ):
        for name, call in list(vars(module).items()):
            if name.startswith(prefixes):
                setattr(module, name, _without_hpu(call, hide))


def _lite_converter() -> Any:
    """The module that converts for tf.lite."""
    try:
        return importlib.import_module("tensorflow.compiler.mlir.lite.python._pywrap_converter_api")
    except ImportError:
        return importlib.import_module("tensorflow.python._pywrap_toco_api")  # TensorFlow 2.15


def _without_hpu(call: Callable[..., Any], hide: Callable[[int], int]) -> Callable[..., Any]:
    """Wraps `call` to hide the HPU from importers in the calling thread."""

    @functools.wraps(call)
    def importing(*arguments: Any, **options: Any) -> Any:
        was_hidden = hide(1)
        try:
            return call(*arguments, **options)
        finally:
            hide(was_hidden)

    return importing
