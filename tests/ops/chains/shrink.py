"""Reduction of a differing program to a minimal program."""

from __future__ import annotations

from collections.abc import Collection

from tests.ops.chains.pool import Outcome, Worker, described

MAX_TRIALS = 80


def shrink(found: Outcome, without: Collection[str] = ()) -> Outcome:
    """Returns the outcome of a smaller program that still differs."""
    best, size, trials = found, max(1, len(found.steps) // 2), 0
    current = Worker()
    try:
        while size and trials < MAX_TRIALS:
            smaller = None
            for start in range(0, len(best.steps), size):
                if not current.alive:
                    current = Worker()
                trials += 1
                outcome = current.examine(found.seed, {*best.dropped, *best.steps[start : start + size]}, without)
                if outcome.difference:
                    smaller = described(outcome, without)
                    break
            if smaller is None:
                size //= 2
            best = smaller or best
    finally:
        current.close()
    return best
