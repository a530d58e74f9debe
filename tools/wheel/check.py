"""Checks a wheel before it is published: its tag, its contents, and the symbol versions that its libraries require.

python -m tools.wheel.check dist/*.whl

The wheel must install on the oldest supported system, RHEL 9. Exit code 0: it does; 1: the wheel has problems;
2: the file cannot be read.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "habana_frameworks"
_RELEASES = runpy.run_path(str(ROOT / PACKAGE / "tensorflow" / "_internal" / "releases.py"))["RELEASES"]
Version = tuple[int, ...]

# Versions of glibc 2.34 and of GCC 11's libstdc++ and libgcc, which RHEL 9 has. PEP 600 names a tag after glibc.
NEWEST: Mapping[str, Version] = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0, 0)}
# Libraries of every system with glibc that runs Python (PEP 600), and TensorFlow's.
SYSTEM = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "libz.so.1",
          "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2")  # fmt: skip
TENSORFLOW = ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2")
# Files that the build adds to the Python package.
BUILT = (
    "hpu_tensorflow.pth",
    f"{PACKAGE}/tensorflow/include/habanalabs/hpu_kernel.h",
    f"{PACKAGE}/tensorflow/lib/device.proto",
    *(f"{PACKAGE}/tensorflow/lib/habana_device.so.{release.version}" for release in _RELEASES),
    f"{PACKAGE}/tensorflow/lib/libhpu_remote.so",
    f"{PACKAGE}/tensorflow/lib/messages.binpb",
    "hpu_tensorflow-*.dist-info/entry_points.txt",
    "hpu_tensorflow-*.dist-info/licenses/LICENSE",
    "hpu_tensorflow-*.dist-info/licenses/third_party/*.txt",
)
_TAG = re.compile(r"^hpu_tensorflow-[^-]+-py3-none-(?P<platforms>[\w.]+)\.whl$")
_MANYLINUX = re.compile(r"^manylinux_2_(\d+)_x86_64$")
_NEEDED_VERSION = re.compile(r"Name: (?P<family>[A-Z]+)_(?P<version>[\d.]+) ")
_COPIED = re.compile(r"^hpu_tensorflow\.libs/lib[\w+]+-[0-9a-f]{8}\.so")


@dataclasses.dataclass(frozen=True)
class Library:
    """A shared library in the wheel: the libraries and the versions that it requires. Versions are per family."""

    name: str
    needed: Sequence[str]
    versions: Mapping[str, Version]


@dataclasses.dataclass(frozen=True)
class Report:
    """Result of a check. Sizes are in bytes; `problems` is empty for a wheel that can be published."""

    wheel: str
    bytes: int
    unpacked_bytes: int
    platforms: Sequence[str]
    versions: Mapping[str, Version]
    libraries: Sequence[Library]
    problems: Sequence[str]


def check(wheel: pathlib.Path, tree: pathlib.Path | None = None) -> Report:
    """Checks a wheel. With `tree`, the wheel must have the Python files of this source tree.

    Raises OSError or zipfile.BadZipFile for a file that cannot be read.
    """
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory(prefix="hpu-wheel-") as made:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        names = [entry.filename for entry in entries]
        libraries = []
        for name in names:
            if re.search(r"\.so(\.|$)", name):
                libraries.append(read_library(pathlib.Path(archive.extract(name, made)), name))
    tag = _TAG.match(wheel.name)
    platforms = tag["platforms"].split(".") if tag else []
    versions = {
        family: max(library.versions.get(family, (0,)) for library in libraries or [_NONE]) for family in NEWEST
    }
    problems = [*_tag_problems(platforms, versions), *_content_problems(names, tree)]
    for library in libraries:
        problems += _library_problems(library, names)
    size = sum(entry.file_size for entry in entries)
    return Report(wheel.name, wheel.stat().st_size, size, platforms, versions, libraries, problems)


_NONE = Library("", (), {})


def read_library(path: pathlib.Path, name: str) -> Library:
    """Returns the requirements of a shared library. Needs readelf."""
    command = ["readelf", "--wide", "--dynamic", "--version-info", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    dynamic, _, needs = text.partition("Version needs section")
    needed = re.findall(r"\(NEEDED\) +Shared library: \[(.+?)\]", dynamic)
    versions: dict[str, Version] = {}
    for match in _NEEDED_VERSION.finditer(needs):
        version = tuple(int(part) for part in match["version"].split("."))
        versions[match["family"]] = max(version, versions.get(match["family"], version))
    return Library(name, needed, versions)


def _tag_problems(platforms: Sequence[str], versions: Mapping[str, Version]) -> Iterator[str]:
    minors = [int(match[1]) for match in map(_MANYLINUX.match, platforms) if match]
    if not minors or len(minors) < len(platforms):
        yield f"its tag is not py3-none-manylinux_2_*_x86_64: {'.'.join(platforms) or 'none'}; run tools.wheel.repair"
        return
    oldest = (2, min(minors))
    if oldest > NEWEST["GLIBC"]:
        yield f"its tag manylinux_2_{min(minors)} excludes RHEL 9 (glibc 2.34): build it on an older system"
    if versions["GLIBC"] > oldest:
        yield f"its tag allows glibc {_text(oldest)}, but its libraries require GLIBC_{_text(versions['GLIBC'])}"


def _content_problems(names: Sequence[str], tree: pathlib.Path | None) -> Iterator[str]:
    for pattern in BUILT:
        if not fnmatch.filter(names, pattern):
            yield f"it lacks {pattern}"
    if tree is None:
        return
    missing = sorted(set(_package_files(tree)) - set(names))
    if missing:
        yield f"it lacks {len(missing)} files of the package, among them {missing[0]}: build it from this tree"


def _package_files(tree: pathlib.Path) -> Iterator[str]:
    """Files of the Python package, without build output."""
    for path in (tree / PACKAGE).rglob("*"):
        name = path.relative_to(tree).as_posix()
        if path.is_file() and not re.search(r"/__pycache__/|^\w+/tensorflow/(lib|include)/", name):
            yield name


def _library_problems(library: Library, names: Sequence[str]) -> Iterator[str]:
    copied = {name.rpartition("/")[2] for name in names if name.startswith("hpu_tensorflow.libs/")}
    for needed in library.needed:
        if needed not in SYSTEM and needed not in TENSORFLOW and needed not in copied:
            yield f"{library.name} requires {needed}, which is neither in the wheel nor on every system"
    for family, newest in NEWEST.items():
        if library.versions.get(family, (0,)) > newest:
            found = _text(library.versions[family])
            yield f"{library.name} requires {family}_{found}, but RHEL 9 has {family}_{_text(newest)}"
    if library.name.startswith("hpu_tensorflow.libs/") and not _COPIED.match(library.name):
        yield f"{library.name} has no hash in its name, so another copy in the process would replace it"


def _text(version: Version) -> str:
    return ".".join(map(str, version))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    try:
        report = check(arguments.wheel, ROOT)
    except (OSError, zipfile.BadZipFile) as error:
        print(f"cannot read {arguments.wheel}: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(dataclasses.asdict(report), indent=2))
    else:
        required = ", ".join(f"{family}_{_text(version)}" for family, version in report.versions.items())
        megabytes = f"{report.bytes / 1e6:.1f} MB, {report.unpacked_bytes / 1e6:.1f} MB installed"
        print(f"{report.wheel}: {megabytes}, {len(report.libraries)} libraries; requires {required}")
        for problem in report.problems:
            print(f"{report.wheel}: {problem}", file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
