"""Reads and validates settings from the environment. The generated flags.py declares the settings."""

from __future__ import annotations

import dataclasses
import difflib
import enum
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping

_logger = logging.getLogger(__name__)
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_warned: set[str] = set()
_claim_in_plugin: Callable[[str], bool] | None = None


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

    `name` may contain a placeholder such as <module>, which matches [A-Za-z0-9_]+. `default` is unparsed text, as in an
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
    modules: tuple[str, ...] = ()
    """Values of the placeholder <module> that have an effect."""
    minimum: int | None = None
    """Smallest valid number of an int setting; None: 0, or the default if that is negative."""
    maximum: int | None = None
    """Largest valid number of an int setting; None: no limit."""

    def has_effect_as(self, name: str) -> bool:
        """Whether the variable `name` of this setting has an effect. A name with an unknown <module> has none."""
        known = (self.name.replace("<module>", module) for module in self.modules)
        return self.effect is not Effect.INERT and (not self.modules or name in known)

    def names_in(self, environment: Mapping[str, str]) -> list[str]:
        """Returns the names of this setting's variables that are set and not empty in `environment`."""
        if "<" not in self.name:
            return [name for name in (self.name, self.old_name) if environment.get(name)]
        pattern = re.compile(re.sub("<[a-z]+>", "[A-Za-z0-9_]+", self.name))
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


def share_warnings(claim: Callable[[str], bool]) -> None:
    """Makes the plugin and this module write one warning per setting. Called when the plugin is loaded.

    claim: records in the plugin that the warning about a variable is written, and returns whether it is the first.
    """
    global _claim_in_plugin
    _claim_in_plugin = claim
    for name in _warned:
        claim(name)


def _fall_back(flag: Flag, expected: str) -> str:
    """Logs a warning, once per variable, and returns the default."""
    name = _name_in_environment(flag)
    if name not in _warned:
        _warned.add(name)
        if _claim_in_plugin is None or _claim_in_plugin(name):
            _logger.warning("%s; the default %r is used", describe_error(flag, expected), flag.default)
    return flag.default


def describe_error(flag: Flag, expected: str) -> str:
    """Returns an error text with the variable's value and the expected form."""
    name = _name_in_environment(flag)
    return f"{name}={os.environ.get(name)} is not {expected}"


def _name_in_environment(flag: Flag) -> str:
    """Name under which the setting is set: the current name, or the old one."""
    return next(iter(flag.names_in(os.environ)), flag.name)


def expectation(flag: Flag) -> str:
    """Description of the setting's valid values, for messages."""
    if flag.type == "enum":
        return "one of " + ", ".join(flag.values)
    if flag.type == "int":
        return missed_range(flag) or "a whole number"
    return "a boolean (1, true, yes, on, 0, false, no, off)" if flag.type == "bool" else "text"


def is_valid(flag: Flag) -> bool:
    """Whether the setting is unset or has a valid value."""
    text = _text(flag)
    if flag.type == "bool":
        return text.lower() in _TRUE | _FALSE
    if flag.type == "int":
        return _as_int(text) is not None and not missed_range(flag)
    if flag.type == "enum":
        return text.lower() in {value.lower() for value in flag.values}
    return True


def missed_range(flag: Flag) -> str:
    """Returns the range that the setting's number misses, for describe_error(); empty if it is valid or malformed."""
    number = _as_int(_text(flag)) if flag.type == "int" else None
    if number is None:
        return ""
    least = min(0, int(flag.default)) if flag.minimum is None else flag.minimum
    if flag.maximum is not None and not least <= number <= flag.maximum:
        return f"a number from {least} to {flag.maximum}"
    return f"a number of at least {least}" if number < least else ""


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


# Other packages share these prefixes, so a variable is reported only if its name is close to a setting's.
_SHARED_PREFIXES = ("HBN_", "HABANA_", "TF_HABANA_")


def unknown(flags: Iterable[Flag], environment: Mapping[str, str]) -> list[Unknown]:
    """Returns the unknown variables of `environment` that are named like settings, sorted by name.

    Any HPU_ variable that is not a setting is unknown. A variable with one of _SHARED_PREFIXES is unknown if its name
    is similar to a setting's name. Any other variable is unknown if it misspells the name of a setting with an effect,
    or lacks the last words of such a name. An empty variable counts as unset.
    """
    listed = list(flags)
    names = [name for flag in listed for name in _names(flag)]
    # Variables of other programs resemble settings without effect, such as NCCL_SOCKET_IFNAME and HCCL_SOCKET_IFNAME.
    effective = [name for flag in listed if flag.effect is not Effect.INERT for name in _names(flag)]
    known = {name for flag in listed for name in flag.names_in(environment)}.union(names)
    found = []
    for name in sorted(name for name in environment if environment[name] and name not in known):
        if name.startswith("HPU_"):
            nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
        elif name.startswith(_SHARED_PREFIXES):
            nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.85)
        else:
            nearest = [other for other in effective if _is_misspelling(name, other) or _lacks_end(name, other)][:1]
        if nearest or name.startswith("HPU_"):
            found.append(Unknown(name, nearest[0] if nearest else None))
    return found


def _lacks_end(name: str, setting: str) -> bool:
    """Whether `name` consists of the setting's first words, at least three. Fewer words start many names."""
    return setting.startswith(f"{name}_") and name.count("_") >= 2


def _names(flag: Flag) -> list[str]:
    """Names of the setting's variables; one name for each known <module>."""
    if flag.modules:
        return [flag.name.replace("<module>", module) for module in flag.modules]
    return [name for name in (flag.name, flag.old_name) if name]


def _is_misspelling(name: str, other: str) -> bool:
    """Whether at most two letters of `other`, or one if it is short, are missing, added, transposed or replaced."""
    allowed = 2 if len(other) >= 12 else 1
    # A cheap test first, because every variable of the environment is compared with every setting.
    if abs(len(name) - len(other)) > allowed or len(set(name) ^ set(other)) > 2 * allowed:
        return False
    return _distance(name, other) <= allowed


def _distance(first: str, second: str) -> int:
    """Number of missing, added, replaced and transposed letters (optimal string alignment distance)."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        before, last, row = row, before, [i]
        for j, other in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def renamed(flags: Iterable[Flag], environment: Mapping[str, str]) -> list[Flag]:
    """Returns the settings that `environment` sets only under their old name."""
    return [flag for flag in flags if flag.old_name and flag.names_in(environment) == [flag.old_name]]
