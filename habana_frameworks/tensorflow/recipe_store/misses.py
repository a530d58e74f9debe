"""Explains recipe cache misses: the most similar earlier entry, and the differences.

A stored entry contains all inputs of its compilation, so its miss can be explained later. Recipes that were not stored
(read-only cache, below the threshold) cannot be explained.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

from habana_frameworks.tensorflow.recipe_store import directory, fitness
from habana_frameworks.tensorflow.recipe_store.directory import Entry, Listing

# Entries of different clusters are similar if they have the same arguments and results, and if their instruction
# counts differ by at most this share.
_NEAR = 0.1


@dataclasses.dataclass(frozen=True)
class Miss:
    """An entry that had to be compiled, and the reason."""

    entry: Entry
    nearest: Entry | None
    """Most similar earlier entry; None if none is similar."""
    differences: tuple[str, ...]
    """Differences between the two entries; without a nearest entry, the possible reason."""


def explain_misses(path: str | os.PathLike[str], word: str = "") -> list[Miss]:
    """Explains the entries whose key starts with `word` or whose cluster name contains it, oldest first.

    Without `word`, explains the entry compiled last. Raises StoreError.
    """
    listing = directory.list_entries(path)
    entries = sorted(listing.sound, key=lambda entry: (entry.created, entry.key))
    chosen = [e for e in entries if e.key.startswith(word) or word in e.cluster] if word else entries[-1:]
    return [_explain(path, entry, listing) for entry in chosen]


def _explain(path: str | os.PathLike[str], entry: Entry, listing: Listing) -> Miss:
    if f"{entry.key}.damaged" in listing.damaged:
        return Miss(entry, None, ("the earlier entry with this key was damaged and set aside",))
    nearest = nearest_entry(entry, listing.sound)
    if nearest is None:
        reason = "no similar entry: the cluster was compiled for the first time, or the earlier entry was removed"
        return Miss(entry, None, (reason,))
    return Miss(entry, nearest, _differences(path, nearest, entry))


def nearest_entry(entry: Entry, others: Sequence[Entry]) -> Entry | None:
    """Returns the most similar entry created before `entry`; None if none is similar."""
    before = [other for other in others if other.key != entry.key and other.created <= entry.created]
    alike = [other for other in before if _alike(entry, other)]
    return max(alike, key=lambda other: _closeness(entry, other), default=None)


def _alike(entry: Entry, other: Entry) -> bool:
    if other.program == entry.program or other.cluster == entry.cluster:
        return True
    close = abs(other.ops - entry.ops) <= _NEAR * entry.ops
    return close and other.arguments == entry.arguments and other.results == entry.results


def _closeness(entry: Entry, other: Entry) -> tuple[bool, bool, int, int, int]:
    surroundings = sum(
        getattr(other, name) == getattr(entry, name)
        for name in ("backend", "target", "package_version", "tensorflow_version")
    )
    same_cluster = other.cluster == entry.cluster
    return other.program == entry.program, same_cluster, surroundings, -abs(other.ops - entry.ops), other.created


def _differences(path: str | os.PathLike[str], before: Entry, now: Entry) -> tuple[str, ...]:
    found = []
    if before.program != now.program:
        found += [f"program: {line}" for line in directory.compare_programs(path, before.key, now.key)]
    for name in ("backend", "package_version", "tensorflow_version"):
        theirs, ours = getattr(before, name), getattr(now, name)
        if theirs != ours:
            found.append(f"{name.replace('_', ' ')}: {theirs} -> {ours}")
    if before.backend == now.backend:
        differing = fitness.target_differences(before.target, now.target)
        found += [f"target, {part}: {text}" for part, text in differing.items()]
    return tuple(found)
