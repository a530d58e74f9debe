"""Scikit-learn's handwritten digits, split as in the examples."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from tests.support.processes import ROOT


def load_digits() -> Any:
    """Returns load() of examples/digits.py. The examples are not a package, so the module is loaded by path."""
    name = "digits"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "digits.py")
        assert spec and spec.loader
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].load()
