"""Compatibility of an entry with this installation and machine."""

from __future__ import annotations

import dataclasses

from habana_frameworks.tensorflow import version_getter
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.recipe_store.directory import Entry

_MAX_FEATURES = 6
# Parts of a target that a program can change by a setting.
_SETTINGS = {"threads": "HPU_EMULATOR_THREADS", "effort": "HPU_COMPILE_EFFORT", "flags": "XLA_FLAGS"}


@dataclasses.dataclass(frozen=True)
class Installation:
    """Versions, backend and target that, with the program, determine a recipe compiled here."""

    package_version: str
    tensorflow_version: str
    backend: str
    target: str

    @classmethod
    def here(cls) -> Installation:
        """Returns the installation of this process, with its HPU_BACKEND. Acquires no device."""
        info = c_api.read_message(plugin_library.handle(), "hpu_device_info", "DeviceInfo")
        package = version_getter.get_library_version()
        # Recipes contain only the backend's scheme, because gaudi and gaudi:/path may be one library.
        backend = info.backend.partition(":")[0]
        return cls(package, package.rpartition("_tf")[2], backend, info.compiler_target)


def misfits(entry: Entry, here: Installation) -> tuple[str, ...]:
    """Returns the reasons why no program can load the entry here; empty if a program can."""
    found = []
    for what, theirs, ours in (
        ("hpu-tensorflow", entry.package_version, here.package_version),
        ("TensorFlow", entry.tensorflow_version, here.tensorflow_version),
        ("backend", entry.backend, here.backend),
    ):
        if theirs != ours:
            found.append(f"compiled with {what} {theirs}, not {ours}")
    if entry.backend == here.backend and here.target:
        differing = target_differences(entry.target, here.target)
        found += [f"{part}: {text}" for part, text in differing.items() if part not in _SETTINGS]
    return tuple(found)


def conditions(entry: Entry, here: Installation) -> tuple[str, ...]:
    """Returns the settings with which a program on this machine finds the entry."""
    theirs = _parts(entry.target)
    differing = target_differences(entry.target, here.target) if here.target else {}
    return tuple(f"{_SETTINGS[part]}={theirs.get(part, '')}" for part in differing if part in _SETTINGS)


def target_differences(theirs: str, ours: str) -> dict[str, str]:
    """Returns the differing parts of two targets ("cpu …; threads 4; flags …"), each with a description."""
    first, second = _parts(theirs), _parts(ours)
    return {
        part: _difference(part, first.get(part, ""), second.get(part, ""))
        for part in {**first, **second}
        if first.get(part, "") != second.get(part, "")
    }


def _parts(target: str) -> dict[str, str]:
    pairs = (part.strip().partition(" ") for part in target.split("; "))
    return {name: value for name, _, value in pairs}


def _difference(part: str, theirs: str, ours: str) -> str:
    if part != "cpu":
        return f"compiled for {theirs or 'none'}, not {ours or 'none'}"
    name, _, features = theirs.partition(" ")
    own_name, _, own_features = ours.partition(" ")
    lacking = _present(features) - _present(own_features)
    more = _present(own_features) - _present(features)
    texts = [f"compiled for {name}, not {own_name}"] if name != own_name else []
    texts += [f"this CPU lacks {_listed(lacking)}"] if lacking else []
    texts += [f"this CPU also has {_listed(more)}"] if more else []
    return "; ".join(texts) or "the feature lists differ"


def _present(features: str) -> set[str]:
    return {feature[1:] for feature in features.split(",") if feature.startswith("+")}


def _listed(features: set[str]) -> str:
    names = sorted(features)
    more = f" and {len(names) - _MAX_FEATURES} more" if len(names) > _MAX_FEATURES else ""
    return ", ".join(names[:_MAX_FEATURES]) + more
