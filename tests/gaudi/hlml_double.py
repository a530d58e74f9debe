"""The double of libhlml.so (fakes/hlml.c), for the Python module pyhlml."""

from __future__ import annotations

import ctypes
import functools
import importlib
import pathlib
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Collection, Mapping
from types import ModuleType

import pytest

from tests.gaudi import hlml_machine
from tests.gaudi.hlml_machine import Figures

_SOURCE = pathlib.Path(__file__).parent / "fakes" / "hlml.c"
_MAX_VALUES = 3


def import_pyhlml() -> ModuleType:
    """Imports pyhlml. Skips the test if it is not installed (`make test-gaudi` installs it)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pytest.importorskip("pyhlml")
        return importlib.import_module("pyhlml.hlml_lib")


def set_library(monkeypatch: pytest.MonkeyPatch, path: pathlib.Path) -> None:
    """Makes pyhlml load this library, in place of the only path that it knows."""
    monkeypatch.setattr(import_pyhlml().LibHLML.__init__, "__defaults__", (str(path),))


class Double:
    """A double built with the given compiler options. pyhlml loads it until the test ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: pathlib.Path, *options: str) -> None:
        import_pyhlml()
        if shutil.which("cc") is None:
            pytest.skip("needs cc to compile the double of libhlml.so")
        path = folder / "libhlml.so"
        path.write_bytes(_compiled(*options))
        set_library(monkeypatch, path)
        self._library = ctypes.CDLL(str(path))

    @property
    def is_initialized(self) -> bool:
        return bool(self._library.hlml_double_is_initialized())

    def set_cards(self, cards: Mapping[int, Figures], lost: Collection[int] = (), error: int = 0) -> None:
        """Describes the machine. `cards`: figures by index; `error`: hlml_init's."""
        self._library.hlml_double_reset(hlml_machine.DRIVER.encode(), error)
        for index, figures in cards.items():
            self._library.hlml_double_add(index, index in lost)
            for name, figure in figures.items():
                text = figure if isinstance(figure, str) else ""
                numbers = figure if isinstance(figure, tuple) else (figure,) if isinstance(figure, int) else ()
                values = (ctypes.c_ulonglong * _MAX_VALUES)(*numbers)
                self._library.hlml_double_set(index, name.encode(), text.encode(), values, len(numbers))


@functools.cache
def _compiled(*options: str) -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".so") as library:
        subprocess.run(["cc", "-shared", "-fPIC", *options, str(_SOURCE), "-o", library.name], check=True)
        return pathlib.Path(library.name).read_bytes()
