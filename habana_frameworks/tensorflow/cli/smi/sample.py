"""Snapshot that `hpu smi` prints."""

from __future__ import annotations

import dataclasses
import time

from habana_frameworks.tensorflow.monitor import Module, State

_IDLE_CELSIUS = 30
_BUSY_CELSIUS = 65


@dataclasses.dataclass(frozen=True)
class Sample:
    """A state, and each module's utilisation up to that time: from 0 to 1, or None if unknown."""

    state: State
    utilizations: dict[int, float | None]
    time: float = dataclasses.field(default_factory=time.time)

    @property
    def modules(self) -> tuple[Module, ...]:
        """Modules to show."""
        return self.state.modules

    @property
    def has_cards(self) -> bool:
        """Whether the modules are real cards."""
        return any(module.card for module in self.modules)

    def only(self, name: str) -> Sample:
        """Returns the sample with only the module that has this number or bus_id, or with no module if none has."""
        chosen = tuple(module for module in self.modules if name in (str(module.id), bus_id(module)))
        return dataclasses.replace(self, state=dataclasses.replace(self.state, modules=chosen))

    def percent(self, module: Module) -> int | None:
        """Utilisation in percent; None if unknown."""
        share = self.utilizations[module.id]
        return None if share is None else round(100 * share)

    def celsius(self, module: Module) -> int | None:
        """A card's temperature, None if unknown. For emulated modules, a value derived from the utilisation."""
        if module.card:
            return module.card.temperature_celsius
        return round(_IDLE_CELSIUS + (_BUSY_CELSIUS - _IDLE_CELSIUS) * (self.utilizations[module.id] or 0))


def bus_id(module: Module) -> str | None:
    """Returns a card's PCI address, None if unknown.

    For other modules returns an invented address in the domain ffff, which no machine uses.
    """
    return module.card.bus_id if module.card else f"ffff:{module.id:02x}:00.0"
