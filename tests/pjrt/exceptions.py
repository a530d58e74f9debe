"""Tests that cannot pass on a PJRT plugin's device. tests/conftest.py skips them where HPU_BACKEND names one."""

from __future__ import annotations

import fnmatch

# Patterns of node ids, with * for any text.
EXCEPTIONS: dict[str, str] = {}


def reason_to_skip(node_id: str) -> str | None:
    """Returns why the test is skipped, or None."""
    for pattern, reason in EXCEPTIONS.items():
        if fnmatch.fnmatchcase(node_id.replace("[", "("), pattern.replace("[", "(")):
            return reason
    return None
