"""The build refuses two definitions of a name in the sources of a library."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests.support.processes import ROOT
from tools.check_names import Source, repeated

FIRST = """
namespace hpu {
namespace {

constexpr int kMost = 3;

bool HasKernel(const Node& node) {
  int Local(0);
  return Other(node);
}

class Finder {
  void Run();
};

}  // namespace

int Shared() { return 1; }

}  // namespace hpu
"""


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        ("bool HasKernel(int id) { return id > 0; }", "HasKernel"),
        ("std::vector<const Node*> HasKernel() {", "HasKernel"),
        ("constexpr float kMost = 2.0f;", "kMost"),
        ("struct Finder {};", "Finder"),
    ],
)
def test_a_planted_repetition(definition: str, name: str) -> None:
    second = f"namespace {{\n\n{definition}\n\n}}  // namespace\n"
    (problem,) = repeated([Source("a.cc", FIRST), Source("b.cc", second)])
    assert problem == f"b.cc: a.cc also defines {name}; rename one, or share one definition"


@pytest.mark.parametrize(
    "text", ["bool HasKernel(int id) {}", "namespace {\n\nvoid Run();\nint Local = 1;\n\n}  // namespace\n"]
)
def test_what_may_be_repeated(text: str) -> None:
    """Names outside anonymous namespaces, members and local variables."""
    assert not list(repeated([Source("a.cc", FIRST), Source("b.cc", text)]))


def test_the_exit_code(tmp_path: pathlib.Path) -> None:
    paths = [tmp_path / "a.cc", tmp_path / "b.cc"]
    for path in paths:
        path.write_text(FIRST)
    command = [sys.executable, str(ROOT / "tools" / "check_names.py"), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("also defines")) == (1, 3)
    assert subprocess.run(command[:-1], capture_output=True).returncode == 0
