"""Tables of benchmarks/gaudi_models.py, from counters of hpu_bench."""

from __future__ import annotations

from benchmarks.gaudi_models import ModelStep, models_table, opcodes_of, opcodes_table

RECORD = {
    "real_time": 1.5,
    "graphs": 1.0,
    "nodes": 5.0,
    "dot: one node": 2.0,
    "dot: several nodes": 1.0,
    "dot: no node": 0.0,
    "dot: refused": 0.0,
    "fft: one node": 0.0,
    "fft: several nodes": 0.0,
    "fft: no node": 0.0,
    "fft: refused": 3.0,
}


def test_counters_of_opcodes() -> None:
    opcodes = opcodes_of(RECORD)
    assert opcodes["dot"] == {"one node": 2, "several nodes": 1, "no node": 0, "refused": 0}
    assert opcodes.keys() == {"dot", "fft"}


def test_tables_have_totals_and_refusals() -> None:
    step = ModelStep("net", 1000, opcodes_of(RECORD), nodes=5, graphs=1, launches=1)
    assert models_table([step]).splitlines()[-1] == "| net | 1,000 | 6 | 2 | 1 | 0 | 3 | 5 | 1 | 1 |"
    other = ModelStep("other", 1, {}, nodes=0, graphs=0, launches=0)
    assert opcodes_table([step, other]).splitlines()[2:] == [
        "| dot | 2 / 1 / 0 |  |",
        "| fft | 0 / 0 / 0, 3 refused |  |",
    ]
