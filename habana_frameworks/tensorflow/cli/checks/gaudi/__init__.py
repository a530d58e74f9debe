"""Checks of SynapseAI and of the Gaudi cards that it drives, if HPU_BACKEND selects them."""

from __future__ import annotations

from collections.abc import Iterator

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow.cli.checks.finding import Finding
from habana_frameworks.tensorflow.cli.checks.gaudi import cards, kernels, library


def check() -> Iterator[Finding]:
    """Checks library, cards and kernel libraries. Yields nothing for other backends."""
    scheme, _, path = flags.backend().partition(":")
    if scheme != "gaudi":
        return
    report = yield from library.check(path or library.DEFAULT)
    if report is not None:
        yield from cards.check(report)
    yield from kernels.check()
