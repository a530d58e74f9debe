"""Checks what no other linter does: file sizes, include guards, include order of the layers, paths of one machine."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_BYTES = 40 * 1024
# Text that is not written by hand, or that must be whole.
UNBOUNDED = {"LICENSE"}
MACHINE_PATH = re.compile(r"""(?<![\w$.])/(?:home|root|work|Users|opt|mnt)/\w""")
# A layer may include those named here and itself (docs/architecture.md).
LAYERS = {
    "flags": set(),
    "json": set(),
    "log": {"flags"},
    "files": set(),
    "include": set(),
    "trace": {"json"},
    "containment": set(),
    "host_kernels": {"include", "flags"},
    "hal": {"log", "flags"},
    "rpc": {"files"},
    "backends": {"hal", "host_kernels", "files", "log", "flags", "rpc"},
    "serve": {"hal", "host_kernels", "backends", "files", "log", "flags", "rpc"},
    "cts": {"hal", "backends", "serve", "flags"},
    "store": {"files"},
    "fuzz": {"store", "serve", "rpc"},
    "passes": {"json", "log", "flags"},
    "compiler": {"containment", "hal", "store", "json", "log", "trace", "flags"},
    "device": {"hal", "json", "log", "trace", "flags"},
    "fused": {"passes", "flags"},
}


def check(path: pathlib.Path) -> Iterator[str]:
    """Yields what is wrong with one tracked file."""
    name = path.relative_to(ROOT).as_posix()
    data = path.read_bytes()
    if len(data) > MAX_BYTES and name not in UNBOUNDED:
        yield f"{name}: {len(data)} bytes; files are at most {MAX_BYTES}: split it by subject"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line) and "MACHINE_PATH" not in line:
            yield f"{name}:{number}: a path of one machine"
    if name.startswith("plugin/") and path.suffix in (".h", ".cc"):
        yield from check_cpp(name, text)


def check_cpp(name: str, text: str) -> Iterator[str]:
    """Include guards by path, and includes only of layers below."""
    if name.endswith(".h"):
        guard = "HPU_" + re.sub(r"\W", "_", name).upper() + "_"
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            yield f"{name}: the include guard must be {guard}"
    layer = name.split("/")[1]
    if layer not in LAYERS or name.endswith("_test.cc"):
        return
    for included in re.findall(r'^#include "plugin/(\w+)/', text, re.MULTILINE):
        if included != layer and included not in LAYERS[layer]:
            yield f"{name}: layer {layer} must not include plugin/{included}"


def main() -> int:
    """Checks every tracked file; the exit code is 1 if anything is wrong."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    problems = [problem for path in paths if path.is_file() for problem in check(path)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
