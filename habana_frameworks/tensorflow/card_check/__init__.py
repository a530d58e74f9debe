"""Check of a program by the rules of a Gaudi card, without a card: docs/user/check.md."""

from habana_frameworks.tensorflow.card_check.model import (
    Compiler,
    Level,
    Memory,
    Narrowed,
    OpSupport,
    Verdict,
    Violation,
)
from habana_frameworks.tensorflow.card_check.origins import Line
from habana_frameworks.tensorflow.card_check.result import CheckResult
from habana_frameworks.tensorflow.card_check.run import CardChecker, check, settings

__all__ = [
    "CardChecker",
    "CheckResult",
    "Compiler",
    "Level",
    "Line",
    "Memory",
    "Narrowed",
    "OpSupport",
    "Verdict",
    "Violation",
    "check",
    "settings",
]
