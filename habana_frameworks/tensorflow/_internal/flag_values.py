"""How a setting is read from the environment; flags.py, which is generated, declares the settings."""

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
    """What a variable does here."""

    ACTS = "acts"
    INERT = "inert"
    """It is accepted and does nothing."""
    TENSORFLOW = "tensorflow"
    """It is TensorFlow's own, which reads it itself."""
    JOB = "job"
    """`hpu run`, Horovod or Open MPI have it for the processes of a job."""


@dataclasses.dataclass(frozen=True)
class Flag:
    """One setting, as plugin/flags.yaml declares it.

    `name` may hold <module>, which stands for any word. `default` is text, as the environment would hold it.
    """

    name: str
    type: str
    default: str
    values: tuple[str, ...] = ()
    effect: Effect = Effect.ACTS
    secret: bool = False
    """Its value is not to be shown."""

    def names_in(self, environment: Mapping[str, str]) -> list[str]:
        """The variables of `environment` that this setting declares and that are not empty."""
        if "<" not in self.name:
            return [self.name] if environment.get(self.name) else []
        pattern = re.compile(re.sub("<[a-z]+>", "[A-Z0-9_]+", self.name))
        return sorted(name for name in environment if pattern.fullmatch(name) and environment[name])


@dataclasses.dataclass(frozen=True)
class Unknown:
    """A variable that looks like a setting and is none, and the setting that may have been meant."""

    name: str
    nearest: str | None

    def __str__(self) -> str:
        hint = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"{self.name} is no setting of hpu-tensorflow{hint}"


def _text(flag: Flag) -> str:
    return os.environ.get(flag.name) or flag.default


def _fall_back(flag: Flag, expected: str) -> str:
    """The default's text, after one warning per variable, as the plugin does it."""
    if flag.name not in _reported:
        _reported.add(flag.name)
        _logger.warning("%s; the default %r is used", describe_error(flag, expected), flag.default)
    return flag.default


def describe_error(flag: Flag, expected: str) -> str:
    """Says what the variable's value should have been."""
    return f"{flag.name}={os.environ.get(flag.name)} is not {expected}"


def expectation(flag: Flag) -> str:
    """What a value of the setting looks like, for messages."""
    if flag.type == "enum":
        return "one of " + ", ".join(flag.values)
    return {"bool": "a truth value (1, true, yes, on, 0, false, no, off)", "int": "a whole number"}.get(
        flag.type, "text"
    )


def is_valid(flag: Flag) -> bool:
    """Whether the environment holds no value of the setting, or one that can be read."""
    text = _text(flag)
    if flag.type == "bool":
        return text.lower() in _TRUE | _FALSE
    if flag.type == "int":
        return _as_int(text) is not None
    if flag.type == "enum":
        return text.lower() in {value.lower() for value in flag.values}
    return True


def _as_int(text: str) -> int | None:
    """Decimal digits with a sign, blanks before them: what the plugin's strtoll takes."""
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
    """Entries between commas; blanks around them and empty ones are dropped."""
    return [entry.strip() for entry in _text(flag).split(",") if entry.strip()]


# Variables of these names belong to other packages too: only one that is nearly a setting is reported.
_SHARED_PREFIXES = ("HBN_", "HABANA_", "TF_HABANA_")


def unknown(flags: Iterable[Flag], environment: Mapping[str, str]) -> list[Unknown]:
    """The variables of `environment` that look like settings and are none, sorted by name."""
    names = [flag.name for flag in flags]
    found = []
    for name in sorted(environment):
        ours = name.startswith("HPU_")
        if name in names or not (ours or name.startswith(_SHARED_PREFIXES)):
            continue
        nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6 if ours else 0.85)
        if ours or nearest:
            found.append(Unknown(name, nearest[0] if nearest else None))
    return found
