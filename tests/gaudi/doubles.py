"""Paths of the Synapse doubles as values of HPU_BACKEND."""

from __future__ import annotations

import os
import pathlib

import pytest

BUILD = pathlib.Path(__file__).parents[2] / os.environ.get("BUILD", "build")
RELEASES = ("1.5", "1.18")


def backend(release: str) -> str:
    """Returns the value of HPU_BACKEND that selects the double of a release. Skips the test if it is not built."""
    library = BUILD / "synapse_double" / release / "libSynapse.so"
    if not library.is_file():
        pytest.skip(f"no {library}: run `make build-tests`")
    return f"gaudi:{library}"
