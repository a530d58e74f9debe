"""Interleaved timing of alternatives, so that variations of the machine affect all alternatives alike.

Also counts minor page faults, which show memory that the system had to map and clear first.
"""

from __future__ import annotations

import dataclasses
import gc
import resource
import statistics
import time
from collections.abc import Callable, Mapping


@dataclasses.dataclass(frozen=True)
class Summary:
    """Median and quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Summary:
        low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
        return cls(statistics.median(values), low, high)


@dataclasses.dataclass(frozen=True)
class Times:
    """Seconds and minor page faults per call of each alternative, one value per round."""

    seconds: dict[str, list[float]]
    minor_faults: dict[str, list[float]]

    def summary(self, name: str) -> Summary:
        return Summary.of(self.seconds[name])

    def ratio(self, name: str, base: str) -> Summary:
        """Summary of the ratio of `name` to `base` within each round."""
        return Summary.of([one / other for one, other in zip(self.seconds[name], self.seconds[base])])


def _minor_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def best_mean(variant: Callable[[int], object], seconds: float, rounds: int) -> float:
    """Returns the shortest mean time of one call over `rounds` rounds of about `seconds` each, in seconds.

    `variant` runs its work n times and returns when the work is done. Three calls choose n.
    """

    def mean(calls: int) -> float:
        begin = time.perf_counter()
        variant(calls)
        return (time.perf_counter() - begin) / calls

    calls = max(1, round(seconds / mean(3)))
    return min(mean(calls) for _ in range(rounds))


def in_turns(
    variants: Mapping[str, Callable[[int], object]], rounds: int, seconds_per_turn: float, warm_up: int = 5
) -> Times:
    """Measures `variants` in turns. Each is a function that runs its work n times and returns when the work is done.

    In each round every function has one turn of about `seconds_per_turn`. Rounds start with different functions.
    """
    calls = {}
    for name, variant in variants.items():
        variant(warm_up)
        begin = time.perf_counter()
        variant(warm_up)
        calls[name] = max(1, round(seconds_per_turn * warm_up / (time.perf_counter() - begin)))
    names = list(variants)
    times = Times({name: [] for name in names}, {name: [] for name in names})
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                faults, begin = _minor_faults(), time.perf_counter()
                variants[name](calls[name])
                seconds, faults = time.perf_counter() - begin, _minor_faults() - faults
                times.seconds[name].append(seconds / calls[name])
                times.minor_faults[name].append(faults / calls[name])
    finally:
        gc.enable()
    return times
