"""Small wheels with shared libraries in C, for tests of tools/wheel."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import pathlib
import subprocess
import zipfile
from collections.abc import Sequence

from habana_frameworks.tensorflow._internal import releases

INFORMATION = "hpu_tensorflow-1.0.dist-info"
LIBRARIES = "habana_frameworks/tensorflow/lib"
PLUGINS = tuple(f"{LIBRARIES}/habana_device.so.{release.version}" for release in releases.RELEASES)
PLUGIN = PLUGINS[0]
REMOTE = f"{LIBRARIES}/libhpu_remote.so"
COPIED = "hpu_tensorflow.libs/libgrpc-0123abcd.so.29"
METADATA = "Metadata-Version: 2.4\nName: hpu-tensorflow\nVersion: 1.0\nLicense-File: LICENSE\n\nText\n"


@dataclasses.dataclass
class Compiler:
    """Compiles shared libraries into a directory."""

    directory: pathlib.Path

    def library(
        self, soname: str, needs: Sequence[pathlib.Path] = (), calls: str = "", defines: str = "", version: str = ""
    ) -> pathlib.Path:
        """Returns a library that links `needs`, calls one function, and defines another with a symbol version."""
        path = self.directory / soname
        options = ["-Wl,--no-as-needed", f"-Wl,-soname,{soname}"]
        if version:
            script = self.directory / "version.map"
            script.write_text(f"{version} {{ global: {defines}; }};\n")
            options.append(f"-Wl,--version-script={script}")
        text = f"void {calls}(void); void run(void) {{ {calls}(); }}\n" if calls else "int unused;\n"
        text += f"void {defines}(void) {{}}\n" if defines else ""
        source = self.directory / "source.c"
        source.write_text(text)
        links = [str(need) for need in needs]
        command = ["gcc", "-shared", "-fPIC", "-nostdlib", *options, str(source), "-o", str(path), *links]
        subprocess.run(command, check=True, timeout=60)
        return path


def contents(compiler: Compiler) -> dict[str, bytes]:
    """Files of a wheel without problems: the plugin, the RPC library and the copied gRPC that it links."""
    grpc = compiler.library(pathlib.PurePath(COPIED).name)
    # The stand-in for libc has its name and one of its versions.
    (compiler.directory / "system").mkdir()
    libc = Compiler(compiler.directory / "system").library("libc.so.6", defines="old", version="GLIBC_2.34")
    plugin = compiler.library("plugin.so", [libc], calls="old")
    remote = compiler.library("libhpu_remote.so", [grpc])
    built = ("messages.binpb", "device.proto")
    return {
        **{f"{LIBRARIES}/{name}": b"" for name in built},
        "habana_frameworks/tensorflow/include/habanalabs/hpu_kernel.h": b"",
        "hpu_tensorflow.pth": b"",
        **{name: plugin.read_bytes() for name in PLUGINS},
        REMOTE: remote.read_bytes(),
        COPIED: grpc.read_bytes(),
        f"{INFORMATION}/licenses/LICENSE": b"",
        f"{INFORMATION}/licenses/third_party/libgrpc29.txt": b"",
        f"{INFORMATION}/METADATA": METADATA.encode(),
        f"{INFORMATION}/entry_points.txt": b"",
    }


def write(path: pathlib.Path, files: dict[str, bytes], platform: str) -> pathlib.Path:
    """Writes a wheel with this platform tag, including its files WHEEL and RECORD."""
    tag = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
    files = {**files, f"{INFORMATION}/WHEEL": tag.encode()}
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items())
    path = path / f"hpu_tensorflow-1.0-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
        wheel.writestr(f"{INFORMATION}/RECORD", f"{record}{INFORMATION}/RECORD,,\n")
    return path


def digest(data: bytes) -> str:
    """Hash of a file in RECORD."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
