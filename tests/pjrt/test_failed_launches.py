"""Launches that fail after the plugin has consumed the variables that they update."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from tests.pjrt import failed_launch_programs as programs
from tests.pjrt.forwarding_plugin import build, with_forwarding_plugin
from tests.support.processes import call_to, run_with_tensorflow

pytestmark = with_forwarding_plugin
FIGURES = "device memory by the plugin: in use 3 MiB, limit 4096 MiB, largest free block 1 MiB"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return build(tmp_path_factory.mktemp("plugin"))


def train(plugin: pathlib.Path, consumes: bool) -> dict[str, Any]:
    done = run_with_tensorflow(call_to(programs.train, consumes), {"HPU_BACKEND": f"pjrt:{plugin}"})
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_a_lost_variable_is_an_error_until_it_is_assigned(plugin: pathlib.Path) -> None:
    result = train(plugin, consumes=True)
    kind, message = result["step"]
    assert kind == "ResourceExhaustedError"
    assert "launch of " in message and f"Out of memory allocating 4096 bytes (injected); {FIGURES}" in message
    assert message.count(FIGURES) == 1
    kind, message = result["read"]
    assert kind == "ResourceExhaustedError"
    assert "a failed launch of " in message and "has overwritten the buffer (" in message
    assert "assign the variable again, or restore a checkpoint" in message
    kind, message = result["again"]
    assert kind == "ResourceExhaustedError" and "is lost: a failed launch of " in message
    assert "assign the variable again, or restore a checkpoint" in message
    assert result["other"]
    assert (result["assigned"], result["trained"]) == ([10.0], [13.0])
    assert result["fallbacks"] == 0


def test_a_variable_that_the_plugin_keeps_has_its_value(plugin: pathlib.Path) -> None:
    result = train(plugin, consumes=False)
    kind, message = result["step"]
    assert kind == "ResourceExhaustedError" and FIGURES in message
    assert result["kept"] == [3.0]
    assert result["other"]
    assert (result["assigned"], result["trained"]) == ([10.0], [13.0])
