"""Checks plugin/backends/gaudi/guids.yaml, and generates a C++ table and a page of the docs from it.

generate_guids.py --cpp DIR    guid_rows.cc (done by CMake)
generate_guids.py --tree       docs/developer/gaudi_guids.md (make generate)
generate_guids.py --check      prints the errors of a malformed file; exit code 1 for these, or if --tree would change
                               the page
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, Union

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDS = ROOT / "plugin/backends/gaudi/guids.yaml"
PAGE = ROOT / "docs/developer/gaudi_guids.md"

GENERATIONS = ("gaudi", "gaudi2", "gaudi3")
# Type suffixes of guids, and the enumerators of synDataType.
TYPES = {
    "f32": "syn_type_single",
    "bf16": "syn_type_bf16",
    "f16": "syn_type_fp16",
    "i64": "syn_type_int64",
    "i32": "syn_type_int32",
    "i16": "syn_type_int16",
    "i8": "syn_type_int8",
    "u64": "syn_type_uint64",
    "u32": "syn_type_uint32",
    "u16": "syn_type_uint16",
    "u8": "syn_type_uint8",
}
KINDS = {"graph_compiler": "kGraphCompiler", "tpc": "kTpc", "internal": "kInternal"}
SUFFIXES = {"none": "kNone", "type": "kType", "cast": "kCast"}
SOURCES = {
    "D": "written in an op definition",
    "V": "read in a validator or in the runtime",
    "R": "seen in a recorded graph of the product",
    "B": "used by the PyTorch bridge",
    "N": "known by name only",
    "?": "open",
}
PROVEN = frozenset("DVRB")
UNKNOWN = "unknown"
MAX_RANK = 8
MAX_NAME = 63
MAX_MEANING = 120
DEFAULTABLE = frozenset({"kind", "operands", "results", "types", "params", "rank"})

TypeSet = Mapping[str, list[str]]
"""Types by generation."""
Json = Union[str, int, list[Any], dict[Any, Any], None]


@dataclasses.dataclass(frozen=True)
class Operand:
    """An operand or a result of a guid."""

    name: str
    presence: str
    """required, optional or variadic"""
    types: tuple[str, ...]
    """Names of types, or T (the guid's type), S (the source type of a cast), any (any type of the guid), shape."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A guid. None means unknown."""

    stem: str
    kind: str
    suffix: str
    operands: list[Operand] | None
    results: list[Operand] | None
    types: TypeSet | None
    types_name: str
    recorded: list[str]
    rank: tuple[int, int]
    params: dict[int, str] | None
    """Name of the struct by size in bytes; empty for size 0 (no params)."""
    params_of_1_18: frozenset[int]
    """Sizes that release 1.5 lacks."""
    is_complex: bool
    sources: list[str]
    meaning: str
    note: str

    @property
    def is_proven(self) -> bool:
        """Whether the guid is on: not internal, of a proven source, with known operands, results, types and params."""
        known = None not in (self.operands, self.results, self.types, self.params)
        return self.kind != "internal" and known and not PROVEN.isdisjoint(self.sources)


@dataclasses.dataclass(frozen=True)
class Group:
    """Guids of one section of the page."""

    title: str
    rows: list[Row]


@dataclasses.dataclass(frozen=True)
class Cast:
    """A conversion that needs another type in between."""

    generation: str
    source: str
    destination: str
    via: str


@dataclasses.dataclass(frozen=True)
class Data:
    """Contents of guids.yaml."""

    type_sets: Mapping[str, TypeSet]
    casts: list[Cast]
    groups: list[Group]

    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]


class _Loader(yaml.SafeLoader):
    """YAML loader that refuses repeated keys. PyYAML would silently use the last one."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    construct: Any = loader.construct_object
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = construct(key_node, deep=True)
        if key in found:
            raise ValueError(f"line {key_node.start_mark.line + 1}: {key} is listed twice; keep one entry")
        found[key] = construct(value_node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _fields(where: str, value: Json, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
    required, optional = list(required), list(optional)
    if not isinstance(value, dict):
        raise ValueError(f"{where}: expected a mapping, got {value!r}")
    if unknown := [key for key in value if key not in required + optional]:
        raise ValueError(f"{where}: unknown field {unknown[0]}; known: {', '.join(required + optional)}")
    if missing := [key for key in required if key not in value]:
        raise ValueError(f"{where}: {missing[0]} is missing")
    return value


def _list(where: str, value: Json) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{where}: expected a list, got {value!r}")
    return value


def _word(where: str, value: Json, known: Iterable[str]) -> str:
    words = list(known)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{where}: {value!r} is not one of {', '.join(words)}")
    return value


def _types(where: str, value: Json) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where}: expected a non-empty list of types, got {value!r}")
    for name in value:
        _word(where, name, TYPES)
    if len(set(value)) < len(value):
        raise ValueError(f"{where}: {value!r} lists a type twice")
    return value


def _type_set(where: str, value: Json) -> TypeSet:
    fields = _fields(where, value, GENERATIONS)
    return {generation: _types(f"{where}.{generation}", fields[generation]) for generation in GENERATIONS}


def _text(where: str, value: Json, limit: int) -> str:
    if not isinstance(value, str) or not value or "\n" in value or "|" in value:
        raise ValueError(f"{where}: {value!r} must be one line of text without |")
    if len(value) > limit:
        raise ValueError(f"{where}: {len(value)} characters; at most {limit}: {value!r}")
    return value


_OPERAND = re.compile(r"(?P<name>[a-z]\w*)(?P<mark>\?|\.\.\.)?(:(?P<types>.+))?")
_PRESENCE = {None: "required", "?": "optional", "...": "variadic"}


def _operand(where: str, value: Json, suffix: str) -> Operand:
    found = _OPERAND.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{where}: {value!r} must be a name, optionally followed by ? or ..., and then by :types")
    types = tuple((found["types"] or "T").split("|"))
    if types not in {("any",), ("shape",)}:
        for name in types:
            _word(f"{where}: {value}", name, [*TYPES, "T", *(["S"] if suffix == "cast" else [])])
    return Operand(found["name"], _PRESENCE[found["mark"]], types)


def _operands(where: str, value: Json, suffix: str) -> list[Operand] | None:
    if value == UNKNOWN:
        return None
    if not isinstance(value, list):
        raise ValueError(f"{where}: expected a list, or {UNKNOWN}, got {value!r}")
    operands = [_operand(where, entry, suffix) for entry in value]
    names = [operand.name for operand in operands]
    if len(set(names)) < len(names):
        raise ValueError(f"{where}: {value!r} has a name twice")
    for operand, following in zip(operands, operands[1:]):
        if operand.presence == "variadic" or (operand.presence == "optional" and following.presence == "required"):
            raise ValueError(f"{where}: {following.name} follows {operand.name}, which is {operand.presence}")
    return operands


_STRUCT = re.compile(r"(?P<name>\?|\w+(::\w+)?)(?P<release> 1\.18)?")


def _params(where: str, value: Json) -> tuple[dict[int, str] | None, frozenset[int]]:
    """Returns the structs by size, and the sizes that release 1.5 lacks."""
    if value == UNKNOWN:
        return None, frozenset()
    if value == "none":
        return {0: ""}, frozenset()
    if not isinstance(value, dict) or not value:
        raise ValueError(f"{where}: expected none, {UNKNOWN}, or structs by size, got {value!r}")
    for size, struct in value.items():
        if type(size) is not int or size < 0 or not isinstance(struct, str):
            raise ValueError(f"{where}: {size!r}: {struct!r} must be a size in bytes and the name of a struct, or ?")
        if size == 0 and struct != "none":
            raise ValueError(f"{where}: size 0 must be none, not {struct!r}")
        if size and not _STRUCT.fullmatch(struct):
            raise ValueError(f"{where}: {struct!r} is not a struct of params.h")
    if list(value) != sorted(value):
        raise ValueError(f"{where}: list sizes in ascending order, not {', '.join(map(str, value))}")
    found = {size: _STRUCT.fullmatch(struct) for size, struct in value.items()}
    structs = {size: match["name"] if size and match else "" for size, match in found.items()}
    return structs, frozenset(size for size, match in found.items() if match and match["release"])


def _rank(where: str, value: Json) -> tuple[int, int]:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(type(bound) is int for bound in value)
        or not 1 <= value[0] <= value[1] <= MAX_RANK
    ):
        raise ValueError(f"{where}: {value!r} must be the smallest and the largest rank, of 1 to {MAX_RANK}")
    return value[0], value[1]


def _row(stem: str, entry: Json, defaults: Mapping[str, Json], type_sets: Mapping[str, TypeSet]) -> Row:
    if not isinstance(stem, str) or not re.fullmatch(r"[a-z]\w*", stem) or len(stem) > MAX_NAME:
        raise ValueError(f"{stem!r} is not a guid: lower-case letters, digits and _, at most {MAX_NAME} characters")
    if not isinstance(entry, dict):
        raise ValueError(f"{stem}: expected a mapping, got {entry!r}")
    merged = {"suffix": None, "rank": [1, 5], "recorded": None, "complex": None, "note": None, **defaults, **entry}
    if merged.get("kind") == "internal":
        merged = {"operands": UNKNOWN, "results": UNKNOWN, "types": UNKNOWN, "params": UNKNOWN, **merged}
    fields = _fields(
        stem,
        merged,
        ("kind", "operands", "results", "types", "params", "source", "meaning"),
        ("suffix", "rank", "recorded", "complex", "note"),
    )
    kind = _word(f"{stem}.kind", fields["kind"], KINDS)
    suffix = _word(f"{stem}.suffix", fields["suffix"] or ("type" if kind == "tpc" else "none"), SUFFIXES)
    types: TypeSet | None = None
    if fields["types"] != UNKNOWN:
        name = _word(f"{stem}.types", fields["types"], [*type_sets, UNKNOWN])
        types = type_sets[name]
    recorded = _types(f"{stem}.recorded", fields["recorded"]) if fields["recorded"] is not None else []
    if types is not None:
        for name in recorded:
            if not any(name in types[generation] for generation in GENERATIONS):
                raise ValueError(f"{stem}.recorded: {name} is not in the type set {fields['types']}")
    if not isinstance(fields["source"], str) or not fields["source"]:
        raise ValueError(f"{stem}.source: {fields['source']!r} must be letters of {' '.join(SOURCES)}")
    sources = fields["source"].split()
    for letter in sources:
        _word(f"{stem}.source", letter, SOURCES)
    if fields["complex"] not in (None, True):
        raise ValueError(f"{stem}.complex: {fields['complex']!r} must be true; omit the field otherwise")
    params, params_of_1_18 = _params(f"{stem}.params", fields["params"])
    return Row(
        stem=stem,
        kind=kind,
        suffix=suffix,
        operands=_operands(f"{stem}.operands", fields["operands"], suffix),
        results=_operands(f"{stem}.results", fields["results"], suffix),
        types=types,
        types_name=fields["types"],
        recorded=recorded,
        rank=_rank(f"{stem}.rank", fields["rank"]),
        params=params,
        params_of_1_18=params_of_1_18,
        is_complex=bool(fields["complex"]),
        sources=sources,
        meaning=_text(f"{stem}.meaning", fields["meaning"], MAX_MEANING),
        note=_text(f"{stem}.note", fields["note"], 400) if fields["note"] is not None else "",
    )


def _casts(value: Json, known: TypeSet) -> list[Cast]:
    casts: dict[tuple[str, str, str], Cast] = {}
    for generation, rules in _fields("casts", value, GENERATIONS).items():
        for number, rule in enumerate(_list(f"casts.{generation}", rules), 1):
            where = f"casts.{generation}, rule {number}"
            fields = _fields(where, rule, ("from", "to", "via"))
            via = _word(f"{where}.via", fields["via"], known[generation])
            sources, destinations = (
                known[generation] if fields[end] == "all" else _types(f"{where}.{end}", fields[end])
                for end in ("from", "to")
            )
            for source in sources:
                for destination in destinations:
                    if via not in (source, destination) and source != destination:
                        cast = Cast(generation, source, destination, via)
                        casts.setdefault((generation, source, destination), cast)
    for generation, source, destination in casts:
        _check_ends(casts, (generation, source, destination), ())
    return list(casts.values())


def _check_ends(
    casts: Mapping[tuple[str, str, str], Cast], pair: tuple[str, str, str], outer: tuple[tuple[str, str, str], ...]
) -> None:
    """Checks that a conversion is a finite sequence of direct conversions."""
    if pair not in casts:
        return
    generation, source, destination = pair
    if pair in outer:
        raise ValueError(f"casts.{generation}: {source} to {destination} goes through itself")
    via = casts[pair].via
    _check_ends(casts, (generation, source, via), (*outer, pair))
    _check_ends(casts, (generation, via, destination), (*outer, pair))


def parse(text: str) -> Data:
    """Reads and checks guids.yaml. Raises ValueError, which names the guid and the field."""
    data = _fields("guids.yaml", yaml.load(text, Loader=_Loader), ("types", "casts", "groups"))
    type_sets = {name: _type_set(f"types.{name}", data["types"][name]) for name in data["types"]}
    if "cast" not in type_sets:
        raise ValueError("types: cast is missing; conversions need this set")
    groups: list[Group] = []
    seen: dict[tuple[str, bool], str] = {}
    for value in _list("groups", data["groups"]):
        fields = _fields("groups", value, ("title", "guids"), ("defaults",))
        title = _text("groups.title", fields["title"], 80)
        defaults = _fields(f"{title}: defaults", fields.get("defaults", {}), (), sorted(DEFAULTABLE))
        rows = [_row(stem, entry, defaults, type_sets) for stem, entry in fields["guids"].items()]
        for row in rows:
            # A guid with a suffix and one without may share a stem.
            key = (row.stem, row.suffix == "none")
            if key in seen:
                raise ValueError(f"{row.stem} is listed twice: in {seen[key]} and in {title}; keep one entry")
            seen[key] = title
        groups.append(Group(title, rows))
    return Data(type_sets, _casts(data["casts"], type_sets["cast"]), groups)


def _mask(types: Iterable[str]) -> str:
    words = {
        "T": "kGuidType",
        "S": "kCastSource",
        "any": "kAnyGuidType",
        **{name: f"synapse::{enumerator}" for name, enumerator in TYPES.items()},
    }
    return " | ".join(words[name] for name in types) or "0"


class _Arrays:
    """C++ arrays, each written once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[tuple[str, str], str] = {}

    def add(self, element: str, values: list[str]) -> str:
        """Returns the initializer of a GuidList of these values."""
        if not values:
            return "{}"
        body = ", ".join(values)
        name = self._names.get((element, body))
        if name is None:
            name = self._names[element, body] = f"k{element}{len(self._names)}"
            self.lines.append(f"constexpr {element} {name}[] = {{{body}}};")
        return f"{{{name}, {len(values)}}}"


def _operand_expression(operand: Operand) -> str:
    is_shape = operand.types == ("shape",)
    mask = "0" if is_shape else _mask(operand.types)
    return f'{{"{operand.name}", Presence::k{operand.presence.capitalize()}, {mask}, {str(is_shape).lower()}}}'


def _profile(row: Row, size: int) -> str:
    """Returns the first profile with this version of the params."""
    return "k1_18" if size in row.params_of_1_18 else "k1_5"


def cpp_source(data: Data) -> str:
    """Returns the text of guid_rows.cc."""
    arrays = _Arrays()
    rows: list[str] = []
    structs: dict[str, int] = {}
    for row in data.rows():
        operands = arrays.add("GuidOperand", [_operand_expression(operand) for operand in row.operands or []])
        results = arrays.add("GuidOperand", [_operand_expression(operand) for operand in row.results or []])
        params = arrays.add(
            "ParamsVersion",
            [
                f"{{{size}, {json.dumps(name)}, synapse::Profile::{_profile(row, size)}}}"
                for size, name in (row.params or {}).items()
            ],
        )
        structs.update({name: size for size, name in (row.params or {}).items() if name not in ("", "?")})
        types = ["kAllTypes"] * 3 if row.types is None else [_mask(row.types[generation]) for generation in GENERATIONS]
        values = (
            f'"{row.stem}"',
            f"GuidKind::{KINDS[row.kind]}",
            f"GuidSuffix::{SUFFIXES[row.suffix]}",
            operands,
            results,
            f"{{{', '.join(types)}}}",
            _mask(row.recorded),
            str(row.rank[0]),
            str(row.rank[1]),
            params,
            str(row.is_complex).lower(),
            str(row.is_proven).lower(),
            f'"{" ".join(row.sources)}"',
        )
        rows.append(f"    {{{', '.join(values)}}},")
    camel = {generation: "k" + generation.capitalize() for generation in GENERATIONS}
    lines = [
        "// Generated by tools/generate_guids.py from plugin/backends/gaudi/guids.yaml; do not edit.",
        '#include "plugin/backends/gaudi/guids/guid_table.h"',
        '#include "plugin/backends/gaudi/synapse/params.h"',
        "",
        "namespace hpu::gaudi {",
        "namespace {",
        "",
        *(
            f'static_assert(sizeof(synapse::{name}) == {size}, "guids.yaml gives {name} {size} bytes");'
            for name, size in structs.items()
        ),
        "",
        *arrays.lines,
        "",
        "constexpr Guid kGuids[] = {",
        *rows,
        "};",
        "",
        "constexpr IndirectCast kCasts[] = {",
        *(
            f"    {{synapse::Generation::{camel[cast.generation]}, {_mask([cast.source])}, "
            f"{_mask([cast.destination])}, {_mask([cast.via])}}},"
            for cast in data.casts
        ),
        "};",
        "",
        "}  // namespace",
        "",
        f"GuidList<Guid> AllGuids() {{ return {{kGuids, {len(rows)}}}; }}",
        "",
        f"GuidList<IndirectCast> IndirectCasts() {{ return {{kCasts, {len(data.casts)}}}; }}",
        "",
        "}  // namespace hpu::gaudi",
        "",
    ]
    return "\n".join(lines)


def _shown(operands: list[Operand] | None) -> str:
    if operands is None:
        return UNKNOWN
    marks = {"required": "", "optional": "?", "variadic": "…"}
    texts = []
    for operand in operands:
        types = "" if operand.types == ("T",) else ": " + " or ".join(operand.types)
        texts.append(operand.name + marks[operand.presence] + types)
    return ", ".join(texts) or "none"


def _shown_params(row: Row) -> str:
    if row.params is None:
        return UNKNOWN
    releases = {size: " (1.18)" if size in row.params_of_1_18 else "" for size in row.params}
    return ", ".join(f"{size} {struct}{releases[size]}" if size else "none" for size, struct in row.params.items())


def _line(row: Row) -> str:
    suffix = {"none": "", "type": "_T", "cast": "_S_to_T"}[row.suffix]
    types = row.types_name + (f"; recorded {', '.join(row.recorded)}" if row.recorded else "")
    remarks = [row.meaning, *([row.note] if row.note else []), *(["May be a complex guid."] if row.is_complex else [])]
    cells = (
        f"`{row.stem}{suffix}`",
        f"{_shown(row.operands)} → {_shown(row.results)}",
        types,
        str(row.rank[0]) if row.rank[0] == row.rank[1] else f"{row.rank[0]} to {row.rank[1]}",
        _shown_params(row),
        " ".join(row.sources) + ("" if row.is_proven else ", off"),
        ". ".join(remark.rstrip(".") for remark in remarks) + ".",
    )
    return f"| {' | '.join(cells)} |"


_LEGEND = """\
# Guids of SynapseAI

<!-- Generated by tools/generate_guids.py from plugin/backends/gaudi/guids.yaml; do not edit. -->

A guid names the operation of a node in a Synapse graph. `plugin/backends/gaudi/guids/guid_table.h` returns the rows of
this table to the Gaudi backend and to its test double. Change `guids.yaml`, then run `make generate`.

The table has {count} guids, of which {proven} are on. A guid is off if it is known by name only, or if its operands,
types or params are unknown. `HPU_GAUDI_UNPROVEN=1` turns all on but the internal ones.

## How to read a row

- **Guid.** `_T` is a type suffix: `add_fwd_T` stands for `add_fwd_f32`, `add_fwd_bf16` and so on.
- **Operands → results.** `?` marks an optional operand, whose slot is null, and `…` any number of operands. An operand
  has type T unless a type follows its name. `any` is any type of the row, `shape` a shape tensor. In guids without a
  suffix, T is the type of the first operand.
- **Types.** A set of the next table. Recorded types were seen in graphs of the product; the others are derived.
- **Rank.** Of the first operand, or of the result where there is no operand.
- **Params.** Sizes in bytes, and structs of `plugin/backends/gaudi/synapse/params.h`. The size selects the version. A
  struct `?` is unknown. Release 1.5 lacks versions that are marked with 1.18.
{sources}
- **Complex guids** are graphs of other nodes, from a library that may be absent. Each use needs a plain fallback.

## Types

| Set | Gaudi | Gaudi2 | Gaudi3 |
|---|---|---|---|
"""


def documentation(data: Data) -> str:
    """Returns the text of gaudi_guids.md."""
    rows = data.rows()
    sources = ", ".join(f"{letter}: {text}" for letter, text in SOURCES.items())
    indent: dict[str, Any] = {"subsequent_indent": "  ", "break_on_hyphens": False}
    legend = _LEGEND.format(
        count=len(rows),
        proven=sum(row.is_proven for row in rows),
        sources=textwrap.fill(f"- **Source.** {sources}. A ? beside another letter: a detail is open.", 120, **indent),
    )
    lines = [
        *legend.splitlines(),
        *(
            f"| {name} | {' | '.join(', '.join(types[generation]) for generation in GENERATIONS)} |"
            for name, types in data.type_sets.items()
        ),
    ]
    lines += [
        "",
        "## Conversions",
        "",
        "`cast` converts types of the set `cast` directly, except for these pairs, which take several nodes.",
        "",
        "| Generation | From | To | Through |",
        "|---|---|---|---|",
    ]
    indirect: dict[tuple[str, str, str], list[str]] = {}
    for cast in data.casts:
        indirect.setdefault((cast.generation, cast.source, cast.via), []).append(cast.destination)
    lines += [
        f"| {generation} | {source} | {', '.join(destinations)} | {via} |"
        for (generation, source, via), destinations in indirect.items()
    ]
    for group in data.groups:
        lines += [
            "",
            f"## {group.title}",
            "",
            "| Guid | Operands → results | Types | Rank | Params | Source | Meaning |",
            "|---|---|---|---|---|---|---|",
            *map(_line, group.rows),
        ]
    return "\n".join([*lines, ""])


def main() -> int:
    """Returns exit code 1 if the file's form is wrong, or the page is not up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--cpp", type=pathlib.Path, metavar="DIR")
    mode.add_argument("--tree", action="store_true")
    mode.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    try:
        data = parse(GUIDS.read_text())
    except (ValueError, yaml.YAMLError) as error:
        print(f"{GUIDS.relative_to(ROOT)}: {error}", file=sys.stderr)
        return 1
    if arguments.cpp:
        arguments.cpp.mkdir(parents=True, exist_ok=True)
        (arguments.cpp / "guid_rows.cc").write_text(cpp_source(data))
    elif arguments.tree:
        PAGE.write_text(documentation(data))
    elif not PAGE.is_file() or PAGE.read_text() != documentation(data):
        print(f"{PAGE.relative_to(ROOT)} does not match guids.yaml: run `make generate`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
