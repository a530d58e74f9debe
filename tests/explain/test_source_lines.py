"""Source lines of ops in explanations."""

from __future__ import annotations

import inspect
import pathlib

import tensorflow as tf

import habana_frameworks.tensorflow as htf
from habana_frameworks.tensorflow.explanation.source_lines import SourceLines


def called(x: tf.Tensor) -> tf.Tensor:
    return tf.tanh(x, name="inlined")


def step(x: tf.Tensor) -> tf.Tensor:
    y = tf.exp(x, name="own")
    return tf.function(called)(y) * 2.0


def line_of(function: object, word: str) -> str:
    lines, first = inspect.getsourcelines(function)  # type: ignore[arg-type]
    (offset,) = (offset for offset, line in enumerate(lines) if word in line)
    return f"{pathlib.Path(__file__)}:{first + offset}"


def test_ops_have_the_line_of_their_own_function(hpu: str) -> None:
    found = {op.type: op.source_line for op in htf.explain(step, tf.ones([2])).graph("step").ops}
    assert found["Exp"] == line_of(step, "own")
    assert found["Mul"] == line_of(step, "* 2.0")
    assert found["Tanh"] == line_of(called, "inlined")


def test_an_op_of_an_unknown_function_has_the_line_of_its_call() -> None:
    lines = SourceLines()
    lines._functions = {
        "f": {"call": "a.py:1", "x": "a.py:2"},
        "g": {"scope/y": "b.py:3"},
        "h": {"z": "b.py:4"},
        "i": {"z": "b.py:5"},
    }
    assert lines.find("f", "x") == "a.py:2"
    assert lines.find("f", "call/scope/y") == "b.py:3"
    assert lines.find("f", "call/z") == "a.py:1"  # two functions have an op of this name
    assert lines.find("f", "call/added_by_a_pass") == "a.py:1"
    assert lines.find("f", "added_by_a_pass") is None
    assert lines.find("", "x") is None  # a Session's graph


def test_lines_are_kept_only_while_they_are_recorded() -> None:
    lines = SourceLines()
    lines.start()
    lines.stop()
    function = tf.function(called).get_concrete_function(tf.ones([2]))
    assert lines.find(function.name.decode() if isinstance(function.name, bytes) else function.name, "inlined") is None
