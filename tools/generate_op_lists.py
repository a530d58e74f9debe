"""Checks the op lists in plugin/op_lists and generates a table from them.

generate_op_lists.py --cpp DIR    op_list_data.cc (done by CMake)
generate_op_lists.py --check      prints the errors of malformed lists; exit code 1 for these
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import pathlib
import sys
from typing import Any

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTS = ROOT / "plugin/op_lists"
VERDICTS = ("documented", "inferred", "unknown")
# Values of TensorFlow's DataType.
TYPES = {
    "float32": "DT_FLOAT",
    "float64": "DT_DOUBLE",
    "int32": "DT_INT32",
    "uint8": "DT_UINT8",
    "int16": "DT_INT16",
    "int8": "DT_INT8",
    "int64": "DT_INT64",
    "bool": "DT_BOOL",
    "bfloat16": "DT_BFLOAT16",
    "float16": "DT_HALF",
}
TypeRules = dict[str, list[str]]


@dataclasses.dataclass(frozen=True)
class Entry:
    """A list's entry for one op."""

    op: str
    verdict: str
    source: str
    max_rank: int
    types: TypeRules


@dataclasses.dataclass(frozen=True)
class OpList:
    """One op list file."""

    name: str
    accepts_all: bool
    types: list[str]
    index_attributes: list[str]
    index_types: list[str]
    entries: list[Entry]
    sources: dict[str, str]


def _fields(where: str, value: Any, required: set[str], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where}: expected a mapping, got {value!r}")
    if missing := required - set(value):
        raise ValueError(f"{where}: required fields are missing: {sorted(missing)}")
    if extra := set(value) - required - optional:
        raise ValueError(f"{where}: unknown fields {sorted(extra)}; known: {sorted(required | optional)}")
    return value


def _types(where: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where}: expected a non-empty list of types, got {value!r}")
    for name in value:
        if name not in TYPES:
            raise ValueError(f"{where}: {name!r} is not one of {', '.join(TYPES)}")
    return value


def _evidence(where: str, value: dict[str, Any], sources: dict[str, str]) -> None:
    if value["verdict"] not in VERDICTS:
        raise ValueError(f"{where}: verdict {value['verdict']!r} is not one of {', '.join(VERDICTS)}")
    if value["source"] not in sources:
        raise ValueError(f"{where}: source {value['source']!r} is not one of {', '.join(sources)}")


def _rules(where: str, value: Any) -> TypeRules:
    return {attribute: _types(f"{where}: {attribute}", types) for attribute, types in (value or {}).items()}


def parse(text: str) -> OpList:
    """Parses and checks one list. Raises ValueError, whose message names the wrong entry."""
    data = yaml.safe_load(text)
    if isinstance(data, dict) and data.get("accepts_all"):
        data = _fields("list", data, {"name", "accepts_all"})
        return OpList(data["name"], True, [], [], [], [], {})
    data = _fields("list", data, {"name", "sources", "types", "index", "groups"})
    sources = data["sources"]
    bound = _fields("types", data["types"], {"verdict", "source", "allowed"})
    index = _fields("index", data["index"], {"verdict", "source", "attributes", "allowed"})
    _evidence("types", bound, sources)
    _evidence("index", index, sources)
    entries = []
    for number, group in enumerate(data["groups"], 1):
        where = f"group {number}"
        group = _fields(where, group, {"verdict", "source", "ops"}, frozenset({"max_rank", "types"}))
        _evidence(where, group, sources)
        shared = _rules(where, group.get("types"))
        ops = group["ops"] if isinstance(group["ops"], dict) else dict.fromkeys(group["ops"])
        for op, own in ops.items():
            rules = {**shared, **_rules(f"{where}: {op}", own)}
            entries.append(Entry(op, group["verdict"], group["source"], int(group.get("max_rank", 0)), rules))
    counts = collections.Counter(entry.op for entry in entries)
    if twice := sorted(op for op, count in counts.items() if count > 1):
        raise ValueError(f"listed twice: {', '.join(twice)}; list each op once")
    return OpList(
        data["name"],
        False,
        _types("types", bound["allowed"]),
        index["attributes"],
        _types("index", index["allowed"]),
        sorted(entries, key=lambda entry: entry.op),
        sources,
    )


def read() -> list[OpList]:
    """Returns all lists, sorted by file name. Raises ValueError, whose message names the file."""
    lists = []
    for path in sorted(LISTS.glob("*.yaml")):
        try:
            found = parse(path.read_text())
        except (ValueError, yaml.YAMLError) as error:
            raise ValueError(f"{path.relative_to(ROOT)}: {error}") from error
        if found.name != path.stem:
            raise ValueError(f"{path.relative_to(ROOT)}: the name {found.name!r} differs from the file name")
        lists.append(found)
    return lists


def _mask(types: list[str]) -> str:
    return " | ".join(f"Bit(tensorflow::{TYPES[name]})" for name in types) or "0"


def cpp_source(lists: list[OpList]) -> str:
    lines = [
        "// Generated by tools/generate_op_lists.py from plugin/op_lists; do not edit.",
        '#include "plugin/passes/analysis/op_list.h"',
        "",
        "namespace hpu::passes {",
        "namespace {",
        "",
        "constexpr uint64_t Bit(tensorflow::DataType type) { return uint64_t{1} << type; }",
        "",
    ]
    for found in lists:
        for entry in found.entries:
            if entry.types:
                rules = ", ".join(f'{{"{name}", {_mask(types)}}}' for name, types in sorted(entry.types.items()))
                lines.append(f"constexpr TypeRule k_{found.name}_{entry.op.replace('>', '_')}[] = {{{rules}}};")
        if found.entries:
            lines.append(f"constexpr OpEntry k_{found.name}[] = {{")
            for entry in found.entries:
                rules = f"k_{found.name}_{entry.op.replace('>', '_')}" if entry.types else "{}"
                verdict = "k" + entry.verdict.capitalize()
                source = json.dumps(found.sources.get(entry.source, ""))
                lines.append(f'    {{"{entry.op}", Verdict::{verdict}, {source}, {entry.max_rank}, {rules}}},')
            lines.append("};")
        if found.index_attributes:
            names = ", ".join(f'"{name}"' for name in found.index_attributes)
            lines.append(f"constexpr const char* k_{found.name}_index[] = {{{names}}};")
    lines += ["", "const OpListData k_lists[] = {"]
    for found in lists:
        index = f"k_{found.name}_index" if found.index_attributes else "{}"
        entries = f"k_{found.name}" if found.entries else "{}"
        lines.append(
            f'    {{"{found.name}", {str(found.accepts_all).lower()}, {_mask(found.types)}, {index}, '
            f"{_mask(found.index_types)}, {entries}}},"
        )
    lines += [
        "};",
        "",
        "}  // namespace",
        "",
        "absl::Span<const OpListData> OpLists() { return k_lists; }",
        "",
        "}  // namespace hpu::passes",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--cpp", type=pathlib.Path, metavar="DIR", help="write op_list_data.cc there")
    action.add_argument("--check", action="store_true", help="check the format of the lists")
    arguments = parser.parse_args()
    try:
        lists = read()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    if arguments.cpp:
        arguments.cpp.mkdir(parents=True, exist_ok=True)
        (arguments.cpp / "op_list_data.cc").write_text(cpp_source(lists))
    return 0


if __name__ == "__main__":
    sys.exit(main())
