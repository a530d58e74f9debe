"""Ops that the Gaudi backend cannot lower leave their cluster; the rest of the cluster stays on the HPU."""

from __future__ import annotations

import json

import pytest

from tests.gaudi import doubles
from tests.gaudi import refused_op_programs as programs
from tests.support.processes import call_to, run_with_tensorflow


def test_only_ops_without_nodes_leave_their_cluster() -> None:
    code = call_to(programs.explain_ops_without_nodes)
    done = run_with_tensorflow(code, {"HPU_BACKEND": doubles.backend("1.18")})
    output = json.loads(done.stdout.splitlines()[-1])
    assert output["result"] == pytest.approx(output["expected"], rel=1e-5)
    ops = output["ops"]
    refused = [op for op in ops if op["rule"] == "compile-error"]
    assert {op["type"] for op in refused} == {"Complex", "FFT", "ComplexAbs", "Cast", "Sin"}
    assert all(op["cluster"] is None and "gaudi2 does not compute with " in op["reason"] for op in refused)
    kept = [op for op in ops if op["type"] in ("Tanh", "MatMul", "Exp", "Square", "Cos", "Neg")]
    assert len(kept) == 6 and all(op["cluster"] is not None and op["rule"] is None for op in kept)
