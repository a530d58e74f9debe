"""Programs for test_op_registry.py."""

from __future__ import annotations

import sys

from habana_frameworks.tensorflow import op_registry
from habana_frameworks.tensorflow.op_registry import text
from tools import generate_op_pages


def check_pages() -> None:
    sys.argv = ["", "--check"]
    assert generate_op_pages.main() == 0


def check_table() -> None:
    page = generate_op_pages.PAGE.read_text()
    missing = [row for row in text.families(op_registry.ops().values()) if f"| {' | '.join(row)} |" not in page]
    assert not missing, missing
