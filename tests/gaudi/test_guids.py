"""The table of guids is consistent, and the generator refuses malformed tables."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import ROOT

SCRIPT = ROOT / "tools/generate_guids.py"
TOOL: dict[str, Any] = runpy.run_path(str(SCRIPT))
TEXT = (ROOT / "plugin/backends/gaudi/guids.yaml").read_text()
DATA = TOOL["parse"](TEXT)
ROWS = {(row.stem, row.suffix): row for row in DATA.rows()}

SMALL = """\
types:
  float: {gaudi: [f32, bf16], gaudi2: [f32, bf16, f16], gaudi3: [f32, bf16, f16]}
  cast: {gaudi: [f32, bf16, i32], gaudi2: [f32, i32], gaudi3: [f32, i32]}
casts:
  gaudi: [{from: [bf16], to: all, via: f32}]
  gaudi2: []
  gaudi3: []
groups:
  - title: Functions
    defaults: {kind: tpc, types: float}
    guids:
      exp_fwd: {operands: [x], results: [y], params: none, source: B, meaning: Exponential function}
"""
ROW = "exp_fwd: {operands: [x], results: [y], params: none, source: B, meaning: Exponential function}"


def test_page_is_up_to_date() -> None:
    subprocess.run([sys.executable, str(SCRIPT), "--check"], check=True)


def test_rows_that_are_on_are_known() -> None:
    assert len(ROWS) > 150
    for row in ROWS.values():
        if row.is_proven:
            assert row.results
            assert row.params
            assert row.kind != "internal"


@pytest.mark.parametrize(
    ("stem", "proven"),
    [
        ("gemm", True),
        ("add_fwd", True),
        ("max_fwd", True),  # a detail is open
        ("embedding", False),  # known by name only
        ("cosh_fwd", False),  # its source is "?" alone
        ("instance_norm_fwd", False),  # recorded, but its operands are unknown
        ("maxpool_3d_fwd", False),  # used, but its params are unknown
        ("tensor_view", False),  # internal
    ],
)
def test_evidence_turns_rows_on(stem: str, proven: bool) -> None:
    (row,) = (row for row in ROWS.values() if row.stem == stem)
    assert row.is_proven is proven


def test_nodes_of_more_than_five_dimensions_only_move_data() -> None:
    assert {row.types_name for row in ROWS.values() if row.rank[1] > 5} == {"data"}


def test_only_data_movement_and_kernels_take_64_bits() -> None:
    for row in ROWS.values():
        if row.kind != "graph_compiler" or row.types is None or row.types_name == "data":
            continue
        listed = {name for operand in [*(row.operands or []), *(row.results or [])] for name in operand.types}
        assert not {"i64", "u64"} & listed.union(*row.types.values()), row.stem


@pytest.mark.parametrize(
    ("guid", "operands", "results", "sizes"),
    [
        ("gemm", "bf16 bf16", "bf16", [2]),
        ("batch_gemm", "f32 f32", "f32", [2]),
        ("spatial_convolution", "bf16 bf16", "bf16", [72, 104, 112]),
        ("dedw", "bf16 bf16", "bf16", [72, 104, 112]),
        ("dedw", "bf16 bf16", "f32", [72, 112]),
        ("dedx", "bf16 bf16", "bf16", [72, 112]),
        ("dedx", "bf16 bf16 shape", "bf16", [72, 112]),
        ("dedx3d", "bf16 bf16 shape", "bf16", [96, 128]),
        ("batch_norm_fwd_f32", "f32 f32 f32 f32 f32", "f32 f32 f32", [12]),
        ("batch_norm_fwd_bf16", "bf16 f32 f32 f32 f32", "bf16 f32 f32 f32 f32", [12, 16]),
        ("batch_norm_bwd_bf16", "bf16 bf16 f32 f32 f32", "bf16 f32 f32", [0, 12, 16]),
        ("layer_norm_fwd_bf16", "bf16 f32 f32", "bf16 f32 f32", [8]),
        ("norm_moments_fwd_f32", "f32", "f32 f32", [4]),
        ("softmax_fwd_bf16", "bf16", "bf16", [4]),
        ("softmax_bwd_bf16", "bf16 bf16", "bf16", [4]),
        ("softmax_cross_entropy_bwd_bf16", "bf16 i32", "bf16", [8]),
        ("dropout_fwd_bf16", "bf16 i32", "bf16 i8", [8]),
        ("dropout_bwd_bf16", "bf16 i8", "bf16", [8]),
        ("gelu_fwd_bf16", "bf16", "bf16 bf16", [1]),
        ("gelu_bwd_bf16", "bf16 bf16 bf16", "bf16", [0]),
        ("gather_fwd_f32", "f32 i32", "f32", [8]),
        ("maxpool_2d_fwd_f32", "f32", "u8 f32", [44]),
        ("maxpool_2d_bwd_f32", "f32 u8", "f32", [44]),
        ("avg_pool_2d_bwd_f32", "f32", "f32", [48]),
        ("avg_pool_2d_bwd_f32", "f32 f32", "f32", [48]),
        ("reduce_sum_fwd_f32", "f32", "f32", [4]),
        ("relu_bwd_f32", "f32 f32", "f32", [0]),
        ("add_bwd_f32", "f32", "f32 f32", [0]),
        ("constant_f32", "", "f32", [4]),
        ("strided_view", "f32", "f32", [208]),
        ("strided_insert", "f32 f32", "f32", [208]),
        ("broadcast", "bf16", "bf16", [0]),
        ("mult_fwd_bf16", "bf16 i8", "bf16", [0]),
        ("concat", "f32 f32 f32", "f32", [4]),
        ("split", "f32", "f32 f32", [4]),
        ("not_fwd_i8", "i8", "i8", [0]),
    ],
)
def test_recorded_signatures_are_accepted(guid: str, operands: str, results: str, sizes: list[int]) -> None:
    stem, _, suffix = guid.rpartition("_")
    row = ROWS.get((guid, "none")) or ROWS[stem, "type"]
    own = (operands or results).split()[0] if row.suffix == "none" else suffix
    assert row.is_proven
    assert set(sizes) <= row.params.keys()
    assert own in row.types["gaudi2"]
    for found, declared in ((operands.split(), row.operands), (results.split(), row.results)):
        slots = (
            [*declared, *[declared[-1]] * len(found)] if declared and declared[-1].presence == "variadic" else declared
        )
        assert len(found) <= len(slots)
        assert all(slot.presence == "optional" for slot in declared[len(found) :])
        for name, slot in zip(found, slots):
            allowed = {"T": {own}, "any": set(row.types["gaudi2"])}
            assert name in set().union(*(allowed.get(word, {word}) for word in slot.types))


def test_padding_of_every_struct_is_checked() -> None:
    """Each struct of the table with padding has a row in the double's check."""
    text = (ROOT / "plugin/backends/gaudi/synapse/params.h").read_text()
    check = (ROOT / "plugin/testing/synapse_double/graph/params_check.cc").read_text()
    listed = {name for row in ROWS.values() for name in (row.params or {}).values()} - {"", "?"}
    padded = set()
    namespace = ""
    for line, name, body in re.findall(r"(namespace \w+ \{)|struct (\w+) \{(.*?)\n\};", text, re.DOTALL):
        if line:
            namespace = line.split()[1]
        full = name if name.startswith("syn") else f"{namespace}::{name}"
        if re.search(r"\b(pad\d?|reserved)(\[\d+\])?;|synActivationParams ", body):
            padded.add(full)
    assert len(padded & listed) > 15
    assert {name for name in padded & listed if f'"{name}"' not in check} == set()


def test_small_table_is_written(tmp_path: Path) -> None:
    data = TOOL["parse"](SMALL)
    source = TOOL["cpp_source"](data)
    assert '{"exp_fwd", GuidKind::kTpc, GuidSuffix::kType, ' in source
    assert (
        "{synapse::Generation::kGaudi, synapse::syn_type_bf16, synapse::syn_type_int32, synapse::syn_type_single}"
        in source
    )
    page = TOOL["documentation"](data)
    assert "The table has 1 guids, of which 1 are on." in page
    assert "| `exp_fwd_T` | x → y | float | 1 to 5 | none | B | Exponential function. |" in page
    subprocess.run([sys.executable, str(SCRIPT), "--cpp", str(tmp_path / "new")], check=True)
    assert (tmp_path / "new/guid_rows.cc").read_text() == TOOL["cpp_source"](DATA)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (ROW, f"{ROW}\n      {ROW}", "line 13: exp_fwd is listed twice; keep one entry"),
        (
            ROW,
            f"{ROW}\n  - title: More\n    defaults: {{kind: tpc, types: float}}\n    guids:\n      {ROW}",
            "exp_fwd is listed twice: in Functions and in More",
        ),
        ("source: B, ", "", "exp_fwd: source is missing"),
        ("source: B", 'source: ""', "exp_fwd.source: '' must be letters of D V R B N ?"),
        ("source: B", "source: B X", "exp_fwd.source: 'X' is not one of D, V, R, B, N, ?"),
        (", meaning: Exponential function", "", "exp_fwd: meaning is missing"),
        ("meaning: Exponential function", f"meaning: {'x' * 121}", "exp_fwd.meaning: 121 characters; at most 120"),
        ("meaning: Exponential function", 'meaning: "a|b"', "must be one line of text without |"),
        ("kind: tpc, ", "", "exp_fwd: kind is missing"),
        ("kind: tpc", "kind: gpu", "exp_fwd.kind: 'gpu' is not one of graph_compiler, tpc, internal"),
        ("types: float", "types: flaot", "exp_fwd.types: 'flaot' is not one of float, cast, unknown"),
        ("[f32, bf16, f16], gaudi3", "[f32, f64], gaudi3", "types.float.gaudi2: 'f64' is not one of f32, bf16"),
        ("[f32, bf16, f16], gaudi3", "[f32, f32], gaudi3", "lists a type twice"),
        ("gaudi: [f32, bf16], ", "", "types.float: gaudi is missing"),
        ("exp_fwd: {", "Exp: {", "'Exp' is not a guid"),
        ("exp_fwd: {", f"e{'x' * 63}: {{", "is not a guid: lower-case letters, digits and _, at most 63 characters"),
        ("params: none", "params: none, rang: [1, 5]", "exp_fwd: unknown field rang; known: kind, operands"),
        (
            "params: none",
            "params: none, rank: [1, 9]",
            "exp_fwd.rank: [1, 9] must be the smallest and the largest rank",
        ),
        ("params: none", "params: none, rank: [3, 2]", "exp_fwd.rank: [3, 2] must be"),
        ("params: none", "params: none, recorded: [i8]", "exp_fwd.recorded: i8 is not in the type set float"),
        ("params: none", "params: none, complex: false", "exp_fwd.complex: False must be true; omit the field"),
        ("params: none", "params: none, suffix: both", "exp_fwd.suffix: 'both' is not one of none, type, cast"),
        ("params: none, ", "", "exp_fwd: params is missing"),
        ("params: none", "params: {}", "exp_fwd.params: expected none, unknown, or structs by size"),
        ("params: none", "params: {four: A}", "exp_fwd.params: 'four': 'A' must be a size in bytes"),
        ("params: none", "params: {0: A}", "exp_fwd.params: size 0 must be none, not 'A'"),
        ("params: none", 'params: {4: "A 1.5"}', "exp_fwd.params: 'A 1.5' is not a struct of params.h"),
        ("params: none", 'params: {4: "A B"}', "exp_fwd.params: 'A B' is not a struct of params.h"),
        ("params: none", "params: {8: A, 4: B}", "list sizes in ascending order, not 8, 4"),
        ("operands: [x]", "operands: x", "exp_fwd.operands: expected a list, or unknown, got 'x'"),
        ("operands: [x]", "operands: [x, x]", "exp_fwd.operands: ['x', 'x'] has a name twice"),
        ("operands: [x]", 'operands: ["x!"]', "exp_fwd.operands: 'x!' must be a name"),
        ("operands: [x]", 'operands: ["x:f64"]', "exp_fwd.operands: x:f64: 'f64' is not one of f32"),
        ("operands: [x]", 'operands: ["x:S"]', "exp_fwd.operands: x:S: 'S' is not one of"),
        ("operands: [x]", 'operands: ["x?", y]', "exp_fwd.operands: y follows x, which is optional"),
        ("operands: [x]", 'operands: ["x...", "y?"]', "exp_fwd.operands: y follows x, which is variadic"),
        ("via: f32", "via: f64", "casts.gaudi, rule 1.via: 'f64' is not one of f32, bf16, i32"),
        ("to: all, ", "", "casts.gaudi, rule 1: to is missing"),
        (
            "casts:\n  gaudi: [",
            "casts:\n  gaudi: [{from: [f32], to: [i32], via: bf16}, ",
            "casts.gaudi: f32 to i32 goes through itself",
        ),
        ("defaults: {kind", "defaults: {source: B, kind", "Functions: defaults: unknown field source"),
        ("casts:\n", "cats:\n", "guids.yaml: unknown field cats; known: types, casts, groups"),
        (
            "  - title: Functions\n",
            "  - titel: Functions\n",
            "groups: unknown field titel; known: title, guids, defaults",
        ),
    ],
)
def test_faults(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(ValueError) as raised:
        TOOL["parse"](SMALL.replace(old, new))
    assert message in str(raised.value)
