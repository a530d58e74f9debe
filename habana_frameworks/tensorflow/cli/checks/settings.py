"""Check of environment variables: this package's, TensorFlow's, variables without effect, and misspelt names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags, lib_utils
from habana_frameworks.tensorflow._internal import flag_values
from habana_frameworks.tensorflow._internal.xla_options import XLA_OPTIONS
from habana_frameworks.tensorflow.cli.checks import setting_values
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level


def check() -> Iterator[Finding]:
    """Reports every setting that is set, then unknown variables."""
    declared = {name: flag for flag in flags.ALL for name in flag.names_in(os.environ)}
    in_force = [(flag, name) for name, flag in declared.items()]
    yield from (_check_setting(flag, name) for flag, name in in_force)
    yield from _check_xla_options()
    misnamed = flag_values.unknown(flags.ALL, os.environ)
    if not in_force and not misnamed:
        yield Finding("settings", Level.OK, "all at their defaults")
    for unknown in misnamed:
        strict = flags.strict_flags() and unknown.name.startswith("HPU_")
        level = Level.ERROR if strict else Level.WARNING
        remedy = (
            f"rename it to {unknown.nearest}"
            if unknown.nearest
            else "remove it; docs/user/settings.md lists the settings"
        )
        data = {"name": unknown.name, "nearest": unknown.nearest}
        yield Finding("settings", level, f"{unknown.name} is not a setting of hpu-tensorflow", remedy, data)


def _check_xla_options() -> Iterator[Finding]:
    """Reports options of NVIDIA's guide that have no effect on the HPU, or that TensorFlow does not know."""
    release = lib_utils.release().version
    for variable in ("XLA_FLAGS", "TF_XLA_FLAGS"):
        words = re.split(r"[\s,]+", os.environ.get(variable, ""))
        for name in dict.fromkeys(word.partition("=")[0] for word in words):
            option = XLA_OPTIONS.get(name)
            if option is None or option.variable != variable or option.effect == "acts":
                continue
            data = {"name": name, "variable": variable, "instead": option.instead}
            remedy = (
                f"use {option.instead} (docs/user/xla_options.md)" if option.instead else f"remove it. {option.meaning}"
            )
            if option.effect == "unknown":
                text = f"{variable}: TensorFlow {release} does not know {name}, and ends the process"
                yield Finding("settings", Level.WARNING, text, remedy, data)
            else:
                text = f"{variable}: {name} has no effect on the HPU. {option.meaning}"
                yield Finding("settings", Level.NOTE, text, remedy, data)


def _check_setting(flag: flag_values.Flag, name: str) -> Finding:
    value = "(not shown)" if flag.secret else os.environ[name]
    data = {"name": name, "value": value, "default": flag.default}
    if name == flag.old_name:
        return Finding(
            "settings",
            Level.NOTE,
            f"{name}={value}: this setting was renamed to {flag.name}",
            f"rename it to {flag.name}",
            data,
        )
    if not flag.has_effect_as(name):
        known = f" (modules with a log: {', '.join(flag.modules)})" if flag.modules else ""
        return Finding("settings", Level.NOTE, f"{name}={value} is accepted but has no effect{known}", data=data)
    if flag.effect is flag_values.Effect.TENSORFLOW:
        return Finding("settings", Level.NOTE, f"{name}={value} is a setting of TensorFlow", data=data)
    if flag.effect is flag_values.Effect.JOB:
        return Finding("settings", Level.NOTE, f"{name}={value} applies to the processes of a job", data=data)
    if not flag_values.is_valid(flag):
        text = flag_values.describe_error(flag, flag_values.expectation(flag))
        return Finding("settings", Level.WARNING, f"{text}; {flag.default!r} is used", f"correct {name}", data)
    problem = setting_values.problem(name, os.environ[name])
    if problem:
        level = Level.ERROR if setting_values.is_fatal(name, problem) else Level.WARNING
        return Finding("settings", level, f"{name}={value} {problem}", f"correct or unset {name}", data)
    default = flag.default or "empty"
    return Finding("settings", Level.OK, f"{name}={value} (default {default})", data=data)
