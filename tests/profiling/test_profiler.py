"""HPU events in tf.profiler's profiles and in trace files."""

from __future__ import annotations

import json
import pathlib
import threading
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.profiler.internal import _pywrap_profiler
from tensorflow.tsl.profiler.protobuf import trace_events_pb2

from habana_frameworks.tensorflow import device_trace, hw_profiler_helpers
from tests.profiling import traces
from tests.support.compare import HPU

pytestmark = pytest.mark.usefixtures("hpu")


def make_step(name: str) -> tf.types.experimental.GenericFunction:
    def product(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.matmul(x, x) + 1.0)

    product.__name__ = name
    return tf.function(product)


@pytest.mark.parametrize("level", [1, 2])
def test_tensorflow_profiler(tmp_path: pathlib.Path, level: int) -> None:
    step = make_step(f"profiled{level}")
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=1, device_tracer_level=level)
    tf.profiler.experimental.start(str(tmp_path), options)
    with tf.device(HPU):
        x = tf.constant(tf.random.normal([300, 300]).numpy())
        step(x).numpy()
        step(x).numpy()
    tf.profiler.experimental.stop()
    events = traces.read_profile(tmp_path)
    launches = [event for event in traces.of_lane(events, "Compute") if f"profiled{level}" in event.name]
    (compile_,) = [event for event in traces.of_lane(events, "Compiles") if f"profiled{level}" in event.name]
    assert len(launches) == 2 and compile_.end <= launches[0].begin <= launches[0].end <= launches[1].begin
    assert all(("shapes" in launch.stats) == (level == 2) for launch in launches)
    if level == 2:
        assert "float32[300,300]" in launches[0].stats["shapes"]
    assert 300 * 300 * 4 in [event.stats["bytes"] for event in traces.of_lane(events, "Copies to the device")]
    assert traces.of_lane(events, "Copies to the host")


def test_pages_of_tensorboard(tmp_path: pathlib.Path) -> None:
    """TensorBoard's plugin calls TensorFlow's converters. docs/tuning/profiling.md lists what they find of the HPU."""
    step = make_step("paged")
    tf.profiler.experimental.start(str(tmp_path))
    with tf.profiler.experimental.Trace("train", step_num=7, _r=1):
        step(tf.ones([300, 300])).numpy()
    tf.profiler.experimental.stop()
    paths = [str(path) for path in tmp_path.rglob("*.xplane.pb")]

    def page(tool: str) -> bytes:
        data, found = _pywrap_profiler.xspace_to_tools_data(paths, tool)
        assert found, data
        return data

    trace = trace_events_pb2.Trace.FromString(page("trace_viewer"))
    (device,) = [device for device in trace.devices.values() if device.name == "/device:CUSTOM:HPU:0"]
    lines = {resource.name for resource in device.resources.values()}
    assert {"Compute", "Compiles", "Copies to the host"} <= lines
    assert any("paged" in event.name for event in trace.trace_events if event.device_id == device.device_id)
    (memory,) = [found for name, found in allocators(page("memory_profile")).items() if name.endswith("HPU_0_bfc")]
    assert int(memory["profileSummary"]["peakBytesUsageLifetime"]) >= 300 * 300 * 4
    assert b"train 7" in page("overview_page") and b"train 7" in page("input_pipeline_analyzer")
    assert json.loads(page("op_profile"))["deviceType"] == "CPU_ONLY"  # planes of other devices are not read


def allocators(page: bytes) -> dict[str, Any]:
    return json.loads(page)["memoryProfilePerAllocator"]


def test_level_zero_leaves_the_hpu_out(tmp_path: pathlib.Path) -> None:
    options = tf.profiler.experimental.ProfilerOptions(device_tracer_level=0)
    tf.profiler.experimental.start(str(tmp_path), options)
    make_step("unseen")(tf.ones([4, 4])).numpy()
    tf.profiler.experimental.stop()
    with pytest.raises(ValueError, match="not enough values"):
        traces.read_profile(tmp_path)


def test_recordings_do_not_disturb_each_other(tmp_path: pathlib.Path) -> None:
    step = make_step("twice")
    step(tf.ones([8, 8])).numpy()
    with device_trace.record(tmp_path / "outer" / "trace.json"):
        step(tf.ones([8, 8])).numpy()
        with device_trace.record(tmp_path / "inner.json", detailed=False):
            step(tf.ones([8, 8])).numpy()
            device_trace.mark("inside")
        threads = [threading.Thread(target=lambda: step(tf.ones([8, 8])).numpy()) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    outer = traces.read_chrome(tmp_path / "outer" / "trace.json")
    inner = traces.read_chrome(tmp_path / "inner.json")
    assert len([event for event in traces.of_lane(outer, "Compute") if "twice" in event.name]) == 5
    assert len([event for event in traces.of_lane(inner, "Compute") if "twice" in event.name]) == 1
    assert [event.name for event in traces.of_lane(inner, "Marks")] == ["inside"]
    assert [event.name for event in traces.of_lane(outer, "Marks")] == ["inside"]


def test_earlier_events_are_not_recorded(tmp_path: pathlib.Path) -> None:
    step = make_step("earlier")
    step(tf.ones([8, 8])).numpy()
    with device_trace.record(tmp_path / "trace.json"):
        pass
    assert traces.read_chrome(tmp_path / "trace.json") == []
    assert device_trace.Recording().stop() != b""


def test_append_param() -> None:
    def fit(x: int, callbacks: list[int] | None = None, *, verbose: int = 1) -> tuple[int, list[int] | None, int]:
        return x, callbacks, verbose

    wrapped = hw_profiler_helpers.append_param(fit, "callbacks", [7])
    own = [1]
    assert wrapped(3) == (3, [7], 1)
    assert wrapped(3, own, verbose=0) == (3, [1, 7], 0)
    assert wrapped(3, callbacks=own) == (3, [1, 7], 1)
    assert own == [1]
    with pytest.raises(ValueError, match="has no parameter hooks"):
        hw_profiler_helpers.append_param(fit, "hooks", [])
