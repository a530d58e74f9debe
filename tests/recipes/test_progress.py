"""What a program says while it compiles. plugin/compiler/compile_progress_test.cc tests when."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap

from tests.support.processes import ROOT, run_python

# Compiles ever larger functions until one takes long enough, so that this holds on any machine.
LONG_COMPILE = """
    import habana_frameworks.tensorflow as htf
    htf.load_habana_module()
    import tensorflow as tf
    from habana_frameworks.tensorflow import statistics

    def make(layers):
        @tf.function(input_signature=[tf.TensorSpec([None, None])])
        def slow(x):
            for i in range(layers):
                x = tf.nn.softmax(tf.tanh(x * (i + 1.0)) @ x)
            return x
        return slow

    def run(function, size):
        with tf.device("/device:HPU:0"):
            function(tf.ones([size, size]))

    layers = 100
    while all(cluster.compile_seconds < 2.5 for cluster in statistics.clusters()):
        layers *= 2
        slow = make(layers)
        run(slow, 8)
"""


def test_a_long_compile_says_so() -> None:
    done = run_python(LONG_COMPILE, {"TF_CPP_MIN_LOG_LEVEL": "0"}, timeout=200)
    lines = [line for line in done.stderr.splitlines() if " so far" in line]
    assert lines and all("habana_cluster_slow_0 (" in line and " ops): " in line for line in lines), done.stderr
    assert "\r" not in done.stderr


def test_a_bar_on_a_terminal_where_several_are_to_be_made() -> None:
    program = (
        LONG_COMPILE
        + """
    import os, time
    os.environ["HPU_COMPILE_MODE"] = "async"
    statistics.reset()
    for size in (9, 10, 11):
        run(slow, size)
    end = time.monotonic() + 120
    while sum(cluster.recipes for cluster in statistics.clusters()) < 3 and time.monotonic() < end:
        time.sleep(0.1)
    """
    )
    terminal, stderr = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "0"}
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env=environment, stderr=stderr)
    os.close(stderr)
    shown = b""
    try:
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # Linux: nobody has the other end any more
                break
            if not data:
                break
            shown += data
        assert process.wait(60) == 0, shown
    finally:
        process.kill()
        os.close(terminal)
    assert b" of 3 recipes; habana_cluster_slow_0 (" in shown, shown
