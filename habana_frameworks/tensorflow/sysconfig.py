"""Compiler and linker flags for building custom ops. This module does not import TensorFlow."""

from __future__ import annotations

from habana_frameworks.tensorflow import lib_utils
from habana_frameworks.tensorflow._internal.version import __version__

__all__ = ["__version__", "get_compile_flags", "get_include_dir", "get_lib_dir", "get_link_flags"]


def get_include_dir() -> str:
    """Directory of the C++ headers."""
    return lib_utils.get_includes_location()


def get_lib_dir() -> str:
    """Directory of the plugin's shared library."""
    return lib_utils._libraries_location()


def get_compile_flags() -> list[str]:
    """Compiler flags to use in addition to tf.sysconfig.get_compile_flags()."""
    return [f"-I{get_include_dir()}", "-DINCLUDE_FROM_WHEEL=1"]


def get_link_flags() -> list[str]:
    """Linker flags to use in addition to tf.sysconfig.get_link_flags()."""
    found = lib_utils.built_for()
    return [f"-L{get_lib_dir()}", *(f"-l:{path.name}" for path in list(found.values())[-1:])]
