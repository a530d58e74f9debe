"""Check of Gaudi's driver and of its management library HLML, from which `hpu smi` reads the cards."""

from __future__ import annotations

from collections.abc import Iterator

from habana_frameworks.tensorflow._internal import gaudi_cards
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.monitor import ManagementLibraryError, Module, gaudi

_SUBJECT = "Gaudi driver"
# Without the Python module or the library only `hpu smi` fails; the check of the cards reports a missing driver.
_NOTES = (None, gaudi.Code.UNINITIALIZED, gaudi.Code.DRIVER_NOT_LOADED)


def check() -> Iterator[Finding]:
    """Names the driver's version and the cards. Reports lost cards, and why `hpu smi` cannot read the cards."""
    try:
        modules = gaudi.read_cards()
    except ManagementLibraryError as error:
        version = gaudi_cards.driver_version()
        level = Level.NOTE if error.code in _NOTES else Level.WARNING
        text = f"{f'{version}; ' if version else ''}`hpu smi` cannot read the cards: {error}"
        yield Finding(_SUBJECT, level, text, error.remedy, {"version": version, "code": error.code})
        return
    version = next((module.card.driver_version for module in modules if module.card), gaudi_cards.driver_version())
    names = [module.type for module in modules]
    text = f"{version or 'unknown version'}: {', '.join(names) or 'no card'}"
    yield Finding(_SUBJECT, Level.OK, text, data={"version": version, "cards": names})
    for module in modules:
        if module.card and module.card.is_lost:
            yield _lost(module, module.card.bus_id)


def _lost(module: Module, bus_id: str | None) -> Finding:
    text = f"module {module.id} ({bus_id or 'unknown address'}) is lost"
    remedy = f"reset it as root: hl-smi -r -i {bus_id or 'ADDRESS'}; restart the machine if that fails"
    return Finding(_SUBJECT, Level.WARNING, text, remedy, {"module": module.id, "bus_id": bus_id})
