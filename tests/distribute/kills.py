"""Random kills of ranks, for restarted.py and its tests."""

from __future__ import annotations

import dataclasses
import random

STEPS_PER_EPOCH = 4
_MAX_MILLISECONDS = 200


@dataclasses.dataclass(frozen=True)
class Kill:
    """SIGKILL for a rank of one attempt, with a delay after the start of a step."""

    attempt: int
    rank: int
    step: int
    milliseconds: int

    @staticmethod
    def parse(text: str) -> Kill:
        return Kill(*map(int, text.split(":")))

    def __str__(self) -> str:
        return f"{self.attempt}:{self.rank}:{self.step}:{self.milliseconds}"


def draw(seed: int, attempts: int, ranks: int, steps: int) -> list[Kill]:
    """Draws one kill for each of the first `attempts` attempts."""
    generator = random.Random(seed)
    return [
        Kill(attempt, generator.randrange(ranks), generator.randrange(steps), generator.randrange(_MAX_MILLISECONDS))
        for attempt in range(attempts)
    ]
