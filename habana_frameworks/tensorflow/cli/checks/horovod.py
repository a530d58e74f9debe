"""Check of the optional Horovod installation. Does not import Horovod."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import json
import pathlib
from collections.abc import Iterator

from habana_frameworks import _hpu_import_hook
from habana_frameworks.tensorflow import lib_utils
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

_REMEDY = f"build it for the installed TensorFlow: {lib_utils.horovod_command()}"


@dataclasses.dataclass(frozen=True)
class Build:
    """Build options of the installed Horovod. `tensorflow` is None if Horovod was built without TensorFlow."""

    version: str
    tensorflow: str | None
    mpi: bool


def find() -> Build | None:
    """Returns the installed Horovod's build options, or None if it is not installed."""
    try:
        version = importlib.metadata.version("horovod")
    except importlib.metadata.PackageNotFoundError:
        return None
    spec = importlib.util.find_spec("horovod")
    if spec is None or not spec.submodule_search_locations:
        return None
    package = pathlib.Path(next(iter(spec.submodule_search_locations)))
    libraries = list((package / "tensorflow").glob("mpi_lib*.so"))
    if not libraries:
        return Build(version, None, False)
    metadata = json.loads((package / "metadata.json").read_text())
    # The library links to libmpi.so if it is built with MPI.
    return Build(version, metadata.get("tensorflow"), b"libmpi.so" in libraries[0].read_bytes())


def check() -> Iterator[Finding]:
    """Checks how Horovod was built, and whether hvd.init() loads the HPU."""
    build = find()
    if build is None:
        yield Finding("Horovod", Level.OK, f"not installed (optional: {lib_utils.horovod_command()})")
        return
    data = dataclasses.asdict(build)
    if build.tensorflow is None:
        yield Finding("Horovod", Level.WARNING, f"{build.version} is built without TensorFlow", _REMEDY, data)
        return
    text = f"{build.version} for TensorFlow {build.tensorflow}, with {'MPI and ' if build.mpi else ''}Gloo"
    if build.tensorflow not in lib_utils.installed_tensorflow().values():
        yield Finding("Horovod", Level.WARNING, f"{text}, but a different TensorFlow is installed", _REMEDY, data)
        return
    yield Finding("Horovod", Level.OK, text, data=data)
    if not _hpu_import_hook.is_installed():
        yield Finding(
            "Horovod's start",
            Level.NOTE,
            "hvd.init() does not load the HPU: hpu_tensorflow.pth is not in site-packages",
            "call load_habana_module() in the program, or install the package",
        )
