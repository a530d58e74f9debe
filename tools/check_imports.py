"""Checks the imports of habana_frameworks: no cycles, and no import of a higher layer."""

from __future__ import annotations

import ast
import pathlib
import sys
from collections.abc import Iterator, Mapping

from tools import check_tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "habana_frameworks.tensorflow"
# Layers from top to bottom. A module belongs to the layer with the longest matching prefix; `*` matches the rest.
LAYERS = (
    (f"{PACKAGE}.__main__", f"{PACKAGE}.cli"),
    ("*",),
    (f"{PACKAGE}._internal",),
    # Public modules that all others may use: settings, errors, file locations.
    (f"{PACKAGE}.flags", f"{PACKAGE}.errors", f"{PACKAGE}.lib_utils", f"{PACKAGE}.device_channel"),
    (f"{PACKAGE}._internal.flag_values", f"{PACKAGE}._internal.version"),
    (f"{PACKAGE}.lib",),
)


def modules(root: pathlib.Path) -> dict[str, pathlib.Path]:
    """Returns all modules of habana_frameworks in a tree, by full name."""
    found = {}
    for path in sorted((root / "habana_frameworks").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(source: str, known: Mapping[str, object]) -> set[str]:
    """Returns the known modules that a source imports, including imports inside functions."""
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
    """Returns the index of the module's layer, from the top."""
    best, length = next(number for number, prefixes in enumerate(LAYERS) if "*" in prefixes), -1
    for number, prefixes in enumerate(LAYERS):
        for prefix in prefixes:
            if (module == prefix or module.startswith(prefix + ".")) and len(prefix) > length:
                best, length = number, len(prefix)
    return best


def check(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """Yields the problems of an import graph."""
    for module, used in sorted(graph.items()):
        for other in sorted(used):
            if layer_of(other) < layer_of(module):
                yield f"{module} must not import {other}, of a layer above it (tools/check_imports.py)"
    if circle := check_tree.first_circle(graph):
        yield f"modules import each other in a circle: {circle}"


def main() -> int:
    """Checks the tree. Returns exit code 1 if there are problems."""
    found = modules(ROOT)
    graph = {module: imports(path.read_text(), found) - {module} for module, path in found.items()}
    problems = list(check(graph))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
