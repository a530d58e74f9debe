"""Reads and validates settings from the environment. The generated flags.py declares the settings."""

from __future__ import annotations

import dataclasses
import difflib
import enum
import logging
import os
import re
from collections.abc import Iterable, Mapping

_logger = logging.getLogger(__name__)
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_reported: set[str] = set()


class Effect(enum.Enum):
    """How an environment variable takes effect."""

    ACTS = "acts"
    INERT = "inert"
    """Accepted for compatibility, without effect."""
    TENSORFLOW = "tensorflow"
    """Read by TensorFlow, not by this package."""
    JOB = "job"
    """Set by `hpu run` or Open MPI for the processes of a job, or read by Horovod."""


@dataclasses.dataclass(frozen=True)
class Flag:
    """One setting of plugin/flags.yaml.

    `name` may contain a placeholder such as <module>, which matches [A-Z0-9_]+. `default` is unparsed text, as in an
    environment variable.
    """

    name: str
    type: str
    default: str
    values: tuple[str, ...] = ()
    effect: Effect = Effect.ACTS
    secret: bool = False
    """Output must not contain the value."""
    old_name: str = ""
    """Older variable name, read if `name` is unset or empty."""

    def names_in(self, environment: Mapping[str, str]) -> list[str]:
        """Returns the names of this setting's variables that are set and not empty in `environment`."""
        if "<" not in self.name:
            return [name for name in (self.name, self.old_name) if environment.get(name)]
        pattern = re.compile(re.sub("<[a-z]+>", "[A-Z0-9_]+", self.name))
        return sorted(name for name in environment if pattern.fullmatch(name) and environment[name])


@dataclasses.dataclass(frozen=True)
class Unknown:
    """A variable that is named like a setting but is unknown, and the most similar setting, if any."""

    name: str
    nearest: str | None

    def __str__(self) -> str:
        hint = f"; did you mean {self.nearest}?" if self.nearest else "; docs/user/settings.md lists the settings"
        return f"{self.name} is not a setting of hpu-tensorflow{hint}"


def inert(name: str) -> Flag:
    """A setting without effect, which may have any value."""
    return Flag(name, "string", "", effect=Effect.INERT)


def _text(flag: Flag) -> str:
    return next((os.environ[name] for name in flag.names_in(os.environ)), flag.default)


def _fall_back(flag: Flag, expected: str) -> str:
    """Logs a warning, once per setting, and returns the default."""
    if flag.name not in _reported:
        _reported.add(flag.name)
        _logger.warning("%s; the default %r is used", describe_error(flag, expected), flag.default)
    return flag.default


def describe_error(flag: Flag, expected: str) -> str:
    """Returns an error text with the variable's value and the expected form."""
    name = next(iter(flag.names_in(os.environ)), flag.name)
    return f"{name}={os.environ.get(name)} is not {expected}"


def expectation(flag: Flag) -> str:
    """Description of the setting's valid values, for messages."""
    if flag.type == "enum":
        return "one of " + ", ".join(flag.values)
    return {"bool": "a boolean (1, true, yes, on, 0, false, no, off)", "int": "a whole number"}.get(flag.type, "text")


def is_valid(flag: Flag) -> bool:
    """Whether the setting is unset or has a valid value."""
    text = _text(flag)
    if flag.type == "bool":
        return text.lower() in _TRUE | _FALSE
    if flag.type == "int":
        return _as_int(text) is not None
    if flag.type == "enum":
        return text.lower() in {value.lower() for value in flag.values}
    return True


def _as_int(text: str) -> int | None:
    """Parses decimal digits after optional white space and sign, like the plugin's strtoll; None if malformed."""
    stripped = text.lstrip()
    digits = stripped[1:] if stripped[:1] in ("+", "-") else stripped
    return int(stripped) if digits.isascii() and digits.isdigit() else None


def parse_bool(flag: Flag) -> bool:
    text = _text(flag) if is_valid(flag) else _fall_back(flag, expectation(flag))
    return text.lower() in _TRUE


def parse_int(flag: Flag) -> int:
    text = _text(flag) if is_valid(flag) else _fall_back(flag, expectation(flag))
    number = _as_int(text)
    assert number is not None, flag
    return number


def parse_string(flag: Flag) -> str:
    if flag.type != "enum":
        return _text(flag)
    text = _text(flag) if is_valid(flag) else _fall_back(flag, expectation(flag))
    return next(value for value in flag.values if value.lower() == text.lower())


def parse_list(flag: Flag) -> list[str]:
    """Splits the value at commas; strips spaces and drops empty entries."""
    return [entry.strip() for entry in _text(flag).split(",") if entry.strip()]


# Other packages use these prefixes, too: such a variable is reported only if its name is close to a setting's.
_SHARED_PREFIXES = ("HBN_", "HABANA_", "TF_HABANA_")


def unknown(flags: Iterable[Flag], environment: Mapping[str, str]) -> list[Unknown]:
    """Returns the unknown variables of `environment` that are named like settings, sorted by name."""
    names = [name for flag in flags for name in (flag.name, flag.old_name) if name]
    found = []
    for name in sorted(environment):
        ours = name.startswith("HPU_")
        if name in names or not (ours or name.startswith(_SHARED_PREFIXES)):
            continue
        nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6 if ours else 0.85)
        if ours or nearest:
            found.append(Unknown(name, nearest[0] if nearest else None))
    return found


def renamed(flags: Iterable[Flag], environment: Mapping[str, str]) -> list[Flag]:
    """Returns the settings that `environment` sets only under their old name."""
    return [flag for flag in flags if flag.old_name and flag.names_in(environment) == [flag.old_name]]
