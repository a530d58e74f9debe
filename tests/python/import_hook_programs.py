"""Programs for test_import_hook.py. `hook` is the line of hpu_tensorflow.pth.

This module imports nothing, so that programs observe only the hook's imports.
"""

from __future__ import annotations

import sys


def without_horovod(hook: str) -> None:
    before = set(sys.modules)
    exec(hook)
    added = {name for name in set(sys.modules) - before if not name.startswith("habana_frameworks")}
    assert "habana_frameworks.tensorflow" not in sys.modules
    assert added <= {"__future__"}, added
    import json.tool  # noqa: F401


def surround_once(hook: str) -> None:
    exec(hook)
    exec(hook)
    import inspect

    from horovod.common import basics

    first = basics.HorovodBasics.init
    exec(hook)
    assert basics.HorovodBasics.init is first
    assert first.__doc__ == "Says who called." and list(inspect.signature(first).parameters) == ["self", "comm"]
    assert not hasattr(first.__wrapped__, "__wrapped__")
    assert inspect.getsource(basics).strip().startswith("class HorovodBasics")
    finders = [getattr(finder, "__module__", "") for finder in sys.meta_path]
    assert finders.count("habana_frameworks._import_hook") == 0


def imported_before(hook: str) -> None:
    from horovod.common import basics

    exec(hook)
    assert hasattr(basics.HorovodBasics.init, "__wrapped__")


def missing(hook: str) -> None:
    exec(hook)
    sys.path = [entry for entry in sys.path if "site-packages" not in entry]
    try:
        import horovod.common.basics  # noqa: F401
    except ModuleNotFoundError as error:
        print(error.name)
