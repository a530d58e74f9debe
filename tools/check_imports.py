"""Checks the imports of habana_frameworks: no circle, and no layer uses one above it."""

from __future__ import annotations

import ast
import graphlib
import pathlib
import sys
from collections.abc import Iterator, Mapping

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "habana_frameworks.tensorflow"
# From the top. A module belongs to the layer with the longest prefix of its name; `*` is what has no other.
LAYERS = (
    (f"{PACKAGE}.__main__", f"{PACKAGE}.cli"),
    ("*",),
    (f"{PACKAGE}._internal",),
    # Public modules that everything rests on: settings, errors, and where things are.
    (f"{PACKAGE}.flags", f"{PACKAGE}.errors", f"{PACKAGE}.lib_utils", f"{PACKAGE}.device_channel"),
    (f"{PACKAGE}._internal.flag_values", f"{PACKAGE}._internal.version"),
    (f"{PACKAGE}.lib",),
)
# habana_frameworks/_hpu_import_hook.py stands outside of the package, and calls it by and by.
HOOK = "habana_frameworks._hpu_import_hook"


def modules(root: pathlib.Path) -> dict[str, pathlib.Path]:
    """Every module of habana_frameworks in a tree, by its full name."""
    found = {}
    for path in sorted((root / "habana_frameworks").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(source: str, known: Mapping[str, object]) -> set[str]:
    """Which of the known modules a source imports, in functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                found.add(module if module in known else node.module)
    return found & known.keys()


def layer_of(module: str) -> int:
    """Number of the module's layer, from the top."""
    best, length = next(number for number, prefixes in enumerate(LAYERS) if "*" in prefixes), -1
    for number, prefixes in enumerate(LAYERS):
        for prefix in prefixes:
            if (module == prefix or module.startswith(prefix + ".")) and len(prefix) > length:
                best, length = number, len(prefix)
    return best


def check(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """What is wrong with the imports of modules by name."""
    for module, used in sorted(graph.items()):
        for other in sorted(used):
            if HOOK not in (module, other) and layer_of(other) < layer_of(module):
                yield f"{module} must not import {other}, of a layer above it (tools/check_imports.py)"
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        yield f"modules import each other in a circle: {' -> '.join(reversed(error.args[1]))}"


def main() -> int:
    """Checks the tree; the exit code is 1 if anything is wrong."""
    found = modules(ROOT)
    graph = {module: imports(path.read_text(), found) - {module} for module, path in found.items()}
    problems = list(check(graph))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
