"""Environment variables: ours, XLA's, those that are accepted without effect, and misspelt ones."""

from __future__ import annotations

import os
from collections.abc import Iterator

from habana_frameworks.tensorflow import _flag_values, flags
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

# Variables of XLA and TensorFlow that change what compiling for the emulated device gives.
_XLA_VARIABLES = ("XLA_FLAGS", "TF_XLA_FLAGS")


def check() -> Iterator[Finding]:
    """Every setting in force, then what is wrong with the environment."""
    in_force = [flag for flag in flags.ALL if os.environ.get(flag.name)]
    yield from (_check_setting(flag) for flag in in_force)
    if not in_force:
        yield Finding("settings", Level.OK, "all at their defaults")
    for unknown in _flag_values.unknown(flags.ALL, os.environ):
        level = Level.ERROR if flags.strict_flags() else Level.WARNING
        remedy = (
            f"rename it to {unknown.nearest}" if unknown.nearest else "remove it; docs/settings.md lists the settings"
        )
        data = {"name": unknown.name, "nearest": unknown.nearest}
        yield Finding("settings", level, f"{unknown.name} is no setting of hpu-tensorflow", remedy, data)
    for name in _XLA_VARIABLES:
        if os.environ.get(name):
            text = f"{name}={os.environ[name]} is in force and changes what is compiled"
            yield Finding("XLA", Level.NOTE, text, f"unset {name} unless you mean it", {"name": name})


def _check_setting(flag: _flag_values.Flag) -> Finding:
    value = os.environ[flag.name]
    data = {"name": flag.name, "value": value, "default": flag.default}
    if flag.inert:
        return Finding("settings", Level.NOTE, f"{flag.name}={value} is accepted and has no effect", data=data)
    if not _flag_values.is_valid(flag):
        text = _flag_values.describe_error(flag, _flag_values.expectation(flag))
        return Finding("settings", Level.WARNING, f"{text}; {flag.default!r} is used", f"correct {flag.name}", data)
    default = flag.default or "empty"
    return Finding("settings", Level.OK, f"{flag.name}={value} (default {default})", data=data)
