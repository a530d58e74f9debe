"""Turns the wheel of a build into one that installs on other systems: shared libraries inside, a manylinux tag.

python -m tools.wheel.repair build/wheel/*.whl --directory dist

auditwheel copies gRPC and its libraries into the wheel, under names with a hash, and chooses the tag by the versions of
the symbols that all libraries require. TensorFlow's libraries stay outside. The licences of the copied libraries are
added. Exit code 0: the wheel is written; 1: auditwheel refuses the wheel, or a licence is missing.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse
import zipfile
from collections.abc import Mapping

TENSORFLOW = "libtensorflow*"  # tensorflow's wheel has these libraries
PACKAGE_DOCS = pathlib.Path("/usr/share/doc")
BILL = "sboms/auditwheel.cdx.json"  # auditwheel's bill of materials, in the wheel's folder .dist-info


class RepairError(Exception):
    """A wheel that cannot be repaired. The text has the reason."""


def repair(wheel: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """Writes the repaired wheel into the directory and returns its path. Raises RepairError."""
    with tempfile.TemporaryDirectory(prefix="hpu-wheel-") as made:
        _run_auditwheel(wheel, pathlib.Path(made))
        (repaired,) = pathlib.Path(made).glob("*.whl")
        directory.mkdir(parents=True, exist_ok=True)
        return add_licenses(repaired, directory / repaired.name)


def system_packages(bill: str) -> list[str]:
    """Names of the distribution's packages in auditwheel's bill of materials (CycloneDX), sorted."""
    urls = [component.get("purl", "") for component in json.loads(bill)["components"]]
    names = [url.rpartition("/")[2].partition("@")[0] for url in urls if not url.startswith("pkg:pypi/")]
    return sorted({urllib.parse.unquote(name) for name in names})


def add_licenses(source: pathlib.Path, target: pathlib.Path, docs: pathlib.Path = PACKAGE_DOCS) -> pathlib.Path:
    """Writes a copy of auditwheel's wheel with the licences of its copied libraries. Raises RepairError.

    `docs` has a folder with the file `copyright` for each installed system package.
    """
    with zipfile.ZipFile(source) as wheel:
        files = {entry: wheel.read(entry) for entry in wheel.infolist() if not entry.is_dir()}
    (information,) = {entry.filename.split("/")[0] for entry in files if entry.filename.endswith(".dist-info/RECORD")}
    bills = [text for entry, text in files.items() if entry.filename == f"{information}/{BILL}"]
    if not bills:
        raise RepairError(f"{source.name} has no copied libraries: gRPC's libraries are missing from its build")
    licenses = {f"third_party/{name}.txt": _license(name, docs) for name in system_packages(bills[0].decode())}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        rows: list[tuple[str, str, str]] = []

        def add(entry: zipfile.ZipInfo, data: bytes) -> None:
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append((entry.filename, f"sha256={digest}", str(len(data))))

        for entry, data in files.items():
            if entry.filename == f"{information}/METADATA":
                add(entry, _with_license_files(data, licenses))
            elif entry.filename != f"{information}/RECORD":
                add(entry, data)
        for name, data in licenses.items():
            add(_entry(f"{information}/licenses/{name}"), data)
        rows.append((f"{information}/RECORD", "", ""))
        record = io.StringIO()
        csv.writer(record, lineterminator="\n").writerows(rows)
        wheel.writestr(_entry(f"{information}/RECORD"), record.getvalue(), zipfile.ZIP_DEFLATED)
    return target


def _run_auditwheel(wheel: pathlib.Path, directory: pathlib.Path) -> None:
    options = ["--strip", "--exclude", TENSORFLOW, "-w", str(directory)]
    command = [sys.executable, "-m", "auditwheel", "repair", *options, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RepairError(f"auditwheel cannot repair {wheel.name}: {done.stderr.strip()}")


def _license(package: str, docs: pathlib.Path) -> bytes:
    path = docs / package / "copyright"
    if not path.is_file():
        raise RepairError(f"the licence of {package} is missing: {path} does not exist; reinstall {package}")
    return path.read_bytes()


def _with_license_files(metadata: bytes, licenses: Mapping[str, bytes]) -> bytes:
    """Adds a field License-File for each licence, after the last such field."""
    lines = metadata.decode().splitlines(keepends=True)
    last = max(index for index, line in enumerate(lines) if line.startswith("License-File:"))
    lines[last + 1 : last + 1] = [f"License-File: {name}\n" for name in licenses]
    return "".join(lines).encode()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o100644 << 16
    return entry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path, help="the wheel of a build")
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("dist"), help="where to write: dist")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    try:
        repaired = repair(arguments.wheel, arguments.directory)
    except RepairError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({"wheel": str(repaired)}) if arguments.json else repaired)
    return 0


if __name__ == "__main__":
    sys.exit(main())
