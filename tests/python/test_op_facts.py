"""Table of op facts: listed ops and names exist, and malformed entries are rejected."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from tensorflow.python.framework import op_def_registry

from habana_frameworks.tensorflow import load_habana_module
from tests.support.processes import ROOT

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools/generate_op_facts.py"))
TEXT = (ROOT / "plugin/op_facts.yaml").read_text()
OPS: dict[str, dict[str, Any]] = TOOL["read"](TEXT)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    load_habana_module()  # registers the ops of tf2xla and of the plugin


def definition(op: str) -> Any:
    return op_def_registry.get(op)


def test_every_op_exists() -> None:
    """A misspelt name would silently change an op's treatment."""
    assert len(OPS) > 300
    assert [op for op in OPS if definition(op) is None] == []


@pytest.mark.parametrize(
    "op", [op for op, facts in OPS.items() if {"indices", "values", "layout", "narrowing"} & facts.keys()]
)
def test_inputs_outputs_and_attributes_exist(op: str) -> None:
    facts, of_op = OPS[op], definition(op)
    attributes = {attribute.name for attribute in of_op.attr}
    inputs = [argument.name for argument in of_op.input_arg]
    indices, values = facts.get("indices", {}), facts.get("values", {})
    layout, narrowing = facts.get("layout", {}), facts.get("narrowing", {})
    for number in (
        indices.get("input", 0),
        indices.get("bound", 0),
        *layout.get("arrays", ()),
        *layout.get("shapes", ()),
    ):
        assert number < len(inputs)
    if values:
        assert (
            values["input"] < len(of_op.output_arg if values["test"] == "factored" else inputs)
            or values["test"] == "factored"
        )
    if "axis" in indices:
        assert indices["axis"] in attributes | {*inputs}
    assert {values.get("if", "T"), narrowing.get("attribute", "T")} <= attributes | {"T"}
    if layout:
        assert "data_format" in attributes
        assert layout.get("output") in {None, *(argument.name for argument in of_op.output_arg)}


_ABS = "Abs: {fusible: true, dynamic: all}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (_ABS, "Abs: {fusibel: true}", "Abs: unknown field fusibel; known: fusible"),
        (_ABS, "Abs: {fusible: false}", "Abs.fusible: False must be true"),
        (_ABS, "Abs: {}", "Abs: expected a non-empty mapping, got {}"),
        (_ABS, "Abs: {size: huge}", "Abs.size: 'huge' must be one of shapes, bounded, data"),
        (_ABS, "Zebra: {fusible: true}", "is listed after Zebra: list each op once"),
        (_ABS, "Abs: {indices: {input: 1, bound: 0}}", "Abs.indices: kind is missing"),
        (
            _ABS,
            "Abs: {indices: {input: -1, bound: 0, kind: box}}",
            "Abs.indices.input: -1 must be the index of an input",
        ),
        (
            _ABS,
            "Abs: {values: {test: odd, input: 0, error: x}}",
            "Abs.values.test: 'odd' must be one of nonzero, non_negative",
        ),
    ],
)
def test_faults(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(ValueError, match=message):
        TOOL["table"](TOOL["read"](TEXT.replace(old, new)))
