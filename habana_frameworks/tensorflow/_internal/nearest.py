"""Suggestions for a misspelt word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """Returns the known words that are most similar to `word`; an empty list if none is similar.

    The result has one word, except for a word whose number is unknown, such as the name of a later card: it has the
    two known words with the nearest numbers.
    """
    words = sorted(known)
    stem, number = _split(word)
    family = {other: _split(other)[1] for other in words if _split(other)[0] == stem}
    if number is not None:
        numbered = {other: abs(number - value) for other, value in family.items() if value is not None}
        similar = {other: difflib.SequenceMatcher(None, word, other).ratio() for other in numbered}
        best = [other for other, ratio in similar.items() if ratio == max(similar.values())]
        if best:
            return sorted(best, key=lambda other: numbered[other])[:2]
    return difflib.get_close_matches(word, words, n=1, cutoff=cutoff)


def _split(word: str) -> tuple[str, int | None]:
    """Splits a word into its letters and the number at its end, None if it has none."""
    match = re.fullmatch(r"(.*?)(\d*)", word, re.DOTALL)
    assert match
    return match[1], int(match[2]) if match[2] else None
