"""Facts about the Gaudi cards that HPU_DEVICE_TYPE names: memory, modules of a server, types, product name.

The one table of these facts. At build, tools/generate_cards.py generates the plugin's table (plugin/base/cards/cards.h)
from CARDS, without importing the package. Each fact has a public source.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

SOURCES = {
    "hot_chips": "Intel, Gaudi 3 at Hot Chips 2024, table of the generations: 32, 96 and 128 GB",
    "transformers": "huggingface.co/docs/transformers/perf_train_gaudi: 8 HPUs in a server, with 32, 96 and 128 GB",
    "hl-smi": "published outputs of hl-smi: names of the cards, memory in MiB",
    "guids": "docs/developer/gaudi_guids.md: kernels in f16 for Gaudi2 and Gaudi3, none for Gaudi",
    "vllm": "docs.vllm.ai/projects/gaudi, validated models: FP8 on Gaudi2 and Gaudi3",
}


@dataclasses.dataclass(frozen=True)
class Card:
    """One generation of the card."""

    type: str
    """Value of HPU_DEVICE_TYPE, and of habana_device.get_type()."""
    product: str
    """Name that hl-smi prints."""
    memory_mb: int
    """Device memory in MiB, before SynapseAI and collectives take their part."""
    modules: int
    """Modules of one server."""
    added_types: tuple[str, ...]
    """Types that the card computes in, beyond the types of the first generation (plugin/op_lists/gaudi.yaml)."""
    sources: Mapping[str, tuple[str, ...]]
    """Sources of each of the fields above, by the field's name; keys of SOURCES."""

    @property
    def option(self) -> str:
        """Value of `hpu check --card`."""
        return self.type.lower()


CARDS = (
    Card(
        type="GAUDI",
        product="HL-205",
        memory_mb=32768,
        modules=8,
        added_types=(),
        sources={
            "product": ("hl-smi",),
            "memory_mb": ("hl-smi", "hot_chips"),
            "modules": ("transformers",),
            "added_types": ("guids",),
        },
    ),
    Card(
        type="GAUDI2",
        product="HL-225",
        memory_mb=98304,
        modules=8,
        added_types=("float16", "float8_e4m3fn", "float8_e5m2"),
        sources={
            "product": ("hl-smi",),
            "memory_mb": ("hl-smi", "hot_chips"),
            "modules": ("transformers",),
            "added_types": ("guids", "vllm"),
        },
    ),
    Card(
        type="GAUDI3",
        product="HL-325L",
        memory_mb=131072,
        modules=8,
        added_types=("float16", "float8_e4m3fn", "float8_e5m2"),
        sources={
            "product": ("hl-smi",),
            "memory_mb": ("hl-smi", "hot_chips"),
            "modules": ("transformers",),
            "added_types": ("guids", "vllm"),
        },
    ),
)
DEFAULT_TYPE = "GAUDI2"
"""Type of the card whose facts hold for an unknown HPU_DEVICE_TYPE."""
