"""check() of single functions: types of the generations, unknown ops, narrowing, counters; the table of cards."""

from __future__ import annotations

import dataclasses
import json
import os
import runpy

import pytest
import tensorflow as tf

import habana_frameworks.tensorflow as htf
from habana_frameworks.tensorflow import card_check, cli
from habana_frameworks.tensorflow._internal import card_table, cards
from tests.support.processes import ROOT

pytestmark = pytest.mark.usefixtures("hpu")


def halves(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.matmul(tf.cast(x, tf.float16), tf.cast(x, tf.float16)))


def broken() -> tf.Tensor:
    raise ValueError("broken")


@pytest.mark.parametrize(("card", "fails"), [("gaudi", True), ("gaudi2", False), ("GAUDI3", False)])
def test_types_of_the_generations(card: str, fails: bool) -> None:
    result = htf.check(halves, tf.ones([4, 4]), card=card)
    assert {entry.rule for entry in result.failures} == ({"dtype"} if fails else set())
    assert ("MatMul in float16" in {entry.op for entry in result.unknown_ops}) is not fails
    assert all(entry.line and entry.line.text.startswith("return tf.reduce_sum") for entry in result.failures)


def test_an_unknown_card_is_named_and_settings_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_OP_LIST", "emulator")
    monkeypatch.delenv("HPU_OP_LIST_UNKNOWN", raising=False)
    with pytest.raises(ValueError, match="no card 'gaudi4': pass gaudi, gaudi2, gaudi3"):
        htf.check(halves, tf.ones([2, 2]), card="gaudi4")
    with pytest.raises(ValueError, match="broken"):
        htf.check(broken)
    assert os.environ["HPU_OP_LIST"] == "emulator" and "HPU_OP_LIST_UNKNOWN" not in os.environ


def test_a_function_with_jit_compile_is_checked() -> None:
    result = htf.check(tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True), tf.ones([4]))
    assert result.verdict() is card_check.Verdict.PASSES
    assert result.graphs == 1 and {entry.op for entry in result.support} >= {"Mul", "Tanh"}


def test_equal_traces_of_a_function_count_once() -> None:
    step = tf.function(lambda x: tf.tanh(x) * tf.cast(2, x.dtype))
    (card,) = (card for card in card_table.CARDS if card.option == "gaudi2")
    checker = card_check.CardChecker(card)
    checker.start()
    for value in (tf.ones([4]), tf.ones([3]), tf.ones([4], tf.float16)):
        step(value)
    result = checker.stop()
    assert result.graphs == 2
    counts = {entry.op: entry.count for entry in result.support}
    assert (counts["Tanh"], counts["Tanh in float16"]) == (1, 1)


def test_unknown_ops_fail_only_if_strict() -> None:
    result = htf.check(lambda x: tf.math.erfinv(x * 0.5) + tf.abs(x), tf.ones([4]))
    verdicts = {entry.op: entry.verdict for entry in result.support}
    assert (verdicts["Erfinv"], verdicts["Mul"], verdicts["Abs"]) == ("unknown", "inferred", "documented")
    assert result.verdict() is card_check.Verdict.PASSES
    assert result.verdict(strict=True) is card_check.Verdict.FAILS
    assert "Erfinv" in result.summary() and "1 op type of unknown support" in result.summary(strict=True)


def test_narrowed_ops_have_lines_and_do_not_fail() -> None:
    result = htf.check(lambda x: tf.gather(x, tf.argmax(x, axis=1), axis=1), tf.ones([4, 4]))
    assert result.failures == ()
    lines = {entry.line.text for entry in result.narrowed if entry.line}
    assert len(lines) == 1 and "tf.argmax" in lines.pop()
    assert any("int32" in entry.what for entry in result.narrowed)


def test_the_64_bit_type_of_a_result_is_a_note_unless_the_hpu_reads_it() -> None:
    labels = htf.check(lambda x: tf.argmax(x, axis=1), tf.ones([4, 4]))
    assert labels.failures == ()
    assert {entry.rule for entry in labels.violations} == {"dtype"}
    wide = htf.check(lambda x: tf.cast(tf.argmax(x, axis=1) + 2**40, tf.float32) * x, tf.ones([4, 4]))
    assert {entry.rule for entry in wide.failures} == {"dtype"}


def test_scalar_counters_are_notes_but_arrays_and_results_of_the_hpu_are_not() -> None:
    with tf.device("/CPU:0"):
        steps = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def counts(x: tf.Tensor) -> tf.Tensor:
        steps.assign_add(1)
        return x * 0.1 / tf.cast(steps + 1, tf.float32)

    @tf.function
    def mean(x: tf.Tensor) -> tf.Tensor:
        total = tf.cast(tf.reduce_sum(tf.tanh(x)), tf.float64)
        return x / tf.cast(total * 0.5, tf.float32)

    assert htf.check(counts, tf.ones([4])).failures == ()
    assert {entry.rule for entry in htf.check(mean, tf.ones([4])).failures} == {"dtype"}


def test_the_json_form_has_all_data() -> None:
    result = htf.check(halves, tf.ones([2, 2]), card="gaudi")
    data = json.loads(result.to_json())
    assert (data["format"], data["verdict"], data["card"]["product"]) == (2, "fails", "HL-205")
    assert data["violations"][0]["level"] == "failure" and data["violations"][0]["line"]["path"] == __file__
    assert set(data) == {"format", "verdict", *(field.name for field in dataclasses.fields(result))}


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "missing.py"]) == 2
    assert "no program at missing.py" in capsys.readouterr().err
    assert cli.main(["check", "--html", "-", __file__]) == 2
    assert "--html cannot write to stdout" in capsys.readouterr().err


def test_card_rules_make_every_run_obey(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HPU_OP_LIST", "HPU_OP_LIST_UNKNOWN"):
        monkeypatch.delenv(name, raising=False)

    def places() -> tuple[str, ...]:
        values = (tf.math.erfinv(tf.constant([0.5])), tf.ones([2], tf.float16) * 2, tf.ones([2], tf.float64) * 2)
        return tuple(value.device.rpartition("device:")[2] for value in values)

    monkeypatch.setenv("HPU_CARD_RULES", "on")
    # float16 runs on the CPU because no source says which ops of Gaudi2 take it.
    assert places() == ("CPU:0", "CPU:0", "CPU:0")
    monkeypatch.setenv("HPU_OP_LIST_UNKNOWN", "allow")
    assert places() == ("HPU:0", "HPU:0", "CPU:0")
    monkeypatch.setenv("HPU_DEVICE_TYPE", "GAUDI")
    assert places() == ("HPU:0", "CPU:0", "CPU:0")
    monkeypatch.setenv("HPU_OP_LIST", "emulator")
    assert places() == ("HPU:0", "HPU:0", "HPU:0")


def test_the_device_type_decides_memory_and_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HPU_MEMORY_MB", "HPU_MODULES"):
        monkeypatch.delenv(name, raising=False)
    found = {}
    for name in ("GAUDI HL2000M", "gaudi2", "GAUDI3", "something else"):
        monkeypatch.setenv("HPU_DEVICE_TYPE", name)
        found[name] = (cards.memory_mb(), cards.modules(), cards.product_of(name))
    assert found == {
        "GAUDI HL2000M": (32768, 8, "HL-205"),
        "gaudi2": (98304, 8, "HL-225"),
        "GAUDI3": (131072, 8, "HL-325L"),
        "something else": (98304, 8, "something else"),
    }
    monkeypatch.setenv("HPU_MEMORY_MB", "100")
    monkeypatch.setenv("HPU_MODULES", "3")
    assert (cards.memory_mb(), cards.modules()) == (100, 3)


def test_every_fact_of_a_card_has_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "generate_cards.py"))
    assert list(tool["problems"]()) == []
    without = dataclasses.replace(card_table.CARDS[0], sources={"product": ("rumour",)})
    tool["problems"].__globals__["_CARDS"] = (without, without)
    errors = list(tool["problems"]())
    assert "GAUDI: product: sources ('rumour',) are not among" in errors[0]
    assert len(errors) == 10 and "two cards have one type" in errors[8] and "DEFAULT_TYPE" in errors[9]
