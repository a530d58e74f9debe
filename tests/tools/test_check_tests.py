"""tools/check_tests.py finds tests that cannot fail."""

from __future__ import annotations

import pathlib

import pytest

from tools import check_tests

FILE = """
import pytest
from tests.tools import programs

def compare(a, b):
    assert a == b

def indirect(a):
    compare(a, 1)

@pytest.fixture
def client():
    yield 1
    assert 2

def test_with_assert():
    for _ in range(2):
        assert True

def test_with_raises():
    with pytest.raises(ValueError):
        int("x")

def test_with_numpy():
    np.testing.assert_allclose(1, 1)

def test_with_a_function_as_argument():
    map_structure(np.testing.assert_array_equal, 1, 1)

def test_with_a_helper():
    indirect(1)

def test_with_a_fixture(client):
    client.use()

def test_with_a_program():
    run_python(call_to(programs.checked))

def test_without():
    run_python("print(1)")

def test_with_a_program_that_asserts_nothing():
    run_python(call_to(programs.unchecked))
"""
PROGRAMS = """
def checked():
    if not works():
        raise AssertionError

def unchecked():
    works()
"""


def test_tests_that_cannot_fail_are_found(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tests" / "tools"
    folder.mkdir(parents=True)
    (folder / "test_some.py").write_text(FILE)
    (folder / "programs.py").write_text(PROGRAMS)
    monkeypatch.setattr(check_tests, "ROOT", tmp_path)
    names = [problem.split(": ")[1].split()[0] for problem in check_tests.problems()]
    assert names == ["test_without", "test_with_a_program_that_asserts_nothing"]
