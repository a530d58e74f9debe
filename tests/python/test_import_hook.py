"""Effect of hpu_tensorflow.pth on every Python process, with a fake of Horovod."""

from __future__ import annotations

import pathlib

from tests.python import import_hook_programs as programs
from tests.support.processes import ROOT, call_to, run_python

HOOK = (ROOT / "tools" / "hpu_tensorflow.pth").read_text()
BASICS = """
class HorovodBasics:
    def init(self, comm=None):
        "Says who called."
        return "init of", self, comm
"""


def stand_in(directory: pathlib.Path) -> str:
    (directory / "horovod" / "common").mkdir(parents=True)
    for package in ("horovod", "horovod/common"):
        (directory / package / "__init__.py").write_text("")
    (directory / "horovod" / "common" / "basics.py").write_text(BASICS)
    return f"{directory}:{ROOT}"


def test_it_is_one_line_that_python_runs() -> None:
    assert HOOK.startswith("import ") and HOOK.count("\n") == 1


def test_programs_without_horovod_import_nothing_more() -> None:
    run_python(call_to(programs.without_horovod, HOOK))


def test_init_is_surrounded_once(tmp_path: pathlib.Path) -> None:
    run_python(call_to(programs.surround_once, HOOK), {"PYTHONPATH": stand_in(tmp_path)}, cwd=tmp_path)


def test_horovod_that_was_imported_before(tmp_path: pathlib.Path) -> None:
    run_python(call_to(programs.imported_before, HOOK), {"PYTHONPATH": stand_in(tmp_path)}, cwd=tmp_path)


def test_missing_horovod(tmp_path: pathlib.Path) -> None:
    assert run_python(call_to(programs.missing, HOOK), cwd=tmp_path).stdout.strip() == "horovod"
