"""Gaudi cards as the fake of pyhlml and the double of libhlml.so show them.

A figure has the name of the functions that return it: `power_usage` for hlmlDeviceGetPowerUsage and
hlml_device_get_power_usage. Arguments follow the name: `temperature/0` is sensor 0. A card does not support figures
that its entry lacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

Figure = Union[int, str, tuple[int, ...]]
Figures = Mapping[str, Figure]

MIB = 1 << 20
NOT_SUPPORTED, NOT_FOUND, DRIVER_NOT_LOADED, AIP_IS_LOST = 3, 6, 9, 15
DRIVER = "1.18.0-ee698fb"

GAUDI2: Figures = {
    "name": "HL-225",
    "uuid": "01P0-HL2080A0-15-TNBS87-02-07-00",
    "serial": "AN12345678",
    "pci_info": "0000:19:00.0",
    "module_id": 5,
    "minor_number": 0,
    "utilization_rates": 87,
    # free, total, used
    "memory_info": (65536 * MIB, 98304 * MIB, 32768 * MIB),
    "temperature/0": 61,
    "power_usage": 412300,
    "power_management_limit": 600000,
    "ecc_mode": (1, 0),
    # error, period: the first is 1 if uncorrected, the second 1 if aggregated
    "total_ecc_errors/0/0": 11,
    "total_ecc_errors/0/1": 12,
    "total_ecc_errors/1/0": 0,
    "total_ecc_errors/1/1": 14,
    "memory_error_counter/0/0/1": 21,
    "memory_error_counter/0/1/1": 22,
    "memory_error_counter/1/0/1": 23,
    "memory_error_counter/1/1/1": 24,
    # reference time, violation time
    "violation_status/0": (1000, 31),
    "violation_status/1": (1000, 32),
    "clock_info/0": 1650,
    "max_clock_info/0": 1700,
    "clock_limit_info/0": 1690,
    "clock_limit_info/3": 1680,
    "curr_pcie_link_generation": 4,
    "curr_pcie_link_width": 16,
}
FIELDS = {
    "serial": "AN12345678",
    "ecc.errors.corrected.volatile.total": "11",
    "ecc.errors.corrected.aggregate.total": "12",
    "ecc.errors.uncorrected.volatile.total": "0",
    "ecc.errors.uncorrected.aggregate.total": "14",
    "ecc.errors.dram-corrected.volatile.total": "21",
    "ecc.errors.dram-corrected.aggregate.total": "22",
    "ecc.errors.dram.volatile.total": "23",
    "ecc.errors.dram.aggregate.total": "24",
    "ecc.mode.current": "Enabled",
    "ecc.mode.pending": "Disabled",
    "stats.violation.power": "31",
    "stats.violation.thermal": "32",
    "clocks.current.soc": "1650",
    "clocks.max.soc": "1700",
    "clocks.limit.soc": "1690",
    "clocks.limit.tpc": "1680",
    "pcie.link.gen.current": "4",
    "pcie.link.width.current": "16",
    # HLML has no function for these.
    "pcie.link.gen.max": "N/A",
    "pcie.link.width.max": "N/A",
    "pcie.link.speed.current": "N/A",
    "pcie.link.speed.max": "N/A",
}
"""The fields of hl-smi that show GAUDI2's further figures, without units."""
