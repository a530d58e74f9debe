"""Argparse types for numbers."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

MAX_MB = 1 << 40
"""Largest size of memory and files in MiB, so that the size in bytes fits a signed 64-bit integer."""


def integer(minimum: int, maximum: int) -> Callable[[str], int]:
    """Returns an argparse type for a whole number from `minimum` to `maximum`."""

    def parse(text: str) -> int:
        number = int(text) if text.removeprefix("-").isdecimal() else None
        if number is None or not minimum <= number <= maximum:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {minimum} to {maximum}")
        return number

    return parse


def positive(text: str) -> float:
    """Argparse type for a finite number above 0, such as seconds or steps."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text}") from None
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"not a positive finite number: {text}")
    return number
