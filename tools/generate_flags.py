"""Generates accessors and documentation of the settings declared in plugin/flags.yaml, and of plugin/xla_options.yaml.

generate_flags.py --cpp DIR     flags.h and flags.cc (done by CMake)
generate_flags.py --tree        flags.py, _internal/flag_table.py, _internal/xla_options.py, docs/user/settings.md and
                                docs/user/xla_options.md (make generate)
generate_flags.py --check       exit code 1 if --tree would change a file
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE_LENGTH = 120
TYPES = ("bool", "int", "string", "enum", "list")
EFFECTS = ("acts", "inert", "tensorflow", "job")


@dataclasses.dataclass(frozen=True)
class Flag:
    """One setting of flags.yaml. A name may contain the placeholder <module>."""

    name: str
    type: str
    default: Any
    meaning: str
    since: str
    values: tuple[str, ...] = ()
    source: str = ""
    equivalent: str = ""
    effect: str = "acts"
    secret: bool = False
    old_name: str = ""
    modules: tuple[str, ...] = ()
    """Values of the placeholder <module> that have an effect."""
    minimum: int | None = None
    maximum: int | None = None
    """Largest valid number of an int setting."""

    @property
    def camel(self) -> str:
        """Name of the C++ accessor: MemoryMb for HPU_MEMORY_MB, TfX for TF_X."""
        stem = self.name[4:] if self.name.startswith("HPU_") else self.name
        return "".join(part.capitalize() for part in stem.split("_"))

    @property
    def choices(self) -> dict[str, str]:
        """Values of an enum setting, by the words of their enumerators."""
        return {value or "unset": value for value in self.values}

    @property
    def snake(self) -> str:
        """Name of the Python accessor."""
        stem = self.name[4:] if self.name.startswith("HPU_") else self.name
        return stem.lower()

    @property
    def has_accessor(self) -> bool:
        return self.effect == "acts" and "<" not in self.name

    @property
    def default_text(self) -> str:
        if self.type == "bool":
            return "true" if self.default else "false"
        return str(self.default)


def read() -> list[Flag]:
    """Reads and checks flags.yaml. Raises ValueError, which names the setting and the wrong field."""
    flags = []
    for entry in _single_entries(yaml.safe_load((ROOT / "plugin/flags.yaml").read_text())):
        known = {field.name for field in dataclasses.fields(Flag)}
        if extra := set(entry) - known:
            raise ValueError(f"{entry.get('name')}: unknown fields {sorted(extra)}; known: {sorted(known)}")
        flag = Flag(
            **{
                **entry,
                "meaning": " ".join(entry["meaning"].split()),
                "values": tuple(entry.get("values", ())),
                "modules": tuple(entry.get("modules", ())),
            }
        )
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*(<module>)?", flag.name):
            raise ValueError(f"{flag.name} is not a variable name: use A-Z, 0-9 and _")
        if flag.effect not in EFFECTS:
            raise ValueError(f"{flag.name}: effect {flag.effect} is not one of {EFFECTS}")
        if flag.type not in TYPES:
            raise ValueError(f"{flag.name}: type {flag.type} is not one of {TYPES}")
        if flag.type == "enum" and flag.default not in flag.values:
            raise ValueError(f"{flag.name}: default {flag.default} is not one of {flag.values}")
        flags.append(flag)
    names = [name for flag in flags for name in (flag.name, flag.old_name) if name]
    if duplicates := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"declared twice: {sorted(duplicates)}; remove one declaration")
    return flags


def _single_entries(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Expands each entry with several `names` into one entry per name."""
    for entry in entries:
        rest = {key: value for key, value in entry.items() if key != "names"}
        yield from ({"name": name, **rest} for name in entry["names"]) if "names" in entry else (entry,)


@dataclasses.dataclass(frozen=True)
class XlaOption:
    """One option of xla_options.yaml."""

    name: str
    variable: str
    effect: str
    instead: str
    meaning: str


XLA_EFFECTS = {
    "acts": "acts",
    "inert": "no effect on the HPU",
    "unknown": "not in TensorFlow 2.15.1, which ends the process",
}


def read_xla_options(flags: list[Flag]) -> list[XlaOption]:
    """Reads and checks xla_options.yaml. Raises ValueError, which names the option and the wrong field."""
    entries = yaml.safe_load((ROOT / "plugin/xla_options.yaml").read_text())
    options = [XlaOption(**{**entry, "meaning": " ".join(entry["meaning"].split())}) for entry in entries]
    for option in options:
        if option.effect not in XLA_EFFECTS:
            raise ValueError(f"{option.name}: effect {option.effect} is not one of {list(XLA_EFFECTS)}")
        for setting in (option.variable, option.instead or option.variable):
            if setting not in {flag.name for flag in flags}:
                raise ValueError(f"{option.name}: {setting} is not in plugin/flags.yaml")
    return options


GENERATED = "Generated by tools/generate_flags.py from plugin/flags.yaml; do not edit."


def enumerator(word: str) -> str:
    """Returns the C++ enumerator of a value: kBfloat16 for bfloat16."""
    return "k" + word.capitalize()


def cpp_header(flags: list[Flag]) -> str:
    kinds = {
        "bool": "bool",
        "int": "int64_t",
        "string": "std::string",
        "list": "std::vector<std::string>",
    }
    lines = [
        f"// {GENERATED}",
        "#ifndef HPU_PLUGIN_BASE_FLAGS_FLAGS_H_",
        "#define HPU_PLUGIN_BASE_FLAGS_FLAGS_H_",
        "",
        "#include <cstdint>",
        "#include <string>",
        "#include <vector>",
        "",
        "// Settings, read from the environment at each call. A value that cannot be parsed counts as unset and is",
        "// reported once on stderr. Thread safe as far as getenv is.",
        "//",
        "// docs/user/settings.md has meanings and defaults. They are not here, so that a new text causes no rebuild.",
        "namespace hpu::flags {",
        "",
    ]
    for flag in filter(lambda flag: flag.has_accessor, flags):
        if flag.type == "enum":
            names = ", ".join(json.dumps(value) for value in flag.values)
            lines += [
                f"enum class {flag.camel}Setting {{ {', '.join(map(enumerator, flag.choices))} }};",
                f"constexpr const char* NameOf({flag.camel}Setting setting) {{",
                f"  constexpr const char* kNames[] = {{{names}}};",
                "  return kNames[static_cast<int>(setting)];",
                "}",
            ]
        lines += [
            f"// {flag.name}",
            f"{kinds.get(flag.type, flag.camel + 'Setting')} {flag.camel}();",
        ]
    lines += ["", "}  // namespace hpu::flags", "", "#endif  // HPU_PLUGIN_BASE_FLAGS_FLAGS_H_", ""]
    return "\n".join(lines)


def cpp_source(flags: list[Flag]) -> str:
    lines = [
        f"// {GENERATED}",
        '#include "plugin/base/flags/flags.h"',
        "",
        '#include "plugin/base/flags/parse.h"',
        "",
        "namespace hpu::flags {",
        "",
    ]
    for flag in filter(lambda flag: flag.has_accessor, flags):
        name = f'{{"{flag.name}", "{flag.old_name}"}}' if flag.old_name else f'"{flag.name}"'
        default = f'"{flag.default}"'
        if flag.type == "bool":
            lines.append(f"bool {flag.camel}() {{ return ParseBool({name}, {flag.default_text}); }}")
        elif flag.type == "int":
            least = min(0, int(flag.default)) if flag.minimum is None else flag.minimum
            numbers = [flag.default, least, *([] if flag.maximum is None else [flag.maximum])]
            lines.append(f"int64_t {flag.camel}() {{ return ParseInt({name}, {', '.join(map(str, numbers))}); }}")
        elif flag.type == "string":
            lines.append(f"std::string {flag.camel}() {{ return ParseString({name}, {default}); }}")
        elif flag.type == "enum":
            values = ", ".join(f'"{value}"' for value in flag.values)
            lines += [
                f"{flag.camel}Setting {flag.camel}() {{",
                f"  return static_cast<{flag.camel}Setting>(ParseChoice({name}, {flag.values.index(flag.default)}, "
                f"{{{values}}}));",
                "}",
            ]
        else:
            lines.append(f"std::vector<std::string> {flag.camel}() {{ return ParseList({name}, {default}); }}")
    lines += ["", "}  // namespace hpu::flags", ""]
    return "\n".join(lines)


def python_flag(flag: Flag) -> list[str]:
    """Returns the source of one entry of ALL, in ruff's format."""
    if flag.effect == "inert" and flag.type == "string" and not flag.default_text:
        return [f"    values.inert({json.dumps(flag.name)}),"]
    arguments = [json.dumps(flag.name), json.dumps(flag.type), json.dumps(flag.default_text)]
    if flag.values:
        arguments.append("(" + ", ".join(map(json.dumps, flag.values)) + ("," if len(flag.values) == 1 else "") + ")")
    if flag.effect != "acts":
        arguments.append(f"effect=values.Effect.{flag.effect.upper()}")
    if flag.secret:
        arguments.append("secret=True")
    if flag.old_name:
        arguments.append(f"old_name={json.dumps(flag.old_name)}")
    if flag.modules:
        arguments.append(f"modules=({', '.join(map(json.dumps, flag.modules))})")
    if flag.minimum is not None:
        arguments.append(f"minimum={flag.minimum}")
    if flag.maximum is not None:
        arguments.append(f"maximum={flag.maximum}")
    line = f"    values.Flag({', '.join(arguments)}),"
    if len(line) <= LINE_LENGTH:
        return [line]
    return ["    values.Flag(", *(f"        {argument}," for argument in arguments), "    ),"]


def python_accessor(flag: Flag) -> list[str]:
    """Returns the source of the accessor function, with the setting's meaning as docstring."""
    kinds = {"bool": "bool", "int": "int", "string": "str", "enum": flag.camel, "list": "list[str]"}
    parse = {"bool": "parse_bool", "int": "parse_int", "list": "parse_list"}.get(flag.type, "parse_string")
    text = f"{flag.name}: {flag.meaning}".replace("\\", "\\\\")
    lines = textwrap.wrap(text, LINE_LENGTH - 10, break_on_hyphens=False)
    docstring = ['"""' + lines[0], *lines[1:]]
    if len(lines) == 1:
        docstring[0] += '"""'
    else:
        docstring.append('"""')
    parsed = f'values.{parse}(BY_NAME["{flag.name}"])'
    return [
        *(python_enum(flag) if flag.type == "enum" else ()),
        "",
        "",
        f"def {flag.snake}() -> {kinds[flag.type]}:",
        *(f"    {line}" for line in docstring),
        f"    return {flag.camel}({parsed})" if flag.type == "enum" else f"    return {parsed}",
    ]


def python_enum(flag: Flag) -> list[str]:
    """Returns the source of the values of an enum setting. A member equals its text."""
    return [
        "",
        "",
        f"class {flag.camel}(str, enum.Enum):",
        f'    """Values of {flag.name}."""',
        "",
        *(f"    {word.upper()} = {json.dumps(value)}" for word, value in flag.choices.items()),
        "",
        "    __str__ = str.__str__",
    ]


def python_table(flags: list[Flag]) -> str:
    lines = [
        '"""Names, types and defaults of all settings.',
        "",
        GENERATED,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from habana_frameworks.tensorflow._internal import flag_values as values",
        "",
        "ALL: tuple[values.Flag, ...] = (",
        *(line for flag in flags for line in python_flag(flag)),
        ")",
        "BY_NAME = {flag.name: flag for flag in ALL}",
    ]
    return "\n".join(lines) + "\n"


def python_accessors(flags: list[Flag]) -> str:
    lines = [
        '"""Settings, read from the environment at each call.',
        "",
        GENERATED,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "import enum",
        "",
        "from habana_frameworks.tensorflow._internal import flag_values as values",
        "from habana_frameworks.tensorflow._internal.flag_table import ALL, BY_NAME",
        "",
        '__all__ = ["ALL"]',
        *(line for flag in flags if flag.has_accessor for line in python_accessor(flag)),
    ]
    return "\n".join(lines) + "\n"


def xla_option_table(options: list[XlaOption]) -> str:
    lines = [
        '"""Options of XLA_FLAGS and TF_XLA_FLAGS in NVIDIA\'s guide.',
        "",
        "Generated by tools/generate_flags.py from plugin/xla_options.yaml; do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import NamedTuple",
        "",
        "",
        "class XlaOption(NamedTuple):",
        '    """The variable that contains the option, its effect, the setting to use instead or an empty text."""',
        "",
        "    variable: str",
        "    effect: str",
        "    instead: str",
        "    meaning: str",
        "",
        "",
        "XLA_OPTIONS = {",
    ]
    for option in options:
        fields = [json.dumps(text) for text in (option.variable, option.effect, option.instead, option.meaning)]
        lines += [f"    {json.dumps(option.name)}: XlaOption(", *(f"        {field}," for field in fields), "    ),"]
    return "\n".join([*lines, "}"]) + "\n"


def xla_option_page(options: list[XlaOption]) -> str:
    lines = [
        "# Options of XLA in NVIDIA's guide",
        "",
        "<!-- Generated by tools/generate_flags.py from plugin/xla_options.yaml; do not edit. -->",
        "",
        "`hpu doctor` reports options in `XLA_FLAGS` and `TF_XLA_FLAGS` that do not act. [settings.md](settings.md) "
        "has the settings to use instead.",
        "",
        "| Option | Effect | Instead | Meaning |",
        "|---|---|---|---|",
    ]
    for option in options:
        instead = f"`{option.instead}`" if option.instead else "none"
        cells = (f"`{option.variable}={option.name}`", XLA_EFFECTS[option.effect], instead, option.meaning)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def documentation(flags: list[Flag]) -> str:
    lines = [
        "# Settings",
        "",
        f"<!-- {GENERATED} -->",
        "",
        "Settings are environment variables. None is needed: each has a default. Set them in the shell, or in the "
        "program through `os.environ`:",
        "",
        "```sh",
        "HPU_MEMORY_MB=8192 HPU_COMPILE_MODE=async python train.py",
        "```",
        "",
        "The plugin reads a setting at each use, unless the setting's row says otherwise: a program may change it "
        "after `load_habana_module()`. Settings that Gaudi or TensorFlow already have keep their names and meanings; "
        "the tables state their origin. All other settings begin with `HPU_`.",
        "",
        "`hpu doctor` lists the settings of the current environment, and shows how to correct invalid values. A "
        "program warns of a misspelt name, and suggests the most similar setting. "
        "[xla_options.md](xla_options.md) lists the options of XLA in NVIDIA's guide.",
        *_table("Settings of this package", [flag for flag in flags if flag.effect == "acts"]),
        *_table("Settings that TensorFlow reads", [flag for flag in flags if flag.effect == "tensorflow"]),
        *_table(
            "Variables of the processes of a job (`hpu run`, Horovod, Open MPI)",
            [flag for flag in flags if flag.effect == "job"],
        ),
        *_table("Accepted without effect", [flag for flag in flags if flag.effect == "inert"]),
    ]
    return "\n".join(lines) + "\n"


def _table(title: str, flags: list[Flag]) -> list[str]:
    lines = [
        "",
        f"## {title}",
        "",
        "| Variable | Type | Default | Meaning | NVIDIA/XLA equivalent | Since |",
        "|---|---|---|---|---|---|",
    ]
    for flag in sorted(flags, key=lambda flag: flag.name):
        kind = ", ".join(f"`{value}`" for value in flag.values) if flag.type == "enum" else flag.type
        origin = f" ({flag.source})" if flag.source else f" (was `{flag.old_name}`)" if flag.old_name else ""
        default = f"`{flag.default_text}`" if flag.default_text else "empty"
        cells = (f"`{flag.name}`{origin}", kind, default, flag.meaning, flag.equivalent, flag.since)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpp", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--tree", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    flags = read()
    outputs: dict[pathlib.Path, str] = {}
    if arguments.cpp:
        outputs = {arguments.cpp / "flags.h": cpp_header(flags), arguments.cpp / "flags.cc": cpp_source(flags)}
    if arguments.tree or arguments.check:
        package = ROOT / "habana_frameworks/tensorflow"
        outputs[package / "flags.py"] = python_accessors(flags)
        outputs[package / "_internal/flag_table.py"] = python_table(flags)
        options = read_xla_options(flags)
        outputs[package / "_internal/xla_options.py"] = xla_option_table(options)
        outputs[ROOT / "docs/user/settings.md"] = documentation(flags)
        outputs[ROOT / "docs/user/xla_options.md"] = xla_option_page(options)
    stale = [path for path, text in outputs.items() if not path.is_file() or path.read_text() != text]
    if arguments.check:
        for path in stale:
            print(
                f"{path.relative_to(ROOT)} does not match its YAML file in plugin/: run `make generate`",
                file=sys.stderr,
            )
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(outputs[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
