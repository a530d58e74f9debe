"""Program of test_accelerator_kit.py: a small corpus."""

from __future__ import annotations

import pathlib

from habana_frameworks.tensorflow import load_habana_module
from tools.accelerator import record


def record_corpus(name: str, folder: str) -> None:
    """Records a program of the numerics check."""
    load_habana_module()
    record.record_program(name, pathlib.Path(folder))
