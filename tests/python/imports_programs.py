"""Programs for test_imports.py."""

from __future__ import annotations

import importlib
import os
import pathlib
import sys


def import_alone(module: str) -> None:
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    importlib.import_module(module)
    assert "tensorflow" not in sys.modules, "TensorFlow was imported"
    assert len(os.listdir("/proc/self/task")) == threads, "a thread was started"  # noqa: PTH208
    assert "habana_device" not in pathlib.Path("/proc/self/maps").read_text(), "the plugin was loaded"


def access_ops_before_load() -> None:
    from habana_frameworks.tensorflow import habana_ops

    for access in (lambda: habana_ops.habana_launch, lambda: habana_ops.ops):
        try:
            access()
        except AssertionError as error:
            print(error)
    assert "ops" in dir(habana_ops)
