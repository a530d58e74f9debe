"""Checks of SynapseAI and of the Gaudi cards that it drives, if HPU_BACKEND selects them."""

from __future__ import annotations

from collections.abc import Iterator

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import gaudi_cards
from habana_frameworks.tensorflow.cli.checks.finding import Finding
from habana_frameworks.tensorflow.cli.checks.gaudi import cards, kernels, library, management


def check() -> Iterator[Finding]:
    """Checks library, cards, driver and kernel libraries. Yields nothing for other backends."""
    backend = flags.backend()
    if not gaudi_cards.is_selected(backend):
        return
    report = yield from library.check(backend.partition(":")[2] or library.DEFAULT)
    if report is not None:
        yield from cards.check(report)
    yield from management.check()
    yield from kernels.check()
