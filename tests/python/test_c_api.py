"""ctypes declarations of the plugin's C interface match its header."""

from __future__ import annotations

import ctypes
import re

import pytest

from habana_frameworks.tensorflow._internal.native import c_api
from tests.support.processes import ROOT

HEADER = re.sub(r"//.*", "", (ROOT / "plugin" / "c_api" / "c_api.h").read_text())
DECLARED = {
    name: (result, [argument.strip() for argument in arguments.split(",") if argument.strip() != "void"])
    for result, name, arguments in re.findall(r"HPU_EXPORT\s+([\w ]+?\*?)\s*\b(hpu_\w+)\(([^)]*)\);", HEADER)
}
TYPES = {
    "void*": ctypes.c_void_p,
    "void": None,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "const char*": ctypes.c_char_p,
    "const void*": ctypes.c_char_p,
    "const char* const*": ctypes.POINTER(ctypes.c_char_p),
    "int32_t*": ctypes.POINTER(ctypes.c_int32),
    "double*": ctypes.POINTER(ctypes.c_double),
    "hpu_event*": ctypes.c_void_p,
    "const hpu_event*": ctypes.c_void_p,
    "hpu_event**": ctypes.POINTER(ctypes.c_void_p),
    "hpu_buffer": c_api.Buffer,
    "hpu_buffer*": ctypes.POINTER(c_api.Buffer),
    "hpu_memory": c_api.Memory,
    "hpu_step_callback": c_api.StepCallback,
    "hpu_source_line_finder": c_api.SourceLineFinder,
}


def test_each_function_of_the_header_is_declared() -> None:
    assert len(DECLARED) > 40
    assert c_api.SIGNATURES.keys() == DECLARED.keys()


@pytest.mark.parametrize("name", DECLARED)
def test_declarations_are_those_of_the_header(name: str) -> None:
    result, arguments = DECLARED[name]
    types = [TYPES[re.sub(r"\s*\b\w+$", "", argument)] for argument in arguments]
    assert c_api.SIGNATURES[name] == (TYPES[result], tuple(types))


@pytest.mark.parametrize("structure", [c_api.Buffer, c_api.Memory])
def test_structures_have_the_fields_of_the_header(structure: type[ctypes.Structure]) -> None:
    body = re.search(rf"typedef struct hpu_{structure.__name__.lower()} \{{(.*?)\}}", HEADER, re.DOTALL)
    assert body is not None
    assert [field[0] for field in structure._fields_] == re.findall(r"(\w+);", body[1])
