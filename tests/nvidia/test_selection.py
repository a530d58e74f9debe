"""Choice of the plugin with HPU_BACKEND=auto."""

from __future__ import annotations

import pathlib

import pytest

from habana_frameworks.tensorflow._internal import pjrt_plugins


@pytest.mark.parametrize("missing", ["nothing", "card", "visible card", "plugin", "driver"])
def test_auto_selects_a_card_if_all_dependencies_exist(
    missing: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "jax_plugins" / "xla_cuda13" / "xla_cuda_plugin.so"
    plugin.parent.mkdir(parents=True)
    for file in (tmp_path / "nvidiactl", *([tmp_path / "nvidia0"] if missing != "card" else [])):
        file.touch()
    if missing != "plugin":
        plugin.touch()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1" if missing == "visible card" else "0")
    monkeypatch.setattr(pjrt_plugins, "_DEVICES", tmp_path)
    monkeypatch.setattr(pjrt_plugins, "folders", lambda: [tmp_path])
    monkeypatch.setattr(pjrt_plugins, "_has_driver", lambda: missing != "driver")
    assert pjrt_plugins.selected("auto") == ("cuda" if missing == "nothing" else None)
    assert pjrt_plugins.selected("emulator") is None
    assert pjrt_plugins.selected("pjrt:cpu") == "cpu"
