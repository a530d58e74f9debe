"""Project-specific lint checks: sizes, include guards, includes of C++ files, TensorFlow releases, machine paths."""

from __future__ import annotations

import graphlib
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence, Set

from tools import layers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_BYTES = 40 * 1024
# Files that are not written by hand, or that must not be split.
UNBOUNDED = {"LICENSE"}
MACHINE_PATH = re.compile(r"""(?<![\w$.])/(?:home|root|work|Users|opt|mnt)/\w""")
# What sources of the product must not contain: a pattern, what to do instead, and the files that may, with the reason.
FORBIDDEN: tuple[tuple[re.Pattern[str], str, Mapping[str, str]], ...] = (
    (
        re.compile(r"\bTF_(?:RETURN_IF_ERROR|ASSIGN_OR_RETURN)\b|\btensorflow::errors::"),
        "use plugin/base/status_macros.h and absl's errors",
        {},
    ),
    (
        re.compile(r"(?:StrContains|StartsWith|EndsWith)\([^;]*message\(\)|message\(\)\.(?:find|contains)\("),
        "decide on a payload (plugin/base/status_payloads.h), not on words of a message",
        {
            "plugin/backends/pjrt/client/plugin.cc": "texts of a PJRT plugin, which has no payloads",
            "plugin/backends/pjrt/recipe.cc": "texts of a PJRT plugin, which has no payloads",
            "plugin/tensorflow/kernels/collective/collective_group.cc": "adds the tasks of the ranks that a text names",
            "plugin/tensorflow/kernels/launch/cluster_kernel.cc": "texts of TensorFlow, which has no payloads",
        },
    ),
    (
        re.compile(r"\bFindKernelDef\("),
        "use FindKernel or tensorflow::KernelDefAvailable",
        {"plugin/passes/analysis/kernel_search.cc": "wraps it, because it logs and is slow"},
    ),
    (
        re.compile(r"\bset_rule\((?!std::string\(NameOf\()"),
        "name the rule by its enumerator: set_rule(std::string(NameOf(rule)))",
        {},
    ),
)
# A TensorFlow release: in a text, a version, a folder of plugin/compat, or a macro. Only plugin/compat may name one.
RELEASE = re.compile(r"TensorFlow(?:'s)? \d+\.\d|\b2\.\d\d\.\d|\btf_\d+_\d+|\bTF_M(?:AJOR|INOR)_VERSION")
# Headers that include a header by its path in an older release. The included header has the include guard.
FORWARD = re.compile(r"plugin/compat/tf_\d+_\d+/forward/")
# Headers of TensorFlow's internals. Only plugin/compat may include them, except extension points.
INTERNAL_HEADER = re.compile(
    r'^#include "tensorflow/((?:core/common_runtime|compiler/jit|compiler/tf2xla)/[^"]+)"', re.MULTILINE
)
# Headers with classes and registries by which a plugin extends TensorFlow, and the reason to include them.
EXTENSION_POINTS = {
    "compiler/tf2xla/lib/broadcast.h": "building block of lowerings: broadcasting of operands",
    "compiler/tf2xla/lib/scatter.h": "building block of lowerings: scatter with a combiner",
    "compiler/tf2xla/shape_util.h": "conversion of shapes in lowerings",
    "compiler/tf2xla/type_util.h": "conversion of types in lowerings",
    "compiler/tf2xla/xla_op_kernel.h": "base class of lowerings",
    "compiler/tf2xla/xla_op_registry.h": "registry of lowerings and compilation devices",
    "core/common_runtime/bfc_allocator.h": "base class of the allocator over device memory",
    "core/common_runtime/local_device.h": "base class of the device",
    "core/common_runtime/optimization_registry.h": "registry and base class of graph passes",
}
# A comparison of a rule with a text in the Python package.
RULE_AS_TEXT = re.compile(r"""\.rule\s*(?:==|!=|in)\s*\(?["']""")
INCLUDE = re.compile(r'^#include "plugin/([^"]+)"', re.MULTILINE)


def check(path: pathlib.Path, declared: dict[str, layers.Layer]) -> Iterator[str]:
    """Yields the problems of one tracked file."""
    name = path.relative_to(ROOT).as_posix()
    data = path.read_bytes()
    if len(data) > MAX_BYTES and name not in UNBOUNDED:
        yield f"{name}: {len(data)} bytes, limit {MAX_BYTES}: split the file by subject"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line) and "MACHINE_PATH" not in line:
            yield f"{name}:{number}: machine-specific path; use a relative path or a setting"
    if name.startswith("plugin/") and path.suffix in (".h", ".cc"):
        yield from check_cpp(name, text, declared)
    if name.startswith("habana_frameworks/"):
        yield from check_package(name, text)


def check_package(name: str, text: str) -> Iterator[str]:
    """Checks that the Python package compares rules with members of Rule."""
    for found in RULE_AS_TEXT.finditer(text):
        number = text.count("\n", 0, found.start()) + 1
        yield f"{name}:{number}: compare with a member of explanation.Rule, not with a text"


def check_cpp(name: str, text: str, declared: dict[str, layers.Layer]) -> Iterator[str]:
    """Checks include guards, forbidden words, TensorFlow releases, and includes of internals and layers."""
    if name.endswith(".h") and not FORWARD.match(name):
        guard = "HPU_" + re.sub(r"\W", "_", name).upper() + "_"
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            yield f"{name}: the include guard must be {guard}"
    if not name.startswith("plugin/compat/"):
        for found in RELEASE.finditer(text):
            number = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{number}: only plugin/compat may name a TensorFlow release ({found[0]})"
    if is_test(name):
        return
    for pattern, instead, allowed in FORBIDDEN:
        for found in () if name in allowed else pattern.finditer(text):
            yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[0].split(chr(10))[0]}: {instead}"
    if not name.startswith("plugin/compat/"):
        for header in INTERNAL_HEADER.findall(text):
            if header not in EXTENSION_POINTS:
                yield f"{name}: only plugin/compat may include tensorflow/{header}, which is internal to TensorFlow"
    layer = declared.get(name.split("/")[1])
    if layer is None:
        yield f"{name}: its folder is not a layer; declare it in plugin/layers.yaml"
        return
    for included in INCLUDE.findall(text):
        other = included.split("/")[0]
        if other != layer.name and other not in layer.uses:
            yield f"{name}: layer {layer.name} must not include plugin/{other} (plugin/layers.yaml)"


def is_test(name: str) -> bool:
    return name.endswith("_test.cc") or name.startswith("plugin/testing/")


def check_circles(paths: Sequence[pathlib.Path]) -> Iterator[str]:
    """Checks that folders of plugin/ do not include each other in a cycle. Ignores tests."""
    uses: dict[str, set[str]] = {}
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("plugin/") or path.suffix not in (".h", ".cc") or is_test(name):
            continue
        folder = uses.setdefault(path.relative_to(ROOT / "plugin").parent.as_posix(), set())
        folder.update(
            pathlib.PurePosixPath(included).parent.as_posix() for included in INCLUDE.findall(path.read_text())
        )
    graph = {folder: used - {folder} for folder, used in uses.items()}
    if circle := first_circle(graph):
        yield f"folders of plugin/ include each other in a cycle: {circle}"


def first_circle(graph: Mapping[str, Set[str]]) -> str:
    """Returns a cycle of the graph as text, each node before the node that it uses; empty without a cycle."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return " -> ".join(reversed(error.args[1]))
    return ""


def main() -> int:
    """Checks every file that git does not ignore. Returns exit code 1 if a check fails."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    paths = [path for path in paths if path.is_file()]
    declared = layers.read()
    problems = [problem for path in paths for problem in check(path, declared)]
    problems += check_circles(paths)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
