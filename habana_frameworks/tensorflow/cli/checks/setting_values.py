"""Values of settings that name files, directories or modules: whether the plugin can use them."""

from __future__ import annotations

import difflib
import json
import os
import pathlib
from collections.abc import Sequence

from habana_frameworks.tensorflow import flags, hw_profiler_helpers
from habana_frameworks.tensorflow._internal import cards
from habana_frameworks.tensorflow._internal.launch import module_choice
from habana_frameworks.tensorflow._internal.text import numbers_below
from habana_frameworks.tensorflow.cli.checks import plugin

_BF16 = ("TF_BF16_CONVERSION", "TF_ENABLE_BF16_CONVERSION")
# Keys of a configuration file, with the spellings of other releases (plugin/passes/precision/bf16_config.cc).
_BF16_KEYS = (
    "allowlist",
    "allow_list",
    "whitelist",
    "conditional_list",
    "graylist",
    "strict_conditional_list",
    "input_only_exceptions",
    "non_convertible_exceptions",
    "convertible_exceptions",
)
_BF16_WORDS = ("0", "false", "1", "true", "full", "basic", "bert", "unet2d")
_FILES = (
    "HPU_SERVER_TOKEN_FILE",
    "HPU_SERVER_CA",
    "HPU_SERVER_CERT",
    "HPU_SERVER_KEY",
    "HPU_RECIPE_CACHE_REMOTE_KEY_FILE",
    "HPU_RECIPE_CACHE_REMOTE_TOKEN_FILE",
)
_DIRECTORIES = (
    "HABANA_LOGS",
    "HPU_MODULE_LOCK_DIR",
    "TF_DUMP_GRAPH_PREFIX",
    "TF_GRAPPLER_GRAPH_DEF_PATH",
    "TF_RECIPE_CACHE_PATH",
)
_OUTPUT_FILES = ("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LOG_PATH", "TF_BF16_DUMP_PATH")
_MODULES = ("HABANA_VISIBLE_MODULES", "HLS_MODULE_ID")
_NAMED_TWICE = "names a module twice"
_PROFILE_RANGES = ("HABANA_PROFILE_RANGE", "TF_HW_PROFILE_RANGE")
_LOG_LEVELS = range(-1, 7)


def is_fatal(name: str, problem: str) -> bool:
    """Whether programs fail because of `problem`, which problem() returned for the setting."""
    return name in (*_BF16, *_MODULES, *_PROFILE_RANGES) and problem not in (_NAMED_TWICE, hw_profiler_helpers.NO_STEPS)


def problem(name: str, value: str) -> str:
    """Returns the reason why a setting's value of the right type is unusable; empty if it is usable."""
    if name in _BF16:
        return _bf16_problem(value)
    if name in _FILES:
        return _file_problem(value)
    if name in _DIRECTORIES:
        return _directory_problem(pathlib.Path(value))
    if name in _OUTPUT_FILES:
        return _directory_problem(pathlib.Path(value).absolute().parent)
    if name == "HABANA_VISIBLE_MODULES":
        return _modules_problem(value)
    if name == "HLS_MODULE_ID":
        return _module_problem(int(value))
    if name == "TF_PLACE_ON_CPU":
        return _op_types_problem(value, plugin.op_types())
    if name in _PROFILE_RANGES:
        if hw_profiler_helpers.parse_range(value) is None:
            return f"is not {hw_profiler_helpers.RANGE_FORM}"
        return "" if flags.tf_hook_mode() else hw_profiler_helpers.NO_STEPS
    if name == "HPU_DEVICE_TYPE":
        return cards.spelling_problem(value)
    if name.startswith("LOG_LEVEL_") and int(value) not in _LOG_LEVELS:
        return "is not a log level: expected a number from 0 (everything) to 6 (nothing)"
    return ""


def _bf16_problem(value: str) -> str:
    if value.lower() in _BF16_WORDS:
        return ""
    unreadable = _file_problem(value)
    if unreadable:
        return f"{unreadable}, and is not one of {', '.join(_BF16_WORDS)}"
    try:
        content = json.loads(pathlib.Path(value).read_text(encoding="utf-8"))
    except ValueError as error:
        return f"is not a JSON file ({error})"
    return _bf16_key_problem(content)


def _bf16_key_problem(content: object) -> str:
    """Reports keys that the plugin rejects: plugin/passes/precision/bf16_config.cc has the same names."""
    if not isinstance(content, dict):
        return "does not contain a JSON object"
    for key in content:
        if key not in _BF16_KEYS:
            nearest = difflib.get_close_matches(key, _BF16_KEYS, n=1)
            return f"has the unknown key {key}" + (f" (did you mean {nearest[0]}?)" if nearest else "")
    return ""


def _file_problem(value: str) -> str:
    path = pathlib.Path(value)
    if not path.is_file():
        return "is a directory, not a file" if path.is_dir() else "is not an existing file"
    return "" if os.access(path, os.R_OK) else "cannot be read by this user"


def _directory_problem(path: pathlib.Path) -> str:
    """Returns the reason why no file can be created in `path`, a directory that is created if missing."""
    for ancestor in (path, *path.absolute().parents):
        if not ancestor.exists():
            continue
        if not ancestor.is_dir():
            return f"cannot be a directory, because {ancestor} is a file"
        return "" if os.access(ancestor, os.W_OK | os.X_OK) else f"cannot be written by this user ({ancestor})"
    return ""


def _modules_problem(value: str) -> str:
    modules = module_choice.module_entries(value)
    if not all(module.isdecimal() for module in modules):
        return "is not a list of module numbers, such as 0,1, and is not all"
    missing = next(filter(None, (_module_problem(int(module)) for module in modules)), "")
    return missing or (_NAMED_TWICE if len(set(map(int, modules))) < len(modules) else "")


def _module_problem(module: int) -> str:
    """Returns the reason why a module cannot be acquired. Only the number of emulated modules is known."""
    count = cards.modules()
    if module < count or flags.backend() not in ("auto", "emulator", "null"):
        return ""
    existing = f"existing modules: {numbers_below(count)} (HPU_MODULES={count})"
    return f"names module {module}, which does not exist; {existing}"


def _op_types_problem(value: str, known: Sequence[str]) -> str:
    """Reports types that are not in `known`. Each entry may be in brackets, as in Gaudi's guide."""
    entries = [entry.strip().removeprefix("[").removesuffix("]").strip() for entry in value.split(",")]
    names = [*known, "all_nodes"] if known else entries
    unknown = []
    for entry in dict.fromkeys(filter(None, entries)):
        if entry not in names:
            nearest = difflib.get_close_matches(entry, names, n=2, cutoff=0.7)
            unknown.append(entry + (f" (did you mean {' or '.join(nearest)}?)" if nearest else ""))
    return f"names unknown op types: {', '.join(unknown)}" if unknown else ""
