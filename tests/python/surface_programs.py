"""Check for test_surface.py: public modules are attributes of the package, define their names, load no plugin."""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Mapping


def read_names(package: str, names_of: Mapping[str, str]) -> None:
    """Reads each name as an attribute of `package`, as in `htf.ops.gelu.habana_gelu`, and imports only `package`."""
    htf = importlib.import_module(package)
    assert set(names_of) - {""} <= {name for name in names_of if "." in name} | set(dir(htf))
    for module, names in names_of.items():
        found: object = htf
        for part in filter(None, module.split(".")):
            found = getattr(found, part)
        for name in names.split():
            assert hasattr(found, name), f"{module} has no {name}"
    assert "habana_device.so" not in pathlib.Path("/proc/self/maps").read_text(), "the plugin was loaded"
    import tensorflow as tf

    assert not tf.config.list_physical_devices("HPU")
