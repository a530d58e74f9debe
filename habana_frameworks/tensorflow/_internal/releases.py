"""The supported TensorFlow releases, and the Python, Keras and NumPy of each. Imports no other module of the package.

tools/find_tensorflow.py runs this file without the package.
"""

from __future__ import annotations

import dataclasses
import sys


@dataclasses.dataclass(frozen=True)
class Release:
    """A TensorFlow release. `pythons` are the minor versions of Python 3 with a package of it."""

    version: str
    pythons: range
    keras: str  # the major version of its tf.keras
    keras_requirement: str  # for pip
    numpy: int  # the largest major version of NumPy with which it can be imported

    @property
    def short_version(self) -> str:
        """The version without its last number, as in "TensorFlow 2.15"."""
        return self.version.rpartition(".")[0]


RELEASES = (
    Release("2.15.1", pythons=range(9, 12), keras="2", keras_requirement="keras==2.15.*", numpy=1),
    Release("2.21.0", pythons=range(10, 14), keras="3", keras_requirement="'keras>=3.12'", numpy=2),
)


def release_of(version: str) -> Release | None:
    """Returns the supported release with this version."""
    return next((release for release in RELEASES if release.version == version), None)


def release_for_python() -> Release:
    """Returns the oldest release that has a package for this Python, or the oldest one."""
    minor = sys.version_info[1]
    return next((release for release in RELEASES if minor in release.pythons), RELEASES[0])
