"""Tests that cannot pass on the device of HPU_BACKEND, or with the installed TensorFlow."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping

from habana_frameworks.tensorflow import lib_utils
from tests.gaudi import exceptions as gaudi
from tests.pjrt import exceptions as pjrt
from tests.support import release_exceptions


def active_exceptions() -> Mapping[str, str]:
    """Returns patterns of test ids, where * matches any text, and the reasons to skip these tests."""
    backend = os.environ.get("HPU_BACKEND", "").partition(":")[0]
    of_device = {"gaudi": {**gaudi.EXCEPTIONS, **gaudi.TOO_SLOW}, "pjrt": pjrt.EXCEPTIONS}.get(backend, {})
    return {**of_device, **release_exceptions.EXCEPTIONS.get(lib_utils.release().version, {})}


def reason_to_skip(node_id: str, exceptions: Mapping[str, str]) -> str | None:
    """Returns the reason to skip the test, or None."""
    return next((reason for pattern, reason in exceptions.items() if matches(node_id, pattern)), None)


def matches(node_id: str, pattern: str) -> bool:
    """Returns whether the pattern matches the whole id. Brackets have no special meaning."""
    return fnmatch.fnmatchcase(node_id.replace("[", "("), pattern.replace("[", "("))
