"""Checks plugin/op_facts.yaml and generates a table from it.

generate_op_facts.py --cpp DIR    op_facts_table.cc (done by CMake)
generate_op_facts.py --check      prints the errors of a malformed file; exit code 1 for these
"""

from __future__ import annotations

import argparse
import functools
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
FACTS = ROOT / "plugin/op_facts.yaml"
HEADER = ROOT / "plugin/op_facts/op_facts.h"

Writer = Callable[[Any], str]
"""Returns the C++ expression of a value, or raises ValueError."""


def camel(word: str) -> str:
    """Returns the C++ enumerator of a word: max_pooling becomes kMaxPooling."""
    return "k" + "".join(part.capitalize() for part in word.split("_"))


@functools.cache
def enumerators(enum: str) -> list[str]:
    """Returns the enumerators of an enum class in op_facts.h."""
    found = re.search(rf"enum class {enum} \{{(.*?)\}};", HEADER.read_text(), re.DOTALL)
    if found is None:
        raise ValueError(f"{HEADER.name} has no enum class {enum}")
    return re.findall(r"\bk[A-Z]\w*", re.sub(r"//.*", "", found[1]))


def flag(value: Any) -> str:
    """Writes a flag. The file may contain only true, because false is the default."""
    if value is not True:
        raise ValueError(f"{value!r} must be true; omit the field otherwise")
    return "true"


def number(value: Any) -> str:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} must be the index of an input")
    return str(value)


def numbers(value: Any) -> str:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{value!r} must be a list of indices of inputs")
    return "{" + ", ".join(map(number, value)) + "}"


def text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} must be a non-empty string")
    return json.dumps(value)


def word(enum: str, prefix: str = "") -> Writer:
    """Returns a writer for enumerators of `enum` in op_facts.h. The YAML file spells them in lower case."""

    def write(value: Any) -> str:
        known = enumerators(enum)
        if not isinstance(value, str) or camel(value) not in known:
            words = (re.sub(r"(?<!^)(?=[A-Z])", "_", name[1:]).lower() for name in known)
            raise ValueError(f"{value!r} must be one of {', '.join(words)}")
        return f"{prefix}{enum}::{camel(value)}"

    return write


def status(value: Any) -> str:
    if value != "internal":
        raise ValueError(f"{value!r} must be internal; omit the field for invalid_argument")
    return "absl::StatusCode::kInternal"


def inverse(expected: str) -> Writer:
    """Returns a writer for a C++ flag that is false if the file contains `expected`."""

    def write(value: Any) -> str:
        if value != expected:
            raise ValueError(f"{value!r} must be {expected}; omit the field otherwise")
        return "false"

    return write


# Fields of the file: the member of OpFacts, and the writer of its value. For a struct member, the struct with its
# fields replaces the writer.
Struct = tuple[str, Mapping[str, tuple[str, Writer]], frozenset[str]]
"""A C++ struct, its fields, and the names of the required ones."""
FIELDS: Mapping[str, tuple[str, Writer | Struct]] = {
    "fusible": ("fusible", flag),
    "trivial": ("trivial", flag),
    "product": ("product", flag),
    "sums_windows": ("sums_windows", flag),
    "keeps_values": ("keeps_values", flag),
    "only_reads": ("only_reads", flag),
    "loses_error": ("loses_error", flag),
    "unevaluated": ("unevaluated", flag),
    "unwritten": ("unwritten", flag),
    "dynamic": ("dynamic", word("DynamicSizes")),
    "labels": ("labels", text),
    "size": ("result_size", word("ResultSize")),
    "random": ("random", word("RandomNumbers")),
    "compile": ("compile", word("CompilePolicy")),
    "eager": ("eager", word("EagerPolicy")),
    "arguments": ("argument_check", word("ArgumentCheck")),
    "indices": (
        "indices",
        (
            "IndexedOp",
            {
                "input": ("indices", number),
                "bound": ("bound", number),
                "kind": ("kind", word("Kind", "IndexedOp::")),
                "variable": ("resource", flag),
                "axis": ("axis", text),
                "by_value": ("sizes", flag),
                "in_functions": ("needs_check", inverse("unchecked")),
            },
            frozenset({"input", "bound", "kind"}),
        ),
    ),
    "values": (
        "values",
        (
            "ValueRule",
            {
                "test": ("test", word("Test", "ValueRule::")),
                "input": ("input", number),
                "other": ("other", number),
                "types": ("types", word("Types", "ValueRule::")),
                "if": ("attribute", text),
                "code": ("code", status),
                "error": ("error", text),
                "cpu": ("host_safe", inverse("unsafe")),
            },
            frozenset({"test", "input", "error"}),
        ),
    ),
    "layout": (
        "feature_maps",
        (
            "FeatureMaps",
            {"arrays": ("arrays", numbers), "shapes": ("shapes", numbers), "output": ("output", text)},
            frozenset({"arrays"}),
        ),
    ),
    "narrowing": (
        "narrowing",
        (
            "NarrowingRule",
            {
                "attribute": ("attribute", text),
                "role": ("role", word("Role", "NarrowingRule::")),
                "integers_only": ("integers_only", flag),
            },
            frozenset({"attribute", "role"}),
        ),
    ),
}


def _checked(where: str, value: Any, fields: Mapping[str, object], required: frozenset[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f"{where}: expected a non-empty mapping, got {value!r}")
    if unknown := value.keys() - fields.keys():
        raise ValueError(f"{where}: unknown field {', '.join(sorted(unknown))}; known: {', '.join(fields)}")
    if missing := required - value.keys():
        raise ValueError(f"{where}: {', '.join(sorted(missing))} is missing")
    return value


def _written(where: str, write: Writer, value: Any) -> str:
    try:
        return write(value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def statements(op: str, facts: Any) -> Iterator[str]:
    """Yields C++ statements that set an op's facts in a variable `facts`. Raises ValueError for malformed facts."""
    for key, value in _checked(op, facts, FIELDS, frozenset()).items():
        member, write = FIELDS[key]
        if callable(write):
            yield f"facts.{member} = {_written(f'{op}.{key}', write, value)};"
            continue
        struct, fields, required = write
        yield f"facts.{member} = {struct}();"
        for name, inner in _checked(f"{op}.{key}", value, fields, required).items():
            inner_member, inner_write = fields[name]
            yield f"facts.{member}->{inner_member} = {_written(f'{op}.{key}.{name}', inner_write, inner)};"


def read(source: str) -> dict[str, Any]:
    """Returns the facts by op. Raises ValueError for ops that are out of order or listed twice."""
    names = re.findall(r"^(\w+):", source, re.MULTILINE)
    for name, following in zip(names, names[1:], strict=False):
        if following <= name:
            raise ValueError(f"{following} is listed after {name}: list each op once, in alphabetical order")
    found: dict[str, Any] = yaml.safe_load(source)
    return found


def table(ops: Mapping[str, Any]) -> str:
    """Returns the text of op_facts_table.cc."""
    lines = [
        "// Made by tools/generate_op_facts.py from plugin/op_facts.yaml.",
        '#include "plugin/op_facts/op_facts_table.h"',
        "",
        "namespace hpu {",
        "",
        "OpFactsTable MakeOpFactsTable() {",
        "  OpFactsTable table;",
    ]
    for op, facts in ops.items():
        lines += [
            "  {",
            f'    OpFacts& facts = table["{op}"];',
            *("    " + line for line in statements(op, facts)),
            "  }",
        ]
    return "\n".join([*lines, "  return table;", "}", "", "}  // namespace hpu", ""])


def main() -> int:
    """Returns exit code 1 if the file is malformed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--cpp", type=pathlib.Path, metavar="DIR")
    mode.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    try:
        ops = read(FACTS.read_text())
        made = table(ops)
    except (ValueError, yaml.YAMLError) as error:
        print(f"{FACTS.relative_to(ROOT)}: {error}", file=sys.stderr)
        return 1
    if arguments.cpp:
        arguments.cpp.mkdir(parents=True, exist_ok=True)
        (arguments.cpp / "op_facts_table.cc").write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
