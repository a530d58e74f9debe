"""Check of gRPC: the plugin's library for device servers, and the Python package that reads their state."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags, lib_utils, monitor
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

_LIBRARY = "libhpu_remote.so"
_INSTALL_PACKAGE = "pip install 'grpcio>=1.50,<2' 'protobuf>=4.22,<5'"
_BUILD_LIBRARY = f"apt-get install libgrpc++-dev, then rebuild the plugin: {lib_utils.rebuild_command()}"


def check() -> Iterator[Finding]:
    """Checks the library and the package. A missing one is an error only if HPU_BACKEND names a device server."""
    level = Level.ERROR if monitor.is_server(flags.backend()) else Level.NOTE
    if not any((path / _LIBRARY).is_file() for path in lib_utils.search_paths()):
        text = f"{_LIBRARY} was not built, so `hpu serve` and HPU_BACKEND=grpc… do not work"
        yield Finding("gRPC", level, text, _BUILD_LIBRARY)
    elif not is_installed():
        text = "the Python package grpcio is missing, so `hpu smi` and `hpu doctor` cannot read device servers"
        yield Finding("gRPC", level, text, _INSTALL_PACKAGE)
    else:
        version = importlib.metadata.version("grpcio")
        yield Finding("gRPC", Level.OK, f"grpcio {version}, and {_LIBRARY}", data={"version": version})


def is_installed() -> bool:
    """Whether the Python package grpcio can be imported."""
    try:
        return importlib.util.find_spec("grpc") is not None
    except ValueError:  # sys.modules["grpc"] is None
        return False
