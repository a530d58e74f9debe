"""Check of NVIDIA cards: whether NVML lists them, programs see them, and their memory is free."""

from __future__ import annotations

import os
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import pjrt_plugins
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.cli.checks.pjrt import driver, extras
from habana_frameworks.tensorflow.monitor import ManagementLibraryError, Module, nvidia

_VARIABLE = pjrt_plugins.VISIBLE_CARDS
# Share of a card's memory that XLA's client allocates when it starts (its options memory_fraction and preallocate).
_PREALLOCATED = 0.75


def check() -> Iterator[Finding]:
    """Checks that the driver lists cards, and that CUDA_VISIBLE_DEVICES does not hide all of them."""
    try:
        cards = nvidia.read_cards()
    except ManagementLibraryError as error:
        yield _unreadable(error)
        yield from _check_visible(None)
        return
    if not cards:
        remedy = "seat the card again or look for Xid in dmesg; in a container: docker run --gpus all"
        yield Finding("cards", Level.ERROR, "the driver lists no card", remedy)
    for card in cards:
        yield _check_card(card)
    yield from _check_visible(len(cards))


def list_present() -> Iterator[Finding]:
    """Lists the installed NVIDIA cards, for backends other than pjrt. Yields nothing without a driver."""
    version = driver.module_version()
    if version is None:
        return
    try:
        names = [card.type for card in nvidia.read_cards()]
    except ManagementLibraryError:
        names = []
    text = f"{', '.join(names) or 'NVIDIA card'} (driver {version})"
    if pjrt_plugins.find("cuda"):
        yield Finding("cards", Level.OK, f"{text}; HPU_BACKEND=pjrt:cuda uses it", data={"cards": names})
    else:
        note = f"{text}, not used: no plugin for it is installed"
        yield Finding("cards", Level.NOTE, note, extras.install_plugin("cuda"), {"cards": names})


def _unreadable(error: ManagementLibraryError) -> Finding:
    # Without the Python module only `hpu smi` fails; the check of the driver reports a missing driver.
    level = {
        None: Level.NOTE,
        nvidia.DRIVER_NOT_LOADED: Level.NOTE,
        nvidia.LIBRARY_NOT_FOUND: Level.NOTE,
        nvidia.VERSION_MISMATCH: Level.ERROR,
    }.get(error.code, Level.WARNING)
    return Finding("cards", level, f"`hpu smi` cannot read the cards: {error}", error.remedy, {"code": error.code})


def _check_card(card: Module) -> Finding:
    used, total = card.memory_used, card.memory_total
    data = {"index": card.id, "name": card.type, "memory_used": used, "memory_total": total}
    if used is None or not total:
        return Finding("cards", Level.OK, f"card {card.id}: {card.type}", data=data)
    text = f"card {card.id}: {card.type}, {used >> 20} of {total >> 20} MiB in use"
    chosen = any(option in flags.pjrt_options() for option in ("memory_fraction", "preallocate"))
    if total - used >= _PREALLOCATED * total or chosen:
        return Finding("cards", Level.OK, text, data=data)
    if card.card and card.card.processes:
        text += f" by {', '.join(f'process {process.pid}' for process in card.card.processes)}"
    text += f"; a program allocates {_PREALLOCATED:.0%} of a card when it starts"
    remedy = "end the other processes (`hpu smi` shows them), or set HPU_PJRT_OPTIONS=memory_fraction=0.3"
    return Finding("cards", Level.WARNING, text, remedy, data)


def _check_visible(count: int | None) -> Iterator[Finding]:
    """Checks CUDA_VISIBLE_DEVICES. `count`: number of cards if known."""
    value = os.environ.get(_VARIABLE)
    if value is None:
        return
    if not pjrt_plugins.hides_all_cards(value, count):
        yield Finding("visible cards", Level.OK, f"{_VARIABLE}={value}", data={"value": value})
        return
    known = f"; the machine has {count}, numbered from 0" if count else ""
    text = f"{_VARIABLE}={value!r} hides every card{known}"
    remedy = f"unset {_VARIABLE}, or list cards: {_VARIABLE}=0"
    yield Finding("visible cards", Level.ERROR, text, remedy, {"value": value})
