"""Import check for test_surface.py: public modules define their names and do not load the plugin."""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Mapping


def import_names(package: str, names_of: Mapping[str, str]) -> None:
    for module, names in names_of.items():
        found = importlib.import_module(package + ("." + module if module else ""))
        for name in names.split():
            assert hasattr(found, name), f"{module} has no {name}"
    assert "habana_device.so" not in pathlib.Path("/proc/self/maps").read_text(), "the plugin was loaded"
    import tensorflow as tf

    assert not tf.config.list_physical_devices("HPU")
