"""Numbers as options of the command line."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

MOST_MB = 1 << 40
"""Of memory and files, in MiB: in bytes they still are a signed number of 64 bits."""


def whole(least: int, most: int) -> Callable[[str], int]:
    """The type of an option that takes a whole number from `least` to `most`."""

    def parse(text: str) -> int:
        number = int(text) if text.removeprefix("-").isdecimal() else None
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {least} to {most}")
        return number

    return parse


def positive(text: str) -> float:
    """A number of seconds or steps."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no number") from None
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0, or not finite")
    return number
