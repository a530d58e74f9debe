"""Checks the imports of habana_frameworks: no cycles, no import of a higher layer, no import of a missing name.

Also finds missing names in programs inside strings and pages, which linters do not read.
"""

from __future__ import annotations

import ast
import pathlib
import re
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
    (f"{PACKAGE}._internal.flag_table",),
    (
        f"{PACKAGE}._internal.flag_values",
        f"{PACKAGE}._internal.releases",
        f"{PACKAGE}._internal.version",
        "habana_frameworks._import_hook",
    ),
)

# Import of names from the package, in Python code or in a string or page that contains Python code.
FROM_IMPORT = re.compile(rf"from ({re.escape(PACKAGE)}[\w.]*) import (?:\(([^)]*)\)|(\w[\w, ]*))")


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
                yield f"{module} must not import {other}, which is in a higher layer (tools/check_imports.py)"
    if circle := check_tree.first_circle(graph):
        yield f"modules import each other in a cycle: {circle}"


def names_of(source: str) -> set[str]:
    """Returns the names that a module's source binds at its top level or lists in `__all__`."""
    found: set[str] = set()
    nodes: list[ast.AST] = list(ast.parse(source).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            found.update(ast.literal_eval(node.value))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        else:
            nodes.extend(ast.iter_child_nodes(node))
    return found


def missing_names(text: str, known: Mapping[str, set[str]]) -> Iterator[str]:
    """Yields the names that a text imports from the package, but that do not exist. `known`: names by module."""
    for module, several, one in FROM_IMPORT.findall(text):
        if module not in known:
            yield f"module {module}"
            continue
        for name in re.findall(r"(\w+)(?: as \w+)?\s*(?:,|$)", re.sub(r"#.*", "", several or one)):
            if name not in known[module] and f"{module}.{name}" not in known:
                yield f"{name} in {module}"


def texts(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields the files of a tree that may hold Python."""
    yield root / "README.md"
    for folder in ("benchmarks", "docs", "examples", "habana_frameworks", "tests", "tools"):
        for pattern in ("*.py", "*.md", "*.in"):
            yield from (root / folder).rglob(pattern)


def main() -> int:
    """Checks the tree. Returns exit code 1 if a check fails."""
    found = modules(ROOT)
    sources = {module: path.read_text() for module, path in found.items()}
    problems = list(check({module: imports(source, found) - {module} for module, source in sources.items()}))
    known = {module: names_of(source) for module, source in sources.items()}
    for path in texts(ROOT):
        for name in missing_names(path.read_text(), known):
            problems.append(f"{path.relative_to(ROOT)} imports {name}, which does not exist")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
