"""Files of the accelerator kit: Python, its packages, this tree, the C++ programs."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.accelerator import libraries, run
from tools.accelerator.pieces import Entry

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = "python"
_LIBRARY = f"{PYTHON}/lib/python{sysconfig.get_python_version()}"
PACKAGES = f"{_LIBRARY}/site-packages"

# Packages that are packed with their requirements. Of the TensorFlow packages, the installed package is packed.
_TENSORFLOWS = ("tensorflow-cpu", "tensorflow")
_ROOTS = ("protobuf", "grpcio", "scikit-learn")
_OPTIONAL_ROOTS = ("nvidia-ml-py",)
# Requirements that the checks do not use: a C compiler's library, uploads, cloud storage, TensorBoard's data server.
_DROPPED_PACKAGES = {
    "google-auth",
    "google-auth-oauthlib",
    "libclang",
    "tensorboard-data-server",
    "tensorflow-io-gcs-filesystem",
}
_DROPPED = re.compile(
    r"(^|/)(__pycache__|tests|include|bin|xla_aot_runtime_src)/"
    r"|\.(pyc|pyi|h|hpp|hh|inc|a|lib|pxd|pyx|c|cc|cpp|cu|tp|proto)$"
    r"|^tensorboard/webfiles\.zip$"
)
_DROPPED_MODULES = re.compile(
    r"(^|/)(__pycache__|test|tests|idlelib|tkinter|turtledemo|ensurepip|lib2to3|pydoc_data|site-packages)/"
    r"|^config-[^/]*/|\.(pyc|a)$|^lib-dynload/(_tkinter|nis|_test\w*|_xxtestfuzz|xx\w*)\."
)
# Folders of the tree that the checks use. `tests` contains parsers of profiles and a few programs.
_TREE = ("habana_frameworks", "benchmarks", "examples", "tests", "tools")
# Build output, which git does not track. Excludes libhpu_remote.so, which needs gRPC's libraries; no check uses it.
_BUILT = "habana_frameworks/tensorflow/lib"
_DROPPED_BUILT = {"libhpu_remote.so"}


class ContentsError(Exception):
    """A package or file that the kit needs is missing."""


def interpreter() -> list[Entry]:
    """Returns the executable and the standard library of the running Python."""
    version = sysconfig.get_python_version()
    program = pathlib.Path(sys.base_prefix, "bin", f"python{version}")
    folder = pathlib.Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    entries = [Entry(f"{PYTHON}/bin/python{version}", program.resolve(), executable=True)]
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if not _DROPPED_MODULES.search(name):
            entries.append(Entry(f"{_LIBRARY}/{name}", path))
    return entries


def packages() -> list[Entry]:
    """Returns the files of TensorFlow and of all packages that it and the examples need."""
    entries = []
    for distribution in _closure():
        for file in distribution.files or ():
            name = file.as_posix()
            path = pathlib.Path(str(distribution.locate_file(file)))
            if ".." not in file.parts and not _DROPPED.search(name) and path.is_file():
                entries.append(Entry(f"{PACKAGES}/{name}", path))
    return entries


def tensorflow_version() -> str:
    return _tensorflow().version


def _tensorflow() -> importlib.metadata.Distribution:
    for name in _TENSORFLOWS:
        try:
            return importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    raise ContentsError(f"{sys.executable} has no TensorFlow: run `make setup`, then use .venv/bin/python")


def _closure() -> Iterator[importlib.metadata.Distribution]:
    """Yields TensorFlow, the roots that are installed, and all their requirements, sorted by name."""
    optional = [name for name in _OPTIONAL_ROOTS if any(importlib.metadata.distributions(name=name))]
    waiting = [_tensorflow().metadata["Name"], *_ROOTS, *optional]
    found: dict[str, importlib.metadata.Distribution] = {}
    while waiting:
        name: str = canonicalize_name(waiting.pop())
        if name in found or name in _DROPPED_PACKAGES:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            raise ContentsError(f"package {name} is not installed: run `make setup`") from None
        for text in found[name].requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    for name in sorted(found):
        yield found[name]


def plugin_packages(names: Iterable[str]) -> list[Entry]:
    """Returns the files of the installed packages among `names`, which contain PJRT plugins."""
    entries = []
    for name in names:
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in distribution.files or ():
            path = pathlib.Path(str(distribution.locate_file(file)))
            if ".." not in file.parts and not _DROPPED.search(file.as_posix()) and path.is_file():
                entries.append(Entry(f"{PACKAGES}/{file.as_posix()}", path))
    return entries


def cuda_plugins() -> list[pathlib.Path]:
    """Returns the CUDA plugins in the environment and in PYTHONPATH."""
    folders = [pathlib.Path(sysconfig.get_path("purelib"))]
    folders += [pathlib.Path(folder) for folder in os.environ.get("PYTHONPATH", "").split(":") if folder]
    return [path for file in run.PLUGINS["cuda"] for folder in folders if (path := folder / file).exists()]


def tree(scratch: pathlib.Path) -> list[Entry]:
    """Returns the tracked Python and data files of this tree, and the built plugin."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *_TREE], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    entries = [Entry(f"tree/{name}", ROOT / name) for name in names]
    built = sorted(path for path in (ROOT / _BUILT).glob("*") if path.is_file() and path.name not in _DROPPED_BUILT)
    if not any(path.name.startswith("habana_device.so") for path in built):
        raise ContentsError(f"no plugin in {_BUILT}: run `make build`")
    for path in built:
        source = libraries.stripped(path, scratch / path.name) if libraries.is_elf(path) else path
        entries.append(Entry(f"tree/{_BUILT}/{path.name}", source))
    return entries


def programs(build: pathlib.Path, scratch: pathlib.Path) -> list[Entry]:
    """Returns the C++ programs in the build folder, without debug symbols."""
    found = [build / name for name in ("hpu_cts", "hpu_bench") if (build / name).exists()]
    return [Entry(f"bin/{path.name}", libraries.stripped(path, scratch / path.name), True) for path in found]


def shared_libraries(entries: Iterable[Entry]) -> list[Entry]:
    """Returns the system libraries that packed programs need, except the C library."""
    site = pathlib.Path(sysconfig.get_path("purelib"))
    binaries = [entry.source for entry in entries if _may_be_elf(entry) and libraries.is_elf(entry.source)]
    found = libraries.needed(binaries, [site / "tensorflow", site])
    return [Entry(f"lib/{name}", path) for name, path in sorted(found.items())]


def _may_be_elf(entry: Entry) -> bool:
    return entry.executable or ".so" in pathlib.PurePosixPath(entry.name).name


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
