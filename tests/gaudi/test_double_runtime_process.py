"""Start and end of the Synapse double, forks, switches and settings (rules 1 and 22)."""

from __future__ import annotations

import ctypes
import signal

import pytest

from tests.gaudi import synapse_library
from tests.gaudi.synapse_library import Double

LIFECYCLE = 1
FORK = 22


def test_calls_before_initialize_and_after_destroy_are_refused(double: Double) -> None:
    count = ctypes.c_uint32()
    double.refuses(synapse_library.UNINITIALIZED, LIFECYCLE, "synDeviceGetCount", ctypes.byref(count))
    double.ok("synInitialize")
    double.ok("synDeviceGetCount", ctypes.byref(count))
    double.ok("synDestroy")
    double.refuses(synapse_library.UNINITIALIZED, LIFECYCLE, "synDeviceGetCount", ctypes.byref(count))


def test_second_destroy_is_refused(double: Double) -> None:
    double.ok("synInitialize")
    double.ok("synDestroy")
    double.refuses(synapse_library.UNINITIALIZED, LIFECYCLE, "synDestroy")


def test_second_initialize_succeeds_unless_disabled(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    double.ok("synInitialize")
    double.ok("synInitialize")
    monkeypatch.setenv("HABANA_DISABLE_DOUBLE_SYN_INITIALIZE", "1")
    double.refuses(synapse_library.ALREADY_INITIALIZED, LIFECYCLE, "synInitialize")


def test_initializes_again_after_destroy(double: Double) -> None:
    for _ in range(2):
        double.ok("synInitialize")
        double.acquire()
        double.ok("synDestroy")
    double.ok("synInitialize")


def test_version_needs_no_initialize(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    version = ctypes.create_string_buffer(64)
    double.ok("synDriverGetVersion", version, len(version))
    assert version.value.decode() == f"{double.release}.0-double"
    monkeypatch.setenv("SYNAPSE_DOUBLE_VERSION", "2.0.1")
    double.ok("synDriverGetVersion", version, len(version))
    assert version.value == b"2.0.1"
    double.ok("synInitialize")
    double.ok("synDriverGetVersion", version, 6)
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synDriverGetVersion", version, 5)


def test_forked_child_of_an_initialised_process_is_refused(double: Double) -> None:
    double.ok("synInitialize")
    double.acquire()

    def child() -> None:
        count = ctypes.c_uint32()
        version = ctypes.create_string_buffer(64)
        assert double.call("synDeviceGetCount", ctypes.byref(count)) == synapse_library.SYNAPSE_TERMINATED
        assert double.call("synDriverGetVersion", version, 64) == synapse_library.SYNAPSE_TERMINATED
        assert double.call("synInitialize") == synapse_library.SYNAPSE_TERMINATED

    code, log = synapse_library.in_child(child)
    assert code == 0, log
    assert f"synapse_double: rule {FORK}: synDeviceGetCount: " in log
    count = ctypes.c_uint32()
    double.ok("synDeviceGetCount", ctypes.byref(count))


def test_forked_child_of_a_process_without_a_device_is_refused(double: Double) -> None:
    """Stricter than SynapseAI, which marks children of a process that has acquired a device."""
    double.ok("synInitialize")

    def child() -> None:
        count = ctypes.c_uint32()
        assert double.call("synDeviceGetCount", ctypes.byref(count)) == synapse_library.SYNAPSE_TERMINATED
        assert double.call("synInitialize") == synapse_library.SYNAPSE_TERMINATED

    code, log = synapse_library.in_child(child)
    assert code == 0, log
    assert f"synapse_double: rule {FORK}: synInitialize: " in log


def test_forked_child_of_another_process_is_not_refused(double: Double) -> None:
    def child() -> None:
        double.ok("synInitialize")
        double.acquire()
        double.ok("synDestroy")

    assert synapse_library.in_child(child) == (0, "")
    double.ok("synInitialize")
    double.ok("synDestroy")
    assert synapse_library.in_child(child) == (0, "")


def test_strict_double_aborts_on_broken_rules(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_STRICT", "abort")

    def breaks_a_rule() -> None:
        double.ok("synInitialize")
        double.call("synDeviceRelease", 7)

    code, log = synapse_library.in_child(breaks_a_rule)
    assert code == -signal.SIGABRT
    assert "synapse_double: rule 2: synDeviceRelease: no device 7" in log


def test_strict_double_does_not_abort_on_failures_of_the_machine(
    double: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_STRICT", "abort")
    monkeypatch.setenv("SYNAPSE_DOUBLE_DEVICES", "0")

    def finds_no_device() -> None:
        double.ok("synInitialize")
        device = ctypes.c_uint32()
        status = double.call("synDeviceAcquire", ctypes.byref(device), None)
        assert status == synapse_library.NO_DEVICE_FOUND

    code, log = synapse_library.in_child(finds_no_device)
    assert code == 0, log
    assert "no device: the machine has 0 devices" in log


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("SED", "1", "no such switch"),
        ("SEED", "one", "expected a number"),
        ("FLUSH_DENORMALS", "yes", "expected 0 or 1"),
        ("GENERATION", "gaudi4", "expected gaudi, gaudi2 or gaudi3"),
        ("STRICT", "1", "expected abort or log"),
    ],
)
def test_wrong_switches_abort(
    double: Double, monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(f"SYNAPSE_DOUBLE_{name}", value)
    code, log = synapse_library.in_child(lambda: double.ok("synInitialize"))
    assert code == -signal.SIGABRT
    assert f"SYNAPSE_DOUBLE_{name}={value}: {reason}" in log


def test_calls_fail_as_the_switch_asks(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_DOUBLE_FAIL_CALLS", "synDeviceGetCount:2:27,synDestroy:1:26")
    double.ok("synInitialize")
    count = ctypes.c_uint32()
    assert [double.call("synDeviceGetCount", ctypes.byref(count)) for _ in range(3)] == [0, 27, 0]
    assert double.call("synDestroy") == synapse_library.FAIL
    double.ok("synDestroy")


def test_settings(double: Double) -> None:
    double.ok("synInitialize")
    value = ctypes.create_string_buffer(16)
    double.ok("synConfigurationGet", b"ENABLE_EXPERIMENTAL_FLAGS", value, len(value))
    assert value.value == b"false"
    double.ok("synConfigurationSet", b"ENABLE_EXPERIMENTAL_FLAGS", b"1")
    double.ok("synConfigurationGet", b"ENABLE_EXPERIMENTAL_FLAGS", value, 2)
    assert value.value == b"1"
    double.ok("synConfigurationSet", b"DETERMINISTIC_MODE", b"0")
    log = double.refuses(synapse_library.UNSUPPORTED, None, "synConfigurationSet", b"DETERMINISTIC_MODE", b"2")
    assert "DETERMINISTIC_MODE = 2 is not modelled" in log
    double.ok("synConfigurationGet", b"DETERMINISTIC_MODE", value, 2)
    assert value.value == b"0"
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synConfigurationGet", b"DETERMINISTIC_MODE", value, 1)
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synConfigurationSet", b"DETERMINISTIC", b"2")
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synConfigurationSet", None, b"2")


def test_private_settings_need_experimental_flags(double: Double) -> None:
    double.ok("synInitialize")
    private = (b"CHECK_SECTION_OVERLAP_CHECK", b"false")
    log = double.refuses(synapse_library.INVALID_ARGUMENT, None, "synConfigurationSet", *private)
    assert "private" in log
    double.ok("synConfigurationSet", b"ENABLE_EXPERIMENTAL_FLAGS", b"true")
    double.ok("synConfigurationSet", *private)
    double.ok("synDestroy")
    double.ok("synInitialize")
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synConfigurationSet", *private)


def test_descriptions_of_statuses(double: Double) -> None:
    double.ok("synInitialize")
    if double.is_1_5:
        assert not hasattr(double.library, "synStatusGetBriefDescription")
        return
    text = ctypes.create_string_buffer(56)
    for status in range(44):
        double.ok("synStatusGetBriefDescription", status, text, len(text))
        assert text.value.startswith(b"syn")
    double.refuses(synapse_library.INVALID_ARGUMENT, None, "synStatusGetBriefDescription", 44, text, len(text))


def test_kernel_libraries(double: Double) -> None:
    double.ok("synInitialize")
    if double.is_1_5:
        assert not hasattr(double.library, "synTPCLibraryGetVersions")
        return
    assert double.new("synTPCLibraryGetVersionSize", type=ctypes.c_uint32) == 1
    names, versions = (ctypes.c_char_p * 1)(), (ctypes.c_uint32 * 1)()
    double.ok("synTPCLibraryGetVersions", names, versions)
    assert (names[0], versions[0]) == (b"libsynapse_double_kernels.so", 1)
