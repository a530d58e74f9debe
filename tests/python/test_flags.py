"""Settings: parsing, defaults, and unknown names."""

from __future__ import annotations

import logging
import re

import pytest

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import flag_values, settings_check
from habana_frameworks.tensorflow.errors import SettingError
from tests.support.processes import ROOT


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for flag in flags.ALL:
        monkeypatch.delenv(flag.name, raising=False)
    monkeypatch.setattr(flag_values, "_warned", set())
    monkeypatch.setattr(flag_values, "_claim_in_plugin", None)


def test_every_default_can_be_read() -> None:
    for flag in flags.ALL:
        if flag.effect is not flag_values.Effect.ACTS or "<" in flag.name:
            continue
        accessor = flag.name[4:] if flag.name.startswith("HPU_") else flag.name
        getattr(flags, accessor.lower())()
        assert flag_values.is_valid(flag), flag


def test_settings_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    assert flags.tf_hccl_memory_allowance_mb() == 1024
    monkeypatch.setenv("TF_HCCL_MEMORY_ALLOWANCE_MB", "128")
    assert flags.tf_hccl_memory_allowance_mb() == 128
    monkeypatch.setenv("TF_HCCL_MEMORY_ALLOWANCE_MB", "")
    assert flags.tf_hccl_memory_allowance_mb() == 1024


@pytest.mark.parametrize(("text", "value"), [("1", True), ("TRUE", True), ("on", True), ("0", False), ("No", False)])
def test_bool(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("HPU_STRICT_FLAGS", text)
    assert flags.strict_flags() is value


@pytest.mark.parametrize("text", ["12x", "1.5", "0x10", "1_000", "- 3", "nonsense"])
def test_wrong_number_warns_once_and_counts_as_unset(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    monkeypatch.setenv("HPU_COMPILE_EFFORT", text)
    with caplog.at_level(logging.WARNING):
        assert flags.compile_effort() == 3
        assert flags.compile_effort() == 3
    assert [record.message for record in caplog.records] == [
        f"HPU_COMPILE_EFFORT={text} is not a whole number; the default '3' is used"
    ]


def test_enum_ignores_case_and_refuses_unknown_values(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "FORBID")
    assert flags.tf_cpu_runtime_fallback() == "forbid"
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "never")
    assert flags.tf_cpu_runtime_fallback() == "allow"
    assert "is not one of allow, forbid" in caplog.text


def test_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HABANA_VISIBLE_MODULES", " 0, 3,,7 ")
    assert flags.habana_visible_modules() == ["0", "3", "7"]


def test_unknown_variable_is_named_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HPU_BACKENT", "null")
    settings_check.report_unknown_settings()
    assert caplog.messages == ["HPU_BACKENT is not a setting of hpu-tensorflow; did you mean HPU_BACKEND?"]


def test_unknown_variable_far_from_all_has_no_suggestion() -> None:
    (found,) = flag_values.unknown(flags.ALL, {"HPU_ZZZZZZ": "1", "PATH": "", "HPU_BACKEND": ""})
    assert found.nearest is None
    assert str(found) == "HPU_ZZZZZZ is not a setting of hpu-tensorflow; docs/user/settings.md lists the settings"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("HBN_TF_GRAPH_DUMPS", "HBN_TF_GRAPH_DUMP"),
        ("HABANA_VISIBLE_MODULE", "HABANA_VISIBLE_MODULES"),
        ("TF_HABANA_ALLOW_LEGACY_VARIABLE_ON_CPU", "TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU"),
    ],
)
def test_misspelt_gaudi_variable_is_named_with_the_nearest(name: str, nearest: str) -> None:
    assert flag_values.unknown(flags.ALL, {name: "1"}) == [flag_values.Unknown(name, nearest)]


def test_gaudi_variables_of_other_packages_are_left_alone() -> None:
    assert flag_values.unknown(flags.ALL, {"HABANA_TOOLS_PATH": "x", "HBN_SOMETHING_ELSE": "1"}) == []


@pytest.mark.parametrize("flag", [flag for flag in flags.ALL if flag.old_name], ids=lambda flag: flag.name)
def test_an_old_name_works_and_is_reported_as_deprecated(
    flag: flag_values.Flag, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = flag.values[:2] if flag.values else ("3", "4")
    monkeypatch.delenv(flag.name, raising=False)
    monkeypatch.setenv(flag.old_name, old)
    settings_check.report_unknown_settings()
    assert caplog.messages == [f"{flag.old_name} was renamed to {flag.name}; the old name still works"]
    assert flag_values.parse_string(flag) == old
    monkeypatch.setenv(flag.name, new)
    assert flag_values.parse_string(flag) == new
    caplog.clear()
    settings_check.report_unknown_settings()
    assert not caplog.messages


def test_numbers_out_of_range_are_reported(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    for name, value in (("HPU_COMPILE_EFFORT", "4"), ("HLS_MODULE_ID", "-2"), ("HPU_CLUSTER_FUEL", "-1")):
        monkeypatch.setenv(name, value)
    settings_check.report_unknown_settings()
    assert sorted(caplog.messages) == [
        "HLS_MODULE_ID=-2 is not a number of at least -1; the default '-1' is used",
        "HPU_COMPILE_EFFORT=4 is not a number from 0 to 3; the default '3' is used",
    ]
    assert (flags.hls_module_id(), flags.compile_effort(), flags.cluster_fuel()) == (-1, 3, -1)


def test_a_pattern_declares_every_module() -> None:
    environment = {"LOG_LEVEL_GC": "0", "LOG_LEVEL_ALL": "1", "LOG_LEVEL_HCL": ""}
    (flag,) = [flag for flag in flags.ALL if flag.name == "LOG_LEVEL_<module>"]
    assert flag.names_in(environment) == ["LOG_LEVEL_ALL", "LOG_LEVEL_GC"]
    assert flag.has_effect_as("LOG_LEVEL_PASSES") and not flag.has_effect_as("LOG_LEVEL_GC")


def test_the_modules_with_a_log_level_are_the_modules_of_the_log() -> None:
    (flag,) = [flag for flag in flags.ALL if flag.name == "LOG_LEVEL_<module>"]
    (names,) = re.findall(r"kNames\[kModules\] = \{(.*?)\}", (ROOT / "plugin/base/log/log.cc").read_text())
    assert flag.modules == tuple(re.findall(r"\w+", names))


def test_strict_makes_it_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_BACKENT", "null")
    monkeypatch.setenv("HPU_STRICT_FLAGS", "1")
    with pytest.raises(SettingError, match="HPU_BACKENT is not a setting of hpu-tensorflow; did you mean HPU_BACKEND"):
        settings_check.report_unknown_settings()
