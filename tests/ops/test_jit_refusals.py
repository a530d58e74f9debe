"""Uncompilable functions with jit_compile=True fail with an error that names op, reason and remedy.

They never abort.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from tests.ops import dynamic_shape_cases
from tests.support.processes import WARM_PYTHON, run

PROGRAM = str(pathlib.Path(dynamic_shape_cases.__file__).with_name("refused_programs.py"))

# Required parts of each error: the op and the reason.
EXPECTED = {
    "EagerPyFunc": ("EagerPyFunc", "calls Python"),
    "PyFunc": ("PyFunc", "calls Python"),
    "called Python": ("EagerPyFunc", "calls Python"),
    "Python in a branch": ("EagerPyFunc", "calls Python"),
    "PrintV2": ("PrintV2", "prints"),
    "AsString": ("AsString", "strings"),
    "StringLength": ("AsString", "strings"),
    "Identity of strings": ("AsString", "strings"),
    "table": ("LookupTableFindV2", "table on the host"),
    "mutable table": ("LookupTableFindV2", "table on the host"),
    "EncodeJpeg": ("EncodeJpeg", "strings"),
    "DecodeJpeg": ("EncodeJpeg", "strings"),
    "Eig": ("Eig", "cannot be lowered"),
    "queue": ("QueueDequeueV2", "resource on the host"),
    "TensorListConcat": ("TensorListConcat", "cannot be lowered"),
    "DebugIdentityV3": ("DebugIdentityV3", "cannot be lowered"),
    "session tensor": ("DeepCopy", "cannot be lowered"),
}


@pytest.fixture(scope="module")
def errors() -> Any:
    return json.loads(run([WARM_PYTHON, PROGRAM]).stdout.splitlines()[-1])


@pytest.mark.parametrize("name", list(EXPECTED))
def test_the_error_names_op_reason_and_way_out(errors: Any, name: str) -> None:
    kind, text = errors[name]
    op, reason = EXPECTED[name]
    assert kind == "InvalidArgumentError", text
    assert op in text and reason in text and "remove jit_compile=True" in text, text
    assert "N10tensorflow" not in text, text
