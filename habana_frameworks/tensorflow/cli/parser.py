"""ArgumentParser whose errors suggest the nearest subcommand, option or choice, below the subcommand's own usage."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from typing import Any


class Parser(argparse.ArgumentParser):
    """Parser of a command; its subcommands have parsers of this class too."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Like argparse's method, but exits on unknown arguments, so that a subcommand reports its own."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [option for action in self._actions for option in action.option_strings]
            hint = _nearest(unknown[0].partition("=")[0], options)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is not None and value not in choices:
            listed = ", ".join(map(str, choices))
            hint = _nearest(str(value), map(str, choices))
            raise argparse.ArgumentError(action, f"invalid choice: {str(value)!r} (choose from {listed}){hint}")


def _nearest(word: str, words: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(word, list(words), n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""
