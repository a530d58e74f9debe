"""The card that HPU_DEVICE_TYPE names, and what the settings change about it."""

from __future__ import annotations

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal.card_table import CARDS, DEFAULT_TYPE, Card
from habana_frameworks.tensorflow._internal.nearest import nearest


def find(device_type: str) -> Card | None:
    """Returns the card whose type is the first word of `device_type`, in any case; None if there is none."""
    words = device_type.upper().split()
    return next((card for card in CARDS if words and card.type == words[0]), None)


def spelling_problem(device_type: str) -> str:
    """Returns what is wrong with a type that looks like a misspelt card name; empty for all other types.

    The other types are card names, and the user's own types, which have the facts of DEFAULT_TYPE.
    """
    similar = nearest(device_type.upper(), [card.type for card in CARDS])
    if not similar or find(device_type):
        return ""
    return f"is not a card, so the facts of {DEFAULT_TYPE} apply; did you mean {' or '.join(similar)}?"


def current() -> Card:
    """Returns the card that HPU_DEVICE_TYPE names. An unknown name has the facts of DEFAULT_TYPE."""
    card = find(flags.device_type()) or find(DEFAULT_TYPE)
    assert card is not None
    return card


def memory_mb() -> int:
    """Returns the device memory of an emulated card in MiB: HPU_MEMORY_MB, or if that is 0 the card's memory."""
    return flags.memory_mb() or current().memory_mb


def modules() -> int:
    """Returns the number of emulated modules: HPU_MODULES, or if that is 0 the modules of the card's server."""
    return flags.modules() or current().modules


def product_of(device_type: str) -> str:
    """Returns the name that hl-smi prints for a device type; the type itself if no card has it."""
    card = find(device_type)
    return card.product if card else device_type
