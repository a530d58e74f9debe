"""What hpu_tensorflow.pth does to every Python, with a stand-in for Horovod."""

from __future__ import annotations

import pathlib

from tests.support.processes import ROOT, run_python

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
    code = f"""
        import sys
        before = set(sys.modules)
        {HOOK.strip()}
        added = {{name for name in set(sys.modules) - before if not name.startswith("habana_frameworks")}}
        assert "habana_frameworks.tensorflow" not in sys.modules
        assert added <= {{"__future__"}}, added
        import json.tool
    """
    run_python(code)


def test_init_is_surrounded_once(tmp_path: pathlib.Path) -> None:
    code = f"""
        {HOOK.strip()}
        {HOOK.strip()}
        import importlib, inspect, sys
        import horovod.common.basics as basics
        first = basics.HorovodBasics.init
        {HOOK.strip()}
        assert basics.HorovodBasics.init is first
        assert first.__doc__ == "Says who called." and list(inspect.signature(first).parameters) == ["self", "comm"]
        assert not hasattr(first.__wrapped__, "__wrapped__")
        assert inspect.getsource(basics).strip().startswith("class HorovodBasics")
        assert [finder.__module__ for finder in sys.meta_path].count("habana_frameworks._hpu_import_hook") == 0
    """
    run_python(code, {"PYTHONPATH": stand_in(tmp_path)}, cwd=tmp_path)


def test_horovod_that_was_imported_before(tmp_path: pathlib.Path) -> None:
    code = f"""
        import horovod.common.basics as basics
        {HOOK.strip()}
        assert hasattr(basics.HorovodBasics.init, "__wrapped__")
    """
    run_python(code, {"PYTHONPATH": stand_in(tmp_path)}, cwd=tmp_path)


def test_horovod_that_is_not_there(tmp_path: pathlib.Path) -> None:
    code = f"""
        {HOOK.strip()}
        import importlib.util, sys
        sys.path = [entry for entry in sys.path if "site-packages" not in entry]
        try:
            import horovod.common.basics
        except ModuleNotFoundError as error:
            print(error.name)
    """
    assert run_python(code, cwd=tmp_path).stdout.strip() == "horovod"
