"""The version of the plugin itself, which tells more than the package's."""

from __future__ import annotations

import ctypes

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library


def get_library_version() -> str:
    """Release, source revision, hash of the sources, TensorFlow version: "0.1.0_1a2b3c4d.5e6f7a8b_tf2.15.1".

    Loads the module.
    """
    version = c_api.function(plugin_library.handle(), "hpu_version")
    version.restype = ctypes.c_char_p
    return bytes(version()).decode()
