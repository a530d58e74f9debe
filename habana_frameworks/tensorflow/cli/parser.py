"""ArgumentParser whose errors suggest the nearest subcommand, option or choice, below the subcommand's own usage."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from habana_frameworks.tensorflow._internal.nearest import nearest

_HELP = frozenset({"-h", "--help"})
_HELP_CUTOFF = 0.8
"""Similarity of --hlp and --help is 0.86, that of --html and --help 0.5."""


class Parser(argparse.ArgumentParser):
    """Parser of a command and of its subcommands."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Like argparse's method, but exits on unknown arguments, so that a subcommand reports its own."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hint = self._nearest_option(unknown[0].partition("=")[0])
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    def _nearest_option(self, word: str) -> str:
        """Returns the suggestion for an unknown option. --help is suggested only for its own misspellings."""
        options = {option for action in self._actions for option in action.option_strings}
        if not word.startswith("-") and "--path" in options:
            return "; pass a directory with --path"
        return _nearest(word, options - _HELP) or _nearest(word, options & _HELP, _HELP_CUTOFF)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is not None and value not in choices:
            listed = ", ".join(map(str, choices))
            hint = _nearest(str(value), map(str, choices))
            raise argparse.ArgumentError(action, f"invalid choice: {str(value)!r} (choose from {listed}){hint}")


def _nearest(word: str, words: Iterable[str], cutoff: float = 0.6) -> str:
    """Returns the suggestion. Dashes do not count, so that --foo is not similar to --loop."""
    by_letters = {known.lstrip("-"): known for known in sorted(words)}
    similar = [by_letters[letters] for letters in nearest(word.lstrip("-"), by_letters, cutoff)]
    return f"; did you mean {' or '.join(similar)}?" if similar else ""
