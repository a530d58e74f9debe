"""What `hpu smi` shows at a time."""

from __future__ import annotations

import dataclasses
import time

from habana_frameworks.tensorflow.monitor import Module, State

_IDLE_CELSIUS = 30
_BUSY_CELSIUS = 65


@dataclasses.dataclass(frozen=True)
class Sample:
    """A state, and the utilisation of each module before it: from 0 to 1, or None where it is not known."""

    state: State
    utilizations: dict[int, float | None]
    time: float = dataclasses.field(default_factory=time.time)

    @property
    def modules(self) -> tuple[Module, ...]:
        """Those to show."""
        return self.state.modules

    def only(self, name: str) -> Sample:
        """The module of this number or bus_id, or nothing."""
        chosen = tuple(module for module in self.modules if name in (str(module.id), bus_id(module)))
        return dataclasses.replace(self, state=dataclasses.replace(self.state, modules=chosen))

    def percent(self, module: Module) -> int | None:
        """Utilisation."""
        share = self.utilizations[module.id]
        return None if share is None else round(100 * share)

    def celsius(self, module: Module) -> int:
        """An emulated temperature, which follows the utilisation."""
        return round(_IDLE_CELSIUS + (_BUSY_CELSIUS - _IDLE_CELSIUS) * (self.utilizations[module.id] or 0))


def bus_id(module: Module) -> str:
    """Looks like a PCI address; no machine has the domain ffff."""
    return f"ffff:{module.id:02x}:00.0"
