"""Texts of failed checks of clusters."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tests.support.clusters import report_of


def test_a_graph_that_no_report_names(hpu: str) -> None:
    @tf.function
    def known_step(x: tf.Tensor) -> tf.Tensor:
        return x * 2.0 + 1.0

    with tf.device(hpu):
        known_step(tf.ones([3]))
    assert "known_step" in report_of("known_step").graph
    with pytest.raises(LookupError, match=r"no graph name contains 'unknown_step': \[.*known_step.*\]"):
        report_of("unknown_step")
