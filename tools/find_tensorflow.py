"""Prints the version and the directory of the installed TensorFlow, one per line, without importing it.

With --default, prints the default release for this Python instead. Searches this interpreter's site-packages in
addition to sys.path, because pip's isolated builds hide site-packages.
"""

from __future__ import annotations

import importlib.metadata
import pathlib
import runpy
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASES = runpy.run_path(str(ROOT / "habana_frameworks" / "tensorflow" / "_internal" / "releases.py"))
SUPPORTED = [release.version for release in RELEASES["RELEASES"]]
PREFERRED = RELEASES["release_for_python"]().version


def main() -> int:
    if sys.argv[1:] == ["--default"]:
        print(PREFERRED)
        return 0
    paths = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path]
    for distribution in importlib.metadata.distributions(path=paths):
        if distribution.metadata["Name"].lower().replace("_", "-") not in ("tensorflow", "tensorflow-cpu"):
            continue
        directory = pathlib.Path(str(distribution.locate_file("tensorflow")))
        if not (directory / "include").is_dir():
            continue
        if distribution.version not in SUPPORTED:
            print(
                f"found TensorFlow {distribution.version} in {directory.parent}; this package supports "
                f"{' and '.join(SUPPORTED)}: pip install 'tensorflow-cpu=={PREFERRED}'",
                file=sys.stderr,
            )
            return 1
        print(distribution.version)
        print(directory)
        return 0
    print(
        f"TensorFlow is not installed for {sys.executable}: pip install 'tensorflow-cpu=={PREFERRED}'",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
