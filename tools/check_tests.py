"""Checks that every test can fail: it asserts something, or calls a function of tests/ that does.

A program that a test runs in a process counts only if the program asserts something: its exit code alone shows no more
than that it did not raise. Names decide, not types, so the check finds forgotten assertions, but proves nothing.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASSERTING = re.compile(r"_*(?:assert|check|expect)|raises$|warns$|fail$|exit$")
# Functions that run a program, and fail if the program fails.
RUNNERS = frozenset({"call_to", "run", "run_code", "run_job", "run_python", "run_with_tensorflow", "start"})


@dataclasses.dataclass
class Function:
    """What functions of one name in one file contain."""

    asserts: bool = False
    used: set[str] = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class File:
    """One file of tests/: its functions and methods by name, and the files of tests/ that it imports."""

    functions: dict[str, Function] = dataclasses.field(default_factory=dict)
    tests: dict[str, int] = dataclasses.field(default_factory=dict)
    imported: set[pathlib.Path] = dataclasses.field(default_factory=set)


def _names(function: ast.AST) -> set[str]:
    """Names of functions and fixtures that a function uses: calls, arguments of calls, parameters."""
    used = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            used |= {_name(part) for part in (node.func, *node.args, *(word.value for word in node.keywords))}
        elif isinstance(node, ast.With):
            used |= {_name(item.context_expr) for item in node.items}
        elif isinstance(node, ast.arg):
            used.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            used.add(node.value)  # a fixture of usefixtures()
    return used - {""}


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _asserts(function: ast.AST) -> bool:
    for node in ast.walk(function):
        if isinstance(node, (ast.Assert, ast.Raise)):
            return True
        if isinstance(node, ast.Call):
            checked = any(word.arg == "check" and ast.unparse(word.value) == "True" for word in node.keywords)
            if checked or any(ASSERTING.match(_name(part)) for part in (node.func, *node.args)):
                return True
    return False


@functools.cache
def read(path: pathlib.Path) -> File:
    tree, file = ast.parse(path.read_text()), File()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found = file.functions.setdefault(node.name, Function())
            found.asserts |= _asserts(node)
            found.used |= _names(node)
            if node.name.startswith("test") and not any("fixture" in ast.unparse(d) for d in node.decorator_list):
                file.tests[node.name] = node.lineno
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
            folder = ROOT.joinpath(*str(node.module).split("."))
            candidates = [folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)]
            file.imported |= {candidate for candidate in candidates if candidate.is_file()}
    file.imported |= {folder / "conftest.py" for folder in path.parents if (folder / "conftest.py").is_file()}
    return file


@functools.cache
def can_fail(path: pathlib.Path, name: str) -> bool:
    """Whether a function of the file asserts something, or uses a function that does."""
    pending, seen = [(path, name)], set()
    while pending:
        where, name = pending.pop()
        if (where, name) in seen:
            continue
        seen.add((where, name))
        function = read(where).functions[name]
        if function.asserts:
            return True
        for used in function.used - RUNNERS:
            for file in (where, *sorted(read(where).imported)):
                if used in read(file).functions:
                    pending.append((file, used))
    return False


def problems() -> Iterator[str]:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, line in read(path).tests.items():
            if not can_fail(path, name):
                yield f"{path.relative_to(ROOT)}:{line}: {name} asserts nothing: no assert, no function that asserts"


def main() -> int:
    found = list(problems())
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
