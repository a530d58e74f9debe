"""Version of the plugin library, which is more detailed than the package's version."""

from __future__ import annotations

from habana_frameworks.tensorflow._internal.native import c_api, plugin_library


def get_library_version() -> str:
    """Returns release, source revision, source hash and TensorFlow version. Loads the module.

    Example: "0.2.0_1a2b3c4d.5e6f7a8b_tf2.15.1".
    """
    return bytes(c_api.function(plugin_library.handle(), "hpu_version")()).decode()
