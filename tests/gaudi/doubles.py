"""Paths of the Synapse doubles as values of HPU_BACKEND."""

from __future__ import annotations

import pathlib

BUILD = pathlib.Path(__file__).parents[2] / "build"
RELEASES = ("1.5", "1.18")


def backend(release: str) -> str:
    """Returns the value of HPU_BACKEND that selects the double of a release."""
    return f"gaudi:{BUILD}/synapse_double/{release}/libSynapse.so"
